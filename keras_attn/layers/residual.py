"""Residual connection with normalisation and dropout."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from keras_attn.layers.checks import check_boolean, check_choice, check_positive_number, check_rate
from keras_attn.layers.layer import Layer
from keras_attn.layers.normalization import EPSILON, Normalization


@keras.saving.register_keras_serializable(package="keras_attn")
class Residual(Layer):
    """Adds the output of a sub-layer to the input of that sub-layer.

    `x + dropout(f(norm(x)))` with `norm_first` (Xiong et al. 2020, figure 1b), else
    `norm(x + dropout(f(x)))` (Vaswani et al. 2017, section 3.1).

    Call it inside the `call` of a layer or model that holds the sub-layer. In a functional model
    the call raises an error: Keras would neither train nor save the weights of the sub-layer.

    Masking: keeps the mask of its input.

    Args:
        dropout: Rate at which the sub-layer's output is dropped in training. Defaults to 0.
        norm_first: Whether the input is normalised, rather than the sum. Defaults to True.
        norm: `"layer"` (Ba et al. 2016) or `"rms"` (Zhang and Sennrich 2019). Defaults to
            `"layer"`.
        norm_epsilon: Number above 0 that is added to the variance. Defaults to 1e-6.
        **kwargs: `seed` of the dropout, and Keras's own arguments.

    Call arguments:
        x: `(B, T, D)`.
        sublayer: A function from `(B, T, D)` to `(B, T, D)`, or to a tuple that starts with it.
        training: Whether dropout applies.

    Returns:
        `(B, T, D)`, or a tuple of it and the further results of the sub-layer.

    Raises:
        ValueError: If `dropout` is not in `[0, 1)`, `norm` is unknown, the sub-layer is not a
            function or changes the shape, or the call is part of a functional model.

    Example:

    >>> x = keras.ops.ones((1, 2, 4))
    >>> keras.ops.convert_to_numpy(Residual()(x, sublayer=lambda y: y + 3.0))[0, 0].tolist()
    [4.0, 4.0, 4.0, 4.0]
    """

    def __init__(
        self,
        dropout: float = 0.0,
        norm_first: bool = True,
        norm: str = "layer",
        norm_epsilon: float = EPSILON,
        **kwargs: Any,
    ) -> None:
        # Not rematerialized: JAX would lose the gradients of tensors that `sublayer` captures, such
        # as a memory. The sub-layer is rematerialized.
        with keras.RematScope(mode=None):
            super().__init__(**kwargs)
        self.dropout = check_rate("dropout", dropout)
        self.norm_first = check_boolean("norm_first", norm_first)
        check_choice("norm", norm, ("layer", "rms"))
        self.norm = norm
        self.norm_epsilon = check_positive_number("norm_epsilon", norm_epsilon)
        self.supports_masking = True
        self._norm = Normalization(norm, norm_epsilon, dtype=self.dtype_policy, name="norm")
        self._dropout = self._make_dropout(self.dropout)

    def build(self, x_shape: tuple) -> None:
        self._norm.build(x_shape)
        self._dropout.build(x_shape)

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        raise ValueError(
            "`Residual` must be called inside the `call` of a layer or model that holds the "
            "sub-layer: a functional model would neither train nor save the sub-layer's weights. "
            "Write a layer around both, or use keras.layers.Add. "
            f"Received: a Keras input, in a call of {self.name!r}."
        )

    def call(self, x: Any, sublayer: Callable[[Any], Any], training: bool | None = None) -> Any:
        x = self._to_float(x)
        if not callable(sublayer):
            raise ValueError(
                "`sublayer` must be a function, which is called on the normalised `x`: "
                "AddNorm()(x, f(x)) of d2l is Residual(norm_first=False)(x, sublayer=f). "
                f"Received: sublayer={sublayer!r:.60}."
            )
        made = sublayer(self._norm(x, training=training) if self.norm_first else x)
        made, *rest = made if isinstance(made, tuple | list) else (made,)
        if len(made.shape) != len(x.shape) or any(
            isinstance(a, int) and isinstance(b, int) and a != b
            for a, b in zip(made.shape, x.shape, strict=True)
        ):
            raise ValueError(
                "`sublayer` must keep the shape of its input, to be added to it. Received: "
                f"sublayer(x).shape={tuple(made.shape)}, x.shape={tuple(x.shape)}."
            )
        total = x + ops.cast(self._dropout(made, training=training), x.dtype)
        total = total if self.norm_first else self._norm(total, training=training)
        return (total, *rest) if rest else total

    def compute_output_shape(self, x_shape: tuple) -> tuple:
        return tuple(x_shape)
