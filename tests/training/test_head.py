import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attn import Decoder, TokenEmbedding
from keras_attn.training.head import Head, find_head

IDS = tf.constant([[2, 5, 3]])


@pytest.mark.parametrize(
    "options", [{}, {"tie_embeddings": True, "logits_use_bias": True}, {"logits_use_bias": False}]
)
def test_states_times_the_projection_are_the_logits(options):
    decoder = Decoder(9, 1, 4, 8, 2, cross_attention=False, bias_initializer="normal", **options)
    ids = keras.Input((None,), dtype="int32")
    model = keras.Model(ids, decoder(ids))
    head = find_head(model, IDS)
    assert head.layer is decoder and head.vocab_size == 9
    states = head.states(lambda: model(IDS))
    kernel, bias = head.projection(None)
    np.testing.assert_allclose(states @ kernel + bias, model(IDS), rtol=1e-4, atol=1e-5)
    few, bias = head.projection([7, 1])
    np.testing.assert_allclose(few, np.asarray(kernel)[:, [7, 1]])
    assert tuple(head.states(lambda: model(IDS)).shape) == (1, 3, 4)
    assert tuple(model(IDS).shape) == (1, 3, 9)  # nothing is left replaced


def test_the_last_of_several_layers_is_found():
    ids = keras.Input((None,), dtype="int32")
    x = TokenEmbedding(9, 4)(ids)
    first, last = keras.layers.Dense(4), keras.layers.Dense(9)
    inner = keras.Model(ids, last(first(x)))
    model = keras.Model(ids, inner(ids))
    assert find_head(model, IDS).layer is last
    assert Head.of(keras.layers.Dense(9, "relu")) is None
