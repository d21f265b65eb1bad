"""All trainings here use the graphs of one (`small_training.py`)."""

import itertools
import signal
from types import SimpleNamespace

import numpy as np
import pytest
from keras.callbacks import LambdaCallback
from small_models import assert_weights
from small_training import CONFIG, VALIDATION, SmallTraining

from keras_attn.training.model_loss import ModelLoss
from keras_attn.translation.training import callbacks, validation
from keras_attn.translation.training.checkpoints import TrainingState, newest_first, read_weights


@pytest.fixture(scope="module")
def traced():
    """A list that grows with each tracing of the loss."""
    traced = []
    of_shard = ModelLoss.of_shard

    def counting(self, *shard):
        traced.append(None)
        return of_shard(self, *shard)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ModelLoss, "of_shard", counting)
        yield traced


@pytest.fixture(scope="module")
def training(traced, tmp_path_factory):
    return SmallTraining(tmp_path_factory.mktemp("tokenizers"))


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """A time that passes only when it is looked at, so that budgets are the same everywhere."""
    looks = itertools.count()
    fake = SimpleNamespace(monotonic=lambda: 0.2 * next(looks))
    for module in (callbacks, validation):
        monkeypatch.setattr(module, "time", fake)


def at(moment, number, act):
    """Callback that calls `act()` at the beginning or the end of the batch or epoch `number`."""

    def call(now, logs):
        if now == number:
            act()

    return LambdaCallback(**{f"on_{moment}": call})


def test_fit_trains_the_steps_asked_for_and_ends_with_the_best_averaged_weights(
    training, traced, tmp_path, monkeypatch, capsys
):
    bleus = iter([20.0, 30.0, 10.0])
    monkeypatch.setattr(validation, "bleu", lambda *_: next(bleus))
    ends, averages = [], []

    def at_end(epoch, logs):
        ends.append(logs)
        averages.append([np.array(value) for value in training.average.values])

    assert len(training.stream.shapes) > 1
    steps = 2 * training.stream.steps_per_epoch + 1
    run = training.fit(tmp_path, LambdaCallback(on_epoch_end=at_end), minutes=0.001, steps=steps)
    assert run.steps == steps  # whatever the time
    assert len(traced) == 1  # one graph for batches of every shape and for both shards of each
    assert_weights(training.model, averages[1])
    assert float(training.trainer.optimizer.learning_rate) < CONFIG.learning_rate / 5  # cooled
    assert run.tokens_per_second > 0 and run.validation_bleu == 30.0

    # Further callbacks are told the loss and the validation BLEU.
    assert [logs["val_bleu"] for logs in ends] == [20.0, 30.0, 10.0]
    assert [logs["val_bleu"] for logs in ends] == [reached.bleu for reached in run.history]
    assert [logs["loss"] for logs in ends] == [reached.loss for reached in run.history]
    printed = capsys.readouterr().err
    assert VALIDATION[0].source in printed and "validation BLEU 30.0 (best so far)" in printed


def test_a_training_in_minutes_ends_in_time_and_a_later_one_goes_on(training, tmp_path, capsys):
    first = training.fit(tmp_path, minutes=0.15)
    assert first.epochs >= 1 and 9 - 2 < first.seconds < 9 + 2
    second = training.fit(tmp_path, minutes=0.3)
    assert f"Resuming from step {first.steps}." in capsys.readouterr().err
    assert second.steps > first.steps and second.seconds > first.seconds
    iterations = training.trainer.optimizer.iterations
    assert int(iterations.numpy()) == second.steps // CONFIG.accumulate
    assert second.validation_bleu >= first.validation_bleu


class Killed(Exception):
    pass


def test_a_training_that_is_killed_ends_bit_for_bit_like_one_that_was_not(
    training, tmp_path, monkeypatch
):
    steps = training.stream.steps_per_epoch + 2
    training.fit(tmp_path / "undisturbed", steps=steps)
    expected = training.model.get_weights()
    monkeypatch.setattr(callbacks, "CHECKPOINT_SECONDS", 0.0)  # after each batch

    def die():
        raise Killed

    for moment, number in (("train_batch_begin", 1), ("train_batch_end", 1), ("epoch_end", 0)):
        with pytest.raises(Killed):
            training.fit(tmp_path / "killed", at(moment, number, die), steps=steps)
    training.fit(tmp_path / "killed", steps=steps)
    assert_weights(training.model, expected)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_stop_between_batches_with_a_checkpoint(training, tmp_path, number):
    before = signal.getsignal(number)
    interrupt = at("train_batch_begin", 2, lambda: signal.raise_signal(number))
    with pytest.raises(KeyboardInterrupt):
        training.fit(tmp_path, interrupt)
    assert signal.getsignal(number) is before
    assert newest_first(tmp_path)[0].name == "checkpoint-3"
    # Before a first validation; with no time left it goes on to one.
    run = training.fit(tmp_path, minutes=0.001)
    assert run.steps == 4
    assert [reached.bleu for reached in run.history] == [run.validation_bleu]


def test_ctrl_c_after_the_last_batch_is_not_lost(training, tmp_path):
    press = LambdaCallback(on_train_end=lambda logs: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        training.fit(tmp_path, press, steps=2)


@pytest.mark.parametrize(
    ("batches_of_second_epoch", "reason"), [(1, "the loss is nan"), (0, "some weights are not")]
)
def test_a_training_that_diverges_ends_in_one_sentence_and_keeps_the_last_checkpoint(
    training, tmp_path, batches_of_second_epoch, reason
):
    # Weights may be spoilt by the last batch of an epoch: no loss shows it before the validation.
    an_epoch = training.stream.steps_per_epoch
    step = 2 * an_epoch - batches_of_second_epoch

    def spoil(batch, logs):
        if int(training.trainer.step.numpy()) == step:
            training.model.trainable_variables[0].assign_add([[float("nan")]])

    with pytest.raises(ValueError, match=f"Training diverged.*{reason}") as error:
        training.fit(tmp_path, LambdaCallback(on_train_batch_end=spoil), steps=100)
    assert "\n" not in str(error.value)
    assert [path.name for path in newest_first(tmp_path)] == [f"checkpoint-{an_epoch}"]
    assert f"keeps checkpoint-{an_epoch}" in str(error.value)
    for values in read_weights(tmp_path).values():
        assert np.isfinite(values).all()


def test_a_callback_can_end_the_training(training, tmp_path):
    def stop(batch, logs):
        training.trainer.stop_training = batch == 2

    run = training.fit(tmp_path, LambdaCallback(on_train_batch_end=stop), steps=100)
    assert run.steps == 3 and len(run.history) == 1


def test_time_that_runs_out_in_a_validation_costs_no_further_batch(training, tmp_path, monkeypatch):
    def run_out(epoch, logs):
        monkeypatch.setattr(callbacks.time, "monotonic", lambda: 1e6)

    run = training.fit(tmp_path, LambdaCallback(on_epoch_end=run_out), minutes=60)
    assert run.steps == training.stream.steps_per_epoch and len(run.history) == 1


def test_patience_ends_training_for_good(training, tmp_path, monkeypatch):
    def count_as_worse(state, bleu, averages):
        state.num_worse.assign_add(1)
        return False

    monkeypatch.setattr(TrainingState, "keep_if_best", count_as_worse)
    for _ in range(2):
        assert training.fit(tmp_path, steps=100, patience=2).epochs == 2
