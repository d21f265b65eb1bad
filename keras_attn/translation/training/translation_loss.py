"""Training loss of a Transformer, computed by its own layers."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import keras
from keras import ops

from keras_attn.layers.decoder import Decoder
from keras_attn.layers.transformer import Transformer
from keras_attn.translation.special_ids import PAD_ID
from keras_attn.translation.training import seeds
from keras_attn.translation.training.loss import (
    Sample,
    draw_sample,
    smoothed_cross_entropy,
    smoothed_cross_entropy_of_logits,
)


class Shared(NamedTuple):
    """Tensors that all shards of a batch share, computed once from the weights.

    Attributes:
        weights: Values of the trainable weights, kernels in the dtype of the products.
        projection: Kernel `(D, C)` and bias `(C,)` of the logits; empty for a model that computes
            its logits in a way of its own.
    """

    weights: list[Any]
    projection: tuple[Any, ...]


class TranslationLoss:
    """Cross-entropy with label smoothing of the target tokens.

    With `p` the distribution of the model, `y` the target and `e` the smoothing, the loss of a
    token is `-(1 - e) * log p[y] - e * mean_v(log p[v])` (Szegedy et al. 2016, section 7). The loss
    of a batch is the mean over the tokens, padding not counted.

    The model is called as it is written, as a function of weights, batch and seed: dropout depends
    on the seed only. Logits are computed for real tokens, not for padding. A subclass that
    overrides `call` of model or decoder computes all logits itself.

    Args:
        model: Built model.
        label_smoothing: `e`, the probability mass spread over the vocabulary, from 0 to 1.
        num_sampled: Number of vocabulary pieces whose logits are computed for a batch
            (`draw_sample`); loss and gradients are then estimates. Defaults to None, the whole
            vocabulary.

    Call arguments:
        source: Piece ids with EOS, int32 `(B, S)`, padded with id 0.
        target_in: BOS and piece ids, int32 `(B, T)`, padded with id 0.
        target_out: Piece ids and EOS, int32 `(B, T)`, padded with id 0.
        seed: Seed of dropout and sample, integers `(2,)`.

    Returns:
        The mean loss per token, or an estimate with `num_sampled`; a float32 scalar.

    Example:

    >>> model = Transformer.from_sizes(8, 8, 1, 1, 4, 8, 2)
    >>> model.build(((None, None), (None, None)))
    >>> model.set_weights([0 * weight for weight in model.get_weights()])  # all logits are 0
    >>> loss = TranslationLoss(model, label_smoothing=0.1)
    >>> batch = [ops.array(ids) for ids in ([[5, 3]], [[2]], [[3]])]
    >>> round(float(loss(*batch, seed=seeds.of(1, 2))), 4)  # log 8
    2.0794
    """

    def __init__(self, model: Transformer, label_smoothing: float, num_sampled: int | None = None):
        self._model = model
        self._label_smoothing = label_smoothing
        self._num_sampled = num_sampled
        self._dtype = model.decoder.compute_dtype
        self._weights = model.trainable_variables
        # Kernels are cast once for all shards, to what their layers compute in.
        dtypes = {
            id(weight): layer.compute_dtype
            for layer in model._flatten_layers()
            for weight in layer._trainable_variables
            if layer.autocast and weight.path.endswith("kernel")
        }
        self._dtypes = [dtypes.get(id(weight), weight.dtype) for weight in self._weights]
        self._has_states = (
            type(model).call is Transformer.call and type(model.decoder).call is Decoder.call
        )
        self._seeds = [
            generator.state
            for layer in model._flatten_layers()
            for generator in layer._seed_generators
        ]
        known = {id(variable) for variable in (*self._weights, *self._seeds)}
        self._others = [one for one in model.variables if id(one) not in known]

    def __call__(self, source: Any, target_in: Any, target_out: Any, seed: Any) -> Any:
        first, second = seeds.split(seed, 2)
        shared = self.share(target_out, first)
        return self.of_shard(*shared, source, target_in, target_out, second)

    def share(self, target_out: Any, seed: Any) -> tuple[Shared, Sample | None]:
        """Inputs common to all shards of a batch: weights and sampled pieces.

        Args:
            target_out: Target ids of the whole batch, int32 `(B, T)`.
            seed: Seed of the sample, integers `(2,)`.

        Returns:
            The shared tensors; the sample, or None for the whole vocabulary.
        """
        weights = [
            ops.cast(weight.value, dtype)
            for weight, dtype in zip(self._weights, self._dtypes, strict=True)
        ]
        if not self._has_states:
            return Shared(weights, ()), None
        decoder, sample = self._model.decoder, None
        number = decoder.vocab_size if self._num_sampled is None else self._num_sampled
        if keras.backend.backend() != "tensorflow":  # `draw_sample` makes room for all targets
            number = max(number, math.prod(target_out.shape) + 1)
        if number < decoder.vocab_size:
            sample = draw_sample(target_out, decoder.vocab_size, number, seed)
        kernel, bias = decoder.output_projection(None if sample is None else sample.pieces)
        return Shared(weights, (ops.cast(kernel, self._dtype), ops.cast(bias, "float32"))), sample

    def of_shard(
        self,
        shared: Shared,
        sample: Sample | None,
        source: Any,
        target_in: Any,
        target_out: Any,
        seed: Any,
    ) -> Any:
        """Mean loss per token of a shard.

        Args:
            shared: First result of `share`.
            sample: Second result of `share`.
            source: Source ids of the shard, int32 `(B, S)`.
            target_in: Decoder input of the shard, int32 `(B, T)`.
            target_out: Target ids of the shard, int32 `(B, T)`.
            seed: Seed of dropout, integers `(2,)`.
        """
        others = [(variable, variable.value) for variable in self._others]
        with keras.StatelessScope() as scope:
            # Not as `state_mapping`, which would cast the kernels to float32.
            for pair in (*zip(self._weights, shared.weights, strict=True), *others):
                scope.add_update(pair)
            of_layers = seeds.split(seed, len(self._seeds))
            for state, one in zip(self._seeds, of_layers, strict=True):
                scope.add_update((state, ops.cast(one, state.dtype)))
            rows = self._states_or_logits(source, target_in)
        rows = ops.reshape(rows, (-1, rows.shape[-1]))
        targets = ops.reshape(target_out, (-1,))
        is_token: Any = ops.not_equal(targets, PAD_ID)
        num_tokens = ops.cast(ops.maximum(ops.count_nonzero(is_token), 1), "float32")
        weights = None
        if keras.backend.backend() == "tensorflow":  # fewer rows cost less, where sizes may vary
            (real,) = ops.nonzero(is_token)
            rows, targets = ops.take(rows, real, axis=0), ops.take(targets, real)
        else:
            weights = ops.cast(is_token, "float32")
        if self._has_states:
            kernel, bias = shared.projection
            cost = smoothed_cross_entropy(
                ops.cast(rows, self._dtype),
                kernel,
                bias,
                targets if sample is None else ops.take(sample.places, targets),
                self._label_smoothing,
                None if sample is None else sample.counts,
                weights,
            )
        else:
            cost = smoothed_cross_entropy_of_logits(rows, targets, self._label_smoothing, weights)
        return cost / num_tokens

    def _states_or_logits(self, source: Any, target_in: Any) -> Any:
        """Decoder states `(B, T, D)`, or logits `(B, T, V)` of a model that computes its own."""
        model = self._model
        if not self._has_states:
            return model((source, target_in), training=True)
        memory = model.encoder(source, training=True)
        mask = model.encoder.compute_mask(source)
        return model.decoder.states(target_in, memory, memory_mask=mask, training=True)
