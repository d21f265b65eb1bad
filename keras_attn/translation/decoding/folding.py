"""Folding of the weights of a trained Transformer for fewer products at inference."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from keras_attn.positions import PositionalEncoding
from keras_attn.transformer import Transformer
from keras_attn.translation import named_weights
from keras_attn.translation.decoding.beam_search import BLOCK

# Logit of the padding of the vocabulary.
NO_PIECE = -1e9


def fold(model: Transformer) -> dict[str, np.ndarray]:
    """Fold the weights of `model` into kernels and biases for `FoldedTransformer`.

    - Projections of the same input are joined to one product.
    - The scale of the scores is folded into the query kernels.
    - Gain `g` and offset `b` of a layer normalisation are folded into the next product:
      `LN(x) W = ((x - mean(x)) / std(x)) (g * W) + b W`.
    - All terms of the residual stream are centred, so `mean(x)` is 0 and need not be subtracted.

    Args:
        model: Built model of `Transformer.from_sizes`.

    Returns:
        Kernels, biases and embedding tables by name.

    Raises:
        ValueError: If the model has non-standard parts (`check_parts`).
    """
    check_parts(model)
    return dict(_Folding(model).all())


def positions(length: int, num_hiddens: int) -> np.ndarray:
    """Positional encoding `(length, D)`, centred at each position."""
    return _centred(np.asarray(PositionalEncoding()(np.zeros((1, length, num_hiddens)))[0]))


class _Folding:
    def __init__(self, model: Transformer):
        # Folded in float64, so that the results are rounded only once.
        self._trained = {k: v.astype(np.float64) for k, v in named_weights.of_model(model).items()}
        self._stacks = {"encoder": model.encoder, "decoder": model.decoder}

    def all(self) -> Iterator[tuple[str, np.ndarray]]:
        for name, stack in self._stacks.items():
            embeddings = self._trained[f"{name}/embedding/tokens/embeddings"]
            yield f"{name}/embeddings", _centred(embeddings * stack.num_hiddens**0.5)
            for i in range(stack.num_layers):
                yield from self._block(
                    name, i, scale=(stack.num_hiddens // stack.num_heads) ** -0.5
                )
        kernel, bias = self._normalised(
            "decoder/norm",
            self._trained["decoder/logits/kernel"],
            self._trained["decoder/logits/bias"],
        )
        missing = -len(bias) % BLOCK  # padded here, not by the search at each step
        yield "logits/kernel", np.pad(kernel, ((0, 0), (0, missing)))
        yield "logits/bias", np.pad(bias, (0, missing), constant_values=NO_PIECE)

    def _block(self, stack: str, i: int, scale: float) -> Iterator[tuple[str, np.ndarray]]:
        block, name = f"{stack}/block_{i}", f"{stack}/{i}"
        yield from self._attention(block, name, "self", ("query", "key", "value"), scale)
        if stack == "decoder":
            yield from self._attention(block, name, "cross", ("query",), scale)
            kernel = self._kernels(f"{block}/cross_attention", "key", "value")
            yield from _both(f"{name}/memory", *self._normalised("encoder/norm", kernel))
        inner, outer = (f"{block}/feed_forward/{part}" for part in ("inner", "outer"))
        yield from _both(
            f"{name}/inner",
            *self._normalised(
                f"{block}/around_feed_forward/norm",
                self._trained[f"{inner}/kernel"],
                self._trained[f"{inner}/bias"],
            ),
        )
        yield from _both(
            f"{name}/outer",
            _centred(self._trained[f"{outer}/kernel"]),
            _centred(self._trained[f"{outer}/bias"]),
        )

    def _attention(
        self, block: str, name: str, kind: str, inputs: tuple[str, ...], scale: float
    ) -> Iterator[tuple[str, np.ndarray]]:
        layer = f"{block}/{kind}_attention"
        kernel = self._kernels(layer, *inputs)
        width = kernel.shape[1] // len(inputs)
        kernel[:, :width] *= scale  # the query columns
        norm = f"{block}/around_{kind}_attention/norm"
        yield from _both(f"{name}/{kind}_input", *self._normalised(norm, kernel))
        yield f"{name}/{kind}_output/kernel", _centred(self._kernels(layer, "output"))

    def _kernels(self, layer: str, *names: str) -> np.ndarray:
        return np.concatenate([self._trained[f"{layer}/{name}/kernel"] for name in names], axis=1)

    def _normalised(
        self, norm: str, kernel: np.ndarray, bias: np.ndarray | float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Kernel and bias of a product after the normalisation `norm`."""
        gain, offset = self._trained[f"{norm}/gamma"], self._trained[f"{norm}/beta"]
        return gain[:, None] * kernel, offset @ kernel + bias


def _both(name: str, kernel: np.ndarray, bias: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    yield f"{name}/kernel", kernel
    yield f"{name}/bias", bias


def _centred(rows: np.ndarray) -> np.ndarray:
    """Subtract the mean of each row."""
    return rows - rows.mean(axis=-1, keepdims=True)


def check_parts(model: Transformer) -> None:
    """Check that a model has the standard parts of `Transformer.from_sizes`.

    Raises:
        ValueError: If a stack has other options, or the stacks have different sizes. The message
            lists them.
    """
    for stack in (model.encoder, model.decoder):
        standard = type(stack)(
            stack.vocab_size,
            stack.num_layers,
            stack.num_hiddens,
            stack.ffn_num_hiddens,
            stack.num_heads,
            stack.dropout,
            blockwise=stack.blockwise,
            name=stack.name,
            dtype=stack.dtype_policy,
        )
        given, expected = stack.get_config(), standard.get_config()
        others = [f"{name}={given[name]!r}" for name in expected if given[name] != expected[name]]
        # Encoder and decoder must have the same sizes.
        others += [
            f"{name}={getattr(stack, name)!r} (decoder: {name}={getattr(model.decoder, name)!r})"
            for name in ("num_hiddens", "num_heads", "dropout")
            if getattr(stack, name) != getattr(model.decoder, name)
        ]
        if others:
            raise ValueError(
                "A model must be one of `Transformer.from_sizes` to be trained here and exported. "
                f"Received: {type(stack).__name__} with {', '.join(others)}."
            )
