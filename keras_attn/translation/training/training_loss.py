"""The loss that training minimises, of a Transformer, in few operations."""

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
    """Smoothed cross-entropy of the tokens that a `Transformer` is to say, fast on a CPU.

    With `p` the model's distribution, `y` the target and `e` the smoothing, a token costs
    `-(1 - e) * log p[y] - e * mean_v(log p[v])` (Szegedy et al. 2016, section 7); the loss is the
    mean over the tokens of the batch, padding not counted.

    It is the model's own number and gradient, computed in another way: by `TrainingKernels`; logits
    are made of real tokens only; dropout needs a random byte a number, so its rate is rounded to a
    multiple of 1/256. With `num_sampled`, both are estimates, of the logits of a part of the
    vocabulary.

    Args:
        model: A built model of `Transformer.from_sizes`.
        label_smoothing: `e`, the probability mass spread over the vocabulary.
        dtype: What the products are computed in, `"float32"` or `"bfloat16"`; the residual stream
            and the softmax over the vocabulary are float32.
        num_positions: Greatest length of either side.
        num_sampled: Pieces of the vocabulary whose logits a batch is trained by (`draw_sample`);
            nothing for all.

    Call arguments:
        source: Piece ids with EOS, int32 `(B, S)`, padded with id 0.
        target_in: BOS and pieces, int32 `(B, T)`, padded.
        target_out: Pieces and EOS, int32 `(B, T)`, padded.
        seed: Of dropout and sample, integers `(2,)`.

    Returns:
        The mean cost of a token, a float32 scalar; of a sample, an estimate of it.

    Raises:
        ValueError: If the model has other parts.

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
        self._num_dropped = min(round(256 * model.decoder.dropout), 255)  # of the values of a byte
        self._scale = 256 / (256 - self._num_dropped)  # of what is left by dropout
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
        """What the shards of a batch have in common: kernels, made of the weights, and the sample.

        Args:
            target_out: Of the whole batch, int32 `(B, T)`.
            seed: Of the sample, integers `(2,)`.

        Returns:
            What `TrainingKernels` makes, and the sample; nothing in place of it where all pieces
            have logits.
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
        """The mean cost of a token of some pairs of a batch, by what `share` made for all of it.

        Args:
            kernels: As `share` made them.
            sample: As `share` drew it.
            source: Of the shard, int32 `(B, S)`.
            target_in: Of the shard, int32 `(B, T)`.
            target_out: Of the shard, int32 `(B, T)`.
            seed: Of dropout, integers `(2,)`.
        """
        # Of what is dropped at each embedding, of the weights of each attention and after each
        # sub-layer.
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
        """Keys and values of each decoder layer, `(B, H, S, D/H)`."""
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
        """What logits are made of, normalised, `(B * T, D)`."""
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
        """Rows `(B * T, D)`."""
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
        """Rows `(B * T, D)` of scaled queries and of keys and values, `(B, H, T or S, D/H)`."""
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
        """Rows `(B * T, number * D)` cut into tensors `(B, H, T, D/H)`."""
        shape = tf.stack([batch_size, length, number, self._num_heads, self._head_size])
        return tf.unstack(tf.transpose(tf.reshape(rows, shape), [2, 0, 3, 1, 4]), number)


class _Dropout:
    """Puts zeros at random places: where a byte has one of so many of its 256 values.

    What is left has to be scaled. Whoever multiplies it by a kernel can scale that instead, which
    is smaller.
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
    """What the sub-layers of one pass use."""

    kernels: dict[str, tf.Tensor]
    drop: _Dropout

    def product(self, name: str, rows: tf.Tensor) -> tf.Tensor:
        return product(rows, self.kernels[f"{name}/kernel"], self.kernels[f"{name}/bias"])


@tf.custom_gradient
def _normalised(x: tf.Tensor):
    """Rows less their mean, by their standard deviation (Ba et al. 2016)."""
    centred = x - tf.reduce_mean(x, axis=-1, keepdims=True)
    variance = tf.reduce_mean(tf.square(centred), axis=-1, keepdims=True)
    scale = tf.math.rsqrt(variance + EPSILON)
    rows = centred * scale

    def gradient(upstream: tf.Tensor) -> tf.Tensor:
        along = tf.reduce_mean(upstream * rows, axis=-1, keepdims=True)
        mean = tf.reduce_mean(upstream, axis=-1, keepdims=True)
        return (upstream - rows * along - mean) * scale

    return rows, gradient
