"""The API of LibreTranslate: translation, languages, and detection by script.

https://docs.libretranslate.com: a client for it needs the address of this server only. Text in HTML
is translated as it is, because tags and character entities are copied.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import numpy as np
import tensorflow as tf

from keras_attn.serving.errors import RequestError
from keras_attn.serving.protocol import DEFAULT_SIGNATURE
from keras_attn.serving.tensors import shown, to_array
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.cleaning import share_of_script

AUTO = "auto"
NBEST = "nbest"
# English names of languages; others are named by their code.
NAMES = {
    "ar": "Arabic", "de": "German", "en": "English", "es": "Spanish", "fr": "French",
    "hi": "Hindi", "it": "Italian", "ja": "Japanese", "ko": "Korean", "nl": "Dutch",
    "pl": "Polish", "pt": "Portuguese", "ru": "Russian", "th": "Thai", "tr": "Turkish",
    "uk": "Ukrainian", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip


class Question(NamedTuple):
    """A request for translation.

    Attributes:
        texts: Texts to translate.
        is_list: Whether the request has a list of texts, and so the response.
        alternatives: Number of further translations of each text.
        detects: Whether the response tells the language of the texts.
    """

    texts: list[str]
    is_list: bool
    alternatives: int
    detects: bool

    @property
    def signature(self) -> str:
        """Name of the signature that answers the request."""
        return NBEST if self.alternatives else DEFAULT_SIGNATURE

    @property
    def inputs(self) -> dict[str, np.ndarray]:
        """Inputs of the signature."""
        return {"text": to_array(self.texts, tf.string)}


def form(content: bytes) -> dict[str, Any]:
    """Members of an HTML form; a member that is given several times is a list.

    Example:

    >>> form("q=犬&q=猫&source=ja".encode())
    {'q': ['犬', '猫'], 'source': 'ja'}
    """
    members = parse_qs(content.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: texts if len(texts) > 1 else texts[0] for name, texts in members.items()}


def question(document: Mapping[str, Any], config: Config) -> Question:
    """Read a request for translation.

    Args:
        document: Parsed body of the request, JSON or a form.
        config: Configuration of the translator.

    Raises:
        RequestError: If a member is missing or has an invalid value.
    """
    texts, is_list = _texts(document)
    for name, known in (("source", (AUTO, config.source)), ("target", (config.target,))):
        if name not in document:
            raise RequestError(f"Invalid request: missing {name} parameter")
        if document[name] not in known:
            raise RequestError(
                f"{shown(document[name])} is not supported as {name} language. This model has "
                f"{' and '.join(known)}."
            )
    if document.get("format", "text") not in ("text", "html"):
        raise RequestError(f"{shown(document['format'])} format is not supported")
    try:
        alternatives = int(document.get("alternatives", 0))
    except (TypeError, ValueError):
        alternatives = -1
    if alternatives < 0:
        raise RequestError("Invalid request: alternatives parameter is not a number of at least 0")
    return Question(texts, is_list, alternatives, document["source"] == AUTO)


def _texts(document: Mapping[str, Any]) -> tuple[list[str], bool]:
    if "q" not in document:
        raise RequestError("Invalid request: missing q parameter")
    texts = document["q"] if isinstance(document["q"], list) else [document["q"]]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise RequestError(
            f"'q' must be a text or a list of texts. Received: {shown(document['q'])}."
        )
    return texts, isinstance(document["q"], list)


def answer(asked: Question, outputs: Mapping[str, np.ndarray], config: Config) -> dict[str, Any]:
    """Response to a request for translation.

    Args:
        asked: The request.
        outputs: Outputs of the signature, by name.
        config: Configuration of the translator.
    """
    if asked.alternatives:
        rows = [
            [
                text.decode("utf-8", "replace")
                for text, score in zip(texts, scores, strict=True)
                if math.isfinite(score)
            ]
            for texts, scores in zip(outputs["translations"], outputs["scores"], strict=True)
        ]
    else:
        rows = [[text.decode("utf-8", "replace")] for text in outputs["translation"]]
    # A text that the search could not translate in another way has no alternatives.
    others = [row[1 : 1 + asked.alternatives] for row in rows]
    found: dict[str, Any] = {"translatedText": [row[0] if row else "" for row in rows]}
    if asked.alternatives:
        found["alternatives"] = others
    if asked.detects:
        found["detectedLanguage"] = [detected(text, config)[0] for text in asked.texts]
    return found if asked.is_list else {name: values[0] for name, values in found.items()}


def languages(config: Config) -> list[dict[str, Any]]:
    """Languages of a translator."""
    return [
        {"code": code, "name": NAMES.get(code, code), "targets": targets}
        for code, targets in ((config.source, [config.target]), (config.target, []))
    ]


def detect(document: Mapping[str, Any], config: Config) -> list[dict[str, Any]]:
    """Response to a request for the language of a text, most likely first.

    Raises:
        RequestError: If there is no text.
    """
    texts, _ = _texts(document)
    return detected(" ".join(texts), config)


def detected(text: str, config: Config) -> list[dict[str, Any]]:
    """Languages of a translator by the share of letters in their scripts, in percent."""
    found = [
        {"confidence": round(100 * share_of_script(text, code)), "language": code}
        for code in (config.source, config.target)
    ]
    return sorted(found, key=lambda one: -one["confidence"])
