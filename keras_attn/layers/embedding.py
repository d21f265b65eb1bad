"""Embedding of token ids and their positions."""

from typing import Any

import keras
from keras import initializers, ops

from keras_attn.layers.checks import (
    check_boolean,
    check_ids,
    check_layout,
    check_padding_id,
    check_positive_integer,
    check_rate,
)
from keras_attn.layers.dense import TableLayer
from keras_attn.layers.positions import (
    LearnedPositionalEncoding,
    PositionalEncoding,
    own_position,
)


@keras.saving.register_keras_serializable(package="keras_attn")
class TokenEmbedding(TableLayer):
    """Scaled token embedding plus positions, the first layer of encoders and decoders.

    `sqrt(D) * E[id] + P[t]` (Vaswani et al. 2017, sections 3.4 and 3.5). The method `logits`
    computes a logit for each id from a vector `x`: `x E^T` (Press and Wolf 2017).

    Masking: `padding_id` is padding. The output has a Keras mask.

    Args:
        vocab_size: `V`, a positive integer.
        num_hiddens: `D`, a positive integer.
        dropout: Rate at which the sum is dropped in training. Defaults to 0.
        position: `"sinusoidal"`, `"sinusoidal_halves"`, a layer that adds positions
            (`PositionalEncoding`, `LearnedPositionalEncoding`; this layer makes a copy of its own),
            or None for none. Defaults to `"sinusoidal"`.
        padding_id: Id that no query attends to, or None. Defaults to 0.
        scale_embeddings: Whether embeddings are multiplied by `sqrt(D)`. Defaults to True.
        embeddings_initializer: Initializer of the embeddings. Defaults to a normal distribution
            with standard deviation `1 / sqrt(D)`.
        **settings: `embeddings_regularizer`, `embeddings_constraint`, `seed` of the dropout, and
            Keras's own arguments.

    Call arguments:
        ids: Integers `(B, T)` in `[0, V)`.
        start: Position of the first column; an integer, or a scalar tensor. Defaults to 0.
        training: Whether dropout applies.
        positions: Positions of the columns in place of `start`, integers `(T,)` or `(B, T)`.

    Returns:
        `(B, T, D)`.

    Raises:
        ValueError: If a size is not a positive integer, `position` is something else, or `ids`
            are not integers `(B, T)` in `[0, V)` (values are checked where they are known).

    Example:

    >>> tuple(TokenEmbedding(10, 4)(keras.ops.ones((2, 3), "int32")).shape)
    (2, 3, 4)
    """

    def __init__(
        self,
        vocab_size: int,
        num_hiddens: int,
        dropout: float = 0.0,
        position: Any = "sinusoidal",
        padding_id: int | None = 0,
        scale_embeddings: bool = True,
        embeddings_initializer: Any = None,
        **settings: Any,
    ) -> None:
        num_hiddens = check_positive_integer("num_hiddens", num_hiddens)
        if embeddings_initializer is None:
            embeddings_initializer = initializers.RandomNormal(stddev=num_hiddens**-0.5)
        super().__init__(embeddings_initializer=embeddings_initializer, **settings)
        self.vocab_size = check_positive_integer("vocab_size", vocab_size)
        self.num_hiddens = num_hiddens
        self.dropout = check_rate("dropout", dropout)
        self._positions = own_position(position, self.dtype_policy)
        added = PositionalEncoding | LearnedPositionalEncoding | None
        if not isinstance(self._positions, added):
            raise ValueError(
                "`position` must be a PositionalEncoding, a LearnedPositionalEncoding, the name of "
                f"one, or None. Received: position={position!r}."
            )
        self.position = position if isinstance(position, str) else self._positions
        self.padding_id = check_padding_id(padding_id, self.vocab_size)
        self.scale_embeddings = check_boolean("scale_embeddings", scale_embeddings)
        # Not rematerialized: Keras's layer branches on the flag `reverse`, and JAX would trace it.
        with keras.RematScope(mode=None):
            self._embedding = keras.layers.ReversibleEmbedding(
                self.vocab_size,
                self.num_hiddens,
                **self.table_settings,
                reverse_dtype=self.compute_dtype,
                dtype=self.dtype_policy,
                name="tokens",
            )
        self._embedding.supports_masking = True  # inputs of `logits` have a mask
        self._dropout = self._make_dropout(self.dropout)

    def build(self, ids_shape: tuple) -> None:
        x_shape = (*ids_shape, self.num_hiddens)
        self._embedding.build(ids_shape)
        if self._positions is not None:
            self._positions.build(x_shape)
        self._dropout.build(x_shape)

    def call(
        self, ids: Any, start: Any = 0, training: bool | None = None, positions: Any = None
    ) -> Any:
        check_layout("ids", ids.shape, "BT")
        check_ids("ids", ids, self.vocab_size)
        x = self._embedding(ids)
        if self.scale_embeddings:
            x = x * self.num_hiddens**0.5
        if self._positions is not None:
            x = self._positions(x, start=start, training=training, positions=positions)
        return self._dropout(x, training=training)

    def logits(self, x: Any) -> Any:
        """Return a logit for each id, `(B, T, V)`, from `(B, T, D)`."""
        if self._embedding.quantization_mode is not None:
            return self._embedding(x, reverse=True)
        # Keras's layer multiplies by a transposed copy of the table.
        dtype = self._embedding.reverse_dtype or self.compute_dtype
        table = ops.cast(ops.convert_to_tensor(self._embedding.embeddings), dtype)
        return ops.einsum("btd,vd->btv", ops.cast(x, dtype), table, optimize="greedy")

    @property
    def tokens(self) -> keras.layers.ReversibleEmbedding:
        """Embedding layer without positions."""
        return self._embedding

    def compute_output_shape(self, ids_shape: tuple) -> tuple:
        return (*ids_shape, self.num_hiddens)

    def compute_mask(self, ids: Any, previous_mask: Any = None) -> Any:
        return None if self.padding_id is None else ops.not_equal(ids, self.padding_id)
