import keras
import pytest
from keras import ops
from processes import run_python

from keras_attn.translation.runtime import compiled


def test_a_function_gives_what_it_gives_without_compilation():
    assert float(compiled.function(lambda x: ops.sum(x * x))(ops.array([3.0, 4.0]))) == 25


def test_an_update_assigns_its_variables():
    one, other = keras.Variable(2.0), keras.Variable(3.0)

    def call(factor):
        one.assign(one.value * factor)
        other.assign(one.value + 1.0)

    update = compiled.update(call, [one, other])
    for expected in (10.0, 50.0):
        update(ops.array(5.0))
        assert (float(one), float(other)) == (expected, expected + 1)


def test_programs_of_jax_are_kept_for_later_processes(tmp_path, monkeypatch):
    pytest.importorskip("jax")
    script = (
        "import pathlib, sys, jax\n"
        "from keras_attn.translation.runtime import compiled\n"
        "compiled.keep(pathlib.Path(sys.argv[1]))\n"
        "compiled.function(lambda x: x * 7 + 1)(3.0)\n"
    )
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    monkeypatch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    monkeypatch.setenv("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
    run_python("-c", script, tmp_path, KERAS_BACKEND="jax")
    assert any(tmp_path.iterdir())
