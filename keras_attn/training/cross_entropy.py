"""Cross-entropy over the whole vocabulary or a sample, in few passes over the logits."""

from typing import Any, NamedTuple

from keras import ops

from keras_attn.training import backend


class Sample(NamedTuple):
    """Weighted sample of `C` pieces that represents a vocabulary of `V` pieces."""

    pieces: Any  # ids, int32 `(C,)`
    counts: Any  # number of vocabulary pieces that each represents, float32 `(C,)`
    places: Any  # index in `pieces` of each vocabulary piece, int32 `(V,)`; only of sampled ones


def draw_sample(targets: Any, size: int, num_sampled: int, seed: Any) -> Sample:
    """Sample all target pieces, and other pieces of the `size` uniformly without replacement.

    A target represents itself. Each other sampled piece represents `c` pieces, so that the
    estimates of the sums over the vocabulary in `smoothed_cross_entropy` are unbiased. This is
    importance sampling (Bengio and Senécal 2003; Jean et al. 2015, section 3). The variance is
    small: frequent pieces are targets in nearly every batch.

    If at least `num_sampled` pieces are targets, the sample is the whole vocabulary. On a backend
    with fixed shapes, it has at least one piece more than `targets` has elements.

    >>> sample = draw_sample(ops.array([4, 5]), 8, num_sampled=3, seed=backend.make_seed(1, 2))
    >>> counts = ops.convert_to_numpy(sample.counts)
    >>> sorted(counts.tolist())  # the third represents all other pieces
    [1.0, 1.0, 6.0]
    """
    targets = ops.reshape(targets, (-1,))
    is_target = ops.scatter_update(
        ops.zeros((size,), bool), targets[:, None], ops.ones_like(targets, bool)
    )
    num_targets = ops.count_nonzero(is_target)
    if backend.HAS_FIXED_SHAPES:  # the sample has room for targets that are all distinct
        number = min(size, max(num_sampled, targets.shape[0] + 1))
    else:
        number = ops.where(num_targets < num_sampled, num_sampled, size)
    chances = ops.where(is_target, 2.0, backend.uniform((size,), seed))
    pieces = ops.top_k(chances, number, sorted=False)[1]
    others = ops.divide_no_nan(
        ops.cast(size - num_targets, "float32"), ops.cast(number - num_targets, "float32")
    )
    counts = ops.where(ops.take(is_target, pieces), 1.0, others)
    places = ops.scatter(pieces[:, None], ops.arange(number, dtype="int32"), (size,))
    return Sample(pieces, counts, places)


def smoothed_cross_entropy(
    rows: Any,
    kernel: Any,
    bias: Any,
    targets: Any,
    label_smoothing: float,
    counts: Any = None,
    weights: Any = None,
) -> Any:
    """Sum of the cross-entropy with label smoothing (Szegedy et al. 2016, section 7).

    With logits `l = row @ kernel + bias`, target `y`, smoothing `e` and a vocabulary of `V` pieces:

        cost = log(sum_v(c[v] * exp(l[v]))) - (1 - e) * l[y] - e / V * sum_v(c[v] * l[v])

    `c[v]` is 1. In a sample, piece `v` represents `c[v]` pieces, and the cost is an estimate.
    Rows are decoder states `(N, D)` and have the dtype of `kernel` `(D, C)`; all else is float32.
    `targets` `(N,)` are columns of the kernel, and `weights` `(N,)` the weights of the rows.

    >>> rows, kernel, targets = ops.zeros((2, 3)), ops.zeros((3, 8)), ops.array([4, 5])
    >>> cost = smoothed_cross_entropy(rows, kernel, ops.zeros(8), targets, 0.1)
    >>> round(float(cost), 4)  # 2 log 8
    4.1589
    """
    # Not compiled by XLA: two threads that run the same compiled reduction for the first time crash
    # in TensorFlow 2.21 (benchmarks/results/training.md). A gradient of our own is faster.
    counts = ops.ones_like(bias) if counts is None else counts
    log_counts = ops.log(counts)
    smooth = label_smoothing / ops.sum(counts) * counts

    @ops.custom_gradient
    def cost_of(rows: Any, kernel: Any, bias: Any):
        # c * exp(l) equals exp(l + log(c)), so an ordinary softmax is enough.
        products = ops.cast(ops.matmul(rows, kernel), "float32")
        weighted = products + (bias + log_counts)
        shares = ops.softmax(weighted)
        # The share of the target may underflow to 0, the largest share is at least 1 / C.
        # With `initial`, TensorFlow needs no check that there are rows.
        largest, share = (ops.max(x, axis=-1, initial=-1e9) for x in (weighted, shares))
        log_totals = largest - ops.log(share)
        of_targets = backend.columns_of_rows(weighted, targets)
        of_all = ops.matmul(weighted, smooth[:, None])[:, 0] - ops.sum(smooth * log_counts)
        costs = log_totals - (1 - label_smoothing) * of_targets - of_all
        cost = ops.sum(costs if weights is None else weights * costs)

        def gradient(*arguments: Any, upstream: Any = None) -> tuple[Any, Any, Any]:
            upstream = arguments[0] if upstream is None else upstream
            of_logits = shares - smooth
            places = ops.stack([ops.arange(ops.shape(rows)[0], dtype="int32"), targets], axis=1)
            wanted = backend.columns_of_rows(of_logits, targets) - (1 - label_smoothing)
            of_logits = ops.scatter_update(of_logits, places, wanted)
            if weights is not None:
                of_logits = weights[:, None] * of_logits
            found = _gradients(ops.cast(of_logits, rows.dtype), rows, kernel)
            # Scaled after the products: these have fewer elements than the logits.
            return tuple(part * ops.cast(upstream, part.dtype) for part in found)

        return cost, gradient

    return cost_of(rows, kernel, bias)


def _gradients(of_logits: Any, rows: Any, kernel: Any) -> tuple[Any, Any, Any]:
    """Gradients of rows, kernel and bias from those of the logits `(N, C)`."""
    # The bias gradient is a product: TensorFlow's sum over rows is slow in bfloat16.
    ones = ops.ones((1, ops.shape(rows)[0]), rows.dtype)
    return (
        ops.matmul(of_logits, ops.transpose(kernel)),
        ops.matmul(ops.transpose(rows), of_logits),
        ops.cast(ops.matmul(ones, of_logits)[0], "float32"),
    )
