"""Optimizer: Muon for the matrices inside a model, Adam for all other weights."""

from typing import Any

import keras
import tensorflow as tf
from keras import ops

from keras_attn.translation.config import PRECISIONS


@keras.saving.register_keras_serializable(package="keras_attn")
class Muon(keras.optimizers.Muon):
    """Keras Muon with a choice of precision and of the interval between updates.

    A matrix `W` of shape `(m, n)` with gradient `G` is updated along the matrix with orthonormal
    rows or columns that is nearest to its momentum `M` (Jordan et al. 2024, "Muon"). The update is
    scaled as in Liu et al. 2025:

        M = 0.95 M + G
        W = W - 0.2 * rate * sqrt(max(m, n)) * orthogonal(G + 0.95 M)

    where `orthogonal` is a few Newton-Schulz iterations; 0.95 and 0.2 are defaults. The time of
    these iterations does not depend on the batch size, so they dominate with small batches. With
    `every=n`, momentum is updated every step, each matrix every n-th step with an n-times larger
    step. The matrices take turns.

    Embeddings, vectors and layers in `exclude_layers` are updated by Adam (Kingma and Ba 2015) with
    `adam_lr_ratio` times the rate. `dtype` is the precision of `orthogonal`. Weight decay defaults
    to none.

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
        **options: Any,
    ):
        if dtype not in PRECISIONS:
            raise ValueError(f'`dtype` must be "float32" or "bfloat16". Received: dtype={dtype!r}.')
        if every < 1:
            raise ValueError(f"`every` must be at least 1. Received: every={every!r}.")
        no_decay = {"weight_decay": None, "adam_weight_decay": None}
        super().__init__(learning_rate, adam_lr_ratio=adam_lr_ratio, **{**no_decay, **options})
        self.dtype = dtype
        self.every = every

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
        return [self.zeropower_via_newtonschulz5(matrix, self.ns_steps) for matrix in matrices]

    def _assign(self, variables, values):
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value)

    def _assign_if(self, condition, variables, values):
        kept = [ops.convert_to_tensor(variable) for variable in variables]
        self._assign(variables, ops.cond(condition, values, lambda: kept))

    def zeropower_via_newtonschulz5(self, x, steps):
        """Approximation of the matrix with orthonormal rows or columns nearest to `x`."""
        return _orthogonal(x, steps, (self.muon_a, self.muon_b, self.muon_c), self.dtype)

    def get_config(self):
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


if keras.backend.backend() == "tensorflow":
    # Traced once for all matrices of the same shape.
    _orthogonal = tf.function(_orthogonal, autograph=False)


@keras.saving.register_keras_serializable(package="keras_attn")
class FusedMuon(Muon):
    """`Muon` with TensorFlow's fused Adam: one pass over each weight instead of a dozen.

    Without XLA, each operation of Keras's Adam reads and writes a whole weight. A matrix that
    has no turn is not written.
    """

    def _adamw_update_step(self, gradient, variable, learning_rate, m, v):
        step = tf.cast(self.iterations + 1, tf.float32)
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=m.value.handle,
            v=v.value.handle,
            beta1_power=self.adam_beta_1**step,
            beta2_power=self.adam_beta_2**step,
            lr=tf.cast(learning_rate, tf.float32),
            beta1=self.adam_beta_1,
            beta2=self.adam_beta_2,
            epsilon=self.epsilon,
            grad=gradient,
        )

    def _assign_if(self, condition, variables, values):
        tf.cond(condition, lambda: self._assign(variables, values()), lambda: None)
