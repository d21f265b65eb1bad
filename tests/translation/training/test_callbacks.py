from types import SimpleNamespace

import numpy as np
import pytest

from keras_attn.translation.config import Config
from keras_attn.translation.training import callbacks
from keras_attn.translation.training.callbacks import Budget
from keras_attn.translation.training.schedule import WarmUpStableDecay


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(seconds=1000.0)
    monkeypatch.setattr(callbacks.time, "monotonic", lambda: now.seconds)
    return now


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
    clock.seconds += seconds
    budget.on_train_batch_end(0)


def test_minutes_count_from_the_first_batch_of_a_run_and_the_warm_up_from_its_end(clock):
    budget, schedule = make_budget(minutes=10)
    clock.seconds += 50  # preparation
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
