"""`speed_up`: a user's model trains as before, by the same loss and gradients."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from processes import run_python

from keras_attn import Decoder, Encoder, TokenEmbedding, Transformer
from keras_attn.training import Muon, SampledCrossEntropy, set_up_cpu, speed_up

RANDOM = np.random.default_rng(4)
IDS = RANDOM.integers(2, 20, (5, 7)).astype("int32")
IDS[1:3, 4:] = 0
X, Y = IDS[:, :-1], IDS[:, 1:]
SIZES = (20, 1, 8, 16, 2)


@keras.saving.register_keras_serializable(package="keras_attn_tests")
class Tied(keras.Model):
    """A model of a user, whose `call` has no argument `training`."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.embedding = TokenEmbedding(20, 8)
        self.inner = keras.layers.Dense(8, "relu")

    def call(self, ids):
        return self.embedding.logits(self.inner(self.embedding(ids)))


def of_encoder(**options):
    """A functional model with an own dense layer."""
    ids = keras.Input((None,), dtype="int32")
    x = Encoder(*SIZES, **options)(ids)
    return keras.Model(ids, keras.layers.Dense(20, name="logits", dtype="float32")(x))


def of_decoder(**options):
    ids = keras.Input((None,), dtype="int32")
    return keras.Sequential([ids, Decoder(*SIZES, cross_attention=False, **options)])


def of_regularized():
    return of_decoder(kernel_regularizer=keras.regularizers.L2(0.1))


def of_transformer():
    source = keras.Input((None,), dtype="int32")
    return keras.Model(source, Transformer.from_sizes(20, 20, 1, 1, 8, 16, 2)((source, source)))


@pytest.mark.usefixtures("eagerly")
@pytest.mark.parametrize("make", [of_encoder, of_decoder, of_regularized, Tied, of_transformer])
def test_steps_are_those_of_plain_fit_with_cross_entropy_of_keras(make):
    plain, fast = make(), make()
    for model in (plain, fast):
        model(X)
    fast.set_weights(plain.get_weights())
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=0)
    # Keras's Adam squares the parts of a sparse gradient before it adds them.
    plain.compile(keras.optimizers.SGD(0.1), loss)
    fast.compile(keras.optimizers.SGD(0.1), SampledCrossEntropy(fraction=1.0))
    assert speed_up(fast, num_shards=2) is fast
    weights = RANDOM.uniform(0.5, 2.0, Y.shape)
    for _ in range(2):
        losses = [model.train_on_batch(X, Y, weights) for model in (plain, fast)]
        assert losses[1] == pytest.approx(losses[0], rel=1e-4)
    for mine, theirs in zip(fast.get_weights(), plain.get_weights(), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-4)


def test_fit_validates_saves_and_loads_in_mixed_precision(tmp_path):
    keras.utils.set_random_seed(1)
    model = of_encoder(dtype="mixed_float16", dropout=0.1)
    speed_up(model)
    loss = SampledCrossEntropy(fraction=0.9, label_smoothing=0.1)
    model.compile(Muon(0.01, ns_steps=1, exclude_layers=["."]), loss, metrics=["accuracy"])
    path = tmp_path / "model.keras"
    checkpoint = keras.callbacks.ModelCheckpoint(path, monitor="val_accuracy", mode="max")
    fitting = {"epochs": 12, "batch_size": 3, "verbose": 0, "callbacks": [checkpoint]}
    history = model.fit(X, Y, validation_data=(X, Y), **fitting).history
    assert [*history] == ["loss", "val_accuracy", "val_loss"]
    assert history["loss"][-1] < 0.9 * history["loss"][0]
    loaded = keras.models.load_model(path)
    assert type(loaded.optimizer).__name__ == type(model.optimizer).__name__
    np.testing.assert_allclose(loaded.predict(X, verbose=0), model.predict(X, verbose=0), atol=1e-4)
    loss = loaded.evaluate(X, Y, batch_size=3, verbose=0)[0]
    assert loss == pytest.approx(history["val_loss"][-1], rel=1e-3)


@pytest.mark.usefixtures("eagerly")
def test_what_cannot_be_trained_is_named():
    def train(model, loss=None):
        speed_up(model, num_shards=1)
        model.compile("sgd", loss or SampledCrossEntropy())
        model.train_on_batch(X, Y)

    ids = keras.Input((None,), dtype="int32")
    x = Encoder(*SIZES)(ids)
    softmax = keras.Model(ids, keras.layers.Dense(20, "softmax")(x))
    with pytest.raises(ValueError, match="must return the logits of a `Decoder`, of a `keras.lay"):
        train(softmax)
    normalized = keras.layers.BatchNormalization()(x)
    with pytest.raises(ValueError, match="BatchNormalization, cannot be trained in shards. Rec"):
        train(keras.Model(ids, keras.layers.Dense(20)(normalized)))
    with pytest.raises(ValueError, match="compiled with a keras_attn.training.SampledCrossEntr"):
        train(of_decoder(), "mse")
    with pytest.raises(ValueError, match="`model` must be a Keras model. Received: model="):
        speed_up(keras.layers.Dense(3))
    with pytest.raises(ValueError, match="`num_shards` must be a positive integer. Received"):
        speed_up(of_decoder(), num_shards=0)


def test_threads_are_set_before_the_first_operation_only():
    tf.zeros(())
    if tf.config.threading.get_intra_op_parallelism_threads() != 1:
        with pytest.raises(ValueError, match="`set_up_cpu` must be called before TensorFlow runs"):
            set_up_cpu()


ON_JAX = """
import sys
import numpy as np, keras, keras_attn
from keras_attn.training import Adam, Muon, SampledCrossEntropy, set_up_cpu, speed_up
set_up_cpu()
ids = keras.Input((None,), dtype="int32")
model = keras.Model(ids, keras_attn.Decoder(9, 1, 8, 16, 2, cross_attention=False)(ids))
x = np.array([[2, 3, 4, 5], [3, 4, 5, 6]])
for optimizer in (Adam(0.01), Muon(0.01, every=2)):
    model.compile(optimizer, SampledCrossEntropy())
    losses = model.fit(x[:, :-1], x[:, 1:], epochs=8, verbose=0).history["loss"]
    assert losses[-1] < losses[0], losses
assert "tensorflow" not in sys.modules
try:
    speed_up(model)
except ValueError as error:
    print(error)
"""


def test_optimizers_and_loss_work_on_another_backend_and_speed_up_says_what_it_needs():
    pytest.importorskip("jax")
    ended = run_python("-c", ON_JAX, KERAS_BACKEND="jax")
    assert ended.stdout.startswith("`speed_up` needs TensorFlow;"), ended.stderr
