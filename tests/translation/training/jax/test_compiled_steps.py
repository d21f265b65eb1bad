import threading
from types import SimpleNamespace

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from keras_attn.translation.training.jax import compiled_steps  # noqa: E402

STATE = [np.float32(1)]


def test_a_shape_is_traced_once_whether_it_was_announced_or_not():
    traced = []

    def step(state, batch):
        traced.append(batch.shape)
        return batch.sum(), [state[0] + batch.sum()]

    call = compiled_steps.CompiledSteps(step)
    call.begin(STATE, jax.ShapeDtypeStruct((3,), "float32"))
    call.begin(STATE, np.ones(3, np.float32))
    for size in (3, 2, 3, 2):
        result, after = call(STATE, np.ones(size, np.float32))
        assert (result, after[0]) == (size, size + 1)
    assert sorted(traced) == [(2,), (3,)]


def test_shapes_are_compiled_side_by_side_and_traced_one_by_one(monkeypatch):
    both_compile, traced = threading.Barrier(2, timeout=20), []

    def compile():
        both_compile.wait()
        return lambda state, batch: (0.0, state)

    def lower(state, batch):
        assert call._tracing.locked(), "two threads may trace at once"
        traced.append(batch.shape)
        return SimpleNamespace(compile=compile)

    call = compiled_steps.CompiledSteps(lambda state, batch: None)
    monkeypatch.setattr(call, "_pool", compiled_steps.ThreadPoolExecutor(3))
    monkeypatch.setattr(call, "_step", SimpleNamespace(lower=lower))
    for size in (3, 2):
        call.begin(STATE, jax.ShapeDtypeStruct((size,), "float32"))
    assert call(STATE, np.ones(3, np.float32))[0] == 0.0
    assert sorted(traced) == [(2,), (3,)]


def test_an_error_of_the_step_reaches_the_call():
    def step(state, batch):
        raise RuntimeError("no such layer")

    with pytest.raises(RuntimeError, match="no such layer"):
        compiled_steps.CompiledSteps(step)(STATE, np.ones(2, np.float32))
