"""Training on JAX beside TensorFlow, on two devices of one process and of two."""

import importlib.util
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from keras_attn.translation.training import callbacks, validation

SCRIPT = Path(__file__).with_name("backend_training.py")
STEPS = 12
TWO_DEVICES = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
FOUR_DEVICES = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}

pytest.importorskip("jax")


def start(folder, num_parts=1, **environment):
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), str(folder), str(STEPS), str(num_parts)],
        env={**os.environ, "KERAS_BACKEND": "jax", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def start_two(folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    return [
        start(
            folder,
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


@pytest.fixture(scope="module")
def on_two_devices(on_tensorflow, tmp_path_factory):
    """Folder of a training on JAX in one process with two devices."""
    folder = tmp_path_factory.mktemp("devices")
    copy_start(on_tensorflow[0], folder)
    finish(start(folder, **TWO_DEVICES))
    return folder


def copy_start(folder, other):
    for name in ("initial.npz", "source.model", "target.model"):
        (other / name).write_bytes((folder / name).read_bytes())


def test_jax_and_tensorflow_learn_the_same(on_tensorflow, on_two_devices):
    _, expected_losses, expected_weights = on_tensorflow
    losses, weights = read(on_two_devices)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-5)
    for one, other in zip(weights, expected_weights, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-4)


def test_a_model_split_over_devices_learns_the_same(on_tensorflow, tmp_path):
    folder, expected_losses, expected_weights = on_tensorflow
    copy_start(folder, tmp_path)
    finish(start(tmp_path, num_parts=2, **FOUR_DEVICES))
    losses, weights = read(tmp_path)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-5)
    for one, other in zip(weights, expected_weights, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-4)


@pytest.mark.slow
def test_a_killed_process_ends_the_other_and_both_resume_to_the_same_weights(
    on_tensorflow, on_two_devices, tmp_path
):
    copy_start(on_tensorflow[0], tmp_path)
    first, second = start_two(tmp_path)
    for _ in range(STEPS * 2 // 3):
        while second.stdout.readline() != "step\n":  # beside messages of the connection
            assert second.poll() is None, second.stderr.read()
    second.kill()
    _, errors = first.communicate(timeout=120)
    assert first.returncode == 2
    assert "error: Another process of this training has ended." in errors
    second.communicate()

    finish(*start_two(tmp_path))
    _, expected_weights = read(on_two_devices)
    for process in (0, 1):
        _, weights = read(tmp_path, process)
        for one, other in zip(weights, expected_weights, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)
