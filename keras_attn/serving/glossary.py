"""Requests with a glossary: terms that a model translates as given.

The signature `glossary` has the inputs `text (B,)`, `term (G,)` and `term_translation (G,)`. A
request names it, as for any signature, or has the member `glossary` next to `instances` or
`inputs`: `{"instances": ["..."], "glossary": {"木村": "Kimura"}}`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from keras_attn.serving.errors import RequestError
from keras_attn.serving.servable import SHARED, Servable, Signature
from keras_attn.serving.settings import Settings
from keras_attn.serving.tensors import shown, to_array

SIGNATURE = "glossary"
TERM, TRANSLATION = SHARED


def from_member(document: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Inputs `term` and `term_translation` from the member `glossary` of a request, if any."""
    terms = document.get("glossary", {})
    if not isinstance(terms, dict) or not all(isinstance(text, str) for text in terms.values()):
        raise RequestError(
            "'glossary' must be an object that maps each term to its translation, a string. "
            f"Received: {shown(terms)}."
        )
    if not terms:
        return {}
    columns = {TERM: list(terms), TRANSLATION: list(terms.values())}
    return {name: to_array(column, tf.string) for name, column in columns.items()}


def signature(servable: Servable) -> Signature:
    """Signature `glossary` of a version."""
    if SIGNATURE not in servable.signatures:
        raise RequestError(
            f"Version {servable.version} of the model cannot use a glossary: it has no signature "
            f'"{SIGNATURE}". Remove the glossary from the request, or export the model again.'
        )
    return servable.signatures[SIGNATURE]


def check(inputs: Mapping[str, np.ndarray], limits: Settings) -> None:
    """Check the terms of a request for the signature `glossary`."""
    terms, translations = (
        [one.decode("utf-8", "replace") for one in inputs[name]] for name in (TERM, TRANSLATION)
    )
    if len(terms) != len(translations):
        raise RequestError(
            f"A glossary must have one translation for each term. Received: {len(terms)} in "
            f"'{TERM}', {len(translations)} in '{TRANSLATION}'."
        )
    if len(terms) > limits.max_terms:
        raise RequestError(
            f"A glossary must have at most {limits.max_terms} terms. Received: {len(terms)}."
        )
    longest = max(map(len, terms + translations), default=0)
    if longest > limits.max_term_characters:
        raise RequestError(
            "A term of a glossary and its translation must have at most "
            f"{limits.max_term_characters} characters each. Received: {longest}."
        )
    if not all(term.strip() for term in terms):
        raise RequestError("A term of a glossary must not be empty.")
