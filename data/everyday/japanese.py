"""Inflection of Japanese verbs and adjectives."""

import re
from functools import cache
from importlib import resources
from typing import NamedTuple

# Godan endings in the order of the kana table: negative, stem, conditional, volitional.
_ROWS = {
    "う": ("わ", "い", "え", "お"),
    "く": ("か", "き", "け", "こ"),
    "ぐ": ("が", "ぎ", "げ", "ご"),
    "す": ("さ", "し", "せ", "そ"),
    "つ": ("た", "ち", "て", "と"),
    "ぬ": ("な", "に", "ね", "の"),
    "ぶ": ("ば", "び", "べ", "ぼ"),
    "む": ("ま", "み", "め", "も"),
    "る": ("ら", "り", "れ", "ろ"),
}
_TE = {
    "う": "って",
    "つ": "って",
    "る": "って",
    "く": "いて",
    "ぐ": "いで",
    "す": "して",
    "ぬ": "んで",
    "ぶ": "んで",
    "む": "んで",
}
VERB_KINDS = frozenset({"godan", "ichidan", "suru", "kuru", "iku", "aru"})
ADJECTIVE_KINDS = frozenset({"i", "ii", "na", "noun"})


class Word(NamedTuple):
    """Word, or phrase that ends in an inflected word, in the dictionary form.

    Args:
        text: Dictionary form; na-adjectives and nouns without な and だ.
        kind: Inflection class, a member of `VERB_KINDS` or `ADJECTIVE_KINDS`; "ii" for いい and
            words that end in いい.
    """

    text: str
    kind: str

    def after(self, prefix: str) -> "Word":
        return Word(prefix + self.text, self.kind)


# る after these is an ichidan verb, unless it ends one of the exceptions.
_ICHIDAN = re.compile("[えけげせぜてでねへべめれいきぎしじちにひびみり見着寝出得煮似経居]る$")
_GODAN_IN_KANA = re.compile("(かえ|はい|はし|しゃべ|すべ|にぎ|まい)る$")


@cache
def _na_adjectives() -> tuple[str, ...]:
    """Adjectives with な, without which だ is after a noun."""
    path = resources.files("keras_attn_data.everyday") / "na_adjectives.tsv"
    return tuple(path.read_text(encoding="utf-8").split()[1:])


def word(text: str) -> Word:
    """Word of a dictionary form: 飲む, 高い, 静かだ, 学生だ; a verb in ない is an adjective.

    Raises:
        ValueError: If the text ends in no dictionary form.
    """
    if text.endswith("だ"):
        base = text[:-1]
        return Word(base, "na" if base.endswith(_na_adjectives()) else "noun")
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
    if text[-1:] in _ROWS:
        return Word(text, "godan")
    raise ValueError(
        "A predicate must be a dictionary form: a verb, an adjective in い, or a noun or adjective "
        f"with だ. Received: {text!r}."
    )


def is_verb(word: Word) -> bool:
    return word.kind in VERB_KINDS


def _row(word: Word, column: int) -> str:
    return word.text[:-1] + _ROWS[word.text[-1]][column]


def _irregular(word: Word, suru: str, kuru: str) -> str:
    """Irregular verb with the last two characters replaced: する, 来る (来 keeps its kanji)."""
    return word.text[:-2] + (suru if word.kind == "suru" else "来" + kuru)


def stem(word: Word) -> str:
    """Stem: before ます, たい and ながら; for adjectives, before すぎる and そう."""
    if word.kind in ("suru", "kuru"):
        return _irregular(word, "し", "")
    if word.kind in ("godan", "iku", "aru"):
        return _row(word, 1)
    if word.kind in ("ichidan", "i", "ii"):
        return word.text[:-1]
    return word.text


def negative_stem(word: Word) -> str:
    """Negative stem: before ない and なければ."""
    if word.kind in ("suru", "kuru"):
        return _irregular(word, "し", "")
    if word.kind == "ichidan":
        return word.text[:-1]
    if word.kind == "aru":
        return word.text[:-2]
    return _row(word, 0)


def te(word: Word) -> str:
    if word.kind == "i":
        return word.text[:-1] + "くて"
    if word.kind == "ii":
        return word.text[:-2] + "よくて"
    if word.kind in ("na", "noun"):
        return word.text + "で"
    if word.kind in ("suru", "kuru"):
        return _irregular(word, "して", "て")
    if word.kind == "ichidan":
        return word.text[:-1] + "て"
    if word.kind == "iku":
        return word.text[:-1] + "って"
    return word.text[:-1] + _TE[word.text[-1]]


def adverb(word: Word) -> str:
    """Adverbial form, before なる and する: 高く, よく, 静かに."""
    if word.kind == "i":
        return word.text[:-1] + "く"
    if word.kind == "ii":
        return word.text[:-2] + "よく"
    return word.text + "に"


def plain(word: Word, past: bool = False, negative: bool = False) -> str:
    """Plain form: ends casual sentences and most subordinate clauses."""
    if word.kind in ("na", "noun"):
        if negative:
            return word.text + ("ではなかった" if past else "ではない")
        return word.text + ("だった" if past else "だ")
    if word.kind in ("i", "ii"):
        base = adverb(word)
        if negative:
            return base + ("なかった" if past else "ない")
        return base[:-1] + "かった" if past else word.text
    if negative:
        return negative_stem(word) + ("なかった" if past else "ない")
    if past:
        body = te(word)
        return body[:-1] + ("だ" if body.endswith("で") else "た")
    return word.text


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


def finish(word: Word, is_polite: bool, past: bool = False, negative: bool = False) -> str:
    return (polite if is_polite else plain)(word, past, negative)


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
    if word.kind in ("i", "ii"):
        return adverb(word)[:-1] + "ければ"
    if word.kind in ("na", "noun"):
        return word.text + "なら"
    if word.kind in ("suru", "kuru"):
        return _irregular(word, "すれば", "れば")
    if word.kind == "ichidan":
        return word.text[:-1] + "れば"
    return _row(word, 2) + "ば"


def tara(word: Word, negative: bool = False) -> str:
    return plain(word, past=True, negative=negative) + "ら"


def volitional(word: Word) -> str:
    """Plain volitional form: 飲もう."""
    if word.kind in ("suru", "kuru"):
        return _irregular(word, "しよう", "よう")
    if word.kind == "ichidan":
        return word.text[:-1] + "よう"
    return _row(word, 3) + "う"


def potential(word: Word) -> Word:
    """Potential form ("can do"), an ichidan verb."""
    if word.kind == "suru":
        return Word(word.text[:-2] + "できる", "ichidan")
    if word.kind == "kuru":
        return Word(word.text[:-1] + "られる", "ichidan")
    if word.kind == "ichidan":
        return Word(word.text[:-1] + "られる", "ichidan")
    return Word(_row(word, 2) + "る", "ichidan")


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
    return (_below_ten_thousand(ten_thousands) + "万" if ten_thousands else "") + (
        _below_ten_thousand(rest)
    )


def _below_ten_thousand(number: int) -> str:
    text = ""
    for value, unit in ((1000, "千"), (100, "百"), (10, "十")):
        digit, number = divmod(number, value)
        if digit:
            text += ("" if digit == 1 else _DIGITS[digit]) + unit
    return text + (_DIGITS[number] if number else "")


def count(number: int, counter: str) -> str:
    """Number with counter: 三冊, 一つ, 二人."""
    return numeral(number) + counter
