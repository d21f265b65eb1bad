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
from typing import TYPE_CHECKING, Any, NamedTuple

from keras_attn.languages import SCRIPTS, read_language
from keras_attn.translation.text import dates, names, numbers
from keras_attn.translation.text.characters import (
    Replacements,
    look_up_in_graph,
    replace_in_graph,
    split_in_graph,
)
from keras_attn.translation.text.typed import plain_in_graph

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
    # Regular expressions of the end of the text before the span, and of the beginning of the text
    # after it. A kind with one of them has the pattern of a later kind, for all other places.
    after: str = ""
    before: str = ""
    targets: str = ""  # `Language.numbers` of the target languages that have this kind; or all
    sources: str = ""  # `Language.noise` of the source languages that have this kind; or all
    values: Mapping[str, str] = {}  # how English writes the spans, in place of `replacements`
    # Whether the pattern is sought; else it is one of the spans that another kind finds.
    is_sought: bool = True


# Letters that a path or address may hold besides ASCII: words in kanji and katakana.
_WORD_LETTERS = SCRIPTS["Katakana"] + SCRIPTS["Han"]
TAG = (
    r"(?:</?[A-Za-z0-9][^<>\r\n]*>|<[!?][^<>\r\n]+>"
    r"|&[A-Za-z]{2,8};|&#[0-9A-Za-z]{1,7};)"  # tags, comments and entities
)
_NAME = r"[A-Za-z_][0-9A-Za-z_]*"
_COPIED = (
    Kind(
        "web address",
        r"(?:[a-z][a-z0-9+.]{2,}://|www\.|mailto:)"
        rf"(?:[!-~]*[/=#?&][{_WORD_LETTERS}](?:[!-~{_WORD_LETTERS}]*[0-9A-Za-z/#=_{_WORD_LETTERS}-])?"
        r"|[!-~]*\([0-9A-Za-z_]+\)|[!-~]*[0-9A-Za-z/#=_-])",
    ),
    Kind("e-mail address", r"[0-9A-Za-z._%+-]+@[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)+"),
    Kind("mention", r"[@#][0-9A-Za-z_]+"),  # and hashtag
    # {{name}}, ${name}, {name}, and the plural forms of ICU with one level of braces inside
    Kind(
        "template",
        r"\{\{[^{}\r\n]+\}\}|[$%#]?\{[^{}\r\n]*(?:\{[^{}\r\n]*\}[^{}\r\n]*)*\}",
    ),
    # LaTeX: $x^2$, \frac{1}{2}
    Kind(
        "formula",
        r"\$[^$\s0-9ぁ-鿿][^$\r\nぁ-鿿]*[\\^_={][^$\r\nぁ-鿿]*\$|\$[\\^_={][^$\r\nぁ-鿿]*\$|\$[A-Za-z]\$|\\\([^\r\n]+?\\\)"
        r"|\\[A-Za-z]{2,}(?:\{[^{}\r\n]*\})+",
    ),
    # $HOME, %PATH%, __name__, :name, [name], \n
    Kind(
        "variable",
        rf"\${_NAME}|%{_NAME}%|__{_NAME}__|\B:[a-z_][0-9A-Za-z_]*|\[[a-z_][0-9A-Za-z_.-]*\]"
        r"|\\[ntr0](?:\\[ntr0])*\b|\\n",
    ),
    # %s, %(name)s, %1$d, %5.2f%%
    Kind(
        "format",
        rf"%(?:\({_NAME}\)|[0-9]+\$)?[-+0#]?[0-9.*]*[hlLqjzt]*[sdifuxXeEgGcp@](?:%%)?|%%",
    ),
    Kind("tag", rf"{TAG}(?:\s?{TAG})*"),
    Kind("code", r"`[^`\r\n]+`"),
    Kind(
        "path",
        rf"(?:(?:[A-Za-z]:|~|\.\.?|\\)[\\/]|\B[\\/])[A-Za-z_.~][0-9A-Za-z_.~{_WORD_LETTERS}-]*"
        rf"(?:[\\/][A-Za-z_.~{_WORD_LETTERS}][0-9A-Za-z_.~{_WORD_LETTERS}-]*)+[\\/]?"
        rf"|(?:[A-Za-z]:\\|~/|\.\.?/)(?:[0-9A-Za-z_.~{_WORD_LETTERS}-]+[\\/]?)*",
    ),
    Kind(
        "file", r"[0-9A-Za-z_-]+(?:\.[0-9A-Za-z_-]+)*\.(?:[a-z][0-9a-z]{1,4}|[A-Z][0-9A-Z]{1,4})\b"
    ),  # and domain
    Kind("private use", "[\ue000-\uf8ff]"),  # characters that no model knows
    Kind("emoji", EMOJI),
)
_IN_DIGITS = {"digits": numbers.IN_DIGITS, "english": numbers.IN_DIGITS}
_WITH_COMMAS = {"digits": numbers.IN_DIGITS, "english": numbers.WITH_COMMAS}
_BELOW_ZERO = dict.fromkeys(("digits", "english", "myriads"), numbers.BELOW_ZERO_IN_DIGITS)
_LARGE = {"digits": numbers.IN_DIGITS, "english": numbers.LARGE_IN_ENGLISH}


def _english(
    name: str, pattern: str, ways: Callable, replacements: Replacements, mark: str = ""
) -> Kind:
    """Kind of spans of which English has a form of its own."""
    return Kind(name, pattern, ways, {"english": replacements}, mark, targets="english")


def _name(name: str, pattern: str, **given: Any) -> Kind:
    """Kind of Japanese names, which English spells."""
    row = Kind(name, pattern, names.ways_to_write, targets="english", sources="japanese")
    return row._replace(values=names.spellings(), **given)


# In the order in which they are sought: the first that fits a place of the text is found there.
KINDS = (
    *_COPIED,
    Kind("no date", dates.NO_DATE, ways=None, targets="english"),
    _name("name with a title", names.pattern(), before=names.TITLE),
    _name("name", names.pattern_without_title(), is_sought=False),
    _name("no name", names.pattern(), ways=None),
    _english(
        "duration", dates.DURATION, dates.ways_to_write_duration, dates.DURATION_IN_ENGLISH, "時間"
    ),
    _english("decade", dates.DECADE, dates.ways_to_write_decade, dates.DECADE_IN_ENGLISH, "年代"),
    *(
        _english(f"date {mark}", pattern, dates.ways_to_write, dates.IN_ENGLISH, mark)
        for mark, pattern in dates.PATTERNS.items()
    ),
    Kind("number in a word", numbers.IN_WORDS, ways=None),
    Kind("listed digits", numbers.LISTED, ways=None),
    Kind("vague number", numbers.VAGUE, ways=None),
    _english("about", numbers.ABOUT, numbers.ways_to_write_about, numbers.ABOUT_IN_ENGLISH),
    _english(
        "fraction", numbers.FRACTION, numbers.ways_to_write_fraction, numbers.FRACTION_IN_ENGLISH
    ),
    Kind("below zero", numbers.BELOW_ZERO, numbers.ways_to_write_below_zero, _BELOW_ZERO),
    Kind("money", numbers.MONEY),
    Kind("telephone", numbers.TELEPHONE),
    Kind(
        "number in words",
        numbers.IN_ENGLISH_WORDS,
        numbers.ways_to_write_in_japanese,
        {"myriads": numbers.IN_MYRIADS},
        targets="myriads",
    ),
    Kind(
        "decade in English",
        dates.ENGLISH_DECADE,
        dates.ways_to_write_decade_in_japanese,
        {"myriads": dates.DECADE_IN_JAPANESE},
        targets="myriads",
    ),
    Kind("large number", numbers.LARGE, numbers.ways_to_write_large, _LARGE),
    Kind("year", numbers.NUMBER, numbers.ways_to_write, _IN_DIGITS, before="年"),
    Kind("code number", numbers.NUMBER, after=numbers.BEFORE_CODE),
    Kind("number of a room", numbers.NUMBER, before=numbers.AFTER_CODE),
    Kind("number", numbers.NUMBER, numbers.ways_to_write, _WITH_COMMAS),
)
# Corrections of a whole translation, by `Language.numbers`.
_CORRECTIONS = {"english": (*numbers.ORDINAL_ENDINGS, *dates.ONE_PERIOD)}

# Regular expression of what a translation copies.
COPIED = "|".join(kind.pattern for kind in _COPIED)


def copied_spans(text: str) -> list[str]:
    """Spans of a text that a translation copies, in their order.

    >>> copied_spans("{name}さん、https://example.com/a を見てください。")
    ['{name}', 'https://example.com/a']
    """
    return _compiled(COPIED).findall(text)


@functools.cache
def kinds_of(source: str, target: str) -> tuple[Kind, ...]:
    """Kinds of spans in texts that are translated from a language into another."""
    kinds = (
        kind
        for kind in KINDS
        if kind.targets in ("", read_language(target).numbers)
        and kind.sources in ("", read_language(source).noise)
    )
    return (*kinds, *_words(source))


def _words(source: str) -> tuple[Kind, ...]:
    """Kinds of words in other scripts than that of a language: Google, Café, Россия."""
    letters = read_language(source).other_letters
    if not letters:
        return ()
    word = rf"[{letters}](?:[{letters}0-9'’&.+/-]*[{letters}0-9+])?"
    return (
        # Left in the text: Tシャツ
        Kind("letter in a word", f"[A-Za-z][{SCRIPTS['Katakana']}]", ways=None),
        Kind("word", f"{word}(?:[.]? {word})*", _ways_to_write_word),
    )


def _ways_to_write_word(span: str) -> str:
    """Regular expression of a word, whose plural may stand in the translation."""
    if not span.isascii() or not span[-1].isalpha():
        return numbers.whole(span)
    return rf"(?<![0-9A-Za-z.,]){re.escape(span)}(?=(?:['’]?s)?(?![0-9A-Za-z]))"


def any_of(kinds: Sequence[Kind]) -> str:
    """Regular expression of a span of any of the kinds."""
    return "|".join(dict.fromkeys(kind.pattern for kind in kinds if kind.is_sought))


def find(text: str, kinds: Sequence[Kind]) -> Iterator[tuple[re.Match, Kind]]:
    """Find the spans of a text and their kinds, as `mask` does in the graph."""
    is_japanese = any(kind.sources == "japanese" for kind in kinds)
    if is_japanese and not _BEGINNING.search(text):
        kinds = [kind for kind in kinds if kind.values]
    end = 0
    for span in _compiled(any_of(kinds)).finditer(text):
        fitting = (
            kind
            for kind in kinds
            if _compiled(kind.pattern).fullmatch(span[0])
            and _compiled(_end(kind.after)).fullmatch(text, end, span.start())
            and _compiled(kind.before).match(text, span.end())
        )
        yield span, next(fitting)
        end = span.end()


# Characters with which a span may begin that is no name. Most Japanese sentences have none, so that
# fewer expressions are tried.
_BEGINNING = re.compile(
    f"[^{SCRIPTS['Hiragana']}{SCRIPTS['Katakana']}{SCRIPTS['Han']}、。・「」『』〜…?!, ()]"
    f"|[{numbers.DIGIT[1:-1]}十百千午マ]"
)


def _end(pattern: str) -> str:
    """Regular expression of a text that ends with a pattern."""
    return f"(?s:.*)(?:{pattern})"


@functools.cache
def _compiled(pattern: str) -> re.Pattern:
    return re.compile(pattern, re.ASCII)  # `\b` as in RE2


def mask(
    texts: tf.Tensor,
    source: str,
    target: str,
    terms: tf.Tensor | None = None,
    translations: tf.Tensor | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Replace the first spans of each text `(B,)` by placeholders, as many as `PLACEHOLDERS`.

    Texts are brought into their plain form. The language `target` decides how numbers and dates are
    written. `terms` have given `translations`, both `(G,)`: a longer term is found before a shorter
    one, and before other spans. Returns the masked texts and the value of each placeholder in the
    translation, strings `(B, placeholders)`, empty for placeholders that a text lacks.
    """
    import tensorflow as tf

    kinds = kinds_of(source, target)
    pattern = tf.constant(any_of(kinds))
    if terms is not None:
        terms = tf.strings.strip(plain_in_graph(terms, source))
        pattern = tf.strings.join([_any_term(terms), pattern])
    parts = split_in_graph(plain_in_graph(texts, source), pattern)
    part, row = parts.flat_values, parts.value_rowids()
    place = tf.where(tf.ragged.range(parts.row_lengths()).flat_values % 2 == 1)[:, 0]
    span, row = tf.gather(part, place), tf.gather(row, place)
    around = tf.gather(part, place - 1), tf.gather(part, place + 1)
    value, mark, is_masked = _classify(span, around, kinds, target)
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


def unmask(
    texts: tf.Tensor, values: tf.Tensor, masked: tf.Tensor, target: str
) -> tuple[tf.Tensor, tf.Tensor]:
    """Replace placeholders by their values, and whether a placeholder is missing `(B,)`.

    Texts are translations `(B,)`; values, `(B, placeholders)`, and `masked (B,)` are those of
    `mask`. Tags come in the order of the source. A missing value comes at the beginning if the
    source begins with it, else at the end.
    """
    import tensorflow as tf

    invented = tf.strings.regex_replace(texts, r"</?[A-Za-z][^<>]*>?", "")
    texts = tf.where(tf.strings.regex_full_match(masked, "[^<]*"), invented, texts)
    parts = split_in_graph(texts, f"[{PLACEHOLDERS[0]}-{PLACEHOLDERS[-1]}]")
    part, row = parts.flat_values, parts.value_rowids()
    is_used = tf.equal(part[:, None], tf.constant(PLACEHOLDERS))  # (parts, placeholders)
    number = tf.argmax(is_used, axis=1)
    place = _with_tags_in_order(tf.stack([row, number], axis=1), is_used, values)
    filled = tf.where(tf.reduce_any(is_used, axis=1), tf.gather_nd(values, place), part)
    whole = tf.strings.reduce_join(parts.with_flat_values(filled), axis=1)
    whole = replace_in_graph(whole, _CORRECTIONS.get(read_language(target).numbers, ()))
    uses = tf.math.unsorted_segment_sum(tf.cast(is_used, tf.int32), row, tf.shape(texts)[0])
    is_missing = tf.not_equal(values, "") & tf.equal(uses, 0)
    is_first = tf.equal(tf.strings.substr(masked, 0, 3)[:, None], tf.constant(PLACEHOLDERS))
    first = tf.where(is_missing & is_first, tf.strings.join([values, " "]), "")
    last = tf.where(is_missing & ~is_first, tf.strings.join([" ", values]), "")
    body = tf.strings.regex_replace(whole, r"[.!?。！？]*$", "")
    length = tf.strings.length(body)
    end = tf.strings.substr(whole, length, tf.strings.length(whole) - length)
    joined = tf.strings.join(
        [tf.strings.reduce_join(first, axis=1), body, tf.strings.reduce_join(last, axis=1), end]
    )
    return joined, tf.reduce_any(is_missing, axis=1)


def _with_tags_in_order(place: tf.Tensor, is_used: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
    """Row and number of the value of each part `(parts, 2)`, those of tags sorted in each row."""
    import tensorflow as tf

    is_tag = tf.strings.regex_full_match(tf.gather_nd(values, place), rf"{TAG}(?:\s?{TAG})*")
    tags = tf.where(is_tag & tf.reduce_any(is_used, axis=1))
    flat = tf.sort(tf.gather_nd(place, tags) @ [[len(PLACEHOLDERS)], [1]], axis=0)
    ordered = tf.concat([flat // len(PLACEHOLDERS), flat % len(PLACEHOLDERS)], axis=1)
    return tf.tensor_scatter_nd_update(place, tags, ordered)


def without_marks(masked: tf.Tensor) -> tf.Tensor:
    """Masked texts without the marks after placeholders, whose values say the same."""
    import tensorflow as tf

    marks = "|".join(dict.fromkeys(kind.mark for kind in KINDS if kind.mark))
    placeholder = f"[{PLACEHOLDERS[0]}-{PLACEHOLDERS[-1]}]"
    return tf.strings.regex_replace(masked, f"({placeholder})(?:{marks})", r"\1")


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


def _classify(
    span: tf.Tensor, around: tuple[tf.Tensor, tf.Tensor], kinds: Sequence[Kind], target: str
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Value of each span `(N,)`, the mark that stays after its placeholder, and `is_masked`.

    `around` is the text before each span and the text after it.
    """
    import tensorflow as tf

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
        value = tf.where(is_named, look_up_in_graph(span, kinds[named[0]].values), value)
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
