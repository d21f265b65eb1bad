from types import SimpleNamespace

import numpy as np
import pytest

from keras_attn.translation.config import Config
from keras_attn.translation.runtime.run_progress import RunProgress
from keras_attn.translation.training.callbacks import Budget, Progress
from keras_attn.translation.training.schedule import WarmUpStableDecay


def make_budget(steps_before=0, seconds_before=0.0, **config):
    state = SimpleNamespace(step=np.int64(steps_before), seconds=np.float32(seconds_before))
    for value in vars(state):
        setattr(state, value, SimpleNamespace(numpy=getattr(state, value).item))
    schedule = WarmUpStableDecay(1.0, 0, 0.4)
    budget = Budget(Config(**config), state, schedule, every=8)
    budget.set_model(SimpleNamespace(step=state.step, stop_training=False))
    return budget, schedule


def train_a_batch(budget, clock, seconds):
    budget.on_train_batch_begin(0)
    clock[0] += seconds
    budget.on_train_batch_end(0)


def test_minutes_count_from_the_first_batch_of_a_run_and_the_warm_up_from_its_end(clock):
    budget, schedule = make_budget(minutes=10)
    clock[0] += 50  # preparation
    budget.on_train_begin()
    for seconds in (20, 30, 30):  # the first step traces the graph
        train_a_batch(budget, clock, seconds)
    budget.on_train_begin()  # Keras begins again, the training does not
    train_a_batch(budget, clock, 30)
    assert budget.seconds == 110
    assert float(schedule.done.value) == pytest.approx(60 / 600)
    assert float(schedule.left.value) == pytest.approx(1 - 80 / 600)


def test_a_resumed_training_goes_on_with_the_share_of_its_minutes(clock):
    budget, schedule = make_budget(steps_before=5, seconds_before=300, minutes=10)
    budget.on_train_begin()
    for _ in range(2):
        train_a_batch(budget, clock, 30)
    assert budget.seconds == 360
    assert float(schedule.done.value) == pytest.approx(330 / 600)


def test_a_budget_of_steps_needs_no_clock(clock):
    budget, schedule = make_budget(steps=4)
    budget.on_train_begin()
    shares = []
    while not budget.model.stop_training:
        train_a_batch(budget, clock, 100)
        shares.append((float(schedule.done.value), float(schedule.left.value)))
    assert shares == [(0.25, 1.0), (0.5, 0.75), (0.75, 0.5), (1.0, 0.25)]


def test_step_loss_speed_and_time_left_are_shown_and_the_first_step_is_not_timed(clock):
    run = RunProgress({"training": 60.0, "export": 40.0})
    run.begin("training")
    budget = SimpleNamespace(seconds_left=125.0)
    callback = Progress(SimpleNamespace(num_tokens=lambda step: 10), budget, run, 2)
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
