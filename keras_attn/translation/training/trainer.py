"""Model that Keras `fit` trains: loss and gradients of a batch, then an update of the optimizer."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import keras

from keras_attn.layers.transformer import Transformer
from keras_attn.training.backend import make_seed
from keras_attn.translation.batching.batches import Batches
from keras_attn.translation.training.schedule import WarmUpStableDecay


class Trainer(keras.Model):
    """Keras model whose `fit` trains a built `Transformer`.

    `loss_and_gradients` maps a batch (inputs, targets, None) and a seed to the mean loss per token
    and a gradient for each trainable weight.
    """

    # Those that `fit` needs on this backend, before all others.
    own_callbacks: Sequence[keras.callbacks.Callback] = ()

    def __init__(
        self,
        model: Transformer,
        schedule: WarmUpStableDecay,
        optimizer: keras.optimizers.Optimizer,
        loss_and_gradients: Callable[[Sequence[Any], Any], tuple[Any, list[Any]]],
        seed: int,
    ):
        super().__init__()
        self.model = model
        self.step = keras.Variable(0, dtype="int32", trainable=False)  # batches trained on
        self._seed = seed
        self._loss_and_gradients = loss_and_gradients
        self._mean_loss = keras.metrics.Mean(name="loss")
        self.schedule = schedule
        self._budget = [schedule.done, schedule.left]  # variables that `fit` must know
        optimizer.build(model.trainable_variables)
        self.compile(optimizer, jit_compile=False)
        self.built = True

    @property
    def metrics(self):
        return [self._mean_loss]

    def train_step(self, data):
        """Train on a batch, and return the mean loss of the epoch so far."""
        seed = make_seed(self._seed, self.step.value)
        loss, gradients = self._loss_and_gradients((*data, None), seed)
        self.optimizer.apply(gradients, self.model.trainable_variables)
        self.step.assign_add(1)
        self._mean_loss.update_state(loss)
        return {"loss": self._mean_loss.result()}

    def compiling(self, batches: Batches, first_step: int) -> AbstractContextManager:
        """Context of the training, which prepares the shapes of `batches` on JAX."""
        return nullcontext()
