"""Weights of a model or of an exported version, by path in the model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow as tf

from keras_attn.transformer import Transformer

# This signature uses the trained weights, not folded ones.
_SIGNATURE = "score"


def of_model(model: Transformer) -> dict[str, np.ndarray]:
    """Weights of a built model, by path.

    Example:

    >>> model = Transformer.from_sizes(5, 6, 1, 1, 4, 8, 2)
    >>> model.build(((None, None), (None, None)))
    >>> of_model(model)["decoder/block_0/cross_attention/query/kernel"].shape
    (4, 4)
    """
    return {path_in_model(weight.path): np.asarray(weight) for weight in model.weights}


def of_version(version: Path) -> dict[str, np.ndarray]:
    """Weights of an exported version, by path."""
    loaded = tf.saved_model.load(str(version))
    variables = loaded.signatures[_SIGNATURE].variables
    return {path_in_model(variable.name): variable.numpy() for variable in variables}


def path_in_model(name: str) -> str:
    """Path of a variable below the model; Keras may prefix the path with the model's own name."""
    parts = name.removesuffix(":0").split("/")
    first = next(i for i, part in enumerate(parts) if part in ("encoder", "decoder"))
    return "/".join(parts[first:])
