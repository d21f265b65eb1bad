"""Segmentation of text into sentences, and of sentences into parts that the model can read."""

from typing import NamedTuple

import tensorflow as tf

from keras_attn.languages import SCRIPTS, read_language
from keras_attn.translation.text.in_graph import replace_in_graph
from keras_attn.translation.text.kinds import COPIED, EMOJI, TAG
from keras_attn.translation.text.placeholders import PLACEHOLDERS, without_marks

# Separates sentences while they are found. Removed from given texts first.
SEPARATOR = "\x1f"

_MARKS = "。！？!?｡"
_CLOSING = "[」』）)】〉》\"'”’]"
_SPACE = "[\\s\u3000\u00a0]"
# Text in Japanese brackets belongs to the sentence around it, with one level of brackets inside.
_QUOTED = (
    r"「(?:[^「」\r\n]|「[^「」\r\n]*」)*」|『[^『』\r\n]*』|（[^（）\r\n]*）|【[^【】\r\n]*】"
)
# Full stops and other marks that end no sentence: abbreviations, initials, numbers of lists, and
# marks within words and numbers.
_WITHIN = (
    r"\b(?:Mrs?|Ms|Dr|Prof|St|Mt|No|Nos|Vol|Fig|vs|etc|approx|Inc|Ltd|Co|Jr|Sr|e\.g|i\.e|a\.m|p\.m"
    r"|U\.S|U\.K|[A-Z])\."
    rf"|\b[0-9]{{1,2}}\.|\.+[^\s.<{_MARKS}」』）)】〉》\"'”’]|[!?]+[0-9A-Za-z]"
)
_CLOSING_TAG = r"</[A-Za-z][^<>\r\n]*>"
_AFTER = f"(?:{_SPACE}|{EMOJI}|{_CLOSING_TAG})*"
_END = (
    rf"[{_MARKS}]+{_CLOSING}*{_AFTER}|\.+{_CLOSING}*(?:(?:\s|{_CLOSING_TAG}){_AFTER}|\z)"
    rf"|[\r\n]{_AFTER}|\z"
)
# Marks of lists, headings, quotations and notes at the beginning of a line.
_LIST_MARK = (
    rf"[・‣•■□●○◆◇▲△▼▽▶►◎※→⇒①-⑳]|[-–—*#+>=~]{{1,6}}{_SPACE}|[0-9]{{1,3}}[.．]{_SPACE}"
    rf"|[0-9]{{1,3}}[)）]|[(（][0-9]{{1,3}}[)）]|[A-Za-z][)）]{_SPACE}"
    rf"|Q[0-9]{{0,3}}[:：.．]{_SPACE}?|A[0-9]{{0,3}}(?:[:：．]{_SPACE}?|\.{_SPACE})"
)
_BEFORE = f"(?:{_SPACE}|{EMOJI}|{TAG}|{_LIST_MARK})*"
# Who speaks, or what a line is about: 田中：, 【重要】.
_LABEL = (
    rf"(^|[{SEPARATOR}])({_BEFORE}(?:[^\s:：<>【】{SEPARATOR}]{{1,11}}[^\s:：<>【】{SEPARATOR}0-9０-９](?:：|:{_SPACE})"
    rf"|【[^【】\r\n{SEPARATOR}]{{1,30}}】))"
)
# The same in other forms: 注）, [Important], and a name before all that is said: 母「はい。」
_NOTE = rf"(^|[{SEPARATOR}])({_BEFORE}(?:注意?|例|参考|備考|補足)[0-9]?)[)）]{_SPACE}*"
_BRACKETED = (
    rf"(^|[{SEPARATOR}])({_BEFORE})\[([A-Z][^\[\]\r\n{SEPARATOR}]{{0,30}})\]{_SPACE}+([A-Z])"
)
_SPEAKER = (
    rf"(^|[{SEPARATOR}])({_BEFORE}[々一-鿿ァ-ヺー]{{1,8}})"
    rf"(「[^「」\r\n{SEPARATOR}]+」\s*(?:{SEPARATOR}|\z))"
)
# A sentence with more tags than there are placeholders is split.
_MANY_TAGS = rf"((?:[^<{SEPARATOR}]*<[^<>{SEPARATOR}]+>){{{len(PLACEHOLDERS)}}})"
_SENTENCE = rf"(?:{COPIED}|{_QUOTED}|{_WITHIN}|[^{_MARKS}.\r\n])*(?:{_END})"
# A quotation that is a sentence, unless the sentence goes on: 「はい。」と言う.
_QUOTATION = (
    rf"([{_MARKS}][」』])({_SPACE}*[^\s\p{{Hiragana}}、，,.・ー―…{_MARKS}」』）){SEPARATOR}])"
)
# Puts `SEPARATOR` after each sentence, label and speaker.
_SEPARATE = (
    (SEPARATOR, " "),
    (_SENTENCE, rf"\0{SEPARATOR}"),
    (_QUOTATION, rf"\1{SEPARATOR}\2"),
    (_NOTE, rf"\1\2：{SEPARATOR}"),
    (_BRACKETED, r"\1\2【\3】\4"),
    *((_SPEAKER, rf"\1\2：{SEPARATOR}\3"),) * 2,  # each time, every other line of a dialogue
    (_LABEL, rf"\1\2{SEPARATOR}"),
    (_MANY_TAGS, rf"\1{SEPARATOR}"),
)

# End of a label, and of a heading that is also marked after it: --- 2 ---
_END_MARK = rf"(?:[:：】]{_SPACE}*|{_SPACE}[-=*#~]{{1,6}}{_SPACE}*)?"
_WITH_BREAK = r"(?s).*[\r\n].*"


class Sentences(NamedTuple):
    """Sentences of several texts, in their order; each field is `(N,)`."""

    text: tf.Tensor  # sentences without the space and emoji around them
    # Line breaks, emoji, tags and marks of lists around each sentence, as given.
    before: tf.Tensor
    after: tf.Tensor
    owner: tf.Tensor  # index of the text of each sentence, int64, in ascending order


def split(texts: tf.Tensor) -> Sentences:
    """Split texts at the ends of sentences, at line breaks, and after labels.

    Numbers, abbreviations, addresses and file names are not split, and text in Japanese brackets
    stays with the sentence around it.

    >>> found = split(tf.constant(["猫だ。「はい。」と言う。\\n3.5 cm."]))
    >>> [text.decode() for text in found.text.numpy()], found.after.numpy()[1]
    (['猫だ。', '「はい。」と言う。', '3.5 cm.', ''], b'\\n')
    """
    chunks = tf.strings.split(replace_in_graph(texts, _SEPARATE), SEPARATOR)
    chunk, owner = chunks.flat_values, chunks.value_rowids()
    whole = rf"(?s)^({_BEFORE}【?)(.*?)({_END_MARK}{_AFTER})$"
    before, text, after = (
        tf.strings.regex_replace(chunk, whole, group) for group in (r"\1", r"\2", r"\3")
    )
    return Sentences(text, _kept(before), _kept(after), owner)


def join(
    sentences: Sentences, translations: tf.Tensor, num_texts: tf.Tensor, between: str
) -> tf.Tensor:
    """Join `K` translations of each sentence, `(N, K)`, to those of the texts, `(num_texts, K)`.

    `between` separates two sentences without a line break between them.
    """
    text, before, after, owner = sentences
    # The text after the last mark of a text is empty, and so is text between two line breaks.
    is_text = tf.not_equal(text, "")
    has_next = tf.concat([(owner[1:] == owner[:-1]) & is_text[1:], [False]], 0)[: tf.size(text)]
    is_open = ~tf.strings.regex_full_match(after, _WITH_BREAK)
    is_label = tf.strings.regex_full_match(after, "(?s)[:：】].*")[:, None]
    label = tf.strings.regex_replace(translations, "[.。]$", "")
    first = tf.strings.regex_replace(label, "(?s)^([a-z]?).*", r"\1")
    rest = tf.strings.regex_replace(label, "^[a-z]", "")
    label = tf.strings.join([tf.strings.upper(first), rest])
    translations = tf.where(is_label, label, translations)
    if between:  # the mark of the language
        after = replace_in_graph(after, ((f"^[:：]{_SPACE}?", ":"), (f"^】{_SPACE}?", "]")))
        before = tf.strings.regex_replace(before, "【$", "[")
    after = tf.strings.join([after, tf.where(is_text & has_next & is_open, between, "")])
    before, after = (
        tf.repeat(part[:, None], tf.shape(translations)[1], 1) for part in (before, after)
    )
    joined = tf.strings.join([before, translations, after])
    return tf.strings.unsorted_segment_join(joined, owner, num_texts)


def is_in_language(texts: tf.Tensor, language: str) -> tf.Tensor:
    """Whether texts hold a letter of the language, boolean `(B,)`.

    Of a language without known scripts, text holds a letter or digit of any script.
    """
    row = read_language(language)
    letters = row.letters or r"\p{L}\p{N}"
    is_in_language = tf.strings.regex_full_match(texts, rf"(?s).*[{letters}].*")
    if not row.unused_han:
        return is_in_language
    kana = "".join(SCRIPTS[script] for script in row.scripts if script != "Han")
    no_other = f"[^{row.unused_han}]*|(?s:.*[{kana}].*)"
    return is_in_language & tf.strings.regex_full_match(texts, no_other)


def has_words(texts: tf.Tensor) -> tf.Tensor:
    """Whether texts, or masked texts, hold a letter outside of what is copied, boolean `(B,)`."""
    texts = tf.strings.regex_replace(without_marks(texts), COPIED, "")
    return tf.strings.regex_full_match(texts, r"(?s).*\p{L}.*")


def parts(pieces: tf.RaggedTensor, limit: int) -> tuple[tf.RaggedTensor, tf.Tensor]:
    """Split sentences of piece ids `(N, pieces)` every `limit` pieces, which is at least 1.

    Returns piece ids `(parts, pieces)` and the index of the sentence of each part, int64
    `(parts,)`, in ascending order. A sentence without pieces has no parts.
    """
    lengths = pieces.row_lengths()
    counts = (lengths + limit - 1) // limit
    index = tf.ragged.range(counts)
    left = lengths[:, None] - limit * index
    sizes = tf.minimum(left, limit).flat_values
    chunks = tf.RaggedTensor.from_row_lengths(pieces.flat_values, sizes)
    return chunks, tf.repeat(tf.range(pieces.nrows()), counts)


def _kept(around: tf.Tensor) -> tf.Tensor:
    """Space around sentences that holds line breaks or emoji; other space is left out."""
    is_space = tf.strings.regex_full_match(around, f"{_SPACE}*")
    is_kept = ~is_space | tf.strings.regex_full_match(around, _WITH_BREAK)
    return tf.where(is_kept, around, "")
