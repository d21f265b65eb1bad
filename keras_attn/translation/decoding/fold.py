"""Folding of gains and offsets into kernels, and back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np

from keras_attn.decoder import Decoder
from keras_attn.decoder_block import DecoderBlock
from keras_attn.encoder import Encoder, EncoderBlock
from keras_attn.positions import LearnedPositionalEncoding, PositionalEncoding, serialize_position
from keras_attn.transformer import Transformer
from keras_attn.translation import named_weights

Weights = dict[str, np.ndarray]


def fold(model: Transformer, num_positions: int, dtype: str = "float32") -> Transformer:
    """Return a model of the same classes and answers that needs fewer operations.

    - Gain `g` and offset `b` of a normalisation are folded into the next product:
      `LN(x) W = ((x - mean(x)) / std(x)) (g * W) + b W`.
    - All terms of the residual stream are centred, so `mean(x)` is 0 and layer normalisation is RMS
      normalisation.
    - Sinusoidal positions become a table.

    Where that is not possible, the model has the same weights as before: with normalisation after
    the sub-layers, with tied embeddings, with classes of a user, or with names other than those of
    `Transformer.from_sizes`.

    Args:
        model: Built model.
        num_positions: Maximum number of source or target positions.
        dtype: `"float32"` or `"bfloat16"`, of weights and products. Defaults to `"float32"`.

    Returns:
        A built model.
    """
    if can_fold(model):
        weights = _fold_weights(named_weights.of_model(model), model, num_positions)
        folded = Transformer(
            *(
                _folded_stack(stack, num_positions, dtype)
                for stack in (model.encoder, model.decoder)
            ),
            dtype=dtype,
        )
        folded.build(((None, None), (None, None)))
        named_weights.assign(folded.weights, weights)
    else:
        policy = keras.saving.serialize_keras_object(keras.DTypePolicy(dtype))
        config = _replace(model.get_config(), {"dtype": policy, "blockwise": False})
        folded = type(model).from_config(config)
        folded.build(((None, None), (None, None)))
        folded.set_weights(model.get_weights())
    return folded


def can_fold(model: Transformer) -> bool:
    """Whether gains and offsets of a model can be folded into kernels."""
    encoder, decoder = model.encoder, model.decoder
    classes = [type(part) for part in (model, encoder, decoder, *encoder.blocks, *decoder.blocks)]
    known = {Transformer, Encoder, Decoder, EncoderBlock, DecoderBlock}
    layers = model._flatten_layers()
    return (
        set(classes) <= known
        and (encoder.name, decoder.name) == ("encoder", "decoder")
        and all(stack.norm_first and stack.norm_weights for stack in (encoder, decoder))
        and encoder.norm == decoder.norm
        and not decoder.tie_embeddings
        and all(layer.quantization_mode is None for layer in layers)
        and not any(getattr(layer, "lora_enabled", False) for layer in layers)
    )


def _folded_stack(stack: Any, num_positions: int, dtype: str) -> Any:
    config = stack.get_config()
    config.pop("sublayers", None)
    if stack.norm == "layer":
        config["use_bias"] = True
        if _is_sinusoidal(stack):
            table = LearnedPositionalEncoding(num_positions, name="positions", dtype=dtype)
            config["position"] = serialize_position(table)
    options = {"norm": "rms", "norm_weights": False, "blockwise": False, "dtype": dtype}
    return type(stack).from_config({**config, **options})


def _is_sinusoidal(stack: Any) -> bool:
    return isinstance(stack.embedding._positions, PositionalEncoding)


def _replace(config: Any, values: dict[str, Any]) -> Any:
    """Return a configuration with other values of these names, at any depth."""
    if not isinstance(config, dict):
        return config
    return {name: values.get(name, _replace(part, values)) for name, part in config.items()}


def _after_norms(model: Any) -> Iterator[tuple[str, list[str]]]:
    """Yield each normalisation with the dense layers that have its output as input."""
    memory = []
    for name in ("encoder", "decoder"):
        stack = getattr(model, name)
        gate = ["gate"] if stack.use_gate else []
        inner = ["inner", "gate"] if stack.gated else ["inner"]
        for i in range(stack.num_layers):
            block = f"{name}/block_{i}"
            parts = {"self_attention": ["query", "key", "value", *gate], "feed_forward": inner}
            if name == "decoder":
                parts["cross_attention"] = ["query", *gate]
                memory += [f"{block}/cross_attention/{part}" for part in ("key", "value")]
            for sublayer, layers in parts.items():
                yield (
                    f"{block}/around_{sublayer}/norm",
                    [f"{block}/{sublayer}/{layer}" for layer in layers],
                )
    yield "encoder/norm", memory
    yield "decoder/norm", ["decoder/logits"]


def _fold_weights(weights: Weights, model: Transformer, num_positions: int) -> Weights:
    # In float64, so that the results are rounded only once.
    made = {path: value.astype(np.float64) for path, value in weights.items()}
    is_layer_norm = model.encoder.norm == "layer"
    for norm, layers in _after_norms(model):
        gain = made.pop(f"{norm}/gamma" if is_layer_norm else f"{norm}/scale")
        offset = made.pop(f"{norm}/beta") if is_layer_norm else None
        for layer in layers:
            kernel = made[f"{layer}/kernel"]
            if offset is not None:
                made[f"{layer}/bias"] = made.get(f"{layer}/bias", 0.0) + offset @ kernel
            made[f"{layer}/kernel"] = gain[:, None] * kernel
    if not is_layer_norm:
        return made
    for name in ("encoder", "decoder"):
        stack = getattr(model, name)
        if _is_sinusoidal(stack):
            zeros = np.zeros((1, num_positions, stack.num_hiddens), np.float32)
            made[f"{name}/embedding/positions/table"] = np.asarray(PositionalEncoding()(zeros))[0]
    for path in list(made):
        if path.endswith("attention/output/kernel"):
            bias = path.replace("kernel", "bias")
            made.setdefault(bias, np.zeros(made[path].shape[1]))
    for path, value in made.items():
        if _is_term(path):
            made[path] = value - value.mean(axis=-1, keepdims=True)
    return made


def _is_term(path: str) -> bool:
    """Whether a weight is, or makes, a term of the residual stream."""
    return path.endswith(("/embeddings", "/table")) or any(
        f"{layer}/" in path for layer in ("attention/output", "feed_forward/outer")
    )


def weights_of_version(version: Path, model: Transformer) -> Weights:
    """Weights of an exported version for a model that is not folded.

    Args:
        version: Folder of the version; versions of older formats are not folded.
        model: Built model with the options of the exported one.

    Raises:
        ValueError: If the version cannot be loaded, as `versions.load` says.
    """
    weights = named_weights.of_version(version)
    is_folded = can_fold(model) and not any(path.startswith("encoder/norm/") for path in weights)
    return unfold(weights, model) if is_folded else weights


def unfold(weights: Weights, model: Transformer) -> Weights:
    """Weights that give a model the answers of a folded one, with gains of 1.

    Args:
        weights: Weights of a folded model.
        model: Model with the options from before.

    Returns:
        The weights by path.

    Raises:
        ValueError: If weights are missing.
    """
    missing = [
        path
        for _, layers in _after_norms(model)
        for layer in layers
        if (path := f"{layer}/kernel") not in weights
    ]
    if missing:
        raise ValueError(
            "The weights must be those of this model. "
            f"Received: missing {named_weights.named(missing)}."
        )
    made = dict(weights)
    is_layer_norm = model.encoder.norm == "layer"
    for norm, layers in _after_norms(model):
        size = made[f"{layers[0]}/kernel"].shape[0]
        made[f"{norm}/gamma" if is_layer_norm else f"{norm}/scale"] = np.ones(size, np.float32)
        if is_layer_norm:
            _unfold_offset(made, norm, layers, model)
    if is_layer_norm:
        for name in ("encoder", "decoder"):
            stack = getattr(model, name)
            if _is_sinusoidal(stack):
                del made[f"{name}/embedding/positions/table"]
            if not stack.use_bias:
                for path in [p for p in made if p.startswith(name) and p.endswith("output/bias")]:
                    del made[path]
    return made


def _unfold_offset(made: Weights, norm: str, layers: list[str], model: Any) -> None:
    """Solve the offset of a normalisation from the biases that contain it."""
    without_bias = [
        layer
        for layer in layers
        if "attention" in layer and not getattr(model, layer.split("/")[0]).use_bias
    ]
    if without_bias:
        kernels = np.concatenate([made[f"{layer}/kernel"] for layer in without_bias], axis=1)
        biases = np.concatenate([made[f"{layer}/bias"] for layer in without_bias])
        solution = np.linalg.lstsq(kernels.T.astype(np.float64), biases.astype(np.float64))
        made[f"{norm}/beta"] = solution[0].astype(np.float32)
    else:  # the biases stay, so no offset is needed
        made[f"{norm}/beta"] = np.zeros(made[f"{layers[0]}/kernel"].shape[0], np.float32)
    for layer in without_bias:
        del made[f"{layer}/bias"]
