"""Inference form of a trained Transformer: encoder memory and single decoder steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from keras_attn.normalization import EPSILON
from keras_attn.transformer import Transformer
from keras_attn.translation.decoding.folding import fold, positions
from keras_attn.translation.special_ids import PAD_ID

HIDDEN = -1e9  # added to the scores of masked keys

# (cached keys or values (B, H, C, K * D/H), position (), new ones (B, H, K, D/H)) -> all of them
Write = Callable[[tf.Tensor, tf.Tensor, tf.Tensor], tf.Tensor]


class Memory(NamedTuple):
    """Encoder output projected for the cross-attention of each decoder layer.

    Attributes:
        keys: Keys for each decoder layer, `(B, H, S, D/H)`, with `D/H` the size of a head.
        values: Values for each decoder layer, `(B, H, S, D/H)`.
        hidden: Term added to the scores, `(B, 1, 1, S)`: `HIDDEN` for padding, else 0.
    """

    keys: tuple[tf.Tensor, ...]
    values: tuple[tf.Tensor, ...]
    hidden: tf.Tensor


class LayerCache(NamedTuple):
    """Keys and values of the generated tokens in one decoder layer.

    Both have the shape `(B, H, C, K * D/H)`, with room for `C` positions of `K` hypotheses.
    """

    keys: tf.Tensor
    values: tf.Tensor


Cache = tuple[LayerCache, ...]  # one for each decoder layer


class FoldedTransformer(tf.Module):
    """Transformer that computes the same logits in fewer and larger products (`fold`).

    Args:
        model: Built model of `Transformer.from_sizes`.
        num_positions: Maximum number of source or target positions.
        dtype: Precision of the products, `"float32"` or `"bfloat16"`. The residual stream is
            float32. Defaults to `"float32"`.

    Raises:
        ValueError: If the model has non-standard parts (`check_parts`).
    """

    def __init__(self, model: Transformer, num_positions: int, dtype: str = "float32"):
        super().__init__(name="folded")
        decoder = model.decoder
        self._num_heads, self._num_hiddens = decoder.num_heads, decoder.num_hiddens
        self._head_size = decoder.num_hiddens // decoder.num_heads
        self._num_encoder_layers = model.encoder.num_layers
        self._num_decoder_layers = decoder.num_layers
        self._dtype = tf.dtypes.as_dtype(dtype)
        self._positions = tf.Variable(
            tf.cast(positions(num_positions, decoder.num_hiddens), tf.float32), trainable=False
        )
        self._weights = {
            name: tf.Variable(tf.cast(value, dtype), trainable=False, name=name)
            for name, value in fold(model).items()
        }

    def encode(self, source_ids: tf.Tensor) -> Memory:
        """Encode source sentences.

        Args:
            source_ids: Piece ids with EOS, int32 `(B, S)`, padded with id 0.

        Returns:
            The memory for `step`.
        """
        batch_size, length = tf.unstack(tf.shape(source_ids))
        hidden = tf.where(tf.equal(source_ids, PAD_ID), HIDDEN, 0.0)[:, None, None]
        hidden = tf.cast(hidden, self._dtype)
        x = self._embed("encoder", source_ids) + self._positions[:length]
        x = tf.reshape(x, [-1, self._num_hiddens])
        for i in range(self._num_encoder_layers):
            queries, keys, values = self._heads(f"encoder/{i}/self_input", x, batch_size, length, 3)
            attended = _attend(queries, keys, values, hidden)
            x = x + self._join(f"encoder/{i}/self_output", attended)
            x = x + self._feed_forward(f"encoder/{i}", x)
        pairs = [
            self._heads(f"decoder/{i}/memory", x, batch_size, length, 2)
            for i in range(self._num_decoder_layers)
        ]
        keys, values = zip(*pairs, strict=True)
        return Memory(keys, values, hidden)

    @property
    def memory_spec(self) -> Memory:
        """Shapes and dtypes of the result of `encode`."""
        part = tf.TensorSpec([None, self._num_heads, None, self._head_size], self._dtype)
        parts = (part,) * self._num_decoder_layers
        return Memory(parts, parts, tf.TensorSpec([None, 1, 1, None], self._dtype))

    def make_cache(self, batch_size: tf.Tensor, beam_size: int) -> Cache:
        """Empty cache, with room for 0 positions."""
        width = beam_size * self._head_size
        nothing = tf.zeros(tf.stack([batch_size, self._num_heads, 0, width]), self._dtype)
        return (LayerCache(nothing, nothing),) * self._num_decoder_layers

    def step(
        self,
        last: tf.Tensor,
        position: tf.Tensor,
        ancestors: tf.Tensor,
        cache: Cache,
        memory: Memory,
        write: Write,
    ) -> tuple[tf.Tensor, Cache]:
        """Compute the logits of the next token of each hypothesis.

        Args:
            last: Newest token of each hypothesis, int32 `(B, K)`.
            position: Position of the newest token, int32 `()`.
            ancestors: Index of the hypothesis that generated each position, int32 `(B, K, C)`;
                -1 after `position`.
            cache: Keys and values of the earlier tokens, with room for `position`.
            memory: Result of `encode`.
            write: Function that writes new keys or values into the cache.

        Returns:
            Logits `(B, K, V)`, with `V` the padded vocabulary size; logits of padding are
            `NO_PIECE`. The cache with the newest token.
        """
        batch_size, beam_size, room = tf.unstack(tf.shape(ancestors))
        own = ancestors[..., None] == tf.range(beam_size)  # (B, K, C, K)
        hidden = tf.cast(tf.where(own, 0.0, HIDDEN), self._dtype)
        hidden = tf.reshape(hidden, tf.stack([batch_size, 1, beam_size, room * beam_size]))
        x = self._embed("decoder", tf.reshape(last, [-1])) + self._positions[position]
        new_cache = []
        for i, layer in enumerate(cache):
            queries, *new = self._heads(f"decoder/{i}/self_input", x, batch_size, beam_size, 3)
            layer = LayerCache(
                *(write(part, position, one) for part, one in zip(layer, new, strict=True))
            )
            new_cache.append(layer)
            shape = tf.stack([batch_size, self._num_heads, room * beam_size, self._head_size])
            keys, values = (tf.reshape(part, shape) for part in layer)
            attended = _attend(queries, keys, values, hidden)
            x = x + self._join(f"decoder/{i}/self_output", attended)
            (queries,) = self._heads(f"decoder/{i}/cross_input", x, batch_size, beam_size, 1)
            attended = _attend(queries, memory.keys[i], memory.values[i], memory.hidden)
            x = x + self._join(f"decoder/{i}/cross_output", attended)
            x = x + self._feed_forward(f"decoder/{i}", x)
        logits = self._product("logits", _normalised(x))
        shape = tf.stack([batch_size, beam_size, logits.shape[-1]])
        return tf.reshape(logits, shape), tuple(new_cache)

    def _embed(self, stack: str, ids: tf.Tensor) -> tf.Tensor:
        return tf.cast(tf.gather(self._weights[f"{stack}/embeddings"], ids), tf.float32)

    def _product(self, name: str, rows: tf.Tensor) -> tf.Tensor:
        made = tf.matmul(tf.cast(rows, self._dtype), self._weights[f"{name}/kernel"])
        bias = self._weights.get(f"{name}/bias")
        return made if bias is None else tf.nn.bias_add(made, bias)

    def _heads(
        self, name: str, x: tf.Tensor, batch_size: tf.Tensor, length: tf.Tensor, number: int
    ) -> list[tf.Tensor]:
        """Normalise and project rows `(B * T, D)`, split into `number` tensors `(B, H, T, D/H)`."""
        made = self._product(name, _normalised(x))
        shape = tf.stack([batch_size, length, number, self._num_heads, self._head_size])
        return tf.unstack(tf.transpose(tf.reshape(made, shape), [2, 0, 3, 1, 4]), number)

    def _join(self, name: str, heads: tf.Tensor) -> tf.Tensor:
        """Output projection of the heads `(B, H, T, D/H)`, as rows `(B * T, D)`."""
        rows = tf.reshape(tf.transpose(heads, [0, 2, 1, 3]), [-1, self._num_hiddens])
        return tf.cast(self._product(name, rows), tf.float32)

    def _feed_forward(self, block: str, x: tf.Tensor) -> tf.Tensor:
        inner = tf.nn.relu(self._product(f"{block}/inner", _normalised(x)))
        return tf.cast(self._product(f"{block}/outer", inner), tf.float32)


def _normalised(x: tf.Tensor) -> tf.Tensor:
    """Divide each row by its standard deviation; the mean of each row is 0 already."""
    return x * tf.math.rsqrt(tf.reduce_mean(tf.square(x), axis=-1, keepdims=True) + EPSILON)


def _attend(queries: tf.Tensor, keys: tf.Tensor, values: tf.Tensor, hidden: tf.Tensor) -> tf.Tensor:
    """Attention output `(B, H, T, D/H)`; the queries are scaled already."""
    scores = tf.matmul(queries, keys, transpose_b=True) + hidden
    return tf.matmul(tf.nn.softmax(scores), values)
