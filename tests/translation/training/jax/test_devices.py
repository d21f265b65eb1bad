import keras
import pytest
from processes import run_python

from keras_attn.translation.config import Config
from keras_attn.translation.training.jax import devices


def test_tensorflow_takes_batches_whole():
    assert devices.shard() is None


def test_several_processes_on_tensorflow_are_refused(monkeypatch):
    monkeypatch.setenv("KERAS_DISTRIBUTION_NUM_PROCESSES", "2")
    with pytest.raises(ValueError, match="Several processes train on JAX only.*PROCESSES=2"):
        devices.connect()


def test_weights_that_cannot_be_split_are_refused(monkeypatch):
    for num_parts, reason in ((0, "at least 1"), (2, "on JAX .*--model-devices 2, tensorflow")):
        with pytest.raises(ValueError, match=reason):
            devices.check_model_devices(num_parts)
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    monkeypatch.setattr(devices, "count", lambda: 1)
    monkeypatch.setattr(devices, "num_devices", lambda: 6)
    with pytest.raises(ValueError, match=r"multiple of --model-devices.* 4, 6 device"):
        devices.check_model_devices(4)
    reason = r"--model-devices 3, --num-heads 4, --num-kv-heads 4, --num-hiddens 256"
    with pytest.raises(ValueError, match=reason):
        devices.split_model(3, Config(num_kv_heads=0, ffn_num_hiddens=600), 8000)


def test_programs_of_jax_are_kept_for_later_processes(tmp_path, monkeypatch):
    pytest.importorskip("jax")
    script = (
        "import pathlib, sys, jax\n"
        "from keras_attn.translation.training.jax import devices\n"
        "devices.keep_programs(pathlib.Path(sys.argv[1]))\n"
        "jax.jit(lambda x: x * 7 + 1)(3.0)\n"
    )
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    monkeypatch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    monkeypatch.setenv("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
    run_python("-c", script, tmp_path, KERAS_BACKEND="jax")
    assert any(tmp_path.iterdir())
