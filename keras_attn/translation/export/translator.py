"""Python interface to an exported translator."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from keras_attn.translation import versions
from keras_attn.translation.config import Config
from keras_attn.translation.versions import CONFIG, EXTRA, newest_version

SIGNATURE = "serving_default"


class Hypothesis(NamedTuple):
    """Translation of a text, with its score.

    The score is the log probability divided by the length penalty, plus the weighted coverage of
    the source (`Coverage`) where the model has a lexicon.
    `is_uncertain` tells whether the model is unsure of the best translation of the text,
    `is_other_language` whether the text is in another language and therefore returned as given.
    """

    translation: str
    score: float
    is_uncertain: bool = False
    is_other_language: bool = False


class Attention(NamedTuple):
    """Translation, pieces of both sides, attention weights and probabilities.

    Attributes:
        translation: Translation of the text.
        source_pieces: Source pieces, EOS included.
        target_pieces: Target pieces, EOS included.
        weights: Cross-attention weights `(layers, H, T, S)`.
        encoder_weights: Weights of the self-attention of the encoder, `(layers, H, S, S)`. This
            and the next fields are None if the model was exported before they were added.
        decoder_weights: Weights of the self-attention of the decoder, `(layers, H, T, T)`. The keys
            are the inputs of the decoder: BOS, then all target pieces but the last.
        probabilities: Probability of each target piece after the pieces before it, `(T,)`.
        alternatives: Likeliest pieces at each position, likeliest first; empty strings where fewer
            are allowed.
        alternative_probabilities: Probability of each alternative, `(T, 5)`.
    """

    translation: str
    source_pieces: list[str]
    target_pieces: list[str]
    weights: np.ndarray
    encoder_weights: np.ndarray | None = None
    decoder_weights: np.ndarray | None = None
    probabilities: np.ndarray | None = None
    alternatives: list[list[str]] | None = None
    alternative_probabilities: np.ndarray | None = None


def check_sampling(temperature: float, top_k: int, top_p: float) -> None:
    """Raise a ValueError if an argument of `sample` is out of its range."""
    if not temperature > 0:
        raise ValueError(f"`temperature` must be above 0. Received: temperature={temperature}.")
    if not 0 < top_p <= 1:
        raise ValueError(f"`top_p` must be above 0 and at most 1. Received: top_p={top_p}.")
    if top_k < 0:
        raise ValueError(f"`top_k` must be at least 0. Received: top_k={top_k}.")


class Translator:
    """Exported translator: maps strings to strings. Create it with `Translator.load`.

    Args:
        loaded: SavedModel, as `tf.saved_model.load` returns it.
        config: Configuration of the model.
        folder: Folder of the version.

    Call arguments:
        texts: Strings in the source language, of any number of sentences and lines.
        batch_size: Number of texts translated at once, at least 1. Defaults to 64.
        glossary: Given translations of terms, by term. A term that is its own translation is
            kept. Defaults to None.

    Returns:
        The translations, in the order of `texts`, with line breaks as given. Text without a letter
        of the source language is returned as given.
    """

    def __init__(self, loaded: Any, config: Config, folder: Path):
        self._loaded = loaded  # this reference keeps the variables alive
        self.config, self.folder = config, folder

    @classmethod
    def load(cls, path: str | os.PathLike, cores: int | None = None) -> Translator:
        """Load a translator from the folder of a version, or the newest from a folder of versions.

        On 2 to 4 cores without a GPU, this sets TensorFlow to one core for each operation, unless
        TensorFlow has run operations before.

        Args:
            path: Folder of a version, or of all versions.
            cores: Number of cores that share a batch, at least 1. Give fewer than all if other
                processes need the others. Defaults to all cores of the process, up to 4.

        Raises:
            ValueError: If there is no exported translator, this version of keras_attn cannot load
                it, or `cores` is below 1.
        """
        if cores is not None and cores < 1:
            raise ValueError(f"`cores` must be at least 1. Received: cores={cores}.")
        folder = newest_version(Path(path))
        config = Config.load(folder / EXTRA / CONFIG)
        return cls(versions.load(folder, cores=cores), config, folder)

    def __call__(
        self,
        texts: Sequence[str],
        batch_size: int = 64,
        glossary: Mapping[str, str] | None = None,
    ) -> list[str]:
        if not glossary:
            rows = self._predict(SIGNATURE, batch_size, text=texts)
        else:
            both = glossary, glossary.values()
            term, translation = (tf.constant(_encode("glossary", of), tf.string) for of in both)
            shared = {"term": term, "term_translation": translation}
            rows = self._predict("glossary", batch_size, shared, text=texts)
        return [row["translation"] for row in rows]

    def nbest(self, texts: Sequence[str], batch_size: int = 64) -> list[list[Hypothesis]]:
        """Up to `config.beam_size` translations of each text, best first."""
        found = []
        for row in self._predict("nbest", batch_size, text=texts):
            # Older versions have no output `is_other_language`.
            marks = bool(row["is_uncertain"]), bool(row.get("is_other_language", False))
            pairs = zip(row["translations"], row["scores"], strict=True)
            found.append([Hypothesis(x, float(s), *marks) for x, s in pairs if np.isfinite(s)])
        return found

    def score(
        self, texts: Sequence[str], translations: Sequence[str], batch_size: int = 64
    ) -> list[float]:
        """Log probability of each translation, given its text."""
        texts, translations = _strings("texts", texts), _strings("translations", translations)
        if len(texts) != len(translations):
            raise ValueError(
                "`translations` must hold one translation for each text. "
                f"Received: {len(translations)} for {len(texts)} texts."
            )
        rows = self._predict("score", batch_size, text=texts, translation=translations)
        return [float(row["log_probability"]) for row in rows]

    def sample(
        self,
        texts: Sequence[str],
        seed: int,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
    ) -> list[str]:
        """Sample one translation of each text; the same arguments give the same translations.

        Args:
            texts: Strings in the source language.
            seed: Random seed.
            temperature: Divisor of the logits, above 0. Values below 1 make likely tokens likelier.
                Defaults to 1.
            top_k: Number of likeliest tokens to sample from; 0 for all. Defaults to 0.
            top_p: Probability of the smallest set of likeliest tokens to sample from, above 0, at
                most 1. Defaults to 1.

        Raises:
            ValueError: If an argument is out of its range.
        """
        if not -(2**31) <= seed < 2**31:
            raise ValueError(f"`seed` must be from -2**31 to 2**31 - 1. Received: seed={seed}.")
        check_sampling(temperature, top_k, top_p)
        found = self._function("sample")(
            text=tf.constant(_encode("texts", texts), tf.string),
            seed=tf.constant(seed, tf.int32),
            temperature=tf.constant(temperature, tf.float32),
            top_k=tf.constant(top_k, tf.int32),
            top_p=tf.constant(top_p, tf.float32),
        )
        return _decode(found["translation"].numpy())

    def attend(self, text: str) -> Attention:
        """Translation of one text, with attention weights and probabilities of each piece."""
        return self._attention("attend", text)

    def continue_from(self, text: str, prefix_pieces: Sequence[str]) -> Attention:
        """Best translation that begins with given pieces, as `attend` returns it.

        Args:
            text: String in the source language.
            prefix_pieces: Target pieces as `attend` returns them, for example the first target
                pieces and one of the alternatives to the next. The translation is empty if the
                model cannot begin so.
        """
        pieces = tf.constant([_encode("prefix_pieces", prefix_pieces)], tf.string)
        return self._attention("continue", text, prefix_pieces=pieces)

    def _attention(self, signature: str, text: str, **shared: tf.Tensor) -> Attention:
        if not isinstance(text, str):
            raise ValueError(f"`text` must be a string. Received: {type(text).__name__}.")
        (row,) = self._predict(signature, 1, shared, text=[text])
        return Attention(**row)

    def _function(self, signature: str) -> Any:
        if signature not in self._loaded.signatures:
            raise ValueError(
                f"The model `{self.folder}` must have the signature {signature!r} for this call. "
                f"Received a model with: {', '.join(sorted(self._loaded.signatures))}. "
                "Export it again with this version of keras_attn."
            )
        return self._loaded.signatures[signature]

    def _predict(
        self,
        signature: str,
        batch_size: int,
        shared: dict[str, tf.Tensor] | None = None,
        **inputs: Sequence[str],
    ) -> list[dict[str, Any]]:
        """Outputs of a signature for each text; `shared` are inputs that all texts share."""
        if batch_size < 1:
            raise ValueError(f"`batch_size` must be at least 1. Received: batch_size={batch_size}.")
        encoded = {name: _encode(f"{name}s", texts) for name, texts in inputs.items()}
        # Sorted by length, so that batches need little padding.
        order = sorted(range(len(encoded["text"])), key=lambda row: len(encoded["text"][row]))
        outputs: list[dict[str, Any]] = [{} for _ in order]
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            batch = {
                name: tf.constant([texts[row] for row in rows]) for name, texts in encoded.items()
            }
            batch = self._function(signature)(**batch, **(shared or {}))
            batch = {name: values.numpy() for name, values in batch.items()}
            for place, row in enumerate(rows):
                outputs[row] = {name: _decode(values[place]) for name, values in batch.items()}
        return outputs


def _encode(name: str, texts: Iterable[str]) -> list[bytes]:
    return [text.encode("utf-8", "replace") for text in _strings(name, texts)]


def _strings(name: str, texts: Iterable[str]) -> list[str]:
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise ValueError(f"`{name}` must be a list of strings. Received: {name}={texts!r}.")
    texts = list(texts)
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"`{name}[{row}]` must be a string. Received: {type(text).__name__}.")
    return texts


def _decode(value: Any) -> Any:
    """Strings in place of bytes, as lists in place of arrays; numbers as they are."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return [_decode(part) for part in value] if value.dtype == object else value
