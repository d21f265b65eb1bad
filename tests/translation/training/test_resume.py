"""Training that is killed ends with the weights of one that never was."""

import multiprocessing
import random
import time

import numpy as np
import pytest
from small_training import train_in_turn

from keras_attn.translation.training.checkpoints import PREFIX, newest_first

STEPS = 45


@pytest.fixture(scope="module")
def processes():
    """Processes that have imported TensorFlow already."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["keras_attn.translation.training.fit"])
    return context


def start(processes, *folders):
    process = processes.Process(target=train_in_turn, args=(folders, STEPS))
    process.start()
    return process


def last_step(folder):
    found = newest_first(folder)
    return int(found[0].name.removeprefix(PREFIX)) if found else 0


@pytest.mark.slow  # ten processes; `test_fit.py` interrupts a training in one
def test_killed_training_ends_bit_for_bit_like_one_that_was_not(processes, tmp_path):
    killed, undisturbed = (tmp_path / name for name in ("killed", "undisturbed"))
    killed.mkdir()
    undisturbed.mkdir()
    moments = random.Random(8)
    for _ in range(10):
        before = last_step(killed)
        process = start(processes, killed)
        progress = moments.randint(1, 3)
        while last_step(killed) < before + progress and process.is_alive():
            time.sleep(0.001)
        # The moment is random on purpose: within a batch, in writing, in validation.
        time.sleep(moments.uniform(0, 0.1))
        assert process.is_alive(), "training ended before it was killed often enough"
        process.kill()
        process.join()
    assert 0 < last_step(killed) < STEPS
    process = start(processes, killed, undisturbed)
    process.join()
    assert process.exitcode == 0
    found, expected = (np.load(folder / "weights.npz") for folder in (killed, undisturbed))
    assert expected.files == found.files
    for name in expected.files:
        np.testing.assert_array_equal(found[name], expected[name])
