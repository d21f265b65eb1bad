"""Slots in training pairs: the model learns to carry to its place what it must copy."""

from __future__ import annotations

import functools
import re
from collections import Counter

import numpy as np

from keras_attn.languages import code_of
from keras_attn.translation.text import dates, numbers
from keras_attn.translation.text.placeholders import COPIED, SLOTS, has_dates, pattern

# Probability of a slot in the place of a name or of a word that is written alike on both sides.
# Without them, the model would know slots only where a corpus has addresses and placeholders.
SHARE = 0.15

# Names in Japanese and English, as parts of both sentences: how a glossary is used.
NAMES = {
    "トム": "Tom", "メアリー": "Mary", "ジョン": "John", "マイク": "Mike", "アンナ": "Anna",
    "リサ": "Lisa", "ジム": "Jim", "ケン": "Ken", "ビル": "Bill", "ボブ": "Bob",
    "ジェーン": "Jane", "アン": "Ann", "ベティ": "Betty", "エミ": "Emi", "マリア": "Maria",
    "田中": "Tanaka", "鈴木": "Suzuki", "佐藤": "Sato", "高橋": "Takahashi", "伊藤": "Ito",
    "山本": "Yamamoto", "中村": "Nakamura", "小林": "Kobayashi", "加藤": "Kato", "吉田": "Yoshida",
    "山田": "Yamada", "松本": "Matsumoto", "井上": "Inoue", "木村": "Kimura", "林": "Hayashi",
    "清水": "Shimizu", "森": "Mori", "石川": "Ishikawa", "前田": "Maeda", "藤田": "Fujita",
    "岡田": "Okada", "村上": "Murakami", "健太": "Kenta", "花子": "Hanako", "太郎": "Taro",
    "由美": "Yumi", "東京": "Tokyo", "京都": "Kyoto", "大阪": "Osaka", "奈良": "Nara",
    "札幌": "Sapporo", "福岡": "Fukuoka", "名古屋": "Nagoya", "横浜": "Yokohama", "神戸": "Kobe",
    "広島": "Hiroshima", "仙台": "Sendai", "北海道": "Hokkaido", "沖縄": "Okinawa",
    "ボストン": "Boston", "ロンドン": "London", "パリ": "Paris", "ニューヨーク": "New York",
    "アメリカ": "America", "ドイツ": "Germany", "フランス": "France", "イタリア": "Italy",
    "カナダ": "Canada", "オーストラリア": "Australia",
}  # fmt: skip
_NAMES = {("ja", "en"): NAMES, ("en", "ja"): {name: ja for ja, name in NAMES.items()}}
_WORD = "[A-Z][0-9A-Za-z]+"
_COPIED, _DATE, _NUMBER, _LEFT_IN_TEXT = map(
    re.compile,
    (COPIED, dates.DATE, numbers.NUMBER, f"{dates.NO_DATE}|{numbers.LEFT_IN_TEXT}"),
)
_ORDINAL = re.compile("^(?:st|nd|rd)\\b")


@functools.cache
def _span(languages: tuple[str, str]) -> re.Pattern:
    """Pattern of what may become a slot, and of what is left in the text."""
    longest_first = sorted(map(re.escape, _NAMES.get(languages, ())), key=len, reverse=True)
    return re.compile(pattern(languages[1], "|".join((*longest_first, _WORD))))


def with_slots(
    source: str, target: str, languages: tuple[str, str], random: np.random.Generator
) -> tuple[str, str]:
    """Put slots in the place of what both sides of a pair hold once.

    Spans that a translation copies, numbers and dates always become slots; names, and words with a
    capital letter that are written alike on both sides, with probability `SHARE`.

    Args:
        source: Sentence.
        target: Its translation.
        languages: Language codes of both sides. Names are known in Japanese and English.
        random: Random generator.

    Example:

    >>> pair = ("{name}さん、おはよう。", "Good morning, {name}.")
    >>> source, target = with_slots(*pair, ("ja", "en"), np.random.default_rng(0))
    >>> source[0] in SLOTS, source[0] == target[-2], source[1:]
    (True, True, 'さん、おはよう。')
    """
    languages = (code_of(languages[0]), code_of(languages[1]))
    slots_left: list[int] | None = None  # in random order, drawn for pairs with a span only
    matches = list(_span(languages).finditer(source))
    counts = Counter(match[0] for match in matches)
    for match in reversed(matches):
        span = match[0]
        found = _translation(span, target, languages, random)
        if not found or counts[span] > 1:
            continue
        if slots_left is None:
            slots_left = random.permutation(len(SLOTS)).tolist()
        if not slots_left:
            break
        slot = SLOTS[slots_left.pop()]
        kind = dates.kind(span) if _is_date(span, languages) else ""
        source = source[: match.start()] + slot + kind + source[match.end() :]
        # The period after "p.m" also ends the sentence.
        end = found.end() - (kind != "" and found.end() == len(target) and target.endswith("."))
        # The exported model writes the ending that the number in the slot has.
        target = target[: found.start()] + slot + _ORDINAL.sub("th", target[end:], count=1)
    return source, target


def _translation(
    span: str, target: str, languages: tuple[str, str], random: np.random.Generator
) -> re.Match | None:
    """The only translation of a span in the target, or None if it is not to become a slot."""
    is_date = _is_date(span, languages)
    if span in SLOTS or (_LEFT_IN_TEXT.fullmatch(span) and not is_date):
        return None
    if is_date:
        ways = _alone(dates.ways_to_write(span))
    elif _COPIED.fullmatch(span):
        ways = _whole(span)
    elif _NUMBER.fullmatch(span):
        ways = "|".join(map(_whole, {span, *numbers.ways_to_write(span)}))
    elif random.random() < SHARE:
        ways = _whole(_NAMES.get(languages, {}).get(span, span))
    else:
        return None
    found = list(re.finditer(ways, target))
    return found[0] if len(found) == 1 else None


def _is_date(span: str, languages: tuple[str, str]) -> bool:
    return has_dates(languages[1]) and _DATE.fullmatch(span) is not None


def _alone(date: str) -> str:
    """Pattern of a date that is no part of a longer word or number."""
    return rf"(?<![0-9A-Za-z.,:])(?:{date})(?![0-9A-Za-z]|[.,:][0-9])"


def _whole(text: str) -> str:
    """Pattern of a text that is no part of a longer word or number."""
    before = r"(?<![0-9A-Za-z.,])" if text[0].isalnum() else ""
    after = r"(?![0-9]|[.,][0-9])" if text[-1].isdigit() else ""
    return before + re.escape(text) + (r"(?![0-9A-Za-z])" if text[-1].isalpha() else after)
