"""The artefact: a SavedModel that takes strings and gives strings, written, found and loaded."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf
import tensorflow_text as tf_text

from keras_attn.transformer import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.decoding import translate_ids
from keras_attn.translation.tokenizer import EOS_ID, PAD_ID, Tokenizers

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
    """
    folder.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=".export-", dir=folder))
    try:
        aside.chmod(0o755)  # mkdtemp's folders are closed to the user a server runs as
        _write_graph(_in_float32(model), tokenizers, config.max_pieces, aside)
        extra = aside / EXTRA
        extra.mkdir(exist_ok=True)
        config.save(extra / CONFIG)
        tokenizers.source.save(extra / "source.model")
        tokenizers.target.save(extra / "target.model")
        version = folder / str(max([0, *_versions(folder)]) + 1)
        os.rename(aside, version)
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


def _write_graph(model: Transformer, tokenizers: Tokenizers, max_pieces: int, folder: Path) -> None:
    # Without names of their own, the two are one and the same when the model is loaded again.
    source = tf_text.SentencepieceTokenizer(
        tokenizers.source.proto, out_type=tf.int32, name="source_tokenizer"
    )
    target = tf_text.SentencepieceTokenizer(
        tokenizers.target.proto, out_type=tf.int32, name="target_tokenizer"
    )

    def serve(text: tf.Tensor) -> dict[str, tf.Tensor]:
        pieces = source.tokenize(text)[:, : max_pieces - 1]
        is_empty = tf.equal(pieces.row_lengths(), 0)
        end = tf.fill([tf.shape(text)[0], 1], EOS_ID)
        source_ids = tf.concat([pieces, end], axis=1).to_tensor(PAD_ID)  # (B, S)
        target_ids = translate_ids(model, source_ids, max_pieces)  # (B, L)
        said = tf.RaggedTensor.from_tensor(target_ids, padding=PAD_ID)
        return {"translation": tf.where(is_empty, "", target.detokenize(said))}

    # The model itself is not tracked: the archive would hold every weight twice.
    archive = keras.export.ExportArchive()
    archive.track(source)
    archive.track(target)
    archive.add_endpoint(
        SIGNATURE, serve, input_signature=[tf.TensorSpec((None,), tf.string, name="text")]
    )
    archive.write_out(str(folder), verbose=False)


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
        self._signature = loaded.signatures[SIGNATURE]
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
        if isinstance(texts, str):
            raise ValueError(f"`texts` must be a list of strings. Received: texts={texts!r}.")
        # Texts of similar length together, so that little of a batch is padding.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        translations = [""] * len(texts)
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            encoded = [texts[i].encode("utf-8", "replace") for i in rows]
            result = self._signature(text=tf.constant(encoded, tf.string))["translation"]
            for i, translation in zip(rows, result.numpy(), strict=True):
                translations[i] = translation.decode("utf-8", "replace")
        return translations


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
