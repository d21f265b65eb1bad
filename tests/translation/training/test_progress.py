import numpy as np
import pytest

from keras_attn.translation.machine.run_progress import RunProgress
from keras_attn.translation.training import progress


class TenTokens:
    def lengths(self, step):
        return np.array([[2, 4], [3, 1]])


class Clock:
    seconds_left = 125.0


@pytest.fixture
def shown(monkeypatch):
    """A `Progress` of a training that starts at 100 s, and a time that the test sets."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    run_progress = RunProgress({"training": 60.0, "export": 40.0})
    run_progress.begin("training")
    return (
        progress.Progress(
            TenTokens(), Clock(), 0, run_progress, lambda lengths: 50.0, 20.0, loss_every=2
        ),
        run_progress,
        now,
    )


def test_counts_real_tokens_per_second_without_the_first_step(shown):
    callback, _, now = shown
    callback.on_epoch_begin(0)
    for seconds in (30.0, 2.0, 2.0):  # the first builds the graph
        now[0] += seconds
        callback.on_train_batch_end(0, {"loss": 1.0})
    assert callback.tokens_per_second == pytest.approx(2 * 10 / 4.0)


def test_the_run_progress_gets_step_loss_and_speed_and_the_time_left(shown):
    callback, run_progress, now = shown
    callback.on_epoch_begin(1)
    now[0] += 31.0
    logs = {"loss": 1.25}
    callback.on_train_batch_end(0, logs)
    assert run_progress.line().startswith("epoch 2  step 1  16% done, 2:45 left")
    now[0] += 4.0
    callback.on_train_batch_end(1, logs)
    assert run_progress.line().startswith(
        "epoch 2  step 2  loss 1.250  2 tokens/s  62% of the peak  "
    )
    assert logs["tokens_per_second"] == 2.5
