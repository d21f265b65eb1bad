"""What target tokens cost over a vocabulary, or a sample of it, in few passes over the logits."""

from __future__ import annotations

import tensorflow as tf

from keras_attn.translation.products import gradients_of_product


def smoothed_cross_entropy(
    rows: tf.Tensor,
    kernel: tf.Tensor,
    bias: tf.Tensor,
    targets: tf.Tensor,
    label_smoothing: float,
) -> tf.Tensor:
    """What target tokens cost, with smoothed targets (Szegedy et al. 2016, section 7).

    With logits `l = row @ kernel + bias`, target `y`, smoothing `e` and a vocabulary of `V` pieces:

        cost = log(sum_v(exp(l[v]))) - (1 - e) * l[y] - e / V * sum_v(l[v])

    Args:
        rows: `(N, D)`, of the type that products are computed in.
        kernel: float32 `(D, V)`.
        bias: float32 `(V,)`.
        targets: Piece ids `(N,)`.
        label_smoothing: `e`.

    Returns:
        The sum over all tokens, a float32 scalar.

    Example:

    >>> rows, kernel, targets = tf.zeros((2, 3)), tf.zeros((3, 8)), tf.constant([4, 5])
    >>> round(float(smoothed_cross_entropy(rows, kernel, tf.zeros(8), targets, 0.1)), 4)  # 2 log 8
    4.1589
    """
    counts = tf.ones([kernel.shape[-1]])
    return _cost(rows, kernel, bias, counts, targets, label_smoothing)


def sampled_cross_entropy(
    rows: tf.Tensor,
    kernel: tf.Tensor,
    bias: tf.Tensor,
    targets: tf.Tensor,
    label_smoothing: float,
    num_sampled: int,
    seed: tf.Tensor,
) -> tf.Tensor:
    """An estimate of `smoothed_cross_entropy` from the logits of some pieces of the vocabulary.

    Logits are made of every piece that is a target in the batch, and of as many others, drawn
    alike, as make `num_sampled` together. Each of these stands for `c` pieces, so that the sums
    over the vocabulary are estimated without bias (importance sampling: Bengio and Senécal 2003;
    for translation with the targets of a part of the corpus: Jean et al. 2015, section 3):

        cost = log(sum_v(c[v] * exp(l[v]))) - (1 - e) * l[y] - e / V * sum_v(c[v] * l[v])

    What a model says often is a target of nearly every batch, so little is left to estimate.

    Args:
        rows: `(N, D)`, of the type that products are computed in.
        kernel: float32 `(D, V)`.
        bias: float32 `(V,)`.
        targets: Piece ids `(N,)`.
        label_smoothing: `e`.
        num_sampled: Pieces to make logits of, at most `V`. A batch of no fewer different targets
            has those of the whole vocabulary.
        seed: Of the draw, integers `(2,)`.

    Returns:
        The estimated sum over all tokens, a float32 scalar.

    Example:

    >>> rows, kernel, targets = tf.zeros((2, 3)), tf.zeros((3, 8)), tf.constant([4, 5])
    >>> parts = (rows, kernel, tf.zeros(8), targets, 0.1)
    >>> cost = sampled_cross_entropy(*parts, num_sampled=3, seed=tf.constant([1, 2]))
    >>> round(float(cost), 4)  # the third stands for 6, so 2 log 8 again
    4.1589
    """
    size = kernel.shape[-1]
    is_target = tf.math.bincount(targets, minlength=size, maxlength=size) > 0
    num_targets = tf.math.count_nonzero(is_target, dtype=tf.int32)

    def sampled() -> tf.Tensor:
        chances = tf.where(is_target, 2.0, tf.random.stateless_uniform([size], seed))
        chosen = tf.math.top_k(chances, num_sampled, sorted=False).indices
        others = (size - num_targets) / (num_sampled - num_targets)
        counts = tf.where(tf.gather(is_target, chosen), 1.0, tf.cast(others, tf.float32))
        places = tf.scatter_nd(chosen[:, None], tf.range(num_sampled), [size])
        return _cost(
            rows,
            tf.gather(kernel, chosen, axis=1),
            tf.gather(bias, chosen),
            counts,
            tf.gather(places, targets),
            label_smoothing,
        )

    def whole() -> tf.Tensor:
        return smoothed_cross_entropy(rows, kernel, bias, targets, label_smoothing)

    return tf.cond(num_targets < num_sampled, sampled, whole)


def _cost(
    rows: tf.Tensor,
    kernel: tf.Tensor,
    bias: tf.Tensor,
    counts: tf.Tensor,
    targets: tf.Tensor,
    label_smoothing: float,
) -> tf.Tensor:
    """The summed cost where each column of the kernel stands for so many pieces, a target for 1.

    Not compiled by XLA: of TensorFlow 2.21, two threads must not be the first to run one compiled
    reduction at once, as shards would (benchmarks/results/training.md).
    """
    log_counts = tf.math.log(counts)
    smooth = label_smoothing / tf.reduce_sum(counts) * counts

    @tf.custom_gradient
    def cost_of(rows: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor):
        cast_kernel = tf.cast(kernel, rows.dtype)
        # c * exp(l) is exp(l + log(c)), so that an ordinary softmax does.
        products = tf.cast(tf.matmul(rows, cast_kernel), tf.float32)
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
            found = gradients_of_product(rows, cast_kernel, tf.cast(of_logits, rows.dtype))
            return tuple(part * tf.cast(upstream, part.dtype) for part in found)

        return cost, gradient

    return cost_of(rows, kernel, bias)
