"""Training steps on JAX, compiled for several shapes of batches at the same time."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import jax

from keras_attn.translation.runtime.threads import num_cores


class CompiledSteps:
    """A training step that is compiled once for each shape of its batches, side by side.

    `step` maps a state and a batch to the result of the step and the next state. The arrays of the
    state are not usable after a call. `shardings` are of the next state, for several devices.
    """

    def __init__(self, step: Callable[[Any, Any], tuple[Any, Any]], shardings: Any = None):
        outputs = (None, shardings) if shardings else None
        self._step = jax.jit(step, donate_argnums=0, out_shardings=outputs)
        self._tracing = threading.Lock()
        self._pool = ThreadPoolExecutor(num_cores(), thread_name_prefix="compile")
        self._of_shape: dict[Any, Future] = {}

    def begin(self, state: Any, batch: Any) -> None:
        """Compile the step in the background, for arrays or their shapes, types and shardings."""
        shape = _shape_of(batch)
        if shape not in self._of_shape:
            state, batch = (jax.tree.map(_described, one) for one in (state, batch))
            self._of_shape[shape] = self._pool.submit(self._compile, state, batch)

    def __call__(self, state: Any, batch: Any) -> tuple[Any, Any]:
        self.begin(state, batch)
        return self._of_shape[_shape_of(batch)].result()(state, batch)

    def stop(self) -> None:
        """Leave out the shapes whose compilation has not begun."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _compile(self, state: Any, batch: Any) -> Callable[[Any, Any], tuple[Any, Any]]:
        with self._tracing:  # layers are not made to be traced by two threads
            lowered = self._step.lower(state, batch)
        return lowered.compile()


def _described(array: Any) -> jax.ShapeDtypeStruct:
    sharding = getattr(array, "sharding", None)
    over_devices = sharding if isinstance(sharding, jax.sharding.NamedSharding) else None
    return jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=over_devices)


def _shape_of(batch: Any) -> Any:
    return tuple(array.shape for array in jax.tree.leaves(batch))
