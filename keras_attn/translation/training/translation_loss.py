"""Training loss of a Transformer, computed by its own layers."""

import math
from typing import Any, NamedTuple

import keras
from keras import ops

from keras_attn.layers.transformer import Transformer
from keras_attn.translation.special_ids import PAD_ID
from keras_attn.translation.training import backend
from keras_attn.translation.training.loss import Sample, draw_sample, smoothed_cross_entropy


class Shared(NamedTuple):
    """Tensors that all shards of a batch share, computed once from the weights."""

    weights: list[Any]  # trainable ones, kernels in the dtype of the products
    kernel: Any  # of the logits, `(D, C)`
    bias: Any  # of the logits, `(C,)`


class TranslationLoss:
    """Cross-entropy with label smoothing of the target tokens.

    With `p` the distribution of the model, `y` the target and `e` the smoothing, the loss of a
    token is `-(1 - e) * log p[y] - e * mean_v(log p[v])` (Szegedy et al. 2016, section 7). The loss
    of a batch is the mean over the tokens, padding not counted.

    The layers of the model are called as a function of weights, batch and seed: dropout depends on
    the seed only. Logits are computed for real tokens, not for padding. With `num_sampled` pieces
    of the vocabulary (`draw_sample`), loss and gradients are estimates.

    The model is built. Ids are int32 `(B, S)` and `(B, T)`, padded with 0: `source` with EOS,
    `target_in` with BOS, `target_out` with EOS.

    >>> model = Transformer.from_sizes(8, 8, 1, 1, 4, 8, 2)
    >>> model.build(((None, None), (None, None)))
    >>> model.set_weights([0 * weight for weight in model.get_weights()])  # all logits are 0
    >>> loss = TranslationLoss(model, label_smoothing=0.1)
    >>> batch = [ops.array(ids) for ids in ([[5, 3]], [[2]], [[3]])]
    >>> round(float(loss(*batch, seed=backend.make_seed(1, 2))), 4)  # log 8
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
        self._seeds = [
            generator.state
            for layer in model._flatten_layers()
            for generator in layer._seed_generators
        ]
        known = {id(variable) for variable in (*self._weights, *self._seeds)}
        self._others = [one for one in model.variables if id(one) not in known]

    def __call__(self, source: Any, target_in: Any, target_out: Any, seed: Any) -> Any:
        first, second = backend.split_seed(seed, 2)
        shared = self.share(target_out, first)
        return self.of_shard(*shared, source, target_in, target_out, second)

    def share(self, target_out: Any, seed: Any) -> tuple[Shared, Sample | None]:
        """Weights, and the sample of the vocabulary or None for all of it, common to all shards."""
        weights = [
            ops.cast(weight.value, dtype)
            for weight, dtype in zip(self._weights, self._dtypes, strict=True)
        ]
        decoder, sample = self._model.decoder, None
        number = decoder.vocab_size if self._num_sampled is None else self._num_sampled
        if backend.HAS_FIXED_SHAPES:  # `draw_sample` makes room for all targets
            number = max(number, math.prod(target_out.shape) + 1)
        if number < decoder.vocab_size:
            sample = draw_sample(target_out, decoder.vocab_size, number, seed)
        kernel, bias = decoder.output_projection(None if sample is None else sample.pieces)
        shared = Shared(weights, ops.cast(kernel, self._dtype), ops.cast(bias, "float32"))
        return shared, sample

    def of_shard(
        self,
        shared: Shared,
        sample: Sample | None,
        source: Any,
        target_in: Any,
        target_out: Any,
        seed: Any,
    ) -> Any:
        """Mean loss per token of a shard, with the results of `share` and the seed of dropout."""
        others = [(variable, variable.value) for variable in self._others]
        with keras.StatelessScope() as scope:
            # Not as `state_mapping`, which would cast the kernels to float32.
            for pair in (*zip(self._weights, shared.weights, strict=True), *others):
                scope.add_update(pair)
            of_layers = backend.split_seed(seed, len(self._seeds))
            for state, one in zip(self._seeds, of_layers, strict=True):
                scope.add_update((state, ops.cast(one, state.dtype)))
            encoder, decoder = self._model.encoder, self._model.decoder
            memory, mask = encoder(source, training=True), encoder.compute_mask(source)
            rows = decoder.states(target_in, memory, memory_mask=mask, training=True)
        rows = ops.reshape(rows, (-1, rows.shape[-1]))
        targets = ops.reshape(target_out, (-1,))
        is_token: Any = ops.not_equal(targets, PAD_ID)
        num_tokens = ops.cast(ops.maximum(ops.count_nonzero(is_token), 1), "float32")
        weights = None
        if backend.HAS_FIXED_SHAPES:
            weights = ops.cast(is_token, "float32")
        else:  # fewer rows cost less
            (real,) = ops.nonzero(is_token)
            rows, targets = ops.take(rows, real, axis=0), ops.take(targets, real)
        total = smoothed_cross_entropy(
            ops.cast(rows, self._dtype),
            shared.kernel,
            shared.bias,
            targets if sample is None else ops.take(sample.places, targets),
            self._label_smoothing,
            None if sample is None else sample.counts,
            weights,
        )
        return total / num_tokens
