"""Optimizer: Muon for the matrices inside a model, Adam for all other weights."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from keras_attn.layers.checks import check_choice, check_positive_integer
from keras_attn.training.adam import ON_TENSORFLOW, fused_step

if ON_TENSORFLOW:
    import tensorflow as tf


@keras.saving.register_keras_serializable(package="keras_attn")
class Muon(keras.optimizers.Muon):
    """Muon for the matrices inside a model, Adam for all other weights.

    A matrix `W` of shape `(m, n)` with gradient `G` is updated along the matrix with orthonormal
    rows or columns that is nearest to its momentum `M` (Jordan et al. 2024, "Muon"). The update is
    scaled as in Liu et al. 2025:

        M = 0.95 M + G
        W = W - 0.2 * rate * sqrt(max(m, n)) * orthogonal(G + 0.95 M)

    where `orthogonal` is a few Newton-Schulz iterations; 0.95 and 0.2 are defaults. The time of
    these iterations does not depend on the batch size, so they dominate with small batches. With
    `every=n`, momentum is updated every step, each matrix every n-th step with an n-times larger
    step. The matrices take turns.

    Embeddings, vectors and layers in `exclude_layers` are updated by Adam (Kingma and Ba 2015): on
    TensorFlow by one kernel for each weight, as by `keras_attn.training.Adam`. On JAX and PyTorch,
    matrices of one shape are updated together.

    Args:
        learning_rate: A positive number, or a schedule of Keras. Defaults to 0.001.
        adam_lr_ratio: Learning rate of Adam as a multiple of `learning_rate`, a positive number.
            Defaults to 1.
        dtype: Precision of the Newton-Schulz iterations, `"float32"` or `"bfloat16"`. Defaults to
            `"float32"`.
        every: Number of steps between two updates of a matrix, at least 1. Defaults to 1.
        exclude_layers: Patterns of paths of weights that Adam updates: the layer of the logits.
            Defaults to `("logits",)`.
        **options: The further arguments of `keras.optimizers.Muon`. `weight_decay` and
            `adam_weight_decay` default to None.

    Raises:
        ValueError: If `dtype` is another one, or `every` is not a positive integer.

    Example:

    >>> weight = keras.Variable([1.0])
    >>> Muon(learning_rate=0.5, adam_lr_ratio=0.5).apply([ops.array([3.0])], [weight])
    >>> round(float(weight[0]), 3)
    0.75
    """

    def __init__(
        self,
        learning_rate: float | keras.optimizers.schedules.LearningRateSchedule = 0.001,
        adam_lr_ratio: float = 1.0,
        dtype: str = "float32",
        every: int = 1,
        exclude_layers: Sequence[str] = ("logits",),
        **options: Any,
    ) -> None:
        check_choice("dtype", dtype, ("float32", "bfloat16"))
        options = {"weight_decay": None, "adam_weight_decay": None, **options}
        options |= {"adam_lr_ratio": adam_lr_ratio, "exclude_layers": list(exclude_layers)}
        super().__init__(learning_rate, **options)
        self.dtype = dtype
        self.every = check_positive_integer("every", every)

    def _backend_update_step(self, grads, trainable_variables, learning_rate):
        if ON_TENSORFLOW:
            super()._backend_update_step(grads, trainable_variables, learning_rate)
            return
        # Together, there is less to compile, and an accelerator has fewer and larger products.
        together = defaultdict(list)
        for gradient, variable in zip(grads, trainable_variables, strict=True):
            index = self._get_variable_index(variable)
            if self.adam_velocities[index] is None:
                sizes = tuple(sorted(variable.shape))
                matrix = gradient, variable, self.momentums[index]
                together[sizes, self._turn_of(variable)].append(matrix)
            else:
                self.update_step(gradient, variable, learning_rate)
        for (_, turn), matrices in together.items():
            self._update_matrices(matrices, learning_rate, turn)

    def _adamw_update_step(self, gradient, variable, learning_rate, m, v):
        if ON_TENSORFLOW:
            betas = self.adam_beta_1, self.adam_beta_2
            fused_step(self, (variable, m, v), gradient, learning_rate, betas)
        else:
            super()._adamw_update_step(gradient, variable, learning_rate, m, v)

    def _muon_update_step(self, gradient, variable, lr, m):
        self._update_matrices([(gradient, variable, m)], lr, self._turn_of(variable))

    def _turn_of(self, variable):
        """Step, from 0 to `every - 1`, at which a matrix is updated."""
        # The index among the matrices, so that each step updates about the same number of them.
        before = self.adam_velocities[: self._get_variable_index(variable)]
        return sum(velocity is None for velocity in before) % self.every

    def _update_matrices(self, matrices, lr, turn):
        """Update matrices of equal turn, given as gradient, variable and momentum."""
        for gradient, _, m in matrices:
            m.assign(self.momentum * m.value + gradient)
        variables = [variable for _, variable, _ in matrices]
        momenta = [m.value for _, _, m in matrices]

        def updated():
            ahead = momenta
            if self.nesterov:
                pairs = zip(matrices, momenta, strict=True)
                ahead = [matrix[0] + self.momentum * value for matrix, value in pairs]
            rate = self.every * ops.cast(lr, "float32")
            return [
                ops.convert_to_tensor(variable) - self.lr_adjust(rate * along)
                for variable, along in zip(variables, self._directions(ahead), strict=True)
            ]

        if self.every == 1:
            self._assign(variables, updated())
        else:
            # A tensor if gradients are accumulated, else a variable.
            iterations = ops.convert_to_tensor(self.iterations)
            is_turn = ops.equal((iterations + turn) % self.every, 0)
            self._assign_if(is_turn, variables, updated)

    def _directions(self, matrices):
        def wide(x):
            return ops.transpose(x) if x.shape[0] > x.shape[1] else x

        if len(matrices) == 1:
            return [self.zeropower_via_newtonschulz5(matrices[0], self.ns_steps)]
        stacked = ops.stack([wide(matrix) for matrix in matrices])
        found = self.zeropower_via_newtonschulz5(stacked, self.ns_steps)
        return [
            along if along.shape == matrix.shape else ops.transpose(along)
            for along, matrix in zip(ops.unstack(found), matrices, strict=True)
        ]

    def _assign(self, variables, values):
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value)

    def _assign_if(self, condition, variables, values):
        if ON_TENSORFLOW:  # a matrix that has no turn is not written
            tf.cond(condition, lambda: self._assign(variables, values()), lambda: None)
            return
        kept = [ops.convert_to_tensor(variable) for variable in variables]
        self._assign(variables, ops.cond(condition, values, lambda: kept))

    def zeropower_via_newtonschulz5(self, x: Any, steps: int) -> Any:
        """Approximation of the matrix with orthonormal rows or columns nearest to `x`."""
        return _orthogonal(x, steps, (self.muon_a, self.muon_b, self.muon_c), self.dtype)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "dtype": self.dtype, "every": self.every}


def _orthogonal(
    matrix: Any, steps: int, coefficients: tuple[float, float, float], dtype: str
) -> Any:
    """Matrices `(..., m, n)` after iterations that map singular values to `a s + b s^3 + c s^5`."""
    a, b, c = coefficients
    is_tall = matrix.shape[-2] > matrix.shape[-1]
    x = ops.swapaxes(matrix, -2, -1) if is_tall else matrix
    # The norm is computed in float32: bfloat16 is not exact enough for sums of many squares.
    norm = ops.sqrt(ops.sum(ops.square(x), axis=(-2, -1), keepdims=True))
    x = ops.cast(ops.divide_no_nan(x, norm), dtype)
    for _ in range(steps):
        square = ops.matmul(x, ops.swapaxes(x, -2, -1))
        x = a * x + ops.matmul(b * square + c * ops.matmul(square, square), x)
    x = ops.cast(x, "float32")
    return ops.swapaxes(x, -2, -1) if is_tall else x


if ON_TENSORFLOW:
    # Traced once for all matrices of the same shape.
    _orthogonal = tf.function(_orthogonal, autograph=False)
