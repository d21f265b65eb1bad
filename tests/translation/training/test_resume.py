"""Training that is killed again and again ends with the weights of one that never was."""

import multiprocessing
import random
import runpy
import time
from pathlib import Path

import numpy as np
import pytest

from keras_attn.translation.training.checkpoints import PREFIX, newest_first

TRAINING = Path(__file__).with_name("killable_training.py")
STEPS = 45
NUM_KILLS = 10


@pytest.fixture(scope="module")
def processes():
    """Processes that have imported TensorFlow already."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["keras_attn.translation.training.fit"])
    return context


def start(processes, folder, result):
    folder.mkdir(exist_ok=True)
    names = {"folder": folder, "result": result, "steps": STEPS}
    process = processes.Process(target=runpy.run_path, args=(str(TRAINING), names))
    process.start()
    return process


def last_step(folder):
    found = newest_first(folder)
    return int(found[0].name.removeprefix(PREFIX)) if found else 0


def test_killed_training_ends_bit_for_bit_like_one_that_was_not(processes, tmp_path):
    undisturbed = start(processes, tmp_path / "undisturbed", tmp_path / "expected.npz")
    moments = random.Random(8)
    folder = tmp_path / "killed"
    num_kills = 0
    while num_kills < NUM_KILLS:
        before = last_step(folder)
        process = start(processes, folder, tmp_path / "found.npz")
        progress = moments.randint(0, 3)
        while last_step(folder) < before + progress and process.is_alive():
            time.sleep(0.001)
        time.sleep(moments.uniform(0, 0.1))  # anywhere in a batch, in writing, in validation
        assert process.is_alive(), "training ended before it was killed often enough"
        process.kill()
        process.join()
        num_kills += 1
    assert 0 < last_step(folder) < STEPS
    process = start(processes, folder, tmp_path / "found.npz")
    process.join()
    undisturbed.join()
    assert process.exitcode == undisturbed.exitcode == 0
    expected, found = (np.load(tmp_path / f"{name}.npz") for name in ("expected", "found"))
    assert expected.files == found.files
    for name in expected.files:
        np.testing.assert_array_equal(found[name], expected[name])
