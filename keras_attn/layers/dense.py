"""Dense sub-layers and tables, and the settings of their weights."""

from typing import Any

import keras
from keras import constraints, initializers, ops, regularizers

from keras_attn.layers.layer import Layer
from keras_attn.layers.precision import matmul


@keras.saving.register_keras_serializable(package="keras_attn")
class Projection(keras.layers.Dense):
    """Dense layer on matrices that saves LoRA adapters apart from the kernel.

    TensorFlow adds the bias inside a product of matrices. `keras.layers.Dense` saves the sum of
    kernel and adapters, and loads zeros as both adapters. Adapters of zeros get no gradient.
    """

    lora_enabled: bool

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        is_matrix = len(inputs.shape) == 2
        rows = inputs if is_matrix else ops.reshape(inputs, (-1, inputs.shape[-1]))
        backend, dtype = keras.backend.backend(), keras.backend.standardize_dtype(inputs.dtype)
        is_half, on_tensorflow = dtype in ("bfloat16", "float16"), backend == "tensorflow"
        if backend == "torch" and dtype == "float64":
            made = matmul(rows, ops.convert_to_tensor(self.kernel))
            made = made if self.bias is None else made + ops.convert_to_tensor(self.bias)
            made = made if self.activation is None else self.activation(made)
        elif training and is_half and self.bias is not None and on_tensorflow:
            made = _affine(rows, ops.copy(self.kernel), ops.copy(self.bias))
            made = made if self.activation is None else self.activation(made)
        else:
            made = super().call(rows, training=training)
        return made if is_matrix else ops.reshape(made, (*kept_sizes(inputs)[:-1], self.units))

    def save_own_variables(self, store: Any) -> None:
        if self.quantization_mode in ("gptq", "awq"):
            # Keras 3.15 does not save `kernel_zero`, and cannot load the file without it.
            names = self.variable_serialization_spec[self.quantization_mode]
            variables = [getattr(self, name, None) for name in names]
            for i, variable in enumerate(v for v in variables if v is not None):
                store[str(i)] = variable
            return
        enabled = bool(self.lora_enabled)
        self.lora_enabled = False
        try:
            super().save_own_variables(store)
        finally:
            self.lora_enabled = enabled
        if enabled:
            store["lora_kernel_a"] = self.lora_kernel_a
            store["lora_kernel_b"] = self.lora_kernel_b

    def load_own_variables(self, store: Any) -> None:
        super().load_own_variables(store)
        if not self.lora_enabled:
            return
        if "lora_kernel_a" in store.keys():
            self.lora_kernel_a.assign(store["lora_kernel_a"])
            self.lora_kernel_b.assign(store["lora_kernel_b"])
        else:  # the file was saved before LoRA was enabled
            draw = initializers.HeUniform()
            self.lora_kernel_a.assign(draw(self.lora_kernel_a.shape, self.lora_kernel_a.dtype))

    def quantize(self, mode: Any = None, type_check: bool = True, config: Any = None) -> None:
        # Without the type check: Keras refuses subclasses, but this one computes the same as Dense.
        super().quantize(mode, type_check=False, config=config)


class ProjectingLayer(Layer):
    """Base class of layers with dense sub-layers that share settings of kernels and biases.

    Args:
        kernel_initializer: Initializer of the kernels. Defaults to `"glorot_uniform"`.
        bias_initializer: Initializer of the biases. Defaults to `"zeros"`.
        kernel_regularizer: Regularizer of the kernels. Defaults to None.
        bias_regularizer: Regularizer of the biases. Defaults to None.
        kernel_constraint: Constraint of the kernels. Defaults to None.
        bias_constraint: Constraint of the biases. Defaults to None.
        **kwargs: Arguments of `Layer`.
    """

    def __init__(
        self,
        *,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)

    @property
    def weight_settings(self) -> dict[str, Any]:
        """Arguments for dense sub-layers; each call copies the initializers."""
        return {
            "kernel_initializer": copy_initializer(self.kernel_initializer),
            "bias_initializer": copy_initializer(self.bias_initializer),
            "kernel_regularizer": self.kernel_regularizer,
            "bias_regularizer": self.bias_regularizer,
            "kernel_constraint": self.kernel_constraint,
            "bias_constraint": self.bias_constraint,
        }

    def _make_projection(self, units: int, name: str, **kwargs: Any) -> Projection:
        return Projection(
            units, name=name, dtype=self.dtype_policy, **self.weight_settings, **kwargs
        )


class TableLayer(Layer):
    """Base class of layers with tables of embeddings.

    Args:
        embeddings_initializer: Initializer of the tables.
        embeddings_regularizer: Regularizer of the tables. Defaults to None.
        embeddings_constraint: Constraint of the tables. Defaults to None.
        **kwargs: Arguments of `Layer`.
    """

    def __init__(
        self,
        *,
        embeddings_initializer: Any = None,
        embeddings_regularizer: Any = None,
        embeddings_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.embeddings_initializer = initializers.get(embeddings_initializer)
        self.embeddings_regularizer = regularizers.get(embeddings_regularizer)
        self.embeddings_constraint = constraints.get(embeddings_constraint)

    @property
    def table_settings(self) -> dict[str, Any]:
        """Arguments for an embedding layer; each call copies the initializer."""
        return {
            "embeddings_initializer": copy_initializer(self.embeddings_initializer),
            "embeddings_regularizer": self.embeddings_regularizer,
            "embeddings_constraint": self.embeddings_constraint,
        }

    def _add_table(self, shape: tuple, name: str) -> Any:
        settings = {
            key.removeprefix("embeddings_"): value for key, value in self.table_settings.items()
        }
        return self.add_weight(shape, name=name, **settings)


@ops.custom_gradient
def _affine(x: Any, kernel: Any, bias: Any) -> Any:
    """`x @ kernel + bias`; TensorFlow's own gradient of the bias is slow in half precision."""

    def gradient(upstream: Any) -> tuple[Any, Any, Any]:
        ones = ops.ones((1, ops.shape(upstream)[0]), upstream.dtype)
        return (
            ops.matmul(upstream, ops.transpose(kernel)),
            ops.matmul(ops.transpose(x), upstream),
            ops.matmul(ones, upstream)[0],
        )

    return ops.add(ops.matmul(x, kernel), bias), gradient


def kept_sizes(x: Any) -> tuple:
    """Return the sizes of `x` for a reshape, with -1 in place of a single unknown size.

    A size that is known only at run time would need operations of its own.
    """
    if tuple(x.shape).count(None) == 1 and 0 not in x.shape:
        return tuple(-1 if size is None else size for size in x.shape)
    return ops.shape(x)


def project_heads(dense: Projection, x: Any, num_heads: int) -> Any:
    """Return `(B, T, D)` after a dense layer, split into heads: `(B, H, T, units / H)`."""
    rows = dense(ops.reshape(x, (-1, x.shape[-1])))  # one reshape to heads, none to `(B, T, ...)`
    heads = ops.reshape(rows, (*kept_sizes(x)[:2], num_heads, dense.units // num_heads))
    return ops.transpose(heads, (0, 2, 1, 3))


def logits_of(
    weights: Any, bias: Any, token_ids: Any = None, by_token: bool = False
) -> tuple[Any, Any]:
    """Return kernel `(D, C)` and bias `(C,)` of the logits of some tokens.

    Args:
        weights: `(D, V)`, or `(V, D)` with `by_token`.
        bias: `(V,)`, or None for one of zeros.
        token_ids: Integers `(C,)`. Defaults to None, all tokens.
        by_token: Whether `weights` has a row for each token. Defaults to False.
    """
    weights = ops.convert_to_tensor(weights)
    if bias is None:
        bias = ops.zeros((weights.shape[0 if by_token else 1],), weights.dtype)
    bias = ops.convert_to_tensor(bias)
    if token_ids is None:
        return ops.transpose(weights) if by_token else weights, bias
    # Rows are gathered much faster than columns, even with two transpositions.
    rows = ops.take(weights if by_token else ops.transpose(weights), token_ids, axis=0)
    return ops.transpose(rows), ops.take(bias, token_ids, axis=0)


def copy_initializer(initializer: Any) -> Any:
    """Return an initializer with the same settings; a function is returned as it is."""
    if not isinstance(initializer, initializers.Initializer):
        return initializer
    return type(initializer).from_config(initializer.get_config())
