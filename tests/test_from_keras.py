import keras
import numpy as np
import pytest
from every_layer import MEMORY, SAME_SIZE, X

from keras_attn import MultiHeadAttention

VALUE = SAME_SIZE[..., :5]


@pytest.mark.parametrize("use_bias", [False, True])
@pytest.mark.parametrize("use_gate", [False, True])
@pytest.mark.parametrize("sizes", [(2, 3, None, None), (3, 4, 5, 7), (1, 6, 2, 6)])
def test_a_keras_layer_with_the_same_weights_has_the_same_answers(sizes, use_gate, use_bias):
    num_heads, key_dim, value_dim, output_shape = sizes
    theirs = keras.layers.MultiHeadAttention(
        num_heads,
        key_dim,
        value_dim,
        use_bias=use_bias,
        use_gate=use_gate,
        output_shape=output_shape,
        bias_initializer="normal",
    )
    ours = MultiHeadAttention(
        num_heads * key_dim,
        num_heads,
        use_bias=use_bias,
        use_gate=use_gate,
        value_dim=value_dim,
        output_shape=output_shape or X.shape[-1],
    )
    mask = np.random.default_rng(0).random((2, 5, 7)) < 0.6
    mask[:, :, 0] = True
    # With the weights, Keras goes the way that takes other sizes of values on JAX too.
    expected, _ = theirs(X, VALUE, MEMORY, attention_mask=mask, return_attention_scores=True)
    ours(X, MEMORY, value=VALUE)
    ours.weights_from_keras(theirs)
    output = ours(X, MEMORY, value=VALUE, attention_mask=mask)
    np.testing.assert_allclose(output, expected, atol=1e-5)


def test_a_layer_of_other_sizes_is_named_and_changes_nothing():
    ours = MultiHeadAttention(6, 2)
    ours(X, X)
    before = ours.get_weights()
    others = [
        keras.layers.MultiHeadAttention(2, 4, use_bias=False),
        keras.layers.MultiHeadAttention(2, 3),
        keras.layers.MultiHeadAttention(2, 3, use_bias=False, use_gate=True),
    ]
    for theirs in others:
        theirs(X, X)
        with pytest.raises(ValueError, match="`layer` must have the weights of"):
            ours.weights_from_keras(theirs)
    for wrong in (keras.layers.Dense(3), keras.layers.MultiHeadAttention(2, 3)):
        with pytest.raises(ValueError, match="`layer` must be a keras.layers.MultiHeadAttention"):
            ours.weights_from_keras(wrong)
    for new, old in zip(ours.get_weights(), before, strict=True):
        np.testing.assert_array_equal(new, old)


def test_layers_that_are_not_built_say_so():
    theirs = keras.layers.MultiHeadAttention(2, 3)
    theirs(X, X)
    with pytest.raises(ValueError, match="before `weights_from_keras`.*built=False"):
        MultiHeadAttention(6, 2).weights_from_keras(theirs)
