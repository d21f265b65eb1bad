"""Training on JAX compared with TensorFlow, on two devices of one process and of two."""

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

SCRIPT = Path(__file__).with_name("backend_training.py")
STEPS = 12
MORE_STEPS = 40
LONG_STEPS = 200
KILLS = 20

pytest.importorskip("jax")
pytestmark = pytest.mark.slow  # processes start, and shapes are compiled


def start(folder, num_parts=1, steps=STEPS, num_devices=1, **environment):
    devices = f"--xla_force_host_platform_device_count={num_devices}"
    known = {
        "KERAS_BACKEND": "jax",
        "PYTHONPATH": os.pathsep.join(map(str, SCRIPT.parents[2:4])),
        "XLA_FLAGS": f"--xla_backend_optimization_level=0 {devices}",
    }
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), str(folder), str(steps), str(num_parts)],
        env={**os.environ, **known, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def start_two(folder, steps):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    both = {"KERAS_DISTRIBUTION_JOB_ADDRESSES": address, "KERAS_DISTRIBUTION_NUM_PROCESSES": "2"}
    return [
        start(folder, steps=steps, **both, KERAS_DISTRIBUTION_PROCESS_ID=str(process))
        for process in (0, 1)
    ]


def finish(*processes):
    for process in processes:
        _, errors = process.communicate(timeout=600)
        assert process.returncode == 0, errors


def assert_results(folder, expected, losses_tolerance=None, **tolerance):
    """Weights, and losses if there is a tolerance, are those of another finished training."""
    paths = sorted(folder.glob("result-*.npz"))
    assert paths
    for path in paths:
        (losses, *weights), (other_losses, *other_weights) = (
            np.load(one).values() for one in (path, expected / "result-0.npz")
        )
        if losses_tolerance:
            np.testing.assert_allclose(losses, other_losses, rtol=losses_tolerance)
        for one, other in zip(weights, other_weights, strict=True):
            np.testing.assert_allclose(one, other, **{"rtol": 0, **tolerance})


@pytest.fixture(scope="module")
def on_tensorflow(tmp_path_factory):
    """Folder of a training on TensorFlow, with tokenizers and initial weights."""
    folder = tmp_path_factory.mktemp("tensorflow")
    finish(start(folder, KERAS_BACKEND="tensorflow"))
    return folder


@pytest.fixture
def begun(on_tensorflow, tmp_path):
    """`begun(name)`: a folder to start the same training in."""

    def begun(name):
        folder = tmp_path / name
        folder.mkdir()
        for file in ("initial.npz", "source.model", "target.model"):
            (folder / file).write_bytes((on_tensorflow / file).read_bytes())
        return folder

    return begun


# The last model is split over two of four devices.
@pytest.mark.parametrize(("num_parts", "num_devices"), [(1, 1), (1, 2), (2, 4)])
def test_jax_and_tensorflow_learn_the_same(on_tensorflow, begun, num_parts, num_devices):
    folder = begun("jax")
    finish(start(folder, num_parts, num_devices=num_devices))
    assert_results(folder, on_tensorflow, 1e-5, rtol=1e-7, atol=2e-4)


def test_two_processes_learn_the_same_however_often_either_is_killed(begun):
    one, two, killed = map(begun, ("one", "two", "killed"))
    finish(start(one, steps=LONG_STEPS, num_devices=2))
    finish(*start_two(two, LONG_STEPS))
    assert_results(two, one, 1e-5, rtol=1e-7, atol=1e-5)

    draw = random.Random(0)
    victims = [i % 2 for i in range(KILLS)]
    draw.shuffle(victims)
    for victim in victims:
        kill_one(killed, victim, draw)
    finish(*start_two(killed, LONG_STEPS))
    assert_results(killed, two)


@pytest.mark.parametrize("interrupted", [0, 1])
def test_ctrl_c_in_one_process_saves_in_the_first_and_ends_both(begun, interrupted):
    undisturbed, folder = begun("undisturbed"), begun("interrupted")
    finish(*start_two(undisturbed, MORE_STEPS))
    both = start_two(folder, MORE_STEPS)
    wait_for_steps(both[interrupted], 3)
    both[interrupted].send_signal(signal.SIGINT)
    for process in both:
        _, errors = process.communicate(timeout=120)
        assert "KeyboardInterrupt" in errors and "has ended" not in errors
    finish(*start_two(folder, MORE_STEPS))
    assert_results(folder, undisturbed)
    for process in (0, 1):
        losses = np.load(folder / f"result-{process}.npz")["arr_0"]
        assert 0 < len(losses) <= MORE_STEPS - 3  # resumed from the checkpoint


def wait_for_steps(process, number):
    for _ in range(number):
        while process.stdout.readline() != "step\n":  # after messages of the connection
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
