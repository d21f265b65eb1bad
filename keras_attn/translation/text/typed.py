"""Plain form of text as people type it, for training and for the graph.

Width of characters, spaces between Japanese characters, repeated punctuation, laughter and fillers
say nothing that a translation needs. The model reads texts without them.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from keras_attn.languages import SCRIPTS, read_language
from keras_attn.translation.text import dates
from keras_attn.translation.text.characters import Replacements, replace, replace_in_graph

if TYPE_CHECKING:
    import tensorflow as tf

_JAPANESE = "".join(SCRIPTS[name] for name in ("Hiragana", "Katakana", "Han"))
_KANA = SCRIPTS["Hiragana"] + SCRIPTS["Katakana"]
_END = r"([。.!?]*)$"
# By `Language.noise`.
_PLAIN: dict[str, Replacements] = {
    "japanese": (
        *((f"([{_JAPANESE}、。])[ \u3000]+([{_JAPANESE}「『（])", r"\1\2"),) * 2,
        (r"\((?:笑|爆笑|苦笑|泣|涙|汗)\)", ""),
        (rf"([{_JAPANESE}。!?])(?: *[wW]+|笑+){_END}", r"\1\2"),
        ("^(?:え[えーぇ]*っ?と|あの[ーう]+|うー+ん)[、。,. …ー]+", ""),
        (rf"[〜~]+{_END}", r"\1"),
        (rf"([{_KANA}])っ+([。.!?]+)$", r"\1\2"),
        ("ー{2,}", "ー"),
        ("。{2,}", "。"),
        ("!{2,}", "!"),
        (r"[!?]*\?[!?]+", "?"),
    ),
}

_FULL_WIDTH = range(0xFF01, 0xFF5F)  # ASCII
_HALF_WIDTH = range(0xFF61, 0xFFA0)  # kana and the marks of voiced sounds
_VOICED, _SEMI_VOICED = 0xFF9E, 0xFF9F
# Characters of other widths that become two.
_UNITS: Replacements = (("℃", "°C"), ("℉", "°F"))


def plain(text: str, language: str) -> str:
    """Plain form of a text after `clean_text`.

    >>> plain("えっと、明日 は休みですー!!!(笑)", "ja")
    '明日は休みですー!'
    """
    rules = _PLAIN.get(read_language(language).noise, ())
    if not rules:
        return text
    found = replace(re.sub(dates.ERA_YEAR, lambda year: dates.common_year(year[0]), text), rules)
    return found or text


def plain_in_graph(texts: tf.Tensor, language: str) -> tf.Tensor:
    """Plain forms as `plain` writes them, of texts that need no `clean_text` before."""
    import tensorflow as tf

    texts = replace_in_graph(unify_width(texts), _UNITS)
    rules = _PLAIN.get(read_language(language).noise, ())
    if not rules:
        return texts
    found = replace_in_graph(dates.common_years_in_graph(texts), rules)
    return tf.where(tf.equal(found, ""), texts, found)


def unify_width(texts: tf.Tensor) -> tf.Tensor:
    """Texts with ASCII and kana in their usual widths, as NFKC writes them, in the graph."""
    import tensorflow as tf

    points = tf.strings.unicode_decode(texts, "UTF-8")
    point, row = points.flat_values, points.value_rowids()
    following = tf.concat([tf.where(row[1:] == row[:-1], point[1:], 0), [0]], 0)[: tf.size(point)]
    place = tf.clip_by_value(point - _HALF_WIDTH.start, 0, len(_HALF_WIDTH) - 1)
    is_half = place + _HALF_WIDTH.start == point
    kana = tf.gather(_kana(""), place)
    for mark in (_VOICED, _SEMI_VOICED):
        kana = tf.where(following == mark, tf.gather(_kana(chr(mark)), place), kana)
    is_joined = is_half & (kana != tf.gather(_kana(""), place))
    is_full = (point >= _FULL_WIDTH.start) & (point < _FULL_WIDTH.stop)
    ascii_point = point - _FULL_WIDTH.start + ord("!")
    usual = tf.where(is_half, kana, tf.where(is_full, ascii_point, point))
    usual = tf.where(point == 0x3000, ord(" "), usual)
    is_kept = ~tf.pad(is_joined, [[1, 0]])[: tf.size(point)]
    usual = tf.ragged.boolean_mask(points.with_flat_values(usual), points.with_flat_values(is_kept))
    return tf.strings.unicode_encode(usual, "UTF-8")


def _kana(mark: str) -> list[int]:
    """Code point of each character of half width with a mark, or without where none fits."""
    whole = [unicodedata.normalize("NFKC", chr(point) + mark) for point in _HALF_WIDTH]
    return [ord(text[0]) for text in whole]
