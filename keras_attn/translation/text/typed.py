"""Plain form of text as people type it, for training and for the graph.

A translation needs no widths of characters, spaces between Japanese characters, repeated
punctuation, laughter, faces, notes, stars, fillers or drawn-out sounds. The model reads texts
without them.
"""

import re
import unicodedata

import tensorflow as tf

from keras_attn.languages import SCRIPTS, code_of, read_language
from keras_attn.translation.text import dates
from keras_attn.translation.text.characters import replace
from keras_attn.translation.text.in_graph import replace_in_graph, replace_words
from keras_attn.translation.text.tables import read_rules

# Of Japanese, and of English; other languages have no rules.
_PLAIN = read_rules("plain Japanese")
_PLAIN_ENGLISH = read_rules("plain English")
_NUMBER_IN_ENGLISH = re.compile("[0-9]|thousand|illion|alf-past")  # no rule changes other text
# English text in capitals, and text that begins with a small letter.
_IN_CAPITALS = "[A-Z][A-Z',.!? -]*[A-Z]{2}[A-Z',.!? -]*"
_SMALL = "[a-z]+[ ,'].*"
# Text that no rule of `_PLAIN` changes; most texts are such.
_USUAL = re.compile(
    "(?!え|あの|う)(?:[あいうえおか-ぢつ-もゃやゅゆょよ-ん]|[ァ-ヺ]ー?(?![ー半])|(?!笑|[杯個倍畳坪升]半)[々一-鿿]|[0-9\ue000-\ue007「」]"
    "|笑(?![。!?]|$)|っ(?![っご。!?])|、(?!、)|[。!?](?![。!?]))*"
)

# A polite sentence without hiragana and kanji; it is read in hiragana. Names end with デス and マス
# too, but not after a sound of verbs.
_NEITHER = f"[^{SCRIPTS['Hiragana']}{SCRIPTS['Han']}]"
_IN_KATAKANA = (
    f"(?:{_NEITHER}+(?:(?:デス|[^ス]マス)(?:カ|ネ|ヨ|ヨネ)"
    "|(?:[イキギシジチニビミリエケゲセテネベメレ]マス|デシタ|マシタ|マセン|クダサイ|マショウ|デショウ)"
    "(?:カ|ネ|ヨ|ヨネ)?)"
    f"|{_NEITHER}{{2,}}[ハヲ]{_NEITHER}{{2,}}(?:デス|[^ス]マス))[。.!?]*"
)
_KATAKANA = range(ord("ァ"), ord("ヶ") + 1)
_BETWEEN_KANA = ord("ァ") - ord("ぁ")  # distance to the same sound in hiragana
TO_HIRAGANA = {point: point - _BETWEEN_KANA for point in _KATAKANA}

_FULL_WIDTH = range(0xFF01, 0xFF5E)  # ASCII without "~": Windows types U+FF5E for the wave dash
_HALF_WIDTH = range(0xFF61, 0xFFA0)  # kana and the marks of voiced sounds
_VOICED, _SEMI_VOICED = 0xFF9E, 0xFF9F
# Characters of other widths that become several, as in NFKC.
_UNITS = read_rules("characters of other widths")


def plain(text: str, language: str) -> str:
    """Plain form of a text after `clean_text`.

    >>> plain("えっと、明日 は休みですー!!!(笑)", "ja")
    '明日は休みです!'
    """
    if read_language(language).noise != "japanese":
        may_change = code_of(language) == "en" and _NUMBER_IN_ENGLISH.search(text)
        return replace(text, _PLAIN_ENGLISH) if may_change else text
    found = re.sub(dates.ERA_YEAR, lambda year: dates.COMMON_YEARS.get(year[0], year[0]), text)
    if not _USUAL.fullmatch(found):
        found = replace(found, _PLAIN) or text
    return found.translate(TO_HIRAGANA) if re.fullmatch(_IN_KATAKANA, found) else found


def plain_in_graph(texts: tf.Tensor, language: str) -> tf.Tensor:
    """Plain forms as `plain` writes them, of texts that need no `clean_text` before."""
    texts = replace_in_graph(unify_width(texts), _UNITS)
    if read_language(language).noise != "japanese":
        return replace_in_graph(texts, _PLAIN_ENGLISH) if code_of(language) == "en" else texts
    found = replace_in_graph(replace_words(texts, dates.ERA_YEAR, dates.COMMON_YEARS), _PLAIN)
    found = tf.where(tf.equal(found, ""), texts, found)
    points = tf.strings.unicode_decode(found, "UTF-8")
    is_katakana = (points >= _KATAKANA.start) & (points < _KATAKANA.stop)
    hiragana = tf.strings.unicode_encode(
        points - _BETWEEN_KANA * tf.cast(is_katakana, tf.int32), "UTF-8"
    )
    return tf.where(tf.strings.regex_full_match(found, _IN_KATAKANA), hiragana, found)


def usual_case_in_graph(texts: tf.Tensor, language: str) -> tf.Tensor:
    """English texts `(B,)` with the capitals of print: GOOD MORNING becomes Good morning.

    A single word stays: it is known as dictionaries write it, or may be a name.
    """
    if code_of(language) != "en":
        return texts
    matches = tf.strings.regex_full_match
    is_shouted = matches(texts, _IN_CAPITALS) & matches(texts, ".*[A-Z][ ,.!?-]+[A-Z].*")
    texts = tf.where(is_shouted, tf.strings.lower(texts), texts)
    texts = tf.strings.regex_replace(texts, r"(^|[ (])i($|[ ',!?)]|\.$)", r"\1I\2")
    first = tf.strings.upper(tf.strings.substr(texts, 0, 1))
    rest = tf.strings.regex_replace(texts, "(?s)^.", "")
    return tf.where(matches(texts, _SMALL), tf.strings.join([first, rest]), texts)


def unify_width(texts: tf.Tensor) -> tf.Tensor:
    """Texts with ASCII and kana in their usual widths, as NFKC writes them, in the graph."""
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
