import keras
import numpy as np
import pytest
import tensorflow as tf
from small_models import assert_weights
from small_training import state_of

from keras_attn import Transformer
from keras_attn.translation import named_weights
from keras_attn.translation.evaluation.report import EpochRecord
from keras_attn.translation.training.checkpoints import newest_first, read_weights


def make_model(seed=1, num_layers=1):
    keras.utils.set_random_seed(seed)
    model = Transformer.from_sizes(9, 9, num_layers, 1, 8, 8, 2, dropout=0.5)
    model.build(((None, None), (None, None)))
    return model


def save(state, *steps):
    for step in steps:
        state.step.assign(step)
        state.keep_if_best(step, state.best)
        state.save()


def kept(folder):
    return [path.name for path in newest_first(folder)]


def test_checkpoint_brings_back_weights_seeds_position_and_best(tmp_path):
    model = make_model()
    state = state_of(model, tmp_path)
    ids = np.array([[3, 4, 5]])
    model((ids, ids), training=True)  # moves the seeds of dropout
    state.step.assign(7)
    state.keep_if_best(12.5, state.best)
    state.remember(3.0, 5.5, 10.0)
    state.remember(6.0, 4.5, 12.5)
    state.save()
    other = make_model(seed=2)
    restored = state_of(other, tmp_path)
    assert restored.restore() == []
    assert int(restored.step.numpy()) == 7
    assert float(restored.best_bleu.numpy()) == 12.5
    assert restored.history == [EpochRecord(7, 3.0, 5.5, 10.0), EpochRecord(7, 6.0, 4.5, 12.5)]
    logits = (one((ids, ids), training=True).numpy() for one in (other, model))
    np.testing.assert_array_equal(*logits)


def test_checkpoint_is_read_by_path_where_the_model_lists_its_weights_in_another_order(tmp_path):
    model, other = make_model(), make_model(seed=2)
    state = state_of(model, tmp_path)
    for number, best in enumerate(state.best):
        best.assign(tf.fill(best.shape, float(number)))
    state.save()

    class Reordered:
        weights = other.weights[::-1]
        variables = [*weights, *(v for v in other.variables if "seed" in v.path)]
        trainable_variables = other.trainable_variables[::-1]

    restored = state_of(Reordered, tmp_path)
    assert restored.restore() == []
    assert_weights(other, model.get_weights())
    numbers = [int(best.numpy().flat[0]) for best in restored.best]
    assert numbers == list(reversed(range(len(numbers))))
    assert set(read_weights(tmp_path)) == set(named_weights.by_path(model.trainable_variables))


def test_checkpoint_of_another_model_or_an_older_version_is_refused(tmp_path):
    model = make_model()
    state_of(model, tmp_path).save()
    with pytest.raises(ValueError, match="to another model .* missing average/encoder/block_1/"):
        state_of(make_model(num_layers=2), tmp_path).restore()
    old = tf.train.Checkpoint(best=[tf.Variable(1.0)], model=[tf.Variable(2.0)])
    old.write(str(tmp_path / "checkpoint-5"))
    with pytest.raises(ValueError, match="unknown best/0, model/0. Delete the folder"):
        state_of(model, tmp_path).restore()
    with pytest.raises(ValueError, match="finish that training with that version"):
        read_weights(tmp_path)


def test_of_the_checkpoints_only_the_last_two_stay_and_nothing_of_an_unfinished_one(tmp_path):
    state = state_of(make_model(), tmp_path)
    assert state.restore() == [] and int(state.step.numpy()) == 0
    unfinished = tmp_path / "checkpoint-4_temp"
    unfinished.mkdir()
    (unfinished / "part-00000-of-00001.data-00000-of-00001").touch()
    save(state, 3, 9, 10)
    assert kept(tmp_path) == ["checkpoint-10", "checkpoint-9"]
    assert not list(tmp_path.glob("checkpoint-3*")) and not unfinished.exists()


@pytest.mark.parametrize(("suffix", "next_step"), [("index", 9), ("data-00000-of-00001", 5)])
def test_damaged_checkpoint_is_left_out_with_a_warning_and_pushes_no_good_one_out(
    tmp_path, suffix, next_step
):
    model = make_model()
    save(state_of(model, tmp_path), 3, 9)
    damaged = tmp_path / f"checkpoint-9.{suffix}"
    damaged.write_bytes(damaged.read_bytes()[: damaged.stat().st_size // 2])
    restored = state_of(model, tmp_path)
    (warning,) = restored.restore()
    assert "checkpoint-9` is damaged" in warning
    assert int(restored.step.numpy()) == float(restored.best_bleu.numpy()) == 3
    save(restored, next_step)
    assert kept(tmp_path) == [f"checkpoint-{next_step}", "checkpoint-3"]
    assert restored.restore() == [] and int(restored.step.numpy()) == next_step
    for step in (3, next_step):
        (tmp_path / f"checkpoint-{step}.{suffix}").write_bytes(b"")
    with pytest.raises(ValueError, match="No checkpoint in .* can be read"):
        restored.restore()


def test_checkpoint_that_cannot_be_written_leaves_the_one_before(tmp_path, monkeypatch):
    state = state_of(make_model(), tmp_path)
    state.save()

    def fail(checkpoint, path):
        raise tf.errors.ResourceExhaustedError(None, None, "No space left on device")

    monkeypatch.setattr(tf.train.Checkpoint, "write", fail)
    with pytest.raises(OSError, match="No space left on device. Earlier checkpoints are intact"):
        save(state, 1)
    assert kept(tmp_path) == ["checkpoint-0"]


def test_only_weights_that_are_no_worse_are_kept(tmp_path):
    model = make_model()
    state = state_of(model, tmp_path)
    worse = [tf.zeros_like(value) for value in state.best]
    assert [state.keep_if_best(0.0, worse) for _ in range(3)] == [True] * 3
    assert int(state.num_worse.numpy()) == 2
    assert state.keep_if_best(0.5, [tf.ones_like(value) for value in state.best])
    assert int(state.num_worse.numpy()) == 0
    assert not state.keep_if_best(0.25, worse) and int(state.num_worse.numpy()) == 1
    state.use_best()
    for weight in model.trainable_variables:
        np.testing.assert_array_equal(weight.numpy(), np.ones(weight.shape))
