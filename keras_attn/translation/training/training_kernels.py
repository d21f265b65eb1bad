"""Kernels of a training step, computed once from the weights of a Transformer for all shards."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from keras_attn.transformer import Transformer
from keras_attn.translation.decoding.folding import check_parts
from keras_attn.translation.named_weights import path_in_model

# Float32 rows whose length is a multiple of this number of bytes share few cache sets: some
# products took twice as long (benchmarks/results/training.md).
SLOW_ROW_BYTES = 2048
SPARE_COLUMNS = 16


class TrainingKernels:
    """Kernels and biases of a `Transformer`, joined so that a training step has fewer products.

    Projections of the same input are joined to one kernel. Gain `g` and offset `b` of a layer
    normalisation are folded into the next kernel:
    `LN(x) W = ((x - mean(x)) / std(x)) (g * W) + b W`. The scale of dropout is folded into the
    kernel before or after the dropout.

    Args:
        model: Built model of `Transformer.from_sizes`.
        dtype: Precision of the products, `"float32"` or `"bfloat16"`.
        dropout_scale: Factor of the elements that dropout keeps, `1 / (1 - rate)`.

    Call arguments:
        pieces: Ids of the target pieces whose logits are computed, int32 `(C,)`. Defaults to None,
            the whole vocabulary.

    Returns:
        Tensors by name: kernels `(D, C)` in `dtype`, biases and embedding tables in float32.

    Raises:
        ValueError: If the model has non-standard parts (`check_parts`).
    """

    def __init__(self, model: Transformer, dtype: str, dropout_scale: float):
        check_parts(model)
        self._weights = {path_in_model(v.path): v.value for v in model.trainable_variables}
        self._stacks = {"encoder": model.encoder, "decoder": model.decoder}
        self._dtype = tf.dtypes.as_dtype(dtype)
        self._dropout_scale = dropout_scale

    def __call__(self, pieces: tf.Tensor | None = None) -> dict[str, tf.Tensor]:
        made: dict[str, tf.Tensor] = {}
        for name, stack in self._stacks.items():
            table = self._weights[f"{name}/embedding/tokens/embeddings"]
            made[f"{name}/embeddings"] = tf.convert_to_tensor(table)
            for i in range(stack.num_layers):
                made |= self._block(f"{name}/block_{i}", name == "decoder")
        names = [
            f"decoder/block_{i}/cross_attention/{part}/kernel"
            for i in range(self._stacks["decoder"].num_layers)
            for part in ("key", "value")
        ]
        made |= self._behind_norm("memory", "encoder/norm", self._joined(*names))
        return made | self._logits(pieces)

    def _block(self, block: str, has_cross_attention: bool) -> dict[str, tf.Tensor]:
        made = self._attention(block, "self_attention", "query", "key", "value")
        if has_cross_attention:
            made |= self._attention(block, "cross_attention", "query")
        return made | self._feed_forward(block)

    def _attention(self, block: str, kind: str, *inputs: str) -> dict[str, tf.Tensor]:
        """Kernels of an attention: joined projections of `inputs`, queries scaled, and output."""
        layer = f"{block}/{kind}"
        kernel = self._joined(*(f"{layer}/{part}/kernel" for part in inputs))
        stack = self._stacks["decoder"]  # encoder and decoder have the same sizes
        scale = np.ones(stack.num_hiddens * len(inputs), np.float32)
        scale[: stack.num_hiddens] = (stack.num_hiddens // stack.num_heads) ** -0.5
        made = self._behind_norm(f"{layer}/input", f"{block}/around_{kind}/norm", kernel * scale)
        # Squared: dropout of the attention weights before, and of the output after this kernel.
        output = self._weights[f"{layer}/output/kernel"] * self._dropout_scale**2
        return made | {f"{layer}/output/kernel": tf.cast(output, self._dtype)}

    def _feed_forward(self, block: str) -> dict[str, tf.Tensor]:
        layer = f"{block}/feed_forward"
        inner, inner_bias, outer, outer_bias = (
            self._weights[f"{layer}/{side}/{part}"]
            for side in ("inner", "outer")
            for part in ("kernel", "bias")
        )
        spare = [0, self._num_spare(inner.shape[1])]
        made = self._behind_norm(
            f"{layer}/inner",
            f"{block}/around_feed_forward/norm",
            tf.pad(inner, [[0, 0], spare]),
            tf.pad(inner_bias, [spare]),
        )
        outer = tf.pad(outer * self._dropout_scale, [spare, [0, 0]])
        made[f"{layer}/outer/kernel"] = tf.cast(outer, self._dtype)
        made[f"{layer}/outer/bias"] = outer_bias * self._dropout_scale
        return made

    def _num_spare(self, width: int) -> int:
        """Number of zero columns to append to rows of this width to avoid slow products."""
        is_slow = self._dtype == tf.float32 and width * tf.float32.size % SLOW_ROW_BYTES == 0
        return SPARE_COLUMNS if is_slow else 0

    def _logits(self, pieces: tf.Tensor | None) -> dict[str, tf.Tensor]:
        kernel, bias = (self._weights[f"decoder/logits/{part}"] for part in ("kernel", "bias"))
        if pieces is not None:
            # Gathering rows is much faster than gathering columns, even with two transpositions.
            kernel = tf.transpose(tf.gather(tf.transpose(kernel), pieces))
            bias = tf.gather(bias, pieces)
        return self._behind_norm("logits", "decoder/norm", kernel, bias)

    def _joined(self, *names: str) -> tf.Tensor:
        return tf.concat([self._weights[name] for name in names], axis=1)

    def _behind_norm(
        self, name: str, norm: str, kernel: tf.Tensor, bias: tf.Tensor | float = 0.0
    ) -> dict[str, tf.Tensor]:
        """Kernel `g * W` and bias `b W + bias` of a product after a normalisation."""
        gain, offset = self._weights[f"{norm}/gamma"], self._weights[f"{norm}/beta"]
        return {
            f"{name}/kernel": tf.cast(gain[:, None] * kernel, self._dtype),
            f"{name}/bias": tf.linalg.matvec(kernel, offset, transpose_a=True) + bias,
        }
