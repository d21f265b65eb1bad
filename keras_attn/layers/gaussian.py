"""Attention by distance: kernel regression with a Gaussian."""

import math
from typing import Any

import keras
from keras import constraints, ops, regularizers

from keras_attn.layers.checks import check_boolean, check_positive_number
from keras_attn.layers.precision import precise_dtype
from keras_attn.layers.scoring import ScoredAttention, check_same_size
from keras_attn.layers.softmax import weigh


@keras.saving.register_keras_serializable(package="keras_attn")
class GaussianKernelAttention(ScoredAttention):
    """Attention that weighs each key by a Gaussian of its distance to the query.

    `score(q, k) = -|q - k|^2 / (2 h^2)` with bandwidth `h`; the masked softmax of the scores makes
    this the kernel regression of Nadaraya 1964 and Watson 1964. Scores
    are float32 at least under every dtype policy.

    The bandwidth is the only weight, kept as its logarithm (`log_bandwidth`) so that it stays
    positive. `trainable` defaults to False. As in any Keras layer, it can be changed later, and
    `model.trainable = True` sets it for all layers.

    Masking: True = attend; given masks are combined with AND. A fully masked query gets
    weights 0 and output 0.

    Args:
        bandwidth: `h`, in the units of queries and keys, a positive number; where it is trained,
            its first value. Defaults to 1.
        trainable: Whether the bandwidth is trained. Defaults to False.
        dropout: Rate at which attention weights are dropped in training. Defaults to 0.
        bandwidth_regularizer: Regularizer of the logarithm of the bandwidth. Defaults to None.
        bandwidth_constraint: Constraint of the logarithm of the bandwidth. Defaults to None.
        **kwargs: `seed` of the dropout, and Keras's own arguments.

    Call arguments and results: as in `ScoredAttention`.

    Raises:
        ValueError: If `bandwidth` is not a number above 0, or queries and keys differ in size.

    Example:

    >>> attention = GaussianKernelAttention(bandwidth=0.5)
    >>> places, values = ops.array([[[1.0], [2.0], [9.0]]]), ops.array([[[10.0], [20.0], [0.0]]])
    >>> ops.convert_to_numpy(attention(ops.array([[[1.5]]]), places, values)).tolist()
    [[[15.0]]]
    """

    def __init__(
        self,
        bandwidth: float = 1.0,
        trainable: bool = False,
        dropout: float = 0.0,
        bandwidth_regularizer: Any = None,
        bandwidth_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(dropout, trainable=check_boolean("trainable", trainable), **kwargs)
        self.bandwidth = check_positive_number("bandwidth", bandwidth)
        self.bandwidth_regularizer = regularizers.get(bandwidth_regularizer)
        self.bandwidth_constraint = constraints.get(bandwidth_constraint)

    def build(self, query_shape: tuple, key_shape: tuple, value_shape: tuple | None = None) -> None:
        check_same_size(query_shape, key_shape)
        self.log_bandwidth = self.add_weight(
            shape=(),
            initializer=keras.initializers.Constant(math.log(self.bandwidth)),
            regularizer=self.bandwidth_regularizer,
            constraint=self.bandwidth_constraint,
            autocast=False,  # a rounded logarithm is another bandwidth
            name="log_bandwidth",
        )
        super().build(query_shape, key_shape, value_shape)

    def score(self, query: Any, key: Any) -> Any:
        return self._score_distances(_squared_distances(query, key))

    def weigh(self, query: Any, key: Any, mask: Any, bias: Any = 0.0) -> Any:
        # Subtracting the distance of the nearest key changes no weight, and keeps one score at 0:
        # with a bandwidth near 0, all scores would be infinite.
        distances = _squared_distances(query, key)
        seen = distances if mask is None else ops.where(mask, distances, float("inf"))
        nearest = ops.min(seen, axis=-1, keepdims=True, initial=float("inf"))
        nearest = ops.stop_gradient(ops.where(ops.isfinite(nearest), nearest, 0.0))
        farther = distances - nearest
        if mask is not None:  # hidden keys may be nearer
            farther = ops.where(mask, farther, ops.zeros_like(farther))
        return weigh(self._score_distances(farther) + bias, mask)

    def _score_distances(self, distances: Any) -> Any:
        """Return `-d / (2 h^2)` for `d` of any shape, finite or -inf for every bandwidth."""
        log_bandwidth = ops.cast(self.log_bandwidth, distances.dtype)
        # One division by `h` after the other, and bounds, as `1 / h^2` overflows for small `h`.
        precision = ops.exp(ops.clip(-log_bandwidth, -1e30, 80.0))
        return -0.5 * (ops.clip(distances * precision, -1.0, 1e30) * precision)


def _squared_distances(query, key):
    """`|q - k|^2`, `(B, T, S)`; squares overflow float16, and bfloat16 has too few digits."""
    dtype = precise_dtype(query.dtype)
    query, key = ops.cast(query, dtype), ops.cast(key, dtype)
    return ops.sum(ops.square(query[:, :, None] - key[:, None]), axis=-1)
