from types import SimpleNamespace

import pytest

from keras_attn.translation.runtime.run_progress import RunProgress
from keras_attn.translation.training import progress

TEN_TOKENS = SimpleNamespace(num_tokens=lambda step: 10)


def test_step_loss_speed_and_time_left_are_shown_and_the_first_step_is_not_timed(clock):
    run = RunProgress({"training": 60.0, "export": 40.0})
    run.begin("training")
    budget = SimpleNamespace(seconds_left=125.0)
    callback = progress.Progress(TEN_TOKENS, budget, run, 2)
    logs = {"loss": 1.25}

    def end_batch(after):
        clock[0] += after
        callback.on_train_batch_end(0, logs)

    callback.on_epoch_begin(1)
    end_batch(after=31.0)  # the graph is built
    assert run.line().startswith("epoch 2  step 1  16% done, 2:45 left")
    end_batch(after=4.0)
    assert run.line().startswith("epoch 2  step 2  loss 1.250  2 tokens/s  ")
    assert logs["tokens_per_second"] == 2.5
    callback.on_epoch_begin(2)
    end_batch(after=30.0)
    end_batch(after=1.0)
    assert callback.tokens_per_second == pytest.approx(2 * 10 / 5.0)
