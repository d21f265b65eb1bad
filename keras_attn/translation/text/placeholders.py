"""Placeholders: characters in the place of text that a translation copies or writes by a rule.

The model learns to carry them to their places, where values replace them after the search. So a
model that has seen little text does not misspell an address and drops no digit of a number.
"""

import functools
import re
from collections.abc import Iterator

import tensorflow as tf

from keras_attn.languages import read_language
from keras_attn.translation.text import dates, numbers
from keras_attn.translation.text.in_graph import look_up, replace_in_graph, split_in_graph
from keras_attn.translation.text.kinds import MARKS, Kind, Kinds, kinds_of
from keras_attn.translation.text.typed import plain_in_graph

# Characters for private use; each is a piece of its own in every tokenizer.
PLACEHOLDERS = tuple(chr(0xE000 + i) for i in range(8))
ANY_PLACEHOLDER = f"[{PLACEHOLDERS[0]}-{PLACEHOLDERS[-1]}]"

# Corrections of a whole translation, by `Language.numbers`.
_CORRECTIONS = {"english": (*numbers.ORDINAL_ENDINGS, *dates.ONE_PERIOD, *dates.DECADE_WITH_ONE_S)}


def find(text: str, kinds: Kinds) -> Iterator[tuple[re.Match, Kind]]:
    """Find the spans of a text and their kinds, as `mask` does in the graph."""
    end = 0
    for span in kinds.compiled.finditer(text):
        fitting = (
            kind
            for kind in kinds
            if _compiled(kind.pattern).fullmatch(span[0])
            and _compiled(_end(kind.after)).fullmatch(text, end, span.start())
            and _compiled(kind.before).match(text, span.end())
        )
        yield span, next(fitting)
        end = span.end()


def _end(pattern: str) -> str:
    """Regular expression of a text that ends with a pattern."""
    return f"(?s:.*)(?:{pattern})"


@functools.cache
def _compiled(pattern: str) -> re.Pattern:
    return re.compile(pattern, re.ASCII)  # `\b` as in RE2


def mask(
    texts: tf.Tensor, source: str, target: str, terms: tf.Tensor = (), translations: tf.Tensor = ()
) -> tuple[tf.Tensor, tf.Tensor]:
    """Replace the first spans of each text `(B,)` by placeholders, as many as `PLACEHOLDERS`.

    Texts are brought into their plain form. The language `target` decides how numbers and dates are
    written. `terms` have given `translations`, both `(G,)`: a longer term is found before a shorter
    one, and before other spans. Returns the masked texts and the value of each placeholder in the
    translation, strings `(B, placeholders)`, empty for placeholders that a text lacks.
    """
    kinds = kinds_of(source, target)
    terms, translations = (tf.convert_to_tensor(of, tf.string) for of in (terms, translations))
    terms = tf.strings.strip(plain_in_graph(terms, source))
    pattern = tf.strings.join([_any_term(terms), kinds.pattern])
    parts = split_in_graph(plain_in_graph(texts, source), pattern)
    part, row = parts.flat_values, parts.value_rowids()
    place = tf.where(tf.ragged.range(parts.row_lengths()).flat_values % 2 == 1)[:, 0]
    span, row = tf.gather(part, place), tf.gather(row, place)
    around = tf.gather(part, place - 1), tf.gather(part, place + 1)
    value, mark, is_masked = tf.cond(  # most texts have no span, and there are many rules
        tf.size(span) > 0,
        lambda: _classify(span, around, kinds, target),
        lambda: (span, span, tf.zeros_like(row, tf.bool)),
    )
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
    value, row = tf.boolean_mask(value, is_masked), tf.boolean_mask(row, is_masked)
    values = tf.RaggedTensor.from_value_rowids(value, row, nrows=parts.nrows())
    values = values.to_tensor("", shape=[None, len(PLACEHOLDERS)])
    return tf.strings.reduce_join(parts, axis=1), values


def unmask(
    texts: tf.Tensor, values: tf.Tensor, masked: tf.Tensor, target: str
) -> tuple[tf.Tensor, tf.Tensor]:
    """Replace placeholders by their values, and whether a placeholder is missing `(B,)`.

    Texts are translations `(B,)`; values, `(B, placeholders)`, and `masked (B,)` are those of
    `mask`. A missing value comes at the beginning if the source begins with it, else at the end.
    """
    invented = tf.strings.regex_replace(texts, r"</?[A-Za-z][^<>]*>?", "")
    texts = tf.where(tf.strings.regex_full_match(masked, "[^<]*"), invented, texts)
    parts = split_in_graph(texts, ANY_PLACEHOLDER)
    part, row = parts.flat_values, parts.value_rowids()
    is_used = tf.equal(part[:, None], tf.constant(PLACEHOLDERS))  # (parts, placeholders)
    number = tf.argmax(is_used, axis=1)
    value = tf.gather_nd(values, tf.stack([row, number], axis=1))
    filled = tf.where(tf.reduce_any(is_used, axis=1), value, part)
    whole = tf.strings.reduce_join(parts.with_flat_values(filled), axis=1)
    whole = replace_in_graph(whole, _CORRECTIONS.get(read_language(target).numbers, ()))
    uses = tf.math.unsorted_segment_sum(tf.cast(is_used, tf.int32), row, tf.shape(texts)[0])
    is_missing = tf.not_equal(values, "") & tf.equal(uses, 0)
    is_first = tf.equal(tf.strings.substr(masked, 0, 3)[:, None], tf.constant(PLACEHOLDERS))
    first = tf.where(is_missing & is_first, tf.strings.join([values, " "]), "")
    last = tf.where(is_missing & ~is_first, tf.strings.join([" ", values]), "")
    first, last = (tf.strings.reduce_join(added, axis=1) for added in (first, last))
    body = tf.strings.regex_replace(whole, r"[.!?。！？]*$", "")
    length = tf.strings.length(body)
    end = tf.strings.substr(whole, length, tf.strings.length(whole) - length)
    return tf.strings.join([first, body, last, end]), tf.reduce_any(is_missing, axis=1)


def without_marks(masked: tf.Tensor) -> tf.Tensor:
    """Masked texts without the marks after placeholders, whose values say the same."""
    return tf.strings.regex_replace(masked, f"({ANY_PLACEHOLDER})(?:{'|'.join(MARKS)})", r"\1")


def mask_translations(translations: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
    """Replace values in given translations by their placeholders, the opposite of `unmask`."""

    def of_row(row: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
        text, values = row
        text = replace_in_graph(text, dates.TWO_PERIODS)
        for i, placeholder in enumerate(PLACEHOLDERS):
            masked = tf.strings.regex_replace(text, _quoted(values[i]), placeholder, False)
            text = tf.where(tf.equal(values[i], ""), text, masked)
        return replace_in_graph(text, dates.ONE_PERIOD)

    return tf.map_fn(of_row, (translations, values), fn_output_signature=tf.string)


def _classify(
    span: tf.Tensor, around: tuple[tf.Tensor, tf.Tensor], kinds: Kinds, target: str
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Value of each span `(N,)`, the mark that stays after its placeholder, and `is_masked`.

    `around` is the text before each span and the text after it.
    """
    matches = tf.strings.regex_full_match
    is_kind = []
    for kind in kinds:
        fits = matches(span, kind.pattern)
        if kind.after:
            fits &= matches(around[0], _end(kind.after))
        if kind.before:
            fits &= matches(around[1], f"(?:{kind.before})(?s:.*)")
        is_kind.append(fits)
    kind = tf.argmax(tf.cast(tf.stack(is_kind, axis=1), tf.int32), axis=1)
    replacements = [one.replacements.get(read_language(target).numbers, ()) for one in kinds]
    value = span
    for some in dict.fromkeys(replacements):
        is_written = tf.gather([some == others for others in replacements], kind)
        value = tf.where(is_written, replace_in_graph(span, some), value)
    named = [i for i, one in enumerate(kinds) if one.values]
    if named:
        is_named = tf.reduce_any(kind[:, None] == named, axis=1)
        value = tf.where(is_named, look_up(span, kinds[named[0]].values), value)
    mark, is_masked = [one.mark for one in kinds], [one.ways is not None for one in kinds]
    return value, tf.gather(mark, kind), tf.gather(is_masked, kind)


def _any_term(terms: tf.Tensor) -> tf.Tensor:
    """Regular expression of each term and "|", the longest first; an empty term is left out."""
    longest_first = tf.argsort(tf.strings.length(terms), direction="DESCENDING", stable=True)
    quoted = tf.strings.join([_quoted(tf.gather(terms, longest_first)), "|"])
    return tf.strings.reduce_join(tf.where(tf.equal(quoted, "|"), "", quoted))


def _quoted(texts: tf.Tensor) -> tf.Tensor:
    """Regular expressions that match the texts themselves."""
    return tf.strings.regex_replace(texts, r"([!-/:-@\[-`{-~])", r"\\\1")
