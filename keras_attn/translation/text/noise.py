"""Changes to source text that imitate how people type; the model learns to read it.

Each kind of noise is a function `(text, random) -> text` that makes one change. It returns the text
itself where it finds nothing to change. No kind changes a digit or a placeholder.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from random import Random

from keras_attn.languages import read_language
from keras_attn.translation.text.kana import KANA_OF_KANJI, Kana
from keras_attn.translation.text.typed import TO_HIRAGANA, plain

Kind = Callable[[str, Random], str]

_HIRAGANA = "ぁ-ゖ"
_KATAKANA = "ァ-ヺー"
_KANJI = "々一-鿿"
_JAPANESE_LETTERS = _HIRAGANA + _KATAKANA + _KANJI

_END = re.compile(r"[。.!?…]+$")
# A question mark remains where it alone makes a Japanese sentence a question.
_END_TO_LEAVE_OUT = re.compile(rf"(?:[。.!…]+|(?<=か)\?|(?<![!?{_JAPANESE_LETTERS}])\?)$")
# Other marks at the end of a sentence. None makes a statement of a question.
_OTHER_ENDS = {
    "。": ("!", ".", "...", "、"),
    ".": ("!", "..", "...", " .", ","),
    "!": ("!!", "!!!", "..."),
    "?": ("??", "?!", "???"),
}
_ASCII = {"。": ".", "、": ",", "「": '"', "」": '"', "『": '"', "』": '"', "・": " "}
# Commas between digits remain: without them, two numbers would read as one.
_JAPANESE_COMMA = r"(?<!\d)、|、(?!\d)"

# Without the か at the end, a question would be a statement.
_KANA = re.compile(f"(?!か[。.!?…]*$)[{_HIRAGANA}{_KATAKANA}]")
_LETTER = re.compile(r"[^\W\d_]")
# Hiragana words that are also written in katakana.
OFTEN_IN_KATAKANA = (
    "ありがとう おはよう こんにちは こんばんは さようなら ごめん すみません おめでとう もしもし "
    "すごい かわいい かっこいい おいしい きれい うれしい だめ ぼく あなた めがね たばこ りんご "
    "みかん いちご うさぎ とても ちょっと ぜったい たぶん みんな"
).split()
_KATAKANA_WORD = re.compile(f"[{_KATAKANA}]{{2,}}")
_HIRAGANA_WORD = re.compile("|".join(sorted(OFTEN_IN_KATAKANA, key=len, reverse=True)))
# The longest words of `KANA_OF_KANJI` that are not parts of other words.
_WORDS = "|".join(
    word if re.search(f"[{_HIRAGANA}]$", word) else f"{word}(?![{_KANJI}])"
    for word in sorted(KANA_OF_KANJI, key=len, reverse=True)
)
_KANJI_WORD = re.compile(rf"(?<![{_KANJI}{_KATAKANA}\d])(?:{_WORDS})")

# Particles that people leave out in short messages: を between a noun and a verb, は before a
# question word or a plain predicate, が before a predicate of liking, having or being able.
_LONGEST_MESSAGE = 25  # characters
_NOUN = f"(?<=[ァ-ヺー{_KANJI}])"
_PARTICLE = re.compile(
    rf"(?<=[ァ-ヺー{_KANJI}]{{2}})を(?=[{_KANJI}]{{1,2}}[いうえきくけしすせちってびべみめむるれろんぎぐげ])"
    rf"|(?<=何)を|{_NOUN}は(?=何|誰|元気|大丈夫|好き|ど[こうれん]|い[いくつ]|な[いん]|だ[れめ])"
    rf"|(?<=[こそあ]れ)は(?=[ァ-ヺ{_KANJI}なだど])"
    rf"|{_NOUN}(?<!方)が(?=好き|欲し|ほし|あ[るりっ]|な[いか]|い[るい]|分か|わか|でき|痛|怖|必要)"
)
_POLITE_END = re.compile(
    "(?:(?<!たい)です|でした|(?<!願いし)(?<!おり)(?<!いたし)ます|ません|ください)(?=[。.!]*$)"
)
_SHARE_OF_HIRAGANA = 0.15  # of the texts in kana, which have no katakana
_TO_KATAKANA = {hiragana: katakana for katakana, hiragana in TO_HIRAGANA.items()}


def leave_out_end(text: str, random: Random) -> str:
    return _END_TO_LEAVE_OUT.sub("", text).rstrip()


def change_end(text: str, random: Random) -> str:
    """Text with other punctuation at the end."""
    found = _END.search(text)
    if not found or found[0] not in _OTHER_ENDS:
        return text
    return text[: found.start()] + random.choice(_OTHER_ENDS[found[0]])


def change_commas(text: str, random: Random) -> str:
    """Japanese text without commas, or with other marks in their places."""
    return re.sub(_JAPANESE_COMMA, random.choice(("", "", ",", "。")), text)


def _mistype(text: str, random: Random, letter: re.Pattern) -> str:
    """Text with two neighbouring letters swapped, or one doubled or dropped."""
    places = [match.start() for match in letter.finditer(text)]
    if len(places) < 2:
        return text
    i = random.choice(places)
    change = random.choice(("swap", "double", "drop"))
    if change == "double":
        return text[:i] + text[i] + text[i:]
    if change == "swap" and letter.match(text, i + 1) and text[i] != text[i + 1]:
        return text[:i] + text[i + 1] + text[i] + text[i + 2 :]
    return text[:i] + text[i + 1 :]


mistype_kana, mistype_letters = (partial(_mistype, letter=one) for one in (_KANA, _LETTER))


def write_kana(text: str, random: Random) -> str:
    """Text with kana for the kanji of frequent words: for one word or for all of them."""
    words = list(_KANJI_WORD.finditer(text))
    if not words:
        return text
    chosen = [random.choice(words)] if random.random() < 0.5 else words
    for word in reversed(chosen):
        text = text[: word.start()] + KANA_OF_KANJI[word[0]] + text[word.end() :]
    return text


def write_other_kana(text: str, random: Random) -> str:
    """Text with a katakana word in hiragana, or a frequent hiragana word in katakana."""
    words = [(match, TO_HIRAGANA) for match in _KATAKANA_WORD.finditer(text)]
    words += [(match, _TO_KATAKANA) for match in _HIRAGANA_WORD.finditer(text)]
    if not words:
        return text
    word, table = random.choice(words)
    return text[: word.start()] + word[0].translate(table) + text[word.end() :]


def write_in_kana(text: str, random: Random, kana: Kana) -> str:
    """Text without kanji; sometimes without katakana too."""
    written = kana.write(text) or text
    return written.translate(TO_HIRAGANA) if random.random() < _SHARE_OF_HIRAGANA else written


def leave_out_particle(text: str, random: Random) -> str:
    """Text without a particle that people leave out when they chat (名前何?)."""
    places = [match.start() for match in _PARTICLE.finditer(text)]
    if not places or len(text) > _LONGEST_MESSAGE:
        return text
    place = random.choice(places)
    return text[:place] + text[place + 1 :]


def add_particle(text: str, random: Random) -> str:
    """Polite sentence with よ or ね at the end, which add nothing to a translation."""
    found = _POLITE_END.search(text)
    if not found or len(text) > _LONGEST_MESSAGE:
        return text
    particle = "ね" if found[0] == "ください" else "よ"
    return text[: found.end()] + particle + text[found.end() :]


def write_capitals(text: str, random: Random) -> str:
    return text.upper()


def write_lower_case(text: str, random: Random) -> str:
    return text.lower()


def _replacing(pattern: str, replacement: str | Callable[[re.Match], str]) -> Kind:
    return lambda text, random: re.sub(pattern, replacement, text)


write_ascii = _replacing(f"[。「」『』・]|{_JAPANESE_COMMA}", lambda mark: _ASCII[mark[0]])
leave_out_commas = _replacing(r",(?!\d)", "")  # those of numbers remain
leave_out_apostrophes = _replacing(r"(?<=[^\W\d_])['’](?=[^\W\d_])", "")

# Relative rate of each kind, by `Language.noise`.
_RATES: dict[str, dict[Kind, float]] = {
    "japanese": {
        **{leave_out_end: 2, change_end: 1, write_ascii: 1, change_commas: 1, mistype_kana: 2},
        **{write_kana: 2, write_other_kana: 1, leave_out_particle: 0.7, add_particle: 0.5},
    },
    "chinese": {leave_out_end: 3, change_end: 1, write_ascii: 1, change_commas: 1},
    "alphabetic": {
        **{leave_out_end: 3, change_end: 1, leave_out_commas: 1, mistype_letters: 3},
        **{leave_out_apostrophes: 1, write_lower_case: 2, write_capitals: 1},
    },
}

# Rate of `write_in_kana` among the kinds of Japanese: a fifth of the changed texts.
_RATE_OF_KANA = 1.8
FEW_READINGS = Kana()


@cache
def rates(language: str, kana: Kana = FEW_READINGS) -> Mapping[Kind, float]:
    """Kinds of noise for texts of a language, each with its relative rate."""
    noise = read_language(language).noise
    if noise != "japanese":
        return _RATES[noise]
    return {**_RATES[noise], partial(write_in_kana, kana=kana): _RATE_OF_KANA}


def add_noise(text: str, language: str, random: Random, kana: Kana = FEW_READINGS) -> str:
    """Make one change to a text, of a kind drawn by the rates of its language.

    Kinds that find nothing to change are drawn again without them. The changed text is plain
    (`typed.plain`), as the exported model reads it, and never empty. It is `text` itself if no kind
    applies. `kana` writes whole texts in kana.

    >>> add_noise("12:30", "ja", Random(0))
    '12:30'
    """
    left = dict(rates(language, kana))
    while left:
        (kind,) = random.choices(list(left), list(left.values()))
        changed = plain(kind(text, random), language)
        if changed != text and _LETTER.search(changed):
            return changed
        del left[kind]
    return text
