"""Training loss of a Transformer, computed in few operations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from keras_attn.positions import PositionalEncoding
from keras_attn.residual import EPSILON
from keras_attn.transformer import Transformer
from keras_attn.translation.decoding.folded import HIDDEN
from keras_attn.translation.special_ids import PAD_ID
from keras_attn.translation.training.loss import Sample, draw_sample, smoothed_cross_entropy
from keras_attn.translation.training.products import product
from keras_attn.translation.training.training_kernels import TrainingKernels


class TrainingLoss:
    """Cross-entropy with label smoothing of the target tokens, fast on a CPU.

    With `p` the distribution of the model, `y` the target and `e` the smoothing, the loss of a
    token is `-(1 - e) * log p[y] - e * mean_v(log p[v])` (Szegedy et al. 2016, section 7). The loss
    of a batch is the mean over the tokens, padding not counted.

    Loss and gradients equal those of the `Transformer` layer, but are computed faster:

    - `TrainingKernels` joins products.
    - Logits are computed for real tokens only, not for padding.
    - Dropout uses one random byte for each element, so the rate is rounded to a multiple of 1/256.
    - With `num_sampled`, logits are computed for a part of the vocabulary, and loss and gradients
      are estimates.

    Args:
        model: Built model of `Transformer.from_sizes`.
        label_smoothing: `e`, the probability mass spread over the vocabulary, from 0 to 1.
        dtype: Precision of the products, `"float32"` or `"bfloat16"`. The residual stream and the
            softmax over the vocabulary are float32.
        num_positions: Maximum number of source or target positions.
        num_sampled: Number of vocabulary pieces whose logits are computed for a batch
            (`draw_sample`). Defaults to None, the whole vocabulary.

    Call arguments:
        source: Piece ids with EOS, int32 `(B, S)`, padded with id 0.
        target_in: BOS and piece ids, int32 `(B, T)`, padded with id 0.
        target_out: Piece ids and EOS, int32 `(B, T)`, padded with id 0.
        seed: Seed of dropout and sample, integers `(2,)`.

    Returns:
        The mean loss per token, or an estimate with `num_sampled`; a float32 scalar.

    Raises:
        ValueError: If the model has non-standard parts (`check_parts`).

    Example:

    >>> model = Transformer.from_sizes(8, 8, 1, 1, 4, 8, 2)
    >>> model.build(((None, None), (None, None)))
    >>> model.set_weights([0 * weight for weight in model.get_weights()])  # all logits are 0
    >>> loss = TrainingLoss(model, label_smoothing=0.1, dtype="float32", num_positions=4)
    >>> batch = [tf.constant(ids) for ids in ([[5, 3]], [[2]], [[3]])]
    >>> round(float(loss(*batch, seed=tf.constant([1, 2]))), 4)  # log 8
    2.0794
    """

    def __init__(
        self,
        model: Transformer,
        label_smoothing: float,
        dtype: str,
        num_positions: int,
        num_sampled: int | None = None,
    ):
        self._num_encoder_layers = model.encoder.num_layers
        self._num_decoder_layers = model.decoder.num_layers
        self._num_hiddens, self._num_heads = model.decoder.num_hiddens, model.decoder.num_heads
        self._head_size = self._num_hiddens // self._num_heads
        self._vocab_size = model.decoder.vocab_size
        self._num_dropped = min(round(256 * model.decoder.dropout), 255)  # of the 256 values
        self._scale = 256 / (256 - self._num_dropped)  # of the elements that dropout keeps
        self._kernels = TrainingKernels(model, dtype, self._scale)
        self._label_smoothing = label_smoothing
        self._num_sampled = num_sampled
        self._dtype = tf.dtypes.as_dtype(dtype)
        zeros = np.zeros((1, num_positions, self._num_hiddens), np.float32)
        self._positions = tf.convert_to_tensor(PositionalEncoding()(zeros))[0]

    def __call__(
        self, source: tf.Tensor, target_in: tf.Tensor, target_out: tf.Tensor, seed: tf.Tensor
    ) -> tf.Tensor:
        first, second = tf.unstack(tf.random.split(seed, 2))
        shared = self.share(target_out, first)
        return self.of_shard(*shared, source, target_in, target_out, second)

    def share(
        self, target_out: tf.Tensor, seed: tf.Tensor
    ) -> tuple[dict[str, tf.Tensor], Sample | None]:
        """Inputs common to all shards of a batch: kernels and sampled pieces.

        Args:
            target_out: Target ids of the whole batch, int32 `(B, T)`.
            seed: Seed of the sample, integers `(2,)`.

        Returns:
            The result of `TrainingKernels`; the sample, or None for the whole vocabulary.
        """
        if self._num_sampled is None:
            return self._kernels(), None
        sample = draw_sample(target_out, self._vocab_size, self._num_sampled, seed)
        return self._kernels(sample.pieces), sample

    def of_shard(
        self,
        kernels: dict[str, tf.Tensor],
        sample: Sample | None,
        source: tf.Tensor,
        target_in: tf.Tensor,
        target_out: tf.Tensor,
        seed: tf.Tensor,
    ) -> tf.Tensor:
        """Mean loss per token of a shard.

        Args:
            kernels: First result of `share`.
            sample: Second result of `share`.
            source: Source ids of the shard, int32 `(B, S)`.
            target_in: Decoder input of the shard, int32 `(B, T)`.
            target_out: Target ids of the shard, int32 `(B, T)`.
            seed: Seed of dropout, integers `(2,)`.
        """
        # One seed for each dropout: of the embeddings, of the weights of each attention and of the
        # output of each sub-layer.
        num_seeds = 2 + 3 * self._num_encoder_layers + 5 * self._num_decoder_layers
        seeds = iter(tf.unstack(tf.random.split(seed, num_seeds)))
        parts = _Parts(kernels, _Dropout(self._num_dropped, seeds))
        hidden = tf.where(tf.equal(source, PAD_ID), HIDDEN, 0.0)[:, None, None]  # (B, 1, 1, S)
        hidden = tf.cast(hidden, self._dtype)
        memory = self._encode(source, hidden, parts)
        states = self._decode(target_in, memory, hidden, parts)

        targets = tf.reshape(target_out, [-1])
        is_token = tf.where(tf.not_equal(targets, PAD_ID))[:, 0]
        states, targets = tf.gather(states, is_token), tf.gather(targets, is_token)
        cost = smoothed_cross_entropy(
            states,
            kernels["logits/kernel"],
            kernels["logits/bias"],
            targets if sample is None else tf.gather(sample.places, targets),
            self._label_smoothing,
            None if sample is None else sample.counts,
        )
        return cost / tf.cast(tf.maximum(tf.size(targets), 1), tf.float32)

    def _encode(
        self, source: tf.Tensor, hidden: tf.Tensor, parts: _Parts
    ) -> list[tuple[tf.Tensor, tf.Tensor]]:
        """Keys and values of the memory for each decoder layer, `(B, H, S, D/H)`."""
        batch_size, length = tf.unstack(tf.shape(source))
        x = self._embed("encoder", source, parts)
        for i in range(self._num_encoder_layers):
            block = f"encoder/block_{i}"
            x += self._attend_to_self(block, x, batch_size, length, hidden, parts)
            x += self._feed_forward(block, x, parts)
        rows = parts.product("memory", self._normalised(x))
        of_layers = self._heads(rows, batch_size, length, 2 * self._num_decoder_layers)
        return list(zip(of_layers[::2], of_layers[1::2], strict=True))

    def _decode(
        self,
        target: tf.Tensor,
        memory: list[tuple[tf.Tensor, tf.Tensor]],
        hidden: tf.Tensor,
        parts: _Parts,
    ) -> tf.Tensor:
        """Normalised decoder states, the input of the logits, `(B * T, D)`."""
        batch_size, length = tf.unstack(tf.shape(target))
        places = tf.range(length)
        later = tf.cast(tf.where(places[:, None] < places, HIDDEN, 0.0), self._dtype)  # (T, T)
        x = self._embed("decoder", target, parts)
        for i, (keys, values) in enumerate(memory):
            block = f"decoder/block_{i}"
            x += self._attend_to_self(block, x, batch_size, length, later, parts)
            layer = f"{block}/cross_attention"
            rows = parts.product(f"{layer}/input", self._normalised(x))
            (queries,) = self._heads(rows, batch_size, length, 1)
            x += self._attend(layer, queries, keys, values, hidden, parts)
            x += self._feed_forward(block, x, parts)
        return self._normalised(x)

    def _embed(self, stack: str, ids: tf.Tensor, parts: _Parts) -> tf.Tensor:
        """Embeddings with positions, rows `(B * T, D)`."""
        x = tf.gather(parts.kernels[f"{stack}/embeddings"], ids) * self._num_hiddens**0.5
        x += self._positions[: tf.shape(ids)[1]]
        return parts.drop(tf.reshape(x, [-1, self._num_hiddens])) * self._scale

    def _attend_to_self(
        self,
        block: str,
        x: tf.Tensor,
        batch_size: tf.Tensor,
        length: tf.Tensor,
        hidden: tf.Tensor,
        parts: _Parts,
    ) -> tf.Tensor:
        layer = f"{block}/self_attention"
        rows = parts.product(f"{layer}/input", self._normalised(x))
        queries, keys, values = self._heads(rows, batch_size, length, 3)
        return self._attend(layer, queries, keys, values, hidden, parts)

    def _attend(
        self,
        layer: str,
        queries: tf.Tensor,
        keys: tf.Tensor,
        values: tf.Tensor,
        hidden: tf.Tensor,
        parts: _Parts,
    ) -> tf.Tensor:
        """Attention output, rows `(B * T, D)`; queries `(B, H, T, D/H)` are scaled already."""
        scores = tf.matmul(queries, keys, transpose_b=True) + hidden
        sums = tf.matmul(parts.drop(tf.nn.softmax(scores)), values)
        rows = tf.reshape(tf.transpose(sums, [0, 2, 1, 3]), [-1, self._num_hiddens])
        made = tf.matmul(rows, parts.kernels[f"{layer}/output/kernel"])
        return tf.cast(parts.drop(made), tf.float32)

    def _feed_forward(self, block: str, x: tf.Tensor, parts: _Parts) -> tf.Tensor:
        layer = f"{block}/feed_forward"
        inner = tf.nn.relu(parts.product(f"{layer}/inner", self._normalised(x)))
        return tf.cast(parts.drop(parts.product(f"{layer}/outer", inner)), tf.float32)

    def _normalised(self, x: tf.Tensor) -> tf.Tensor:
        return tf.cast(_normalised(x), self._dtype)

    def _heads(
        self, rows: tf.Tensor, batch_size: tf.Tensor, length: tf.Tensor, number: int
    ) -> list[tf.Tensor]:
        """Split rows `(B * T, number * D)` into `number` tensors `(B, H, T, D/H)`."""
        shape = tf.stack([batch_size, length, number, self._num_heads, self._head_size])
        return tf.unstack(tf.transpose(tf.reshape(rows, shape), [2, 0, 3, 1, 4]), number)


class _Dropout:
    """Dropout without scaling: an element is zero if a random byte is below `num_dropped`.

    The scale is folded into kernels instead, which have fewer elements (`TrainingKernels`).
    """

    def __init__(self, num_dropped: int, seeds: Iterator[tf.Tensor]):
        self._num_dropped = num_dropped
        self._seeds = seeds

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        if not self._num_dropped:
            return x
        size = tf.size(x)
        words = tf.random.stateless_uniform(
            [(size + 3) // 4], next(self._seeds), minval=None, maxval=None, dtype=tf.uint32
        )
        bytes_ = tf.reshape(tf.bitcast(words, tf.uint8), [-1])[:size]
        return x * tf.cast(tf.reshape(bytes_, tf.shape(x)) >= self._num_dropped, x.dtype)


class _Parts(NamedTuple):
    """Kernels and dropout of one forward pass."""

    kernels: dict[str, tf.Tensor]
    drop: _Dropout

    def product(self, name: str, rows: tf.Tensor) -> tf.Tensor:
        return product(rows, self.kernels[f"{name}/kernel"], self.kernels[f"{name}/bias"])


@tf.custom_gradient
def _normalised(x: tf.Tensor):
    """Layer normalisation without gain and offset (Ba et al. 2016)."""
    centred = x - tf.reduce_mean(x, axis=-1, keepdims=True)
    variance = tf.reduce_mean(tf.square(centred), axis=-1, keepdims=True)
    scale = tf.math.rsqrt(variance + EPSILON)
    rows = centred * scale

    def gradient(upstream: tf.Tensor) -> tf.Tensor:
        along = tf.reduce_mean(upstream * rows, axis=-1, keepdims=True)
        mean = tf.reduce_mean(upstream, axis=-1, keepdims=True)
        return (upstream - rows * along - mean) * scale

    return rows, gradient
