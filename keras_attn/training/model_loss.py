"""Loss of a model as a function of its weights, a batch and a seed."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import keras
from keras import ops

from keras_attn.training import backend
from keras_attn.training.cross_entropy import Sample, draw_sample, smoothed_cross_entropy
from keras_attn.training.head import Head, call_model
from keras_attn.training.loss import SampledCrossEntropy


class Shared(NamedTuple):
    """Tensors that all shards of a batch share, computed once from the weights."""

    weights: list[Any]  # trainable ones, kernels in the dtype of the products
    kernel: Any  # of the logits, `(D, C)`
    bias: Any  # of the logits, `(C,)`


class Whole(NamedTuple):
    """Facts about a whole batch that its shards need."""

    sample: Sample | None  # of the vocabulary, or None for all of it
    num_targets: Any  # targets that count, float32
    num_rows: Any  # examples, float32


class ModelLoss:
    """`SampledCrossEntropy` of a built model whose last layer is `head`.

    The layers of the model are called as a function of weights, batch and seed: dropout depends on
    the seed only. Logits are computed for targets that count, not for padding, and for a sample of
    the vocabulary (`draw_sample`).

    >>> from keras_attn import Transformer
    >>> model = Transformer.from_sizes(8, 8, 1, 1, 4, 8, 2)
    >>> model.build(((None, None), (None, None)))
    >>> model.set_weights([0 * weight for weight in model.get_weights()])  # all logits are 0
    >>> loss = ModelLoss(model, Head.of_decoder(model.decoder), SampledCrossEntropy())
    >>> source, target_in, target_out = (ops.array(ids) for ids in ([[5, 3]], [[2]], [[3]]))
    >>> value = loss((source, target_in), target_out, seed=backend.make_seed(1, 2))
    >>> round(float(value), 4)  # log 8
    2.0794
    """

    def __init__(self, model: keras.Model, head: Head, loss: SampledCrossEntropy) -> None:
        self._model = model
        self._head = head
        self._loss = loss
        self._dtype = head.layer.compute_dtype
        self.weights = model.trainable_weights
        # Kernels are cast once for all shards, to what their layers compute in.
        dtypes = {
            id(weight): layer.compute_dtype
            for layer in model._flatten_layers()
            for weight in layer._trainable_variables
            if layer.autocast and weight.path.endswith("kernel") and weight.regularizer is None
        }
        self._dtypes = [dtypes.get(id(weight), weight.dtype) for weight in self.weights]
        self._seeds = [
            generator.state
            for layer in model._flatten_layers()
            for generator in layer._seed_generators
        ]
        trained = {id(weight) for weight in self.weights}
        self._others = [weight for weight in model.weights if id(weight) not in trained]

    def __call__(self, inputs: Any, targets: Any, seed: Any, sample_weight: Any = None) -> Any:
        first, second = backend.split_seed(seed, 2)
        return self.of_shard(*self.share(targets, first), inputs, targets, sample_weight, second)

    def share(self, targets: Any, seed: Any) -> tuple[Shared, Whole]:
        """Return what all shards of a batch with these targets share."""
        weights = [
            ops.cast(weight.value, dtype)
            for weight, dtype in zip(self.weights, self._dtypes, strict=True)
        ]
        targets, size = ops.cast(targets, "int32"), self._head.vocab_size
        number = int(self._loss.fraction * size)
        if backend.HAS_FIXED_SHAPES:  # `draw_sample` makes room for all targets
            number = max(number, math.prod(targets.shape) + 1)
        sample = None
        if number < size:
            counted = ops.where(self._loss.counts(targets), targets, 0)
            sample = draw_sample(counted, size, number, seed)
        kernel, bias = self._head.projection(None if sample is None else sample.pieces)
        shared = Shared(weights, ops.cast(kernel, self._dtype), ops.cast(bias, "float32"))
        num_rows = ops.cast(ops.shape(targets)[0], "float32")
        return shared, Whole(sample, self._loss.count(targets), num_rows)

    def of_shard(
        self,
        shared: Shared,
        whole: Whole,
        inputs: Any,
        targets: Any,
        sample_weight: Any,
        seed: Any,
    ) -> Any:
        """Part of a shard in the mean loss of the batch, with a seed of dropout for this shard.

        Losses of regularizers and of `add_loss` are added, weighted by the share of the examples.
        """
        others = [(variable, variable.value) for variable in self._others]
        with keras.StatelessScope(collect_losses=True) as scope:
            # Not as `state_mapping`, which would cast the kernels to float32.
            for pair in (*zip(self.weights, shared.weights, strict=True), *others):
                scope.add_update(pair)
            of_layers = backend.split_seed(seed, len(self._seeds))
            for state, one in zip(self._seeds, of_layers, strict=True):
                scope.add_update((state, ops.cast(one, state.dtype)))
            rows = self._head.states(lambda: call_model(self._model, inputs, training=True))
            further = [ops.cast(loss, "float32") for loss in self._model.losses]
            changed = [v.path for v, value in others if scope.get_current_value(v) is not value]
        if changed:
            raise ValueError(
                "Layers that assign weights during training, such as BatchNormalization, cannot be "
                f"trained in shards. Received: weights={changed}."
            )
        loss = self._sum_of_targets(rows, targets, sample_weight, shared, whole.sample)
        loss = loss / whole.num_targets
        if further:
            loss += sum(further) * ops.cast(ops.shape(targets)[0], "float32") / whole.num_rows
        return loss

    def _sum_of_targets(self, rows, targets, sample_weight, shared, sample):
        targets = ops.cast(targets, "int32")
        rows = ops.reshape(rows, (-1, rows.shape[-1]))
        weights = ops.reshape(self._loss.weights_of(targets, sample_weight), (-1,))
        targets = ops.reshape(targets, (-1,))
        is_counted = self._loss.counts(targets)
        if backend.HAS_FIXED_SHAPES:
            targets = ops.where(is_counted, targets, 0)
        else:  # fewer rows cost less
            (places,) = ops.nonzero(is_counted)
            rows, targets = ops.take(rows, places, axis=0), ops.take(targets, places)
            weights = None if sample_weight is None else ops.take(weights, places)
        return smoothed_cross_entropy(
            ops.cast(rows, self._dtype),
            shared.kernel,
            shared.bias,
            targets if sample is None else ops.take(sample.places, targets),
            self._loss.label_smoothing,
            None if sample is None else sample.counts,
            weights,
        )
