"""Inflection of Japanese verbs and adjectives."""

import re
from importlib import resources
from typing import Any, NamedTuple


def _lines(table: str) -> list[list[str]]:
    path = resources.files("keras_attn_data.everyday") / f"{table}.tsv"
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]


# By the kind of a word, or the last kana of a godan verb: number of characters that change, and
# what takes their place in the stem, before ない, in the te form, before ば, "let's" and "can".
_FORMS: dict[str, Any] = {kind: (int(cut), *forms) for kind, cut, *forms in _lines("inflections")}
_STEM, _NEGATIVE, _TE, _BA, _LET_US, _CAN = range(6)
# Adjectives with な; だ after another word is after a noun.
_NA_ADJECTIVES = tuple(word for (word,) in _lines("na_adjectives"))
VERB_KINDS = frozenset({"godan", "ichidan", "suru", "kuru", "iku", "aru"})


class Word(NamedTuple):
    """Word, or phrase that ends in an inflected word, in the dictionary form.

    Adjectives with な and nouns are without な and だ. `kind` is the inflection class, a member of
    `VERB_KINDS`, "i", "na", "noun" or "ii" for words that end in いい.
    """

    text: str
    kind: str

    def after(self, prefix: str) -> "Word":
        return Word(prefix + self.text, self.kind)


# る after these is an ichidan verb, unless it ends one of the exceptions.
_ICHIDAN = re.compile("[えけげせぜてでねへべめれいきぎしじちにひびみり見着寝出得煮似経居]る$")
_GODAN_IN_KANA = re.compile("(かえ|はい|はし|しゃべ|すべ|にぎ|まい)る$")


def word(text: str) -> Word:
    """Word of a dictionary form: 飲む, 高い, 静かだ, 学生だ; a verb in ない is an adjective.

    Raises:
        ValueError: If the text ends in no dictionary form.
    """
    if text.endswith("だ"):
        base = text[:-1]
        return Word(base, "na" if base.endswith(_NA_ADJECTIVES) else "noun")
    if text.endswith("する"):
        return Word(text, "suru")
    if text.endswith("来る"):
        return Word(text, "kuru")
    if text.endswith(("行く", "いく")):
        return Word(text, "iku")
    if text.endswith("ある"):
        return Word(text, "aru")
    if text.endswith("いい") and not text.endswith("かわいい"):
        return Word(text, "ii")
    if text.endswith("い"):
        return Word(text, "i")
    if text.endswith("る"):
        ichidan = _ICHIDAN.search(text) and not _GODAN_IN_KANA.search(text)
        return Word(text, "ichidan" if ichidan else "godan")
    if text[-1:] in _FORMS:
        return Word(text, "godan")
    raise ValueError(
        "A predicate must be a dictionary form: a verb, an adjective in い, or a noun or adjective "
        f"with だ. Received: {text!r}."
    )


def is_verb(word: Word) -> bool:
    return word.kind in VERB_KINDS


def _form(word: Word, column: int) -> str:
    cut, *forms = _FORMS[word.text[-1] if word.kind in ("godan", "aru") else word.kind]
    return word.text[: len(word.text) - cut] + forms[column]


def stem(word: Word) -> str:
    """Stem: before ます, たい and ながら; for adjectives, before すぎる and そう."""
    return _form(word, _STEM)


def negative_stem(word: Word) -> str:
    """Negative stem: before ない and なければ."""
    return word.text[:-2] if word.kind == "aru" else _form(word, _NEGATIVE)


def te(word: Word) -> str:
    return _form(word, _TE)


def adverb(word: Word) -> str:
    """Adverbial form, before なる and する: 高く, よく, 静かに."""
    return word.text + "に" if word.kind in ("na", "noun") else _form(word, _NEGATIVE)


def plain(word: Word, past: bool = False, negative: bool = False) -> str:
    """Plain form: ends casual sentences and most subordinate clauses."""
    if negative:
        return negative_stem(word) + ("なかった" if past else "ない")
    if word.kind in ("na", "noun"):
        return word.text + ("だった" if past else "だ")
    if not past:
        return word.text
    if word.kind in ("i", "ii"):
        return adverb(word)[:-1] + "かった"
    body = te(word)
    return body[:-1] + ("だ" if body.endswith("で") else "た")


def polite(word: Word, past: bool = False, negative: bool = False) -> str:
    """Polite form: です and ます."""
    if word.kind in ("na", "noun"):
        if negative:
            return word.text + ("ではありませんでした" if past else "ではありません")
        return word.text + ("でした" if past else "です")
    if word.kind in ("i", "ii"):
        return plain(word, past, negative) + "です"
    ending = ("ませんでした" if past else "ません") if negative else ("ました" if past else "ます")
    return stem(word) + ending


def attributive(word: Word, past: bool = False, negative: bool = False) -> str:
    """Attributive form: the plain form, but な after na-adjectives and の after nouns."""
    if word.kind in ("na", "noun") and not past and not negative:
        return word.text + ("な" if word.kind == "na" else "の")
    return plain(word, past, negative)


def nominal(word: Word, past: bool = False, negative: bool = False) -> str:
    """Form before ので and んです: the plain form, but な after na-adjectives and nouns."""
    if word.kind in ("na", "noun") and not past and not negative:
        return word.text + "な"
    return plain(word, past, negative)


def conditional(word: Word, negative: bool = False) -> str:
    """Conditional form: 飲めば, 高ければ, 静かなら."""
    if negative:
        return plain(word, negative=True)[:-1] + "ければ"
    return _form(word, _BA) + ("" if word.kind in ("na", "noun") else "ば")


def tara(word: Word, negative: bool = False) -> str:
    return plain(word, past=True, negative=negative) + "ら"


def volitional(word: Word) -> str:
    """Plain volitional form: 飲もう."""
    return _form(word, _LET_US)


def potential(word: Word) -> Word:
    """Potential form ("can do"), an ichidan verb."""
    return Word(_form(word, _CAN), "ichidan")


def wanting(word: Word) -> Word:
    """Desiderative form ("want to do"), an i-adjective."""
    return Word(stem(word) + "たい", "i")


def progressive(word: Word) -> Word:
    """Progressive or resultative form with ている."""
    return Word(te(word) + "いる", "ichidan")


_DIGITS = "〇一二三四五六七八九"
_LARGEST = 99_999_999


def numeral(number: int) -> str:
    """Number from 1 to 99,999,999 in kanji: 二十三, 千九百, 二百五十万."""
    if not 1 <= number <= _LARGEST:
        raise ValueError(
            f"`number` must be from 1 to {_LARGEST:,} to be written in kanji. Received: {number=}"
        )
    ten_thousands, rest = divmod(number, 10_000)
    start = _below_ten_thousand(ten_thousands) + "万" if ten_thousands else ""
    return start + _below_ten_thousand(rest)


def _below_ten_thousand(number: int) -> str:
    text = ""
    for value, unit in ((1000, "千"), (100, "百"), (10, "十")):
        digit, number = divmod(number, value)
        if digit:
            text += ("" if digit == 1 else _DIGITS[digit]) + unit
    return text + (_DIGITS[number] if number else "")
