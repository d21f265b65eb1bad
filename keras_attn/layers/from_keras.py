"""Layers with the options and weights of layers of Keras and KerasHub; Keras's call order."""

import warnings
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_attn.layers.layer import walk_sublayers

# Parts of a `keras_hub.layers.TransformerEncoder`, and of an `EncoderBlock`.
PARTS_OF_HUB = {
    "self_attention_layer": "self_attention",
    "self_attention_layer_norm": "around_self_attention/norm",
    "feedforward_intermediate_dense": "feed_forward/inner_dense",
    "feedforward_output_dense": "feed_forward/outer_dense",
    "feedforward_layer_norm": "around_feed_forward/norm",
}
OF_WEIGHTS = ("kernel_initializer", "bias_initializer")
SAME_OPTIONS = (
    *("num_heads", "value_dim", "dropout", "use_bias", "use_gate", "seed", *OF_WEIGHTS),
    *("kernel_regularizer", "bias_regularizer", "kernel_constraint", "bias_constraint"),
)


def attention_like_keras(attention_class: type, layer: keras.layers.Layer) -> Any:
    """Return a built layer with the options and weights of one of Keras, grouped or not."""
    check_source(layer)
    config = layer.get_config()
    if isinstance(layer, keras.layers.GroupQueryAttention):
        config |= {"num_heads": layer.num_query_heads, "key_dim": layer.head_dim}
    if len(config.get("attention_axes") or (1,)) > 1:
        raise ValueError(
            "`layer` must attend over one axis of (B, T, D). "
            f"Received: attention_axes={config['attention_axes']}."
        )
    kernels = {name: v.shape for name, v in _weights(layer).items() if name.endswith("/kernel")}
    attention = attention_class(
        num_hiddens=config["num_heads"] * config["key_dim"],
        num_kv_heads=config.get("num_key_value_heads"),
        output_shape=kernels["output_dense/kernel"][-1],
        window=config.get("sliding_window"),
        **{name: config.get(name) for name in SAME_OPTIONS},
        **_common(layer),
    )
    sizes = (kernels[f"{name}_dense/kernel"][0] for name in ("query", "key", "value"))
    attention.build(*((None, None, size) for size in sizes))
    copy_weights(attention, _weights(layer))
    return attention


def block_like_keras_hub(block_class: type, layer: keras.layers.Layer) -> Any:
    """Return a built block with the options and weights of a `keras_hub` encoder."""
    if not hasattr(layer, "_self_attention_layer") or not layer.built:
        raise ValueError(
            "`layer` must be a keras_hub.layers.TransformerEncoder that is built: call it. "
            f"Received: layer={layer!r}."
        )
    config, attention = layer.get_config(), layer._self_attention_layer
    size = layer._feedforward_output_dense.units
    block = block_class(
        size,
        config["intermediate_dim"],
        config["num_heads"],
        config["dropout"],
        config["normalize_first"],
        use_bias=True,
        activation=config["activation"],
        norm_epsilon=config["layer_norm_epsilon"],
        head_size=attention.key_dim,
        **{name: config[name] for name in OF_WEIGHTS},
        **_common(layer),
    )
    block.build((None, None, size))
    parts = ((name.partition("/"), v) for name, v in _weights(layer).items())
    copy_weights(block, {f"{PARTS_OF_HUB[part]}/{rest}": v for (part, _, rest), v in parts})
    return block


def _common(layer):
    return {"name": layer.name, "dtype": layer.dtype_policy, "trainable": layer.trainable}


def check_source(layer: Any) -> None:
    """Check that a layer is a built `keras.layers.MultiHeadAttention`, or a grouped one.

    Raises:
        ValueError: If it is not.
    """
    if not isinstance(layer, keras.layers.MultiHeadAttention | keras.layers.GroupQueryAttention):
        raise ValueError(
            "`layer` must be a keras.layers.MultiHeadAttention or GroupQueryAttention; the kernels "
            f"of other layers have other shapes. Received: a {type(layer).__name__}, "
            f"layer={layer!r}."
        )
    if not layer.built:
        raise ValueError(f"`layer` must be built: call it. Received: layer={layer!r}.")


def copy_from_keras(attention: Any, layer: keras.layers.Layer) -> None:
    """Copy the weights of attention of Keras, grouped or not, to a `MultiHeadAttention`.

    Raises:
        ValueError: If a layer is not built, or the weights of both do not correspond; nothing is
            changed then.
    """
    check_source(layer)
    if not attention.built:
        raise ValueError(
            f"Build {attention.name!r} before `weights_from_keras`: call it, or "
            "`build(query_shape, key_shape)`. Received: built=False."
        )
    adapted = [x.name for x in attention._flatten_layers() if getattr(x, "lora_enabled", False)]
    if adapted:
        raise ValueError(
            f"{attention.name!r} must have no LoRA adapters, which would change what the copied "
            f"weights compute. Received: adapters in {adapted}. Copy first, then enable LoRA."
        )
    kernels = [_weights(layer)[f"{name}_dense/kernel"].shape for name in ("query", "key", "value")]
    sizes = tuple(size for kernel in kernels for size in kernel[1:])
    heads = attention.num_heads, attention.num_kv_heads
    keys, values = attention._head_size, attention._value_size
    ours = heads[0], keys, heads[1], keys, heads[1], values
    if sizes != ours:
        raise ValueError(
            f"`layer` must have the heads of {attention.name!r}: heads and features a head of "
            f"queries, keys and values {ours}, because the same weights mean something else in "
            f"other heads. Received: {sizes}."
        )
    copy_weights(attention, _weights(layer))


def copy_weights(layer: keras.layers.Layer, sources: dict[str, Any]) -> None:
    """Copy kernels, biases and scales by the names that they have in `layer`.

    Kernels in Keras are `(D, H, K)` and `(H, K, D)`, here `(D, H K)` and `(H K, D)`.

    Raises:
        ValueError: If a weight is missing on one side, or has another size; nothing is changed.
    """
    targets = _weights(layer)
    wanted = {name for name in targets if not name.startswith(("query_norm", "key_norm"))}
    copies = {}
    for name in sorted(wanted | set(sources)):
        source, target = sources.get(name), targets.get(name)
        shapes = [None if x is None else tuple(x.shape) for x in (source, target)]
        if source is None or target is None or np.prod(source.shape) != np.prod(target.shape):
            raise ValueError(
                f"`layer` must have the weights of {layer.name!r}. "
                f"Received: {name} of shape {shapes[0]} in `layer`, of shape {shapes[1]} here."
            )
        copies[name] = np.reshape(ops.convert_to_numpy(source), target.shape)
    for name, array in copies.items():
        targets[name].assign(array)


def _weights(layer):
    """Weights of the sub-layers, by the names of attributes, such as `query_dense/kernel`."""
    return {
        f"{path}/{variable.name}": variable
        for path, child in walk_sublayers(layer)
        for variable in child._trainable_variables
    }


def warn_of_order(key: Any, value: Any) -> None:
    """Warn of positional key and value of different sizes: Keras's call order is different."""
    sizes = [getattr(x, "shape", (None,))[-1] for x in (key, value)]
    if None not in sizes and sizes[0] != sizes[1]:
        warnings.warn(
            "The call order is (query, key, value); keras.layers.MultiHeadAttention has "
            "(query, value, key). Pass `key` and `value` of different sizes by name to silence "
            f"this. Received: key.shape={tuple(key.shape)}, value.shape={tuple(value.shape)}.",
            stacklevel=3,
        )
