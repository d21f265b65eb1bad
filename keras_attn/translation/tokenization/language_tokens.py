"""Language tokens: a token such as `>>por<<` before a text chooses the target language."""

import re
from collections.abc import Iterable

import tensorflow as tf

# Python and RE2 read this pattern alike.
_BEFORE_TEXT = r"(?s)^(>>.*?<<)?(.*)$"


def split(text: str) -> tuple[str, str]:
    """Language token at the beginning of a text, or an empty string, and the rest of the text.

    >>> split(">>por<< Good morning."), split("Good morning.")
    (('>>por<<', ' Good morning.'), ('', 'Good morning.'))
    """
    found = re.match(_BEFORE_TEXT, text)
    return (found[1] or "", found[2]) if found else ("", text)


def split_in_graph(texts: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Language tokens and rests of texts, as `split` returns them, both `(B,)`."""
    token, rest = (tf.strings.regex_replace(texts, _BEFORE_TEXT, rf"\{group}") for group in (1, 2))
    return token, rest


def among(pieces: Iterable[str]) -> list[str]:
    """Pieces that are language tokens."""
    return [piece for piece in pieces if piece.startswith(">>") and piece.endswith("<<")]
