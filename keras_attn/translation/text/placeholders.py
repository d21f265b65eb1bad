"""Placeholders: characters in the place of text that a translation copies or writes by a rule.

Addresses, tags, numbers, dates and given terms become placeholders, which the model learns to carry
to their places. After the search, the value of each takes its place. So a model that has seen
little text does not misspell an address and drops no digit of a number.

Each kind of such spans is a row of `KINDS`. Training (`training_placeholders.py`) and the graph
find, classify and mask spans by these rows.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from keras_attn.languages import read_language
from keras_attn.translation.text import dates, numbers
from keras_attn.translation.text.characters import Replacements, replace_in_graph

if TYPE_CHECKING:
    import tensorflow as tf

# Characters for private use; each is a piece of its own in every tokenizer.
PLACEHOLDERS = tuple(chr(0xE000 + i) for i in range(8))

EMOJI = (
    "[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"
    "[\u200d\ufe0f\u2600-\u27bf\U0001f000-\U0001faff\U000e0020-\U000e007f]*"
)


class Kind(NamedTuple):
    """Kind of spans: what it looks like, and what becomes of it."""

    name: str  # for readers and tests
    pattern: str  # regular expression, for Python and RE2 alike
    # Function from a span to a regular expression of its translations; training masks a span that
    # has one translation. None for spans that are left in the text: they are found so that no part
    # of them is another span.
    ways: Callable[[str], str] | None = numbers.whole
    # How a language writes the span, by `Language.numbers`. Other languages copy the span.
    replacements: Mapping[str, Replacements] = {}
    mark: str = ""  # text that stays after the placeholder
    before: str = ""  # regular expression of the beginning of the text after the span
    targets: str = ""  # `Language.numbers` of the target languages that have this kind; or all


_COPIED = (
    Kind("web address", r"(?:https?://|www\.)[!-~]*[0-9A-Za-z/#=_-]"),
    Kind("e-mail address", r"[0-9A-Za-z._%+-]+@[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)+"),
    Kind("mention", r"[@#][0-9A-Za-z_]+"),  # and hashtag
    # {{name}}, ${name}, {name}
    Kind("template", r"\{\{[^{}\r\n]{1,60}\}\}|\$?\{[^{}\r\n]{0,60}\}"),
    Kind("format", r"%(?:\([0-9A-Za-z_]+\)|[0-9]+\$)?[0-9.]*[sdifx@]"),  # %s, %(name)s, %1$d
    Kind("tag", r"</?[A-Za-z][^<>\r\n]{0,200}>|&[A-Za-z]{2,8};|&#[0-9]{1,7};"),  # and entity
    Kind("code", r"`[^`\r\n]{1,200}`"),
    Kind("path", r"(?:[A-Za-z]:)?(?:[\\/][A-Za-z_.~][0-9A-Za-z_.~-]*){2,}"),
    Kind("file", r"[0-9A-Za-z_-]+(?:\.[0-9A-Za-z_-]+)*\.[A-Za-z][0-9A-Za-z]{1,4}"),  # and domain
    Kind("private use", "[\ue000-\uf8ff]"),  # characters that no model knows
    Kind("emoji", EMOJI),
)
_IN_DIGITS = {"digits": numbers.IN_DIGITS, "english": numbers.IN_DIGITS}
_WITH_COMMAS = {"digits": numbers.IN_DIGITS, "english": numbers.WITH_COMMAS}
# In the order in which they are sought: the first that fits a place of the text is found there.
KINDS = (
    *_COPIED,
    Kind("no date", dates.NO_DATE, ways=None, targets="english"),
    *(
        Kind(f"date {mark}", pattern, dates.ways_to_write, {"english": dates.IN_ENGLISH}, mark,
             targets="english")
        for mark, pattern in dates.PATTERNS.items()
    ),
    Kind("number in a word", numbers.IN_WORDS, ways=None),
    Kind("year", numbers.NUMBER, numbers.ways_to_write, _IN_DIGITS, before="年"),
    Kind("number", numbers.NUMBER, numbers.ways_to_write, _WITH_COMMAS),
)  # fmt: skip
# Corrections of a whole translation, by `Language.numbers`.
_CORRECTIONS = {"english": (*numbers.ORDINAL_ENDINGS, *dates.ONE_PERIOD)}

# Regular expression of what a translation copies.
COPIED = "|".join(kind.pattern for kind in _COPIED)
# Separates spans from the text around them while they are found. Removed from given text first.
_SEPARATOR = "\x1e"


def copied_spans(text: str) -> list[str]:
    """Spans of a text that a translation copies, in their order.

    >>> copied_spans("{name}さん、https://example.com/a を見てください。")
    ['{name}', 'https://example.com/a']
    """
    return _compiled(COPIED).findall(text)


def kinds_of(target: str) -> tuple[Kind, ...]:
    """Kinds of spans in texts that are translated into a language."""
    numbers_of_target = read_language(target).numbers
    return tuple(kind for kind in KINDS if kind.targets in ("", numbers_of_target))


def any_of(kinds: Sequence[Kind]) -> str:
    """Regular expression of a span of any of the kinds."""
    return "|".join(dict.fromkeys(kind.pattern for kind in kinds))


def find(text: str, kinds: Sequence[Kind]) -> Iterator[tuple[re.Match, Kind]]:
    """Find the spans of a text and their kinds, as `mask` does in the graph."""
    for span in _compiled(any_of(kinds)).finditer(text):
        fitting = (
            kind
            for kind in kinds
            if _compiled(kind.pattern).fullmatch(span[0])
            and _compiled(kind.before).match(text, span.end())
        )
        yield span, next(fitting)


@functools.cache
def _compiled(pattern: str) -> re.Pattern:
    return re.compile(pattern, re.ASCII)  # `\b` as in RE2


def mask(
    texts: tf.Tensor,
    target: str,
    terms: tf.Tensor | None = None,
    translations: tf.Tensor | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Replace the first spans of each text `(B,)` by placeholders, as many as `PLACEHOLDERS`.

    The language `target` decides how numbers and dates are written. `terms` have given
    `translations`, both `(G,)`: a longer term is found before a shorter one, and before other
    spans. Returns the masked texts and the value of each placeholder in the translation, strings
    `(B, placeholders)`, empty for placeholders that a text lacks.
    """
    import tensorflow as tf

    kinds = kinds_of(target)
    pattern = tf.constant(any_of(kinds))
    if terms is not None:
        pattern = tf.strings.join([_any_term(terms), pattern])
    parts = _split(replace_in_graph(texts, numbers.HALF_WIDTH), pattern)
    part, row = parts.flat_values, parts.value_rowids()
    place = tf.where(tf.ragged.range(parts.row_lengths()).flat_values % 2 == 1)[:, 0]
    span, row = tf.gather(part, place), tf.gather(row, place)
    value, mark, is_masked = _classify(span, tf.gather(part, place + 1), kinds, target)
    if terms is not None:
        is_term = tf.pad(tf.equal(span[:, None], terms), [[0, 0], [0, 1]], constant_values=True)
        term = tf.argmax(tf.cast(is_term, tf.int32), axis=1, output_type=tf.int32)  # G for none
        is_given = term < tf.size(terms)
        value = tf.where(is_given, tf.gather(tf.concat([translations, [""]], 0), term), value)
        mark, is_masked = tf.where(is_given, "", mark), is_masked | is_given
    # Number of the masked spans before each span in its text.
    before = tf.cumsum(tf.cast(is_masked, tf.int32), exclusive=True)
    number = before - tf.gather(tf.math.segment_min(before, row), row)
    is_masked &= number < len(PLACEHOLDERS)
    placeholder = tf.gather(PLACEHOLDERS, tf.minimum(number, len(PLACEHOLDERS) - 1))
    masked = tf.where(is_masked, tf.strings.join([placeholder, mark]), span)
    parts = parts.with_flat_values(tf.tensor_scatter_nd_update(part, place[:, None], masked))
    values = tf.RaggedTensor.from_value_rowids(
        tf.boolean_mask(value, is_masked), tf.boolean_mask(row, is_masked), nrows=parts.nrows()
    )
    return (
        tf.strings.reduce_join(parts, axis=1),
        values.to_tensor("", shape=[None, len(PLACEHOLDERS)]),
    )


def unmask(texts: tf.Tensor, values: tf.Tensor, target: str) -> tf.Tensor:
    """Replace placeholders by their values; a value whose placeholder is missing is appended.

    Texts are translations `(B,)`; values, `(B, placeholders)`, are those of `mask`.
    """
    import tensorflow as tf

    parts = _split(texts, f"[{PLACEHOLDERS[0]}-{PLACEHOLDERS[-1]}]")
    part, row = parts.flat_values, parts.value_rowids()
    is_used = tf.equal(part[:, None], tf.constant(PLACEHOLDERS))  # (parts, placeholders)
    place = tf.stack([row, tf.argmax(is_used, axis=1)], axis=1)
    filled = tf.where(tf.reduce_any(is_used, axis=1), tf.gather_nd(values, place), part)
    whole = tf.strings.reduce_join(parts.with_flat_values(filled), axis=1)
    whole = replace_in_graph(whole, _CORRECTIONS.get(read_language(target).numbers, ()))
    uses = tf.math.unsorted_segment_sum(tf.cast(is_used, tf.int32), row, tf.shape(texts)[0])
    is_missing = tf.not_equal(values, "") & tf.equal(uses, 0)
    missing = tf.where(is_missing, tf.strings.join([" ", values]), "")
    return tf.strings.join([whole, tf.strings.reduce_join(missing, axis=1)])


def mask_translations(translations: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
    """Replace values in given translations by their placeholders, the opposite of `unmask`."""
    import tensorflow as tf

    def of_row(row: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
        text, values = row
        text = replace_in_graph(text, dates.TWO_PERIODS)
        for i, placeholder in enumerate(PLACEHOLDERS):
            masked = tf.strings.regex_replace(text, _quoted(values[i]), placeholder, False)
            text = tf.where(tf.equal(values[i], ""), text, masked)
        return replace_in_graph(text, dates.ONE_PERIOD)

    return tf.map_fn(of_row, (translations, values), fn_output_signature=tf.string)


def _split(texts: tf.Tensor, pattern: str | tf.Tensor) -> tf.RaggedTensor:
    """Parts of each text, of which the second, the fourth and so on match the pattern."""
    import tensorflow as tf

    texts = tf.strings.regex_replace(texts, _SEPARATOR, " ")
    marked = tf.strings.regex_replace(texts, pattern, rf"{_SEPARATOR}\0{_SEPARATOR}")
    return tf.strings.split(marked, _SEPARATOR)


def _classify(
    span: tf.Tensor, after: tf.Tensor, kinds: Sequence[Kind], target: str
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Value of each span `(N,)`, the mark that stays after its placeholder, and `is_masked`."""
    import tensorflow as tf

    is_kind = [
        tf.strings.regex_full_match(span, kind.pattern)
        & tf.strings.regex_full_match(after, f"(?s)(?:{kind.before}).*")
        for kind in kinds
    ]
    kind = tf.argmax(tf.cast(tf.stack(is_kind, axis=1), tf.int32), axis=1)
    replacements = [one.replacements.get(read_language(target).numbers, ()) for one in kinds]
    value = span
    for some in dict.fromkeys(replacements):
        is_written = tf.gather([some == others for others in replacements], kind)
        value = tf.where(is_written, replace_in_graph(span, some), value)
    mark, is_masked = [one.mark for one in kinds], [one.ways is not None for one in kinds]
    return value, tf.gather(mark, kind), tf.gather(is_masked, kind)


def _any_term(terms: tf.Tensor) -> tf.Tensor:
    """Regular expression of each term and "|", the longest first; an empty term is left out."""
    import tensorflow as tf

    longest_first = tf.argsort(tf.strings.length(terms), direction="DESCENDING", stable=True)
    quoted = tf.strings.join([_quoted(tf.gather(terms, longest_first)), "|"])
    return tf.strings.reduce_join(tf.where(tf.equal(quoted, "|"), "", quoted))


def _quoted(texts: tf.Tensor) -> tf.Tensor:
    """Regular expressions that match the texts themselves."""
    import tensorflow as tf

    return tf.strings.regex_replace(texts, r"([!-/:-@\[-`{-~])", r"\\\1")
