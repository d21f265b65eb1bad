import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attn.training import Adam

SHAPES = [(4, 6), (5,), ()]


def draw(random):
    return [keras.ops.array(random.normal(size=shape).astype("float32")) for shape in SHAPES]


@pytest.mark.parametrize(
    "options",
    [
        {"beta_1": 0.8, "beta_2": 0.95, "epsilon": 1e-4, "weight_decay": 0.1, "clipnorm": 0.5},
        {"amsgrad": True},
        {"gradient_accumulation_steps": 2, "use_ema": True, "ema_momentum": 0.5},
    ],
)
def test_takes_the_steps_of_keras_adam(options):
    random = np.random.default_rng(2)
    starts = draw(random)
    fused, plain = ([keras.Variable(start) for start in starts] for _ in range(2))
    optimizers = [kind(0.1, **options) for kind in (Adam, keras.optimizers.Adam)]
    for _ in range(6):
        gradients = draw(random)
        for optimizer, weights in zip(optimizers, (fused, plain), strict=True):
            optimizer.apply(gradients, weights)
    for start, one, other in zip(starts, fused, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
        assert np.abs(np.asarray(one) - start).max() > 0.01


def test_rows_of_a_sparse_gradient_are_added():
    table = keras.Variable(np.ones((3, 2)))
    rows = tf.IndexedSlices(tf.constant([[1.0, 1.0]] * 2), tf.constant([1, 1]), tf.constant([3, 2]))
    Adam(0.5).apply([rows], [table])
    np.testing.assert_allclose(table, [[1, 1], [0.5, 0.5], [1, 1]], rtol=1e-5)


def test_config_round_trip():
    optimizer = Adam(0.2, beta_1=0.5, amsgrad=True)
    made = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert type(made) is Adam and made.get_config() == optimizer.get_config()
