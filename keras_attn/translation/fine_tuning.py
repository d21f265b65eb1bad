"""Training that begins with an exported model instead of a new one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tensorflow as tf

from keras_attn.transformer import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.saved_model import CONFIG, EXTRA, SIGNATURE, newest_version
from keras_attn.translation.tokenizer import Tokenizer, Tokenizers

# What both models have in common.
INHERITED = (
    "source",
    "target",
    "vocab_size",
    "tokenizer",
    "shared_vocab",
    "num_encoder_layers",
    "num_decoder_layers",
    "num_hiddens",
    "ffn_num_hiddens",
    "num_heads",
)
# Trained weights want smaller steps than new ones.
DEFAULTS: dict[str, Any] = {"learning_rate": 3e-4, "warmup_steps": 200}


def inherit(**given: Any) -> tuple[Path | None, dict[str, Any]]:
    """The version that `start_from` means, and the values of a training that begins with it.

    Args:
        **given: Values of a `Config`.

    Returns:
        None and the same values if there is no `start_from` among them.

    Raises:
        ValueError: If there is no such model, or a value is given that would need another one.
    """
    if not given.get("start_from"):
        return None, given
    version = newest_version(Path(given["start_from"]))
    config = Config.load(version / EXTRA / CONFIG)
    inherited = {name: getattr(config, name) for name in INHERITED}
    others = [
        f"{name}={given[name]!r} where the model has {value!r}"
        for name, value in inherited.items()
        if given.get(name, value) != value
    ]
    if others:
        raise ValueError(
            f"A training that starts from `{version}` must keep its sizes and languages. "
            f"Received: {', '.join(others)}."
        )
    return version, {**DEFAULTS, **given, **inherited, "start_from": str(version)}


def take_tokenizers(version: Path, folder: Path) -> None:
    """Save the tokenizers of a version in a folder."""
    for name in Tokenizers._fields:
        Tokenizer.load(version / EXTRA / f"{name}.model").save(folder / f"{name}.model")


def take_weights(version: Path, model: Transformer) -> None:
    """Give a built model the weights of a version of the same sizes."""
    loaded = tf.saved_model.load(str(version))
    weights = {_place(v.name): v for v in loaded.signatures[SIGNATURE].variables}
    for variable in model.trainable_variables:
        variable.assign(weights[_place(variable.value.name)])


def _place(name: str) -> str:
    """Where in the model a variable stands; Keras may put the model's own name before it."""
    parts = name.split("/")
    first = next(i for i, part in enumerate(parts) if part in ("encoder", "decoder"))
    return "/".join(parts[first:])
