"""Slots in training pairs: the model learns to carry to its place what it must copy."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from keras_attn.translation.corpus.cleaning import Pair
from keras_attn.translation.corpus.slices import Part
from keras_attn.translation.tokenization.copied import SLOTS, spans

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
_LANGUAGES = {"ja", "en"}
_NAME = {
    "ja": re.compile("|".join(sorted(map(re.escape, NAMES), key=len, reverse=True))),
    "en": re.compile(rf"\b(?:{'|'.join(map(re.escape, NAMES.values()))})\b"),
}
_TRANSLATED = {"ja": NAMES, "en": {english: name for name, english in NAMES.items()}}
_WORD = re.compile(r"[A-Z][0-9A-Za-z]+")


def with_slots(pair: Pair, languages: tuple[str, str], random: np.random.Generator) -> Pair:
    """Put slots in the place of what both sides of a pair hold once.

    Spans that a translation copies always become slots; names, and words with a capital letter that
    are written alike on both sides, with probability `SHARE`.

    Args:
        pair: Sentence and translation.
        languages: Language codes of both sides. Names are known in Japanese and English.
        random: Random generator.

    Example:

    >>> pair = Pair("{name}さん、おはよう。", "Good morning, {name}.")
    >>> new = with_slots(pair, ("ja", "en"), np.random.default_rng(0))
    >>> new.source[0] in SLOTS, new.source[0] == new.target[-2], new.source[1:]
    (True, True, 'さん、おはよう。')
    """
    words = {word: word for word in _WORD.findall(pair.source)}
    if set(languages) == _LANGUAGES:
        translated = _TRANSLATED[languages[0]]
        words |= {name: translated[name] for name in _NAME[languages[0]].findall(pair.source)}
    found = {span: span for span in spans(pair.source)}
    found |= {word: words[word] for word in words if random.random() < SHARE}
    if not found:
        return pair
    source, target = pair
    order = random.permutation(len(SLOTS))
    for number, (span, translation) in zip(order, found.items(), strict=False):
        if source.count(span) == 1 and target.count(translation) == 1:
            slot = SLOTS[number]
            source, target = source.replace(span, slot), target.replace(translation, slot)
    return Pair(source, target)


def in_part(part: Part, languages: tuple[str, str], seed: int | Sequence[int]) -> Part:
    """Part with slots in its pairs; the same seed gives the same slots."""
    random = np.random.default_rng(seed)
    return part._replace(pairs=[with_slots(pair, languages, random) for pair in part.pairs])
