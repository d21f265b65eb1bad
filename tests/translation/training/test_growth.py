import numpy as np
import pytest
from keras.callbacks import LambdaCallback
from small_models import assert_weights
from small_training import SmallTraining

from keras_attn import Transformer
from keras_attn.translation import named_weights
from keras_attn.translation.training import callbacks, lexical_start
from keras_attn.translation.training.growth import first_half

STEPS, GROWS = 6, 3  # the third batch is the first one of all blocks


@pytest.fixture(scope="module")
def training(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizers")
    sizes = {"num_encoder_layers": 2, "num_decoder_layers": 2}
    training = SmallTraining(
        folder, **sizes, grow_at=GROWS / STEPS, accumulate=1, matrix_update_interval=1
    )
    assert training.stream.steps_per_epoch >= STEPS
    return training


def weights_of(model):
    return {path: np.array(one) for path, one in named_weights.by_path(model.weights).items()}


def test_later_blocks_are_trained_from_the_share_on(training, tmp_path):
    seen = []

    def look(batch, logs):
        seen.append(weights_of(training.model))

    watch = LambdaCallback(on_train_batch_end=look)
    training.fit(tmp_path, watch, steps=STEPS)
    for path in seen[0]:
        changes = [
            not np.array_equal(a[path], b[path]) for a, b in zip(seen, seen[1:], strict=False)
        ]
        assert any(changes[GROWS - 2 :]), path
        is_later = "block_1/" in path
        assert any(changes[: GROWS - 2]) != is_later, path


def test_a_training_that_is_killed_before_or_after_grows_alike(training, tmp_path, monkeypatch):
    training.fit(tmp_path / "undisturbed", steps=STEPS)
    expected = training.model.get_weights()
    monkeypatch.setattr(callbacks, "CHECKPOINT_SECONDS", 0.0)  # after each batch

    class Killed(Exception):
        pass

    def die_in(number):
        def die(batch, logs):
            if batch == number:
                raise Killed

        return LambdaCallback(on_train_batch_begin=die)

    for batch in (2, 1, 1):  # counted from where the training is resumed
        with pytest.raises(Killed):
            training.fit(tmp_path / "killed", die_in(batch), steps=STEPS)
    training.fit(tmp_path / "killed", steps=STEPS)
    assert_weights(training.model, expected)


def test_the_model_is_the_same_before_and_after_it_grows():
    model = Transformer.from_sizes(30, 30, 4, 2, 16, 32, 2)
    model.build(((None, None), (None, None)))
    random = np.random.default_rng(0)
    sides = [[random.integers(4, 30, 6) for _ in range(50)] for _ in range(2)]
    lexical_start.apply(model, sides, seed=0)
    pair = np.array([[5, 9, 3]]), np.array([[2, 7]])
    with first_half(model):
        before = np.array(model(pair))
    np.testing.assert_allclose(np.array(model(pair)), before, atol=1e-6)
