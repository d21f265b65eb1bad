"""The loss that training minimises, of a Transformer, in few operations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from keras_attn.positions import PositionalEncoding
from keras_attn.residual import EPSILON
from keras_attn.transformer import Transformer
from keras_attn.translation.cross_entropy import sampled_cross_entropy, smoothed_cross_entropy
from keras_attn.translation.folded import HIDDEN
from keras_attn.translation.folding import check_parts
from keras_attn.translation.products import product
from keras_attn.translation.tokenizer import PAD_ID
from keras_attn.translation.weights import place_of

# Float32 rows that are a multiple of so many bytes long share few places of a processor's cache:
# some products took twice as long (benchmarks/results/training.md).
SLOW_ROW_BYTES = 2048
SPARE_COLUMNS = 16


class TrainingLoss:
    """Smoothed cross-entropy of the tokens that a `Transformer` is to say, fast on a CPU.

    With `p` the model's distribution, `y` the target and `e` the smoothing, a token costs
    `-(1 - e) * log p[y] - e * mean_v(log p[v])` (Szegedy et al. 2016, section 7); the loss is the
    mean over the tokens of the batch, padding not counted.

    It is the model's own number and gradient, computed in another way: projections of the same
    input are one product; gains and offsets of normalisations go into the kernels behind them;
    logits are made of real tokens only; dropout needs a random byte a number, so its rate is
    rounded to a multiple of 1/256. With `num_sampled`, both are estimates, of the logits of a part
    of the vocabulary.

    Args:
        model: A built model of `Transformer.from_sizes`.
        label_smoothing: `e`, the probability mass spread over the vocabulary.
        dtype: What the products are computed in, `"float32"` or `"bfloat16"`; the residual stream
            and the softmax over the vocabulary are float32.
        num_positions: Greatest length of either side.
        num_sampled: Pieces of the vocabulary whose logits a batch is trained by
            (`sampled_cross_entropy`); nothing for all.

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
        check_parts(model)
        self._weights = {place_of(v.path): v.value for v in model.trainable_variables}
        self._num_encoder_layers = model.encoder.num_layers
        self._num_decoder_layers = model.decoder.num_layers
        self._num_hiddens, self._num_heads = model.decoder.num_hiddens, model.decoder.num_heads
        self._head_size = self._num_hiddens // self._num_heads
        self._rate = model.decoder.dropout
        self._label_smoothing = label_smoothing
        self._num_sampled = num_sampled
        self._dtype = tf.dtypes.as_dtype(dtype)
        zeros = np.zeros((1, num_positions, self._num_hiddens), np.float32)
        self._positions = tf.convert_to_tensor(PositionalEncoding()(zeros))[0]

    def __call__(
        self, source: tf.Tensor, target_in: tf.Tensor, target_out: tf.Tensor, seed: tf.Tensor
    ) -> tf.Tensor:
        # Of what is dropped at each embedding, of the weights of each attention and after each
        # sub-layer; of the sample.
        num_seeds = 2 + 3 * self._num_encoder_layers + 5 * self._num_decoder_layers + 1
        seeds = iter(tf.unstack(tf.random.split(seed, num_seeds)))
        drop = _Dropout(self._rate, seeds)
        hidden = tf.where(tf.equal(source, PAD_ID), HIDDEN, 0.0)[:, None, None]  # (B, 1, 1, S)
        hidden = tf.cast(hidden, self._dtype)
        memory = self._encode(source, hidden, drop)
        states = self._decode(target_in, memory, hidden, drop)

        targets = tf.reshape(target_out, [-1])
        is_token = tf.where(tf.not_equal(targets, PAD_ID))[:, 0]
        states, targets = tf.gather(states, is_token), tf.gather(targets, is_token)
        kernel, bias = self._behind_norm("decoder/norm", "decoder/logits/kernel")
        bias += self._weights["decoder/logits/bias"]
        inputs = (states, kernel, bias, targets, self._label_smoothing)
        if self._num_sampled is None:
            cost = smoothed_cross_entropy(*inputs)
        else:
            cost = sampled_cross_entropy(*inputs, self._num_sampled, next(seeds))
        return cost / tf.cast(tf.maximum(tf.size(targets), 1), tf.float32)

    def _encode(
        self, source: tf.Tensor, hidden: tf.Tensor, drop: _Dropout
    ) -> list[tuple[tf.Tensor, tf.Tensor]]:
        """Keys and values of each decoder layer, `(B, H, S, D/H)`."""
        batch_size, length = tf.unstack(tf.shape(source))
        x = self._embed("encoder", source, drop)
        for i in range(self._num_encoder_layers):
            block = f"encoder/block_{i}"
            x += self._attend_to_self(block, x, batch_size, length, hidden, drop)
            x += self._feed_forward(block, x, drop)
        names = [
            f"decoder/block_{i}/cross_attention/{part}/kernel"
            for i in range(self._num_decoder_layers)
            for part in ("key", "value")
        ]
        kernel, bias = self._behind_norm("encoder/norm", *names)
        rows = product(self._normalised(x), kernel, bias)
        parts = self._heads(rows, batch_size, length, len(names))
        return list(zip(parts[::2], parts[1::2], strict=True))

    def _decode(
        self,
        target: tf.Tensor,
        memory: list[tuple[tf.Tensor, tf.Tensor]],
        hidden: tf.Tensor,
        drop: _Dropout,
    ) -> tf.Tensor:
        """What logits are made of, normalised, `(B * T, D)`."""
        batch_size, length = tf.unstack(tf.shape(target))
        places = tf.range(length)
        later = tf.cast(tf.where(places[:, None] < places, HIDDEN, 0.0), self._dtype)  # (T, T)
        x = self._embed("decoder", target, drop)
        for i, (keys, values) in enumerate(memory):
            block = f"decoder/block_{i}"
            x += self._attend_to_self(block, x, batch_size, length, later, drop)
            kernel, bias = self._queries_of(block, "cross_attention")
            rows = product(self._normalised(x), kernel, bias)
            (queries,) = self._heads(rows, batch_size, length, 1)
            x += self._attend(f"{block}/cross_attention", queries, keys, values, hidden, drop)
            x += self._feed_forward(block, x, drop)
        return self._normalised(x)

    def _embed(self, stack: str, ids: tf.Tensor, drop: _Dropout) -> tf.Tensor:
        """Rows `(B * T, D)`."""
        table = self._weights[f"{stack}/embedding/tokens/embeddings"]
        x = tf.gather(table, ids) * self._num_hiddens**0.5 + self._positions[: tf.shape(ids)[1]]
        return drop(tf.reshape(x, [-1, self._num_hiddens])) * drop.scale

    def _attend_to_self(
        self,
        block: str,
        x: tf.Tensor,
        batch_size: tf.Tensor,
        length: tf.Tensor,
        hidden: tf.Tensor,
        drop: _Dropout,
    ) -> tf.Tensor:
        kernel, bias = self._queries_of(block, "self_attention", "key", "value")
        rows = product(self._normalised(x), kernel, bias)
        queries, keys, values = self._heads(rows, batch_size, length, 3)
        return self._attend(f"{block}/self_attention", queries, keys, values, hidden, drop)

    def _attend(
        self,
        layer: str,
        queries: tf.Tensor,
        keys: tf.Tensor,
        values: tf.Tensor,
        hidden: tf.Tensor,
        drop: _Dropout,
    ) -> tf.Tensor:
        """Rows `(B * T, D)` of scaled queries and of keys and values, `(B, H, T or S, D/H)`."""
        scores = tf.matmul(queries, keys, transpose_b=True) + hidden
        sums = tf.matmul(drop(tf.nn.softmax(scores)), values)
        rows = tf.reshape(tf.transpose(sums, [0, 2, 1, 3]), [-1, self._num_hiddens])
        # Scaled for what was dropped before it and what will be behind it.
        kernel = self._weights[f"{layer}/output/kernel"] * drop.scale**2
        return tf.cast(drop(tf.matmul(rows, tf.cast(kernel, self._dtype))), tf.float32)

    def _feed_forward(self, block: str, x: tf.Tensor, drop: _Dropout) -> tf.Tensor:
        layer = f"{block}/feed_forward"
        kernel, bias = self._behind_norm(
            f"{block}/around_feed_forward/norm", f"{layer}/inner/kernel"
        )
        bias += self._weights[f"{layer}/inner/bias"]
        spare = [0, self._num_spare(kernel.shape[1])]
        inner = product(self._normalised(x), tf.pad(kernel, [[0, 0], spare]), tf.pad(bias, [spare]))
        kernel, bias = (
            self._weights[f"{layer}/outer/{part}"] * drop.scale for part in ("kernel", "bias")
        )
        outer = product(tf.nn.relu(inner), tf.pad(kernel, [spare, [0, 0]]), bias)
        return tf.cast(drop(outer), tf.float32)

    def _num_spare(self, width: int) -> int:
        """Columns of zeros that rows of this width want behind them to be fast."""
        is_slow = self._dtype == tf.float32 and width * tf.float32.size % SLOW_ROW_BYTES == 0
        return SPARE_COLUMNS if is_slow else 0

    def _normalised(self, x: tf.Tensor) -> tf.Tensor:
        return tf.cast(_normalised(x), self._dtype)

    def _queries_of(self, block: str, kind: str, *others: str) -> tuple[tf.Tensor, tf.Tensor]:
        """Kernel and bias that make scaled queries of a normalised input, and other parts."""
        names = [f"{block}/{kind}/{part}/kernel" for part in ("query", *others)]
        kernel, bias = self._behind_norm(f"{block}/around_{kind}/norm", *names)
        width = self._num_hiddens
        scale = np.ones(width * len(names), np.float32)
        scale[:width] = self._head_size**-0.5
        return kernel * scale, bias * scale

    def _behind_norm(self, norm: str, *names: str) -> tuple[tf.Tensor, tf.Tensor]:
        """Kernel and bias of what has gain `g` and offset `b` before it: `g * W` and `b W`."""
        gain, offset = self._weights[f"{norm}/gamma"], self._weights[f"{norm}/beta"]
        kernel = tf.concat([self._weights[name] for name in names], axis=1)
        return gain[:, None] * kernel, tf.linalg.matvec(kernel, offset, transpose_a=True)

    def _heads(
        self, rows: tf.Tensor, batch_size: tf.Tensor, length: tf.Tensor, number: int
    ) -> list[tf.Tensor]:
        """Rows `(B * T, number * D)` cut into tensors `(B, H, T, D/H)`."""
        shape = tf.stack([batch_size, length, number, self._num_heads, self._head_size])
        return tf.unstack(tf.transpose(tf.reshape(rows, shape), [2, 0, 3, 1, 4]), number)


class _Dropout:
    """Puts zeros at random places; what is left has to be multiplied by `scale`.

    Whoever multiplies it by a kernel can scale that instead, which is smaller.
    """

    def __init__(self, rate: float, seeds: Iterator[tf.Tensor]):
        self._num_dropped = min(round(256 * rate), 255)  # of the 256 values of a byte
        self._seeds = seeds
        self.scale = 256 / (256 - self._num_dropped)

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        if not self._num_dropped:
            return x
        size = tf.size(x)
        words = tf.random.stateless_uniform(
            [(size + 3) // 4], next(self._seeds), minval=None, maxval=None, dtype=tf.uint32
        )
        bytes_ = tf.reshape(tf.bitcast(words, tf.uint8), [-1])[:size]
        return x * tf.cast(tf.reshape(bytes_, tf.shape(x)) >= self._num_dropped, x.dtype)


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
