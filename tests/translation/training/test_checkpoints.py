import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attn import Transformer
from keras_attn.translation import named_weights
from keras_attn.translation.evaluation.history import EpochRecord
from keras_attn.translation.training.checkpoints import TrainingState, newest_first, read_weights
from keras_attn.translation.training.weight_average import WeightAverage


def make_state(folder, seed, num_layers=1):
    keras.utils.set_random_seed(seed)
    model = Transformer.from_sizes(9, 9, num_layers, 1, 8, 8, 2, dropout=0.5)
    model.build(((None, None), (None, None)))
    optimizer = keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    average = WeightAverage(model.trainable_variables, 0.9)
    return model, TrainingState(model, optimizer, average, tf.Variable(0, dtype=tf.int64), folder)


def test_checkpoint_brings_back_weights_seeds_position_and_best(tmp_path):
    model, state = make_state(tmp_path, seed=1)
    ids = np.array([[3, 4, 5]])
    model((ids, ids), training=True)  # moves the seeds of dropout
    state.step.assign(7)
    state.keep_if_best(12.5, state.best)
    state.remember(3.0, 5.5, 10.0)
    state.remember(6.0, 4.5, 12.5)
    state.save()
    other, restored = make_state(tmp_path, seed=2)
    assert restored.restore() == []
    assert int(restored.step.numpy()) == 7
    assert float(restored.best_bleu.numpy()) == 12.5
    assert restored.history == [EpochRecord(7, 3.0, 5.5, 10.0), EpochRecord(7, 6.0, 4.5, 12.5)]
    np.testing.assert_array_equal(
        other((ids, ids), training=True).numpy(), model((ids, ids), training=True).numpy()
    )


def test_checkpoint_is_read_by_path_where_the_model_lists_its_weights_in_another_order(tmp_path):
    model, state = make_state(tmp_path, seed=1)
    for number, best in enumerate(state.best):
        best.assign(tf.fill(best.shape, float(number)))
    state.save()
    other = Transformer.from_sizes(9, 9, 1, 1, 8, 8, 2, dropout=0.5)
    other.build(((None, None), (None, None)))

    class Reordered:
        weights = other.weights[::-1]
        variables = [*weights, *(v for v in other.variables if "seed" in v.path)]
        trainable_variables = other.trainable_variables[::-1]

    optimizer = keras.optimizers.Adam()
    optimizer.build(Reordered.trainable_variables)
    average = WeightAverage(Reordered.trainable_variables, 0.9)
    step = tf.Variable(0, dtype=tf.int64)
    restored = TrainingState(Reordered, optimizer, average, step, tmp_path)
    assert restored.restore() == []
    for one, same in zip(other.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, same)
    numbers = [int(best.numpy().flat[0]) for best in restored.best]
    assert numbers == list(reversed(range(len(numbers))))
    values = read_weights(tmp_path)
    assert set(values) == set(named_weights.by_path(model.trainable_variables))


def test_checkpoint_of_another_model_is_refused_by_the_paths(tmp_path):
    make_state(tmp_path, seed=1)[1].save()
    with pytest.raises(ValueError, match="to another model .* missing average/encoder/block_1/"):
        make_state(tmp_path, seed=1, num_layers=2)[1].restore()


def test_checkpoint_of_an_older_version_is_refused_with_what_to_do(tmp_path):
    old = tf.train.Checkpoint(best=[tf.Variable(1.0)], model=[tf.Variable(2.0)])
    old.write(str(tmp_path / "checkpoint-5"))
    with pytest.raises(ValueError, match="unknown best/0, model/0. Delete the folder"):
        make_state(tmp_path, seed=1)[1].restore()
    with pytest.raises(ValueError, match="finish that training with that version"):
        read_weights(tmp_path)


def test_of_the_checkpoints_only_the_last_two_stay_and_nothing_of_an_unfinished_one(tmp_path):
    _, state = make_state(tmp_path, seed=1)
    assert state.restore() == [] and int(state.step.numpy()) == 0
    unfinished = tmp_path / "checkpoint-4_temp"
    unfinished.mkdir()
    (unfinished / "part-00000-of-00001.data-00000-of-00001").touch()
    for step in (3, 9, 10):
        state.step.assign(step)
        state.save()
    assert [path.name for path in newest_first(tmp_path)] == ["checkpoint-10", "checkpoint-9"]
    assert not list(tmp_path.glob("checkpoint-3*")) and not unfinished.exists()


@pytest.mark.parametrize("suffix", ["index", "data-00000-of-00001"])
def test_damaged_checkpoint_is_left_out_with_a_warning(tmp_path, suffix):
    _, state = make_state(tmp_path, seed=1)
    for step in (3, 9):
        state.step.assign(step)
        state.keep_if_best(step, state.best)
        state.save()
    damaged = tmp_path / f"checkpoint-9.{suffix}"
    damaged.write_bytes(damaged.read_bytes()[: damaged.stat().st_size // 2])
    _, restored = make_state(tmp_path, seed=2)
    (warning,) = restored.restore()
    assert "checkpoint-9` is damaged" in warning
    assert int(restored.step.numpy()) == 3
    assert float(restored.best_bleu.numpy()) == 3
    (tmp_path / f"checkpoint-3.{suffix}").write_bytes(b"")
    with pytest.raises(ValueError, match="No checkpoint in .* can be read"):
        make_state(tmp_path, seed=2)[1].restore()


@pytest.mark.parametrize(("step", "kept"), [(5, [5, 3]), (9, [9, 3])])
def test_damaged_checkpoint_pushes_no_good_one_out_and_is_written_anew(tmp_path, step, kept):
    _, state = make_state(tmp_path, seed=1)
    for saved in (3, 9):
        state.step.assign(saved)
        state.save()
    (tmp_path / "checkpoint-9.index").write_bytes(b"")
    _, restored = make_state(tmp_path, seed=2)
    restored.restore()
    restored.step.assign(step)
    restored.save()
    assert [path.name for path in newest_first(tmp_path)] == [f"checkpoint-{n}" for n in kept]
    assert restored.restore() == [] and int(restored.step.numpy()) == step


def test_checkpoint_that_cannot_be_written_leaves_the_one_before(tmp_path, monkeypatch):
    _, state = make_state(tmp_path, seed=1)
    state.save()

    def fail(checkpoint, path):
        raise tf.errors.ResourceExhaustedError(None, None, "No space left on device")

    monkeypatch.setattr(tf.train.Checkpoint, "write", fail)
    state.step.assign(1)
    with pytest.raises(OSError, match="No space left on device. Earlier checkpoints are intact"):
        state.save()
    assert [path.name for path in newest_first(tmp_path)] == ["checkpoint-0"]


def test_only_weights_that_are_no_worse_are_kept(tmp_path):
    model, state = make_state(tmp_path, seed=1)
    worse = [tf.zeros_like(value) for value in state.best]
    numbers = [state.keep_if_best(bleu, worse) for bleu in (0.0, 0.0, 0.0)]
    assert numbers == [True] * 3 and int(state.num_worse.numpy()) == 2
    assert state.keep_if_best(0.5, [tf.ones_like(value) for value in state.best])
    assert int(state.num_worse.numpy()) == 0
    assert not state.keep_if_best(0.25, worse) and int(state.num_worse.numpy()) == 1
    state.use_best()
    for weight in model.trainable_variables:
        np.testing.assert_array_equal(weight.numpy(), np.ones(weight.shape))
