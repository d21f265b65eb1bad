"""Training step in parallel shards, for the `fit` of any Keras model on TensorFlow."""

from typing import Any

import keras

from keras_attn.training import sharding
from keras_attn.training.head import Head, find_head
from keras_attn.training.loss import SampledCrossEntropy
from keras_attn.training.model_loss import ModelLoss


class ShardedStep:
    """Training step of a compiled model: loss and gradients in shards, then the optimizer."""

    def __init__(self, model: keras.Model, num_shards: int) -> None:
        self._model = model
        self._num_shards = num_shards
        self._seeds = keras.random.SeedGenerator()
        self._head: Head | None = None

    def __call__(self, data: Any) -> dict[str, Any]:
        self._check_compiled()
        model = self._model
        # Builds the metrics: `fit` asks for their results, and the first update is in validation.
        model._symbolic_build(data_batch=data)
        inputs, targets, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
        self._head = self._head or find_head(model, inputs)
        loss_of = ModelLoss(model, self._head, model.loss)
        loss, gradients = sharding.loss_and_gradients(
            loss_of,
            self._num_shards,
            (inputs, targets, sample_weight),
            keras.ops.cast(self._seeds.next(), "int64"),
            model.optimizer.scale_loss,
        )
        model.optimizer.apply(gradients, loss_of.weights)
        (mean,) = [metric for metric in model.metrics if metric.name == "loss"]
        mean.update_state(loss, sample_weight=keras.ops.shape(targets)[0])
        return {"loss": mean.result()}

    def _check_compiled(self):
        model = self._model
        if not isinstance(model.loss, SampledCrossEntropy):
            raise ValueError(
                "A model after `speed_up` must be compiled with a "
                f"keras_attn.training.SampledCrossEntropy. Received: loss={model.loss!r}."
            )
