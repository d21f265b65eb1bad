import keras
import pytest

from keras_attn.translation.config import Config
from keras_attn.translation.training.jax import processes


def test_a_single_process_is_the_first_and_decides_itself():
    assert processes.is_first() and processes.count() == 1
    assert processes.by_first(lambda: [1, 2]) == [1, 2]
    assert processes.shard() is None  # TensorFlow takes batches whole


def test_several_processes_on_tensorflow_are_refused(monkeypatch):
    monkeypatch.setenv("KERAS_DISTRIBUTION_NUM_PROCESSES", "2")
    with pytest.raises(ValueError, match="Several processes train on JAX only.*PROCESSES=2"):
        processes.join()


def test_errors_that_no_other_process_causes_are_raised_as_they_are():
    with pytest.raises(ValueError, match="mine"), processes.ending_together():
        raise ValueError("mine")


def test_weights_that_cannot_be_split_are_refused(monkeypatch):
    for num_parts, reason in ((0, "at least 1"), (2, "on JAX .*--model-devices 2, tensorflow")):
        with pytest.raises(ValueError, match=reason):
            processes.split_model(num_parts, Config(), 8000)
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    monkeypatch.setattr(processes, "count", lambda: 1)
    monkeypatch.setattr(processes, "num_devices", lambda: 6)
    with pytest.raises(ValueError, match=r"multiple of --model-devices.* 4, 6 device"):
        processes.check_parts(4)
    reason = r"--model-devices 3, --num-heads 4, --num-kv-heads 4, --num-hiddens 256"
    with pytest.raises(ValueError, match=reason):
        processes.split_model(3, Config(num_kv_heads=0, ffn_num_hiddens=600), 8000)
