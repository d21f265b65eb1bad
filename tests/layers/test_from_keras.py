import itertools

import keras
import numpy as np
import pytest
from every_layer import MEMORY, SAME_SIZE, X
from keras import ops

from keras_attn import EncoderBlock, MultiHeadAttention

VALUE = SAME_SIZE[..., :5]


@pytest.mark.parametrize("sizes", [(2, 3, None, None), (3, 4, 5, 7), (1, 6, 2, 6)])
def test_a_keras_layer_with_the_same_weights_has_the_same_answers(sizes):
    num_heads, key_dim, value_dim, output_shape = sizes
    mask = np.random.default_rng(0).random((2, 5, 7)) < 0.6
    mask[:, :, 0] = True
    for use_bias, use_gate in itertools.product((False, True), repeat=2):
        options = {"use_bias": use_bias, "use_gate": use_gate, "value_dim": value_dim}
        theirs = keras.layers.MultiHeadAttention(
            num_heads, key_dim, output_shape=output_shape, bias_initializer="normal", **options
        )
        # With the weights, Keras goes the way that takes other sizes of values on JAX too.
        expected, _ = theirs(X, VALUE, MEMORY, attention_mask=mask, return_attention_scores=True)
        output_shape = output_shape or X.shape[-1]
        ours = MultiHeadAttention(
            num_heads * key_dim, num_heads, output_shape=output_shape, **options
        )
        ours(X, MEMORY, value=VALUE)
        ours.weights_from_keras(theirs)
        output = ours(X, MEMORY, value=VALUE, attention_mask=mask)
        np.testing.assert_allclose(output, expected, atol=1e-5)
        made = MultiHeadAttention.from_keras(theirs)
        output = made(X, MEMORY, value=VALUE, attention_mask=mask)
        np.testing.assert_allclose(output, expected, atol=1e-5)


@pytest.mark.parametrize("num_groups", [1, 2, 4])
def test_a_grouped_layer_of_keras_has_the_same_answers(num_groups):
    mask = np.tri(5, 7, 2, dtype=bool)[None]
    for options in ({}, {"use_bias": False, "sliding_window": 3}, {"use_gate": True}):
        options = {"bias_initializer": "normal", **options}
        theirs = keras.layers.GroupQueryAttention(3, 4, num_groups, name="mine", **options)
        expected = ops.convert_to_numpy(theirs(X, VALUE, SAME_SIZE, attention_mask=mask))
        made = MultiHeadAttention.from_keras(theirs)
        assert (made.num_heads, made.num_kv_heads, made.name) == (4, num_groups, "mine")
        copied = MultiHeadAttention.from_config(made.get_config())
        copied.build(X.shape, SAME_SIZE.shape, VALUE.shape)
        copied.weights_from_keras(theirs)
        for ours in (made, copied):
            found = ops.convert_to_numpy(ours(X, SAME_SIZE, value=VALUE, attention_mask=mask))
            np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_layer_that_does_not_fit_is_named_and_changes_nothing():
    ours = MultiHeadAttention(6, 2)
    ours(X, X)
    before = ours.get_weights()
    heads = keras.layers.MultiHeadAttention
    grouped = keras.layers.GroupQueryAttention(3, 2, 1, use_bias=False)
    others = [heads(2, 3), heads(2, 3, use_bias=False, use_gate=True)]
    cases = [(theirs, "`layer` must have the weights of") for theirs in others]
    cases += [(heads(2, 4), r"\(2, 3, 2, 3, 2, 3\).* Received: \(2, 4, 2, 4, 2, 4\)")]
    cases += [(heads(1, 6), "the heads of"), (grouped, r"Received: \(2, 3, 1, 3, 1, 3\)")]
    for theirs, message in cases:
        theirs(X, X)
        with pytest.raises(ValueError, match=message):
            ours.weights_from_keras(theirs)
    for wrong, message in ((keras.layers.Dense(3), "a Dense"), (heads(2, 3), "must be built")):
        with pytest.raises(ValueError, match=message):
            ours.weights_from_keras(wrong)
    for new, old in zip(ours.get_weights(), before, strict=True):
        np.testing.assert_array_equal(new, old)
    with pytest.raises(ValueError, match="before `weights_from_keras`.*built=False"):
        MultiHeadAttention(6, 2).weights_from_keras(others[1])


def test_the_options_of_a_keras_layer_come_with_its_weights():
    given = {"dropout": 0.25, "use_gate": True, "seed": 3, "sliding_window": 2, "name": "mine"}
    theirs = keras.layers.MultiHeadAttention(2, 3, **given, trainable=False, dtype="float64")
    with pytest.raises(ValueError, match="must be built"):
        MultiHeadAttention.from_keras(theirs)
    expected = theirs(X, X, use_causal_mask=True)
    ours = MultiHeadAttention.from_keras(theirs)
    np.testing.assert_allclose(ours(X, X, use_causal_mask=True), expected, atol=1e-6)
    config = ours.get_config()
    names = {"sliding_window": "window"}
    assert {names.get(k, k): v for k, v in given.items()}.items() <= config.items()
    assert not ours.trainable and ours.compute_dtype == "float64"
    theirs = keras.layers.MultiHeadAttention(2, 3, attention_axes=(1, 2))
    theirs(X[None], X[None])
    with pytest.raises(ValueError, match="over one axis"):
        MultiHeadAttention.from_keras(theirs)


class EncoderOfKerasHub(keras.layers.Layer):
    """The attributes and the computation of `keras_hub.layers.TransformerEncoder`, version 0.32."""

    def __init__(self, intermediate_dim, num_heads, dropout=0.0, **options):
        names = ("activation", "layer_norm_epsilon", "normalize_first", "bias_initializer")
        self.options = {name: options.pop(name) for name in names}
        super().__init__(**options)
        self.sizes = {"intermediate_dim": intermediate_dim, "num_heads": num_heads}
        self.sizes |= {"dropout": dropout, "kernel_initializer": "glorot_uniform"}

    def build(self, shape):
        sizes, options = self.sizes, self.options
        biases = {"bias_initializer": options["bias_initializer"], "dtype": self.dtype_policy}
        epsilon = options["layer_norm_epsilon"]
        heads = sizes["num_heads"]
        self._self_attention_layer = keras.layers.MultiHeadAttention(
            heads, shape[-1] // heads, dropout=sizes["dropout"], **biases
        )
        self._self_attention_layer.build(shape, shape)
        for name in ("_self_attention_layer_norm", "_feedforward_layer_norm"):
            setattr(self, name, keras.layers.LayerNormalization(epsilon=epsilon))
            getattr(self, name).build(shape)
        inner = keras.layers.Dense(sizes["intermediate_dim"], options["activation"], **biases)
        inner.build(shape)
        self._feedforward_intermediate_dense = inner
        self._feedforward_output_dense = keras.layers.Dense(shape[-1], **biases)
        self._feedforward_output_dense.build((*shape[:-1], sizes["intermediate_dim"]))

    def call(self, x, padding_mask):
        def attend(x):
            return self._self_attention_layer(x, x, attention_mask=padding_mask[:, None])

        def feed(x):
            return self._feedforward_output_dense(self._feedforward_intermediate_dense(x))

        for part, norm in (
            (attend, self._self_attention_layer_norm),
            (feed, self._feedforward_layer_norm),
        ):
            x = x + part(norm(x)) if self.options["normalize_first"] else norm(x + part(x))
        return x

    def get_config(self):
        return {**super().get_config(), **self.sizes, **self.options}


@pytest.mark.parametrize("norm_first", [False, True])
def test_a_block_of_keras_hub_has_the_same_answers_here(norm_first):
    try:
        from keras_hub.layers import TransformerEncoder
    except ImportError:
        TransformerEncoder = EncoderOfKerasHub
    options = {"activation": "gelu", "normalize_first": norm_first, "bias_initializer": "normal"}
    theirs = TransformerEncoder(8, 2, 0.1, layer_norm_epsilon=1e-3, **options)
    with pytest.raises(ValueError, match="TransformerEncoder that is built"):
        EncoderBlock.from_keras_hub(theirs)
    mask = np.arange(X.shape[1]) < np.array([[5], [3]])
    expected = ops.convert_to_numpy(theirs(X, padding_mask=mask))
    ours = EncoderBlock.from_keras_hub(theirs)
    for given in ({"valid_lens": [5, 3]}, {"x_mask": mask}):
        found = ops.convert_to_numpy(ours(X, **given))
        np.testing.assert_allclose(found[mask], expected[mask], atol=1e-5)
    assert (ours.dropout, ours.name) == (0.1, theirs.name)


def test_adapters_are_not_kept_in_silence():
    ours, theirs = MultiHeadAttention(6, 2), keras.layers.MultiHeadAttention(2, 3, use_bias=False)
    ours(X, X), theirs(X, X)
    ours.enable_lora(2)
    with pytest.raises(ValueError, match="no LoRA adapters.*'query'"):
        ours.weights_from_keras(theirs)
