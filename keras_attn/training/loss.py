"""Loss of the next token, over the whole vocabulary or a sample of it."""

import numbers
from typing import Any

import keras
from keras import ops

from keras_attn.layers.checks import check, check_fraction, check_rate


@keras.saving.register_keras_serializable(package="keras_attn")
class SampledCrossEntropy(keras.losses.Loss):
    """Cross-entropy of integer targets with label smoothing (Szegedy et al. 2016, section 7).

    With `p` the softmax of the logits, `y` the target and `e` the smoothing, the loss of a target
    is `-(1 - e) * log p[y] - e * mean_v(log p[v])`. The loss is the sum over the targets, times
    their sample weights, divided by the number of targets that are not `ignore_class`.

    Called on logits, in plain `fit`, `evaluate` and validation, it is exact. In the training of a
    model after `keras_attn.training.speed_up`, logits are computed for a sample of the vocabulary:
    all targets of the batch, and other tokens at random, each of which represents several. Loss and
    gradients are then estimates (Jean et al. 2015, section 3).

    Masking: targets equal to `ignore_class` do not count. Keras masks of logits are not used.

    Args:
        fraction: Share of the vocabulary in the sample, above 0 and at most 1, which is all of it.
            A batch with more different targets uses the whole vocabulary. Defaults to 0.25.
        label_smoothing: Probability that is spread over the vocabulary, at least 0 and below 1.
            Defaults to 0.
        ignore_class: Target that does not count, or None. Defaults to 0, the id of padding.
        name: Name of the loss. Defaults to `"sampled_cross_entropy"`.

    Call arguments:
        y_true: Integers `(B, T)`; also `(B,)` for one target of each example.
        y_pred: Logits, the shape of `y_true` and then `V`.
        sample_weight: Optional weights `(B,)` or `(B, T)`.

    Returns:
        A scalar, float32.

    Raises:
        ValueError: If `fraction` or `label_smoothing` is out of range, or `ignore_class` is not an
            integer.

    Example:

    >>> loss = SampledCrossEntropy()
    >>> round(float(loss(ops.array([[3, 1, 0]]), ops.zeros((1, 3, 8)))), 4)  # log 8
    2.0794
    """

    def __init__(
        self,
        fraction: float = 0.25,
        label_smoothing: float = 0.0,
        ignore_class: int | None = 0,
        name: str = "sampled_cross_entropy",
    ) -> None:
        super().__init__(name=name)
        self.fraction = check_fraction("fraction", fraction)
        self.label_smoothing = check_rate("label_smoothing", label_smoothing)
        is_id = ignore_class is None or isinstance(ignore_class, numbers.Integral)
        check("ignore_class", ignore_class, is_id, "an integer or None")
        self.ignore_class = None if ignore_class is None else int(ignore_class)

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        logits = ops.cast(y_pred, "float32")
        targets = ops.reshape(ops.cast(y_true, "int32"), ops.shape(logits)[:-1])
        weights = self.weights_of(targets, sample_weight)
        costs = self.call(targets, logits)
        return ops.sum(weights * costs) / self.count(targets)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Return the loss of each target."""
        log_p = ops.log_softmax(y_pred)
        targets = ops.where(self.counts(y_true), y_true, 0)  # any other id is a column
        of_targets = ops.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
        smooth = self.label_smoothing
        return -(1 - smooth) * of_targets - smooth * ops.mean(log_p, axis=-1)

    def count(self, targets: Any) -> Any:
        """Return the number of targets that count, at least 1, as float32."""
        return ops.maximum(ops.sum(ops.cast(self.counts(targets), "float32")), 1.0)

    def weights_of(self, targets: Any, sample_weight: Any = None) -> Any:
        """Return the weight of each target, float32: 0 for those that do not count."""
        weights = ops.cast(self.counts(targets), "float32")
        if sample_weight is None:
            return weights
        given = ops.cast(sample_weight, "float32")
        missing = len(targets.shape) - len(given.shape)
        return weights * ops.reshape(given, (*ops.shape(given), *([1] * missing)))

    def counts(self, targets: Any) -> Any:
        """Return which targets count, boolean."""
        if self.ignore_class is None:
            return ops.ones_like(targets, dtype="bool")
        return ops.not_equal(targets, self.ignore_class)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        names = ("fraction", "label_smoothing", "ignore_class", "name")
        return {name: getattr(self, name) for name in names}
