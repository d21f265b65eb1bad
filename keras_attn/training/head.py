"""Layer of a model that makes logits of hidden states, found in the model and left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import keras

from keras_attn.layers.decoder import Decoder
from keras_attn.layers.dense import logits_of
from keras_attn.layers.embedding import TokenEmbedding


class Head(NamedTuple):
    """Part of a layer that makes logits `(..., V)` of hidden states `(..., D)`."""

    layer: keras.layers.Layer
    method: str  # maps states to logits
    vocab_size: int
    # Kernel `(D, C)` and bias `(C,)` of the logits of some tokens, or of all for None.
    projection: Callable[[Any], tuple[Any, Any]]

    @classmethod
    def of(cls, layer: keras.layers.Layer) -> Head | None:
        """Return the head of a layer, or None if it makes no logits."""
        if isinstance(layer, Decoder):
            return cls.of_decoder(layer)
        if isinstance(layer, TokenEmbedding):
            return cls(layer, "logits", layer.vocab_size, lambda ids: _of_table(layer, ids))
        if isinstance(layer, keras.layers.Dense) and layer.activation is keras.activations.linear:
            return cls(layer, "call", layer.units, lambda ids: _of_dense(layer, ids))
        return None

    @classmethod
    def of_decoder(cls, decoder: Decoder) -> Head:
        """Return the head of a decoder."""
        return cls(decoder, "_to_logits", decoder.vocab_size, decoder.output_projection)

    @contextmanager
    def replaced(self, replace: Callable[[Callable], Callable]) -> Iterator[None]:
        """Replace the method in this context; it is changed for this layer, not for its class."""
        # Not by assignment: Keras would track it.
        vars(self.layer)[self.method] = replace(getattr(self.layer, self.method))
        try:
            yield
        finally:
            del vars(self.layer)[self.method]

    def states(self, call: Callable[[], Any]) -> Any:
        """Return the hidden states in place of the logits that `call` returns."""
        with self.replaced(lambda method: lambda states, *_, **__: states):
            return call()


def find_head(model: keras.Model, inputs: Any) -> Head:
    """Return the head whose logits a model returns unchanged.

    Raises:
        ValueError: If there is none.
    """
    import tensorflow as tf

    found: list[tuple[Head, Any]] = []

    def recording(head: Head) -> Callable[[Callable], Callable]:
        def replace(method: Callable) -> Callable:
            def record(*args: Any, **kwargs: Any) -> Any:
                made = method(*args, **kwargs)
                found.append((head, made))
                return made

            return record

        return replace

    def call(inputs: Any) -> None:
        heads = [head for head in map(Head.of, model._flatten_layers()) if head is not None]
        with ExitStack() as stack:
            for head in heads:
                stack.enter_context(head.replaced(recording(head)))
            logits = call_model(model, inputs, training=False)
        # The last one is the outermost: a dense layer may be the head of a decoder.
        found[:] = [pair for pair in found if pair[1] is logits][-1:]

    # Traced and never run.
    tf.function(call, autograph=False).get_concrete_function(inputs)
    if not found:
        raise ValueError(
            "The model must return the logits of a `Decoder`, of a `keras.layers.Dense` without "
            "activation, or of `TokenEmbedding.logits`, with nothing after it. "
            f"Received: model={model.name!r}."
        )
    return found[0][0]


def call_model(model: keras.Model, inputs: Any, training: bool) -> Any:
    """Call a model as Keras `fit` does: not every model has an argument `training`."""
    return model(inputs, training=training) if model._call_has_training_arg else model(inputs)


def _of_dense(layer: keras.layers.Dense, token_ids: Any) -> tuple[Any, Any]:
    return logits_of(layer.kernel, layer.bias, token_ids)


def _of_table(layer: TokenEmbedding, token_ids: Any) -> tuple[Any, Any]:
    return logits_of(layer.tokens.embeddings, None, token_ids, by_token=True)
