"""Feed-forward network, applied to each position separately."""

from typing import Any

import keras

from keras_attn.layers.checks import (
    check_boolean,
    check_positive_integer,
    check_rate,
    get_activation,
)
from keras_attn.layers.dense import ProjectingLayer


@keras.saving.register_keras_serializable(package="keras_attn")
class FeedForward(ProjectingLayer):
    """Feed-forward network of two dense layers, with an optional gate.

    `FFN(x) = W_2 f(W_1 x + b_1) + b_2` (Vaswani et al. 2017, section 3.3), with the width of the
    input. With `gated`, `W_2 (f(W_1 x + b_1) * (V x + c)) + b_2` (Shazeer 2020, "GLU Variants
    Improve Transformer", section 2, where the biases are left out): GEGLU for `"gelu"`, SwiGLU
    for `"silu"`. A gate adds a third dense layer; two thirds of the inner width then have as many
    weights as without a gate.

    Masking: keeps the mask of its input.

    Args:
        ffn_num_hiddens: Inner width, a positive integer.
        activation: `f`, by any name Keras knows. Defaults to `"relu"`.
        dropout: Rate at which inner values are dropped in training. Defaults to 0.
        gated: Whether the inner values are multiplied by a second projection. Defaults to False.
        use_bias: Whether the dense layers have a bias. Defaults to True.
        **settings: `seed` of the dropout, and settings of kernels and biases:
            `kernel_initializer`, `bias_initializer`, `kernel_regularizer`, `bias_regularizer`,
            `kernel_constraint`, `bias_constraint`, as in `keras.layers.Dense`.

    Call arguments:
        x: `(B, T, D)`.
        training: Whether dropout applies.

    Returns:
        `(B, T, D)`.

    Raises:
        ValueError: If `ffn_num_hiddens` is not a positive integer, or `activation` is unknown.

    Example:

    >>> tuple(FeedForward(16)(keras.ops.ones((2, 3, 4))).shape)
    (2, 3, 4)
    """

    def __init__(
        self,
        ffn_num_hiddens: int,
        activation: Any = "relu",
        dropout: float = 0.0,
        gated: bool = False,
        use_bias: bool = True,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self.ffn_num_hiddens = check_positive_integer("ffn_num_hiddens", ffn_num_hiddens)
        self.activation = get_activation("activation", activation)
        self.dropout = check_rate("dropout", dropout)
        self.gated = check_boolean("gated", gated)
        self.use_bias = check_boolean("use_bias", use_bias)
        self.supports_masking = True
        self._inner_dense = self._make_projection(
            self.ffn_num_hiddens, "inner", activation=self.activation, use_bias=self.use_bias
        )
        if self.gated:
            self._gate_dense = self._make_projection(
                self.ffn_num_hiddens, "gate", use_bias=self.use_bias
            )
        self._dropout = self._make_dropout(self.dropout)

    def build(self, x_shape: tuple) -> None:
        self._inner_dense.build(x_shape)
        if self.gated:
            self._gate_dense.build(x_shape)
        inner_shape = (*x_shape[:-1], self.ffn_num_hiddens)
        self._dropout.build(inner_shape)
        self._outer_dense = self._make_projection(x_shape[-1], "outer", use_bias=self.use_bias)
        self._outer_dense.build(inner_shape)

    def call(self, x: Any, training: bool | None = None) -> Any:
        x = self._to_float(x)
        inner = self._inner_dense(x)
        if self.gated:
            inner = inner * self._gate_dense(x)
        return self._outer_dense(self._dropout(inner, training=training))

    def compute_output_shape(self, x_shape: tuple) -> tuple:
        return tuple(x_shape)
