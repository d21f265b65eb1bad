"""Cross-entropy over the whole vocabulary or a sample, in few passes over the logits."""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf


class Sample(NamedTuple):
    """Weighted sample of `C` pieces that represents a vocabulary of `V` pieces.

    Attributes:
        pieces: Ids of the sampled pieces, int32 `(C,)`.
        counts: Number of vocabulary pieces that each sampled piece represents, float32 `(C,)`.
        places: Index in `pieces` of each vocabulary piece, int32 `(V,)`; undefined for a piece that
            is not sampled.
    """

    pieces: tf.Tensor
    counts: tf.Tensor
    places: tf.Tensor


def draw_sample(targets: tf.Tensor, size: int, num_sampled: int, seed: tf.Tensor) -> Sample:
    """Sample all target pieces, and other pieces uniformly without replacement.

    The sample has `num_sampled` pieces. A target represents itself. Each other sampled piece
    represents `c` pieces, so that the estimates of the sums over the vocabulary in
    `smoothed_cross_entropy` are unbiased. This is importance sampling (Bengio and Senécal 2003);
    Jean et al. 2015, section 3, sample for translation from the targets of a part of the corpus.
    The variance is small: frequent pieces are targets in nearly every batch.

    Args:
        targets: Piece ids, integers of any shape.
        size: Number of pieces in the vocabulary.
        num_sampled: Number of pieces to draw, at most `size`. If there are at least as many
            distinct targets, the sample is the whole vocabulary.
        seed: Seed of the sample, integers `(2,)`.

    Returns:
        A sample of `num_sampled` or `size` pieces.

    Example:

    >>> sample = draw_sample(tf.constant([4, 5]), size=8, num_sampled=3, seed=tf.constant([1, 2]))
    >>> sorted(sample.counts.numpy().tolist())  # the third represents all other pieces
    [1.0, 1.0, 6.0]
    """
    is_target = tf.math.bincount(tf.reshape(targets, [-1]), minlength=size, maxlength=size) > 0
    num_targets = tf.math.count_nonzero(is_target, dtype=tf.int32)
    number = tf.where(num_targets < num_sampled, num_sampled, size)
    chances = tf.where(is_target, 2.0, tf.random.stateless_uniform([size], seed))
    pieces = tf.math.top_k(chances, number, sorted=False).indices
    others = tf.math.divide_no_nan(
        tf.cast(size - num_targets, tf.float32), tf.cast(number - num_targets, tf.float32)
    )
    counts = tf.where(tf.gather(is_target, pieces), 1.0, others)
    places = tf.scatter_nd(pieces[:, None], tf.range(number), [size])
    return Sample(pieces, counts, places)


def smoothed_cross_entropy(
    rows: tf.Tensor,
    kernel: tf.Tensor,
    bias: tf.Tensor,
    targets: tf.Tensor,
    label_smoothing: float,
    counts: tf.Tensor | None = None,
) -> tf.Tensor:
    """Sum of the cross-entropy with label smoothing (Szegedy et al. 2016, section 7).

    With logits `l = row @ kernel + bias`, target `y`, smoothing `e` and a vocabulary of `V` pieces:

        cost = log(sum_v(exp(l[v]))) - (1 - e) * l[y] - e / V * sum_v(l[v])

    With a sample in which piece `v` represents `c[v]` pieces, the result is an estimate:

        cost = log(sum_v(c[v] * exp(l[v]))) - (1 - e) * l[y] - e / V * sum_v(c[v] * l[v])

    Args:
        rows: Decoder states `(N, D)`. Products are computed in this dtype.
        kernel: Kernel of the logits `(D, C)`, one column for each piece, with the dtype of `rows`.
        bias: Bias of the logits, float32 `(C,)`.
        targets: Column of the target of each row, integers `(N,)`.
        label_smoothing: `e`, from 0 to 1.
        counts: `c`, float32 `(C,)`, 1 for each target. Defaults to None, the whole vocabulary.

    Returns:
        The sum over all rows, a float32 scalar.

    Example:

    >>> rows, kernel, targets = tf.zeros((2, 3)), tf.zeros((3, 8)), tf.constant([4, 5])
    >>> round(float(smoothed_cross_entropy(rows, kernel, tf.zeros(8), targets, 0.1)), 4)  # 2 log 8
    4.1589
    """
    # Not compiled by XLA: in TensorFlow 2.21, two threads that run the same compiled reduction for
    # the first time crash, and shards would do so (benchmarks/results/training.md).
    counts = tf.ones_like(bias) if counts is None else counts
    log_counts = tf.math.log(counts)
    smooth = label_smoothing / tf.reduce_sum(counts) * counts

    @tf.custom_gradient
    def cost_of(rows: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor):
        # c * exp(l) equals exp(l + log(c)), so an ordinary softmax is enough.
        products = tf.cast(tf.matmul(rows, kernel), tf.float32)
        weighted = tf.nn.bias_add(products, bias + log_counts)
        shares = tf.nn.softmax(weighted)
        # The largest share is at least 1 / C. The share of the target may underflow to 0, so its
        # logarithm is not used.
        log_totals = tf.reduce_max(weighted, axis=-1) - tf.math.log(tf.reduce_max(shares, axis=-1))
        of_targets = tf.gather(weighted, targets, batch_dims=1)
        of_all = tf.linalg.matvec(weighted, smooth) - tf.tensordot(smooth, log_counts, 1)
        cost = tf.reduce_sum(log_totals - (1 - label_smoothing) * of_targets - of_all)

        def gradient(upstream: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
            places = tf.stack([tf.range(tf.size(targets)), targets], axis=1)
            wanted = tf.fill([tf.size(targets)], 1 - label_smoothing)
            of_logits = tf.tensor_scatter_nd_sub(shares - smooth, places, wanted)
            # Scaled after the products: these have fewer elements than the logits.
            of_logits = tf.cast(of_logits, rows.dtype)
            # The bias gradient is a product: `tf.reduce_sum` over rows is slow in bfloat16.
            ones = tf.ones(tf.stack([1, tf.size(targets)]), rows.dtype)
            found = (
                tf.matmul(of_logits, kernel, transpose_b=True),
                tf.matmul(rows, of_logits, transpose_a=True),
                tf.cast(tf.matmul(ones, of_logits)[0], tf.float32),
            )
            return tuple(part * tf.cast(upstream, part.dtype) for part in found)

        return cost, gradient

    return cost_of(rows, kernel, bias)


def smoothed_cross_entropy_of_logits(
    logits: tf.Tensor, targets: tf.Tensor, label_smoothing: float
) -> tf.Tensor:
    """Sum of the cross-entropy with label smoothing, as of `smoothed_cross_entropy`.

    Args:
        logits: `(N, V)`.
        targets: Target of each row, integers `(N,)`.
        label_smoothing: `e`, from 0 to 1.

    Returns:
        The sum over all rows, a float32 scalar.

    Example:

    >>> targets = tf.constant([4, 5])
    >>> cost = smoothed_cross_entropy_of_logits(tf.zeros((2, 8)), targets, 0.1)
    >>> round(float(cost), 4)  # 2 log 8
    4.1589
    """
    log_probs = tf.nn.log_softmax(tf.cast(logits, tf.float32))
    of_targets = tf.gather(log_probs, targets, batch_dims=1)
    of_all = tf.reduce_mean(log_probs, axis=-1)
    return -tf.reduce_sum((1 - label_smoothing) * of_targets + label_smoothing * of_all)
