"""Training step on JAX: a function of the state, compiled once for each shape of a batch."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from typing import Any

import jax
import keras

from keras_attn.layers.transformer import Transformer
from keras_attn.training.model_loss import ModelLoss
from keras_attn.translation.batching.batches import Batches
from keras_attn.translation.training.jax import processes, replicas
from keras_attn.translation.training.jax.compiled_steps import CompiledSteps
from keras_attn.translation.training.trainer import Trainer


def loss_and_gradients(
    model: Transformer, loss_of: ModelLoss, batch: Sequence[Any], seed: Any
) -> tuple[Any, list[Any]]:
    """Mean loss per token of a batch and the gradients, on one device or several."""
    inputs, targets, _ = batch
    weights, others = model.trainable_variables, model.non_trainable_variables
    if isinstance(keras.distribution.distribution(), keras.distribution.DataParallel):
        return replicas.loss_and_gradients(loss_of, weights, others, batch, seed)

    def loss(values):
        pairs = [*zip(weights, values, strict=True), *((one, one.value) for one in others)]
        with keras.StatelessScope(state_mapping=pairs):
            return loss_of(inputs, targets, seed)

    return jax.value_and_grad(loss)([weight.value for weight in weights])


class JaxTrainer(Trainer):
    """`Trainer` whose `fit` passes the state through compiled steps."""

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.own_callbacks = (SyncVariables(),)
        self._distribution = keras.distribution.distribution()
        shardings = None
        if self._distribution:
            shardings = jax.tree.map(lambda value: value.sharding, self._state())
        self._steps = CompiledSteps(self._step, shardings)

    @contextmanager
    def compiling(self, batches: Batches, first_step: int) -> Iterator[None]:
        state = self._state()
        for rows, source, target in batches.fixed_shapes(first_step):
            rows *= processes.count()
            source_ids, target_ids = self._ids(rows, source), self._ids(rows, target)
            self._steps.begin(state, ((source_ids, target_ids), target_ids))
        with processes.abort_together():
            try:
                yield
            finally:
                self._steps.stop()

    def _ids(self, *shape):
        layout = self._distribution and self._distribution.get_data_layout(shape)
        return jax.ShapeDtypeStruct(shape, "int32", sharding=layout and layout.backend_layout)

    def _state(self):
        return tuple([one.value for one in group] for group in self._groups)

    def _step(self, state, batch):
        pairs = zip(sum(self._groups, []), sum(state, []), strict=True)
        # Keras keeps a distribution for each thread.
        with (
            self._distribution.scope() if self._distribution else nullcontext(),
            keras.StatelessScope(state_mapping=pairs) as scope,
        ):
            logs = self.train_step(batch)
        values = tuple([scope.get_current_value(one) for one in group] for group in self._groups)
        return logs, values

    def make_train_function(self, force=False):
        self.train_function = lambda state, batches: self._steps(state, next(batches))

    # Keras asks for these several times a step, and would collect them again each time.
    @cached_property
    def trainable_variables(self):
        return super().trainable_variables

    @cached_property
    def non_trainable_variables(self):
        return super().non_trainable_variables

    @cached_property
    def metrics_variables(self):
        return super().metrics_variables

    @property
    def _groups(self):
        """Variables of the state, in the groups and the order of Keras `fit`."""
        return (
            self.trainable_variables,
            self.non_trainable_variables,
            self.optimizer.variables,
            self.metrics_variables,
        )


class SyncVariables(keras.callbacks.Callback):
    """Callback that gives all variables their values after each batch.

    Keras keeps the values elsewhere during an epoch. Place this callback before those that read or
    assign variables. It prints the time of the first step, which is mostly compilation.
    """

    def __init__(self):
        super().__init__()
        self._start = time.monotonic() if processes.is_primary() else None

    def on_train_batch_end(self, batch, logs=None):
        self.model.jax_state_sync()
        if self._start:
            print(f"First step after {time.monotonic() - self._start:.0f} s.", file=sys.stderr)
            self._start = None
