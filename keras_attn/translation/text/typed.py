"""Plain form of text as people type it, for training and for the graph.

A translation needs no widths of characters, spaces between Japanese characters, repeated
punctuation, laughter, faces, notes, stars, fillers or drawn-out sounds. The model reads texts
without them.
"""

import re
import unicodedata

import tensorflow as tf

from keras_attn.languages import SCRIPTS, read_language
from keras_attn.translation.text import dates, numbers
from keras_attn.translation.text.characters import Replacements, replace
from keras_attn.translation.text.in_graph import replace_in_graph, replace_words
from keras_attn.translation.text.tables import read_rules

_JAPANESE = "".join(SCRIPTS[name] for name in ("Hiragana", "Katakana", "Han"))
_KANA = SCRIPTS["Hiragana"] + SCRIPTS["Katakana"]
_END = r"([。.!?]*)$"
_SENTENCE_END = "([。.!?]|$)"
# Marks that draw a sound out. Between katakana and in ranges they have another meaning.
_LONG = "[ー〜~]+"
# Eyes and mouths of faces; a face has one of the last, which are rare in other text.
_FACE = "_^;><*´\u0301`\u0300∀ωд▽・ー~〜+°oOT\u3099\u309a -"
_IN_FACES_ONLY = "[_^;>∀ωд▽´\u0301]"
# Adjectives without い that people draw out, and words whose last sound う is written as ー.
_DRAWN_OUT = (
    "すご|やば|なが|さむ|あつ|ねむ|こわ|いた|つら|たか|うま|ひど|はや|ほし|さびし|うれし|かわい|おいし|たのし"
    "|おもしろ"
)
_LONG_STEMS = "うれし|かわい|おいし|たのし|おもしろ"  # no other word ends with one
_WITH_U = "ありがと|おはよ|ほんと|でしょ|だろ|ましょ"
# Ends of sentences; ー after other hiragana may be a part of a word (こーひー).
_LAST_KANA = (
    "[よねなぞのう]|です|ます|ですか|ますか|った|した|いた|んだ|[たなさむし]い|[どそこ]こ|[そこ]れ|だめ"
    "|とに|なに|だれ|いつ|から|けど|かも"
)
_LAUGHS = "爆苦微談失冷嘲大一哄朗"  # 爆笑 and others are words
# 2キロ半 is 2.5キロ, but 半額 and 半分 are words.
_UNIT = (
    "(?:キロ|メートル|センチ|ミリ|マイル|リットル|グラム|トン|インチ|フィート|ヤード|ヘクタール|ダース|ページ"
    "|カップ|パック|[杯個倍畳坪升])+"
)
_HALF = "半([^額分数]|$)"
_AND_A_HALF: Replacements = (
    (f"([0-9])({_UNIT}){_HALF}", r"\1.5\2\3"),
    (f"(^|[^十百千万])({numbers.DIGIT})({_UNIT}){_HALF}", r"\1\2.5\3\4"),
    *((rf"{kanji}\.5", f"{digit}.5") for kanji, digit in numbers.KANJI_TO_DIGITS),
)
# Of Japanese; other languages have no rules.
_PLAIN: Replacements = (
    *((f"([{_JAPANESE}、。])[ \u3000]+([{_JAPANESE}「『(、。!?])", r"\1\2"),) * 2,
    (r"\((?:笑|爆笑|苦笑|泣|涙|汗)\)", ""),
    (rf" *[mヽ\\]?\([{_FACE}]*{_IN_FACES_ONLY}[{_FACE}]+\)[mvノ丿/]?", ""),
    (rf"([^{_LAUGHS}])笑+{_END}", r"\1\2"),
    (rf"([{_JAPANESE}。!?~]) *(?:[wW]+|[zZ]{{2,}}){_END}", r"\1\2"),
    (rf"([{_JAPANESE}])[wW]{{2,}} *([{_JAPANESE}])", r"\1。\2"),
    (rf"([{_JAPANESE}。!?.]) *(?:\^_*\^;*|T_T|;_;|>_?<|orz){_END}", r"\1\2"),
    (rf"([^0-9年月日時分円人歳])[〜~]+{_END}", r"\1\2"),
    (rf"([{_KANA}。!?])[♪♡]+{_SENTENCE_END}", r"\1\2"),
    (rf"([いうかしすたてとねよるんー。!?])[☆★]彡?{_SENTENCE_END}", r"\1\2"),
    (rf"([{_JAPANESE}」])(?:・・+|\.\.+)[。.]*", r"\1..."),
    ("、、+$", "..."),
    ("、、+", "、"),
    ("^(?:え[えーぇ]*っ?とー*|あの[ーう]+|う[ー〜]+ん|え[ー〜]+)[、。,. …]+", ""),
    ("すっ+ご", "すご"),
    (f"({_WITH_U}){_LONG}", r"\1う"),
    (f"(^は|{_DRAWN_OUT}|た|な){_LONG}い", r"\1い"),
    (f"({_LONG_STEMS}){_LONG}{_SENTENCE_END}", r"\1い\2"),
    (f"(^|[^ぁ-ん々一-鿿])({_DRAWN_OUT}){_LONG}{_SENTENCE_END}", r"\1\2い\3"),
    (f"(で|ま){_LONG}す{_SENTENCE_END}", r"\1す\2"),
    (f"({_LAST_KANA}){_LONG}{_SENTENCE_END}", r"\1\2"),
    ("(^|[^ぁ-ん])([そど])ー(で|し[てた]|だ|な[のるっん]|も|い|ぞ|か|や)", r"\1\2う\3"),
    ("もーすぐ", "もうすぐ"),
    ("(^|[はがも、])ちょー", r"\1超"),
    ("([いごしたなまらよわ])[ぃ]+", r"\1い"),
    ("([ねげめ])ぇ+", r"\1え"),
    (f"([よなかさだて])[ぁぇぉ]+{_SENTENCE_END}", r"\1\2"),
    ("([まさはわ])ぁ+", r"\1あ"),
    (f"(です|ます)ぅ+{_SENTENCE_END}", r"\1\2"),
    ("っ{2,}", "っ"),
    (rf"([{_KANA}])っ+([。.!?]+)$", r"\1\2"),
    ("ー{2,}", "ー"),
    ("。{2,}", "。"),
    ("!{2,}", "!"),
    (r"[!?]*\?[!?]*", "?"),
    *_AND_A_HALF,
)

# Text that no rule of `_PLAIN` changes; most texts are such.
_USUAL = re.compile(
    "(?!え|あの|う)(?:[あいうえおか-ぢつ-もゃやゅゆょよ-ん]|[ァ-ヺ]ー?(?![ー半])|(?!笑|[杯個倍畳坪升]半)[々一-鿿]|[0-9\ue000-\ue007「」]"
    "|笑(?![。!?]|$)|っ(?![っご。!?])|、(?!、)|[。!?](?![。!?]))*"
)

# A polite sentence without hiragana and kanji; it is read in hiragana.
_IN_KATAKANA = (
    f"[^{SCRIPTS['Hiragana']}{SCRIPTS['Han']}]{{1,}}(?:デス|[^ス]マス|デシタ|マシタ|マセン|クダサイ|マショウ|デショウ)"
    "(?:カ|ネ|ヨ|ヨネ)?[。.!?]*"
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
        return text
    found = re.sub(dates.ERA_YEAR, lambda year: dates.COMMON_YEARS.get(year[0], year[0]), text)
    if not _USUAL.fullmatch(found):
        found = replace(found, _PLAIN) or text
    return found.translate(TO_HIRAGANA) if re.fullmatch(_IN_KATAKANA, found) else found


def plain_in_graph(texts: tf.Tensor, language: str) -> tf.Tensor:
    """Plain forms as `plain` writes them, of texts that need no `clean_text` before."""
    texts = replace_in_graph(unify_width(texts), _UNITS)
    if read_language(language).noise != "japanese":
        return texts
    found = replace_in_graph(replace_words(texts, dates.ERA_YEAR, dates.COMMON_YEARS), _PLAIN)
    found = tf.where(tf.equal(found, ""), texts, found)
    points = tf.strings.unicode_decode(found, "UTF-8")
    is_katakana = (points >= _KATAKANA.start) & (points < _KATAKANA.stop)
    hiragana = tf.strings.unicode_encode(
        points - _BETWEEN_KANA * tf.cast(is_katakana, tf.int32), "UTF-8"
    )
    return tf.where(tf.strings.regex_full_match(found, _IN_KATAKANA), hiragana, found)


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
