"""Every public layer with inputs and non-default arguments.

Tests run for each layer in `LAYERS`, or for the few in `KINDS`.
"""

import functools

import keras
import numpy as np
import pytest
from keras import ops

import keras_attn
from keras_attn import ShawRelativePosition

RANDOM = np.random.default_rng(9)
X = RANDOM.normal(size=(2, 5, 6)).astype(np.float32)
MEMORY = RANDOM.normal(size=(2, 7, 4)).astype(np.float32)
SAME_SIZE = RANDOM.normal(size=(2, 7, 6)).astype(np.float32)
IDS = np.array([[3, 5, 7, 0, 0], [2, 4, 6, 8, 1]], np.int32)
SIZES = {"num_hiddens": 6, "ffn_num_hiddens": 7, "num_heads": 3, "dropout": 0.1}
STACK = {"vocab_size": 9, "num_layers": 1, **SIZES}


@keras.saving.register_keras_serializable(package="keras_attn_tests")
class ResidualAroundDense(keras.layers.Layer):
    """Custom layer with a `Residual`, as in user code."""

    def __init__(self, dropout=0.0, norm_first=True, norm="layer", **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.settings = {"dropout": dropout, "norm_first": norm_first, "norm": norm}
        self.residual = keras_attn.Residual(**self.settings, dtype=self.dtype_policy)
        self.dense = keras.layers.Dense(6, dtype=self.dtype_policy)

    def build(self, x_shape):
        self.residual.build(x_shape)
        self.dense.build(x_shape)

    def call(self, x, training=None):
        return self.residual(x, sublayer=self.dense, training=training)

    def compute_output_shape(self, x_shape):
        return x_shape

    def get_config(self):
        return {**super().get_config(), **self.settings}


# A dash separates the name of a layer from the name of a variant. A function creates an argument
# that cannot be shared between layers.
# fmt: off
LAYERS = {
    "AdditiveAttention": ({"num_hiddens": 8, "dropout": 0.1}, [X, MEMORY]),
    "BilinearAttention": ({"dropout": 0.1}, [X, MEMORY]),
    "DotProductAttention": ({"dropout": 0.1, "scale": False}, [X, SAME_SIZE]),
    "GaussianKernelAttention": (
        {"bandwidth": 1.5, "trainable": True, "dropout": 0.1}, [X, SAME_SIZE]),
    "MultiHeadAttention": (
        {"num_hiddens": 6, "num_heads": 3, "dropout": 0.1, "use_bias": True}, [X, MEMORY]),
    "MultiHeadAttention-rotary": (
        {"num_hiddens": 8, "num_heads": 4, "num_kv_heads": 2, "window": 3,
         "position": lambda: keras_attn.RotaryEmbedding(layout="half", scaling="linear")},
        [X, SAME_SIZE]),
    "MultiHeadAttention-shaw": (
        {"num_hiddens": 6, "num_heads": 2, "position": lambda: ShawRelativePosition(2)},
        [X, MEMORY]),
    "MultiHeadAttention-options": (
        {"num_hiddens": 6, "num_heads": 3, "num_kv_heads": 1, "value_dim": 5, "output_shape": 4,
         "use_gate": True, "qk_norm": "rms", "soft_cap": 3.0, "use_sinks": True},
        [X, MEMORY]),
    "PositionalEncoding": ({"max_len": 3, "dropout": 0.1}, [X]),
    "LearnedPositionalEncoding": ({"max_len": 11, "dropout": 0.1}, [X]),
    "FeedForward": (
        {"ffn_num_hiddens": 7, "activation": "gelu", "dropout": 0.1, "gated": True}, [X]),
    "Residual": ({"dropout": 0.1, "norm_first": False, "norm": "rms"}, [X]),
    "TokenEmbedding": ({"vocab_size": 9, "num_hiddens": 6, "dropout": 0.1}, [IDS]),
    "EncoderBlock": ({**SIZES, "norm_first": False, "activation": "gelu"}, [X]),
    "EncoderBlock-options": (
        {**SIZES, "use_gate": True, "qk_norm": "layer", "soft_cap": 5.0, "use_sinks": True,
         "use_bias": True, "blockwise": False},
        [X]),
    "DecoderBlock": ({**SIZES, "norm_first": False, "use_bias": True}, [X, MEMORY]),
    "Encoder": ({**STACK, "norm_first": False}, [IDS]),
    "Encoder-alibi": (
        {**STACK, "position": keras_attn.AlibiBias, "gated": True, "norm": "rms",
         "num_kv_heads": 1},
        [IDS]),
    "Encoder-learned": (
        {**STACK, "position": lambda: keras_attn.LearnedPositionalEncoding(11)}, [IDS]),
    "Decoder": ({**STACK, "use_bias": True}, [IDS, MEMORY]),
    "Decoder-t5": (
        {**STACK, "cross_attention": False, "tie_embeddings": True, "logits_use_bias": True,
         "position": lambda: keras_attn.T5RelativeBias(bidirectional=False)},
        [IDS]),
    "Transformer": (
        {"encoder": lambda: keras_attn.Encoder(**STACK, name="encoder"),
         "decoder": lambda: keras_attn.Decoder(**STACK, name="decoder")},
        [[IDS, IDS]]),
}
# fmt: on
INPUTS = {"x": X, "memory": MEMORY, "same_size": SAME_SIZE, "ids": IDS}
# One layer of each kind, for what all layers inherit: a score, heads, a stack and a model.
KINDS = ["AdditiveAttention", "MultiHeadAttention-options", "Encoder-alibi", "Transformer"]


def make(label, **kwargs):
    """Layer and inputs of a label; most arguments also apply to the parts of a Transformer."""
    arguments, inputs = LAYERS[label]
    arguments = {key: value() if callable(value) else value for key, value in arguments.items()}
    class_name = label.split("-")[0]
    if class_name == "Residual":
        return ResidualAroundDense(**{**arguments, **kwargs}), inputs
    if class_name == "Transformer":
        own = {name: value for name, value in kwargs.items() if name != "name"}
        kwargs = {name: value for name, value in kwargs.items() if name in ("name", "dtype")}
        for name, part in arguments.items():
            arguments[name] = type(part).from_config({**part.get_config(), **own})
    return getattr(keras_attn, class_name)(**{**arguments, **kwargs}), inputs


@functools.cache
def built(label):
    """Layer of a label that was called, its inputs and its answer. The layer is shared: a test
    that changes a layer takes one of its own, from `make`."""
    keras.utils.set_random_seed(1)
    layer, inputs = make(label)
    return layer, inputs, layer(*inputs)


def symbolic(inputs, dtype=None):
    """Keras inputs with the shapes and dtypes of arrays."""

    def entry(x):
        return keras.Input(x.shape[1:], dtype=dtype or ("int32" if x is IDS else "float32"))

    return keras.tree.map_structure(entry, inputs)


def model_of(labels, any_length=False, blockwise=None, **kwargs):
    """Functional model of the arrays in `INPUTS`, with an output and a layer for each label.

    `blockwise` applies to the layers that have it. False makes small graphs with `any_length`:
    otherwise the graph has attention in blocks and at once.
    """
    entries = {
        name: keras.Input(
            (None, *x.shape[2:]) if any_length else x.shape[1:],
            dtype="int32" if x is IDS else "float32",
            name=name,
        )
        for name, x in INPUTS.items()
    }
    outputs = {}
    for label in labels:
        arguments = dict(kwargs)
        takes_blockwise = label == "Transformer" or hasattr(make(label)[0], "blockwise")
        if blockwise is not None and takes_blockwise:
            arguments["blockwise"] = blockwise
        layer, inputs = make(label, name=label, **arguments)
        outputs[label] = layer(*named(inputs, entries))
    return keras.Model(entries, outputs)


def named(inputs, values):
    """Replace arrays of `INPUTS` by `values` of the same name, in the same structure."""

    def value(x):
        return next(values[name] for name, array in INPUTS.items() if array is x)

    return keras.tree.map_structure(value, inputs)


def same(found, expected, **tolerance):
    """Assert that tensors or arrays are equal within a tolerance of 1e-5 by default."""
    found, expected = map(ops.convert_to_numpy, (found, expected))
    np.testing.assert_allclose(found, expected, **{"atol": 1e-5, **tolerance})


def all_same(found, expected, **tolerance):
    """Assert `same` for each pair of two lists of tensors or arrays."""
    for one, other in zip(found, expected, strict=True):
        same(one, other, **tolerance)


def same_weights(found, expected):
    """Assert that the weights of two layers, or two lists of weights, are equal."""
    found, expected = (getattr(x, "weights", x) for x in (found, expected))
    all_same(found, expected, rtol=0, atol=0)


def save_and_load(model, folder):
    """The model as its `.keras` file in `folder` has it."""
    model.save(folder / "model.keras")
    return keras.saving.load_model(folder / "model.keras")


def same_slopes(gradients, function, arrays, random, tolerance):
    """Assert that gradients are those of `function(*arrays)`, along a random step of each array."""
    assert len(gradients) == len(arrays)
    for i, gradient in enumerate(gradients):
        step = random.normal(size=arrays[i].shape)
        ahead, behind = (
            function(*arrays[:i], arrays[i] + size * step, *arrays[i + 1 :])
            for size in (1e-6, -1e-6)
        )
        slope = (ahead - behind) / 2e-6
        assert np.sum(gradient * step) == pytest.approx(slope, rel=tolerance, abs=tolerance)


def same_answers(found, expected, **tolerance):
    """Assert `same` for the outputs of two models with the same labels."""
    assert set(found) == set(expected)
    for label in expected:
        same(found[label], expected[label], err_msg=label, **tolerance)
