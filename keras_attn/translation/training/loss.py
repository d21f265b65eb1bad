"""Cross-entropy over the vocabulary, or over a sample of it, in few passes over the logits."""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from keras_attn.translation.training.products import gradients_of_product


class Sample(NamedTuple):
    """Pieces of a vocabulary of size `V` that stand for all of it.

    Attributes:
        pieces: Their ids, int32 `(C,)`.
        counts: How many pieces each stands for, float32 `(C,)`.
        places: Where each piece of the vocabulary is among them, int32 `(V,)`; any number for what
            is not.
    """

    pieces: tf.Tensor
    counts: tf.Tensor
    places: tf.Tensor


def draw_sample(targets: tf.Tensor, size: int, num_sampled: int, seed: tf.Tensor) -> Sample:
    """Every piece that is a target, which stands for itself, and others, drawn alike.

    As many others as make `num_sampled` together, and each stands for `c` pieces, so that the sums
    over the vocabulary in `smoothed_cross_entropy` are estimated without bias (importance sampling:
    Bengio and Senécal 2003; for translation with the targets of a part of the corpus: Jean et al.
    2015, section 3). What a model says often is a target of nearly every batch, so little is left
    to estimate.

    Args:
        targets: Piece ids, of any shape.
        size: Pieces of the vocabulary.
        num_sampled: Pieces to draw, at most `size`. Where there are no fewer different targets,
            the sample is the whole vocabulary.
        seed: Of the draw, integers `(2,)`.

    Returns:
        The sample, of `num_sampled` pieces or of `size`.

    Example:

    >>> sample = draw_sample(tf.constant([4, 5]), size=8, num_sampled=3, seed=tf.constant([1, 2]))
    >>> sorted(sample.counts.numpy().tolist())  # the third stands for all that are no targets
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
    """Cross-entropy of each token with label smoothing (Szegedy et al. 2016, section 7).

    With logits `l = row @ kernel + bias`, target `y`, smoothing `e` and a vocabulary of `V` pieces:

        cost = log(sum_v(exp(l[v]))) - (1 - e) * l[y] - e / V * sum_v(l[v])

    With the logits of a sample, of which each stands for `c` pieces, it is an estimate of that:

        cost = log(sum_v(c[v] * exp(l[v]))) - (1 - e) * l[y] - e / V * sum_v(c[v] * l[v])

    Args:
        rows: `(N, D)`, of the type that products are computed in.
        kernel: `(D, C)`, of that type, with a column for each piece.
        bias: float32 `(C,)`.
        targets: The columns of the targets, integers `(N,)`.
        label_smoothing: `e`.
        counts: `c`, float32 `(C,)`, 1 for each target; nothing where the pieces are all there are.

    Returns:
        The sum over all tokens, a float32 scalar.

    Example:

    >>> rows, kernel, targets = tf.zeros((2, 3)), tf.zeros((3, 8)), tf.constant([4, 5])
    >>> round(float(smoothed_cross_entropy(rows, kernel, tf.zeros(8), targets, 0.1)), 4)  # 2 log 8
    4.1589
    """
    # Not compiled by XLA: of TensorFlow 2.21, two threads must not be the first to run one compiled
    # reduction at once, as shards would (benchmarks/results/training.md).
    counts = tf.ones_like(bias) if counts is None else counts
    log_counts = tf.math.log(counts)
    smooth = label_smoothing / tf.reduce_sum(counts) * counts

    @tf.custom_gradient
    def cost_of(rows: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor):
        # c * exp(l) is exp(l + log(c)), so that an ordinary softmax does.
        products = tf.cast(tf.matmul(rows, kernel), tf.float32)
        weighted = tf.nn.bias_add(products, bias + log_counts)
        shares = tf.nn.softmax(weighted)
        # Of the greatest, whose share is at least 1 / C: that of a target may have come to 0.
        log_totals = tf.reduce_max(weighted, axis=-1) - tf.math.log(tf.reduce_max(shares, axis=-1))
        of_targets = tf.gather(weighted, targets, batch_dims=1)
        of_all = tf.linalg.matvec(weighted, smooth) - tf.tensordot(smooth, log_counts, 1)
        cost = tf.reduce_sum(log_totals - (1 - label_smoothing) * of_targets - of_all)

        def gradient(upstream: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
            places = tf.stack([tf.range(tf.size(targets)), targets], axis=1)
            wanted = tf.fill([tf.size(targets)], 1 - label_smoothing)
            of_logits = tf.tensor_scatter_nd_sub(shares - smooth, places, wanted)
            # Scaled behind the products, where there are fewer numbers than logits.
            found = gradients_of_product(rows, kernel, tf.cast(of_logits, rows.dtype))
            return tuple(part * tf.cast(upstream, part.dtype) for part in found)

        return cost, gradient

    return cost_of(rows, kernel, bias)
