"""Japanese predicates in the politeness, tense, negation and question of a sentence."""

import re
from typing import NamedTuple

from keras_attn_data.everyday import japanese
from keras_attn_data.everyday.japanese import Word

LEVELS = ("polite", "plain", "casual")


class Mood(NamedTuple):
    """Form of a sentence and its main clause; a casual statement may end in a particle.

    `level` is "polite" (です, ます), "plain" (だ, る) or "casual" (spoken: だよ, てる, じゃない).
    """

    level: str
    past: bool = False
    negative: bool = False
    question: bool = False
    particle: str = ""


def _te(word: Word, negated: bool, ending: str) -> str:
    return japanese.plain(word, negative=True)[:-1] + ending if negated else japanese.te(word)


# Forms that end the inflection of a word, by the name that a template gives them.
FIXED = {
    "る": lambda word, not_: japanese.plain(word, negative=not_),
    "た": lambda word, not_: japanese.plain(word, past=True, negative=not_),
    "ない": lambda word, not_: japanese.plain(word, negative=True),
    "なかった": lambda word, not_: japanese.plain(word, past=True, negative=True),
    "なければ": lambda word, not_: japanese.conditional(word, negative=True),
    "なくて": lambda word, not_: japanese.plain(word, negative=True)[:-1] + "くて",
    "ないで": lambda word, not_: japanese.plain(word, negative=True) + "で",
    "て": lambda word, not_: _te(word, not_, "いで"),
    "ても": lambda word, not_: _te(word, not_, "くて") + "も",
    "たら": lambda word, not_: japanese.tara(word, not_),
    "たり": lambda word, not_: japanese.plain(word, past=True, negative=not_) + "り",
    "ば": lambda word, not_: japanese.conditional(word, not_),
    "よう": lambda word, not_: japanese.volitional(word),
    "ます": lambda word, not_: japanese.polite(word, negative=not_),
    "ました": lambda word, not_: japanese.polite(word, past=True, negative=not_),
    "stem": lambda word, not_: japanese.stem(word),
    "く": lambda word, not_: japanese.adverb(word),
    "な": lambda word, not_: japanese.attributive(word, negative=not_),
    "なので": lambda word, not_: japanese.nominal(word, negative=not_),
    "だったので": lambda word, not_: japanese.nominal(word, past=True, negative=not_),
}
# Forms that follow the tense of the sentence, and those that they become.
TENSED = {"plain": ("る", "た"), "nominal": ("なので", "だったので"), "polite": ("ます", "ました")}
# Forms that are inflected again.
DERIVED = {
    "たい": japanese.wanting,
    "ている": japanese.progressive,
    "られる": japanese.potential,
    "すぎる": lambda word: Word(japanese.stem(word) + "すぎる", "ichidan"),
    "そうだ": lambda word: Word(japanese.stem(word) + "そう", "na"),
    "てしまう": lambda word: Word(japanese.te(word) + "しまう", "godan"),
}


def inflect(word: Word, forms: tuple[str, ...], mood: Mood, negated: bool, ends: bool) -> str:
    """Predicate in the named forms; without a fixed form, in the mood of the sentence.

    A `negated` predicate is negated in any mood. One that `ends` a question gets か or a mark.
    """
    for form in forms:
        if form in DERIVED:
            word = DERIVED[form](word)
            continue
        return FIXED[TENSED[form][mood.past] if form in TENSED else form](word, negated)
    negative = mood.negative != negated
    if not ends:
        form = japanese.polite if mood.level == "polite" else japanese.plain
        return form(word, mood.past, negative)
    if mood.level == "polite":
        text = japanese.polite(word, mood.past, negative)
        return text + ("か" if mood.question else "")
    if mood.question and word.kind in ("na", "noun") and not mood.past and not negative:
        return word.text + "?"
    text = japanese.plain(word, mood.past, negative)
    return text + ("?" if mood.question else mood.particle)


_SPOKEN = (
    (re.compile("なければならない(よ?)$"), "なきゃ"),
    (re.compile("([てで])い(?=る|た|ない|なかった|て)"), r"\1"),
    (re.compile("てしま(?=う|っ|わ)"), "ちゃ"),
    (re.compile("でしま(?=う|っ|わ)"), "じゃ"),
    (re.compile("ではな"), "じゃな"),
    (re.compile("て(おく|おい)"), lambda match: "と" + match[1][1:]),
)


def spoken(text: str) -> str:
    """Contractions of casual speech: ている becomes てる, ではない becomes じゃない."""
    for written, short in _SPOKEN:
        text = written.sub(short, text)
    return text
