"""Training on JAX beside TensorFlow, on two devices of one process and of two."""

import importlib.util
import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from keras_attn.translation.training import callbacks, validation

SCRIPT = Path(__file__).with_name("backend_training.py")
STEPS = 12
MORE_STEPS = 40
LONG_STEPS = 200
KILLS = 20
TWO_DEVICES = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
FOUR_DEVICES = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}

pytest.importorskip("jax")
pytestmark = pytest.mark.slow  # processes start, and shapes are compiled


def start(folder, num_parts=1, steps=STEPS, **environment):
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), str(folder), str(steps), str(num_parts)],
        env={**os.environ, "KERAS_BACKEND": "jax", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def start_two(folder, steps):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    return [
        start(
            folder,
            steps=steps,
            KERAS_DISTRIBUTION_JOB_ADDRESSES=address,
            KERAS_DISTRIBUTION_NUM_PROCESSES="2",
            KERAS_DISTRIBUTION_PROCESS_ID=str(process),
        )
        for process in (0, 1)
    ]


def finish(*processes):
    for process in processes:
        _, errors = process.communicate(timeout=600)
        assert process.returncode == 0, errors


def read(folder, process=0):
    """Losses and weights of a finished training."""
    losses, *weights = np.load(folder / f"result-{process}.npz").values()
    return losses, weights


@pytest.fixture(scope="module")
def on_tensorflow(tmp_path_factory):
    """Folder with tokenizers and initial weights; losses and weights after a training."""
    spec = importlib.util.spec_from_file_location("backend_training", SCRIPT)
    training = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(training)
    folder = tmp_path_factory.mktemp("tensorflow")
    random = np.random.default_rng(0)

    def draw(shapes):
        return [random.normal(0, 0.3, shape).astype("float32") for shape in shapes]

    with pytest.MonkeyPatch.context() as patch:
        # `train` sets both.
        patch.setattr(validation, "translate_with", None)
        patch.setattr(callbacks, "CHECKPOINT_SECONDS", 0.0)
        initial, losses, weights = training.train(folder, STEPS, draw)
    np.savez(folder / "initial.npz", *initial)
    return folder, losses, weights


def copy_start(folder, other):
    for name in ("initial.npz", "source.model", "target.model"):
        (other / name).write_bytes((folder / name).read_bytes())


@pytest.mark.parametrize(
    ("num_parts", "devices"),
    [(1, {}), (1, TWO_DEVICES), (2, FOUR_DEVICES)],
    ids=["one device", "two devices", "a model split over two of four"],
)
def test_jax_and_tensorflow_learn_the_same(on_tensorflow, tmp_path, num_parts, devices):
    folder, expected_losses, expected_weights = on_tensorflow
    copy_start(folder, tmp_path)
    finish(start(tmp_path, num_parts, **devices))
    losses, weights = read(tmp_path)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-5)
    for one, other in zip(weights, expected_weights, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-4)


def test_two_processes_learn_the_same_however_often_either_is_killed(on_tensorflow, tmp_path):
    folders = {name: tmp_path / name for name in ("one", "two", "killed")}
    for folder in folders.values():
        folder.mkdir()
        copy_start(on_tensorflow[0], folder)
    finish(start(folders["one"], steps=LONG_STEPS, **TWO_DEVICES))
    finish(*start_two(folders["two"], LONG_STEPS))
    expected_losses, expected_weights = read(folders["one"])
    for process in (0, 1):
        losses, weights = read(folders["two"], process)
        np.testing.assert_allclose(losses, expected_losses, rtol=1e-5)
        for one, other in zip(weights, expected_weights, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)

    draw = random.Random(0)
    victims = [i % 2 for i in range(KILLS)]
    draw.shuffle(victims)
    for victim in victims:
        kill_one(folders["killed"], victim, draw)
    finish(*start_two(folders["killed"], LONG_STEPS))
    _, expected_weights = read(folders["two"])
    for process in (0, 1):
        _, weights = read(folders["killed"], process)
        for one, other in zip(weights, expected_weights, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("interrupted", [0, 1])
def test_ctrl_c_in_one_process_saves_in_the_first_and_ends_both(
    on_tensorflow, tmp_path, interrupted
):
    folders = {name: tmp_path / name for name in ("undisturbed", "interrupted")}
    for folder in folders.values():
        folder.mkdir()
        copy_start(on_tensorflow[0], folder)
    finish(*start_two(folders["undisturbed"], MORE_STEPS))
    both = start_two(folders["interrupted"], MORE_STEPS)
    wait_for_steps(both[interrupted], 3)
    both[interrupted].send_signal(signal.SIGINT)
    for process in both:
        _, errors = process.communicate(timeout=120)
        assert "KeyboardInterrupt" in errors and "has ended" not in errors
    finish(*start_two(folders["interrupted"], MORE_STEPS))
    for process in (0, 1):
        _, expected = read(folders["undisturbed"], process)
        losses, weights = read(folders["interrupted"], process)
        assert 0 < len(losses) <= MORE_STEPS - 3  # resumed from the checkpoint
        for one, other in zip(weights, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def wait_for_steps(process, number):
    for _ in range(number):
        while process.stdout.readline() != "step\n":  # beside messages of the connection
            assert process.poll() is None, process.stderr.read()


def kill_one(folder, victim, draw):
    """Kill a process in a random moment of a few steps; the other ends with a message."""
    both = start_two(folder, LONG_STEPS)
    wait_for_steps(both[victim], draw.randint(1, LONG_STEPS // KILLS - 2))
    # The moment is random on purpose: within a batch or in writing.
    time.sleep(draw.uniform(0, 0.1))
    both[victim].kill()
    _, errors = both[1 - victim].communicate(timeout=120)
    if victim == 0 and both[1].returncode != 2:
        # JAX's own thread, which asks process 0 for news, may end the process before ours does.
        assert both[1].returncode == -signal.SIGABRT, errors
        assert "another task died" in errors
    else:
        assert both[1 - victim].returncode == 2, errors
        assert "error: Another process of this training has ended." in errors
    both[victim].communicate()
