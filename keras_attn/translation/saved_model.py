"""The artefact: a SavedModel that takes strings and gives strings, written, found and loaded."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from keras_attn.transformer import Transformer
from keras_attn.translation import warm_up
from keras_attn.translation.config import Config
from keras_attn.translation.signatures import Signatures
from keras_attn.translation.tokenizer import Tokenizers

# TensorFlow Serving leaves this folder of a version alone.
EXTRA = "assets.extra"
CONFIG = "config.json"
SIGNATURE = "serving_default"


def export(model: Transformer, tokenizers: Tokenizers, config: Config, folder: Path) -> Path:
    """Write the next version of a translator below `folder`, in TensorFlow Serving's layout.

    The version is written aside and renamed when it is whole, so that a server that watches
    `folder` never sees half a model.

    Args:
        model: The trained model.
        tokenizers: Its tokenizers.
        config: What it was trained with.
        folder: Where the versions lie, such as `saved_models/ja-en`.

    Returns:
        The folder of the new version.

    Raises:
        ValueError: If the model is not one of `Transformer.from_sizes`; nothing is left then.
        OSError: If it cannot be written; nothing of it is left then.
    """
    folder.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=".export-", dir=folder))
    try:
        aside.chmod(0o755)  # mkdtemp's folders are closed to the user a server runs as
        _write_graph(_in_float32(model), tokenizers, config, aside)
        extra = aside / EXTRA
        extra.mkdir(exist_ok=True)
        config.save(extra / CONFIG)
        tokenizers.source.save(extra / "source.model")
        tokenizers.target.save(extra / "target.model")
        warm_up.write(extra, tokenizers.source, config.max_pieces)
        version = folder / str(max([0, *_versions(folder)]) + 1)
        os.rename(aside, version)
    except tf.errors.OpError as error:
        shutil.rmtree(aside, ignore_errors=True)
        raise OSError(f"The model cannot be written to `{folder}`: {error.message}") from error
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    return version


def _versions(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.iterdir() if path.name.isdecimal() and path.is_dir()]


def _in_float32(model: Transformer) -> Transformer:
    """The same model computing in float32, which every machine can serve."""
    if model.compute_dtype == "float32":
        return model
    with_policy = model.get_config()
    policy = keras.saving.serialize_keras_object(keras.DTypePolicy("float32"))
    twin = Transformer.from_config(_replace_dtype(with_policy, policy))
    twin.build(((None, None), (None, None)))
    twin.set_weights(model.get_weights())
    return twin


def _replace_dtype(config, policy):
    if isinstance(config, dict):
        return {k: policy if k == "dtype" else _replace_dtype(v, policy) for k, v in config.items()}
    return config


def _write_graph(model: Transformer, tokenizers: Tokenizers, config: Config, folder: Path) -> None:
    signatures = Signatures(model, tokenizers, config)
    text, translation = (
        tf.TensorSpec((None,), tf.string, name=name) for name in ("text", "translation")
    )
    numbers = {"seed": tf.int32, "temperature": tf.float32, "top_k": tf.int32, "top_p": tf.float32}
    settings = [tf.TensorSpec((), dtype, name=name) for name, dtype in numbers.items()]
    functions: dict[str, tuple[Any, list[tf.TensorSpec]]] = {
        SIGNATURE: (signatures.translate, [text]),
        "nbest": (signatures.nbest, [text]),
        "score": (signatures.score, [text, translation]),
        "sample": (signatures.sample, [text, *settings]),
        "attend": (signatures.attend, [text]),
    }
    saved = tf.Module()
    saved.weights = [variable.value for variable in model.variables]
    saved.folded = signatures.folded
    # Traced here and once: Keras's own export traces each of them twice.
    traced = {
        name: tf.function(function, input_signature=signature).get_concrete_function()
        for name, (function, signature) in functions.items()
    }
    # Without gradients, which nobody asks a translator for: TensorFlow would keep those of every
    # version that is loaded for as long as the process lives.
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    tf.saved_model.save(saved, str(folder), signatures=traced, options=options)


class Hypothesis(NamedTuple):
    """One of several translations of a text, and its score: log probability by length penalty."""

    translation: str
    score: float


class Attention(NamedTuple):
    """A translation and the weights `(layers, H, T, S)` by which its pieces saw the source's."""

    translation: str
    source_pieces: list[str]
    target_pieces: list[str]
    weights: np.ndarray


class Translator:
    """An exported translator: strings in, strings out.

    Args:
        loaded: A SavedModel as TensorFlow loads it.
        config: What the model was trained with.
        folder: The version's folder.

    Call arguments:
        texts: Strings in the source language.
        batch_size: Texts translated at once. Defaults to 64.

    Returns:
        The translations, in the order of `texts`; empty text gives empty text.
    """

    def __init__(self, loaded: Any, config: Config, folder: Path):
        self._loaded = loaded  # its variables live as long as this object
        self.config = config
        self.folder = folder

    @classmethod
    def load(cls, path: str | os.PathLike) -> Translator:
        """Load a version's folder, or the newest version in a folder of versions.

        Raises:
            ValueError: If no exported translator is there, or one of another format version.
        """
        folder = newest_version(Path(path))
        config = Config.load(folder / EXTRA / CONFIG)
        loaded = tf.saved_model.load(str(folder))
        return cls(loaded, config, folder)

    def __call__(self, texts: Sequence[str], batch_size: int = 64) -> list[str]:
        found = self._ask(SIGNATURE, batch_size, text=texts)
        return [_decode(row["translation"]) for row in found]

    def nbest(self, texts: Sequence[str], batch_size: int = 64) -> list[list[Hypothesis]]:
        """The best translations of each text, at most `config.beam_size`, best first."""
        return [
            [
                Hypothesis(_decode(translation), float(score))
                for translation, score in zip(row["translations"], row["scores"], strict=True)
                if np.isfinite(score)
            ]
            for row in self._ask("nbest", batch_size, text=texts)
        ]

    def score(
        self, texts: Sequence[str], translations: Sequence[str], batch_size: int = 64
    ) -> list[float]:
        """The log probability of each translation of its text.

        Raises:
            ValueError: If there are not as many translations as texts.
        """
        if len(texts) != len(translations):
            raise ValueError(
                "`translations` must hold one translation for each text. "
                f"Received: {len(translations)} for {len(texts)} texts."
            )
        found = self._ask("score", batch_size, text=texts, translation=translations)
        return [float(row["log_probability"]) for row in found]

    def sample(
        self,
        texts: Sequence[str],
        seed: int,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
    ) -> list[str]:
        """A translation of each text, drawn by its probability; the same call gives the same.

        Args:
            texts: Strings in the source language.
            seed: Of the draws.
            temperature: Above 0; below 1, likely words become likelier. Defaults to 1.
            top_k: Draw from that many likeliest tokens; 0 for all. Defaults to 0.
            top_p: Draw from the likeliest tokens that reach this probability together, above 0,
                at most 1. Defaults to 1.

        Raises:
            ValueError: If an argument is out of its range.
        """
        if not temperature > 0:
            raise ValueError(f"`temperature` must be above 0. Received: temperature={temperature}.")
        if not 0 < top_p <= 1:
            raise ValueError(f"`top_p` must be above 0 and at most 1. Received: top_p={top_p}.")
        if top_k < 0:
            raise ValueError(f"`top_k` must be at least 0. Received: top_k={top_k}.")
        found = self._loaded.signatures["sample"](
            text=_encode("texts", texts),
            seed=tf.constant(seed, tf.int32),
            temperature=tf.constant(temperature, tf.float32),
            top_k=tf.constant(top_k, tf.int32),
            top_p=tf.constant(top_p, tf.float32),
        )
        return [_decode(translation) for translation in found["translation"].numpy()]

    def attend(self, text: str) -> Attention:
        """The translation of one text and what each of its pieces attended to."""
        (row,) = self._ask("attend", 1, text=[text])
        return Attention(
            _decode(row["translation"]),
            [_decode(piece) for piece in row["source_pieces"]],
            [_decode(piece) for piece in row["target_pieces"]],
            row["weights"],
        )

    def _ask(
        self, signature: str, batch_size: int, **inputs: Sequence[str]
    ) -> list[dict[str, Any]]:
        """What a signature answers for each row of its inputs, in their order."""
        encoded = {name: _encode(f"{name}s", texts) for name, texts in inputs.items()}
        # Texts of similar length together, so that little of a batch is padding.
        lengths = tf.strings.length(encoded["text"]).numpy()
        order = np.argsort(lengths, kind="stable")
        answers: list[dict[str, Any]] = [{} for _ in order]
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            batch = {name: tf.gather(texts, rows) for name, texts in encoded.items()}
            found = {k: v.numpy() for k, v in self._loaded.signatures[signature](**batch).items()}
            for place, row in enumerate(rows):
                answers[row] = {name: values[place] for name, values in found.items()}
        return answers


def _encode(name: str, texts: Sequence[str]) -> tf.Tensor:
    if isinstance(texts, str):
        raise ValueError(f"`{name}` must be a list of strings. Received: {name}={texts!r}.")
    return tf.constant([text.encode("utf-8", "replace") for text in texts], tf.string)


def _decode(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def version_before(version: Path) -> Path | None:
    """The folder of the version before this one, if there is one."""
    earlier = [number for number in _versions(version.parent) if number < int(version.name)]
    return version.parent / str(max(earlier)) if earlier else None


def newest_version(path: Path) -> Path:
    """The folder of a SavedModel: `path` itself, or its highest numbered folder.

    Raises:
        ValueError: If there is none.
    """
    if not path.is_dir():
        raise ValueError(f"The model must be a folder that `train.py` wrote. Received: {path}.")
    folder = path
    if not (path / "saved_model.pb").is_file():
        versions = _versions(path)
        if not versions:
            raise ValueError(f"There is no exported model in the folder. Received: {path}.")
        folder = path / str(max(versions))
    if not (folder / "saved_model.pb").is_file() or not (folder / EXTRA / CONFIG).is_file():
        raise ValueError(
            f"The folder holds no translator that `train.py` exported. Received: {folder}."
        )
    return folder
