"""Pieces, attention weights and probabilities of a translation: outputs of three signatures."""

from collections.abc import Callable
from functools import partial
from typing import Any

import tensorflow as tf

from keras_attn.layers.transformer import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.decoding import teacher_forcing
from keras_attn.translation.decoding.parallel import in_groups
from keras_attn.translation.special_ids import PAD_ID
from keras_attn.translation.text.placeholders import PLACEHOLDERS
from keras_attn.translation.tokenization.in_graph import GraphTokenizer

# Number of likeliest pieces at each position.
NUM_ALTERNATIVES = 5


class Explainer:
    """Pieces, attention weights and probabilities of given translations.

    The functions take ids with EOS, int32 `(B, S)` and `(B, T)`, padded with id 0.
    """

    def __init__(
        self,
        model: Transformer,
        config: Config,
        source: GraphTokenizer,
        target: GraphTokenizer,
        placeholder_ids: tuple[int, ...],
    ):
        self._source, self._target = source, target
        self._of_alternatives = config, NUM_ALTERNATIVES, placeholder_ids
        ids, values = (tf.TensorSpec((None, None), dtype) for dtype in (tf.int32, tf.string))
        forward = partial(teacher_forcing.forward_with_attention, model)
        # `tf.function`, so that the signatures of a SavedModel share one graph of the model.
        self._forward = tf.function(forward, [ids, ids], autograph=False)
        self.describe = _in_groups(self._describe, [ids, ids, values])
        self.log_probabilities = _in_groups(self._log_probabilities, [ids, ids])
        self.head = _in_groups(self._head, [ids, ids, ids])

    def prefix_ids(self, pieces: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
        """Ids int32 `(B, P)`, padded with id 0, of pieces as `target_pieces` has them."""
        for number, placeholder in enumerate(PLACEHOLDERS):
            value = values[:, number, None]
            is_value = tf.equal(pieces, value) & tf.not_equal(value, "")
            # The other occurrences are of later placeholders with the same value.
            nth = tf.cumsum(tf.cast(is_value, tf.int32), axis=1)
            pieces = tf.where(is_value & (nth == 1), placeholder, pieces)
        pieces = tf.ragged.boolean_mask(pieces, tf.not_equal(pieces, "")).to_tensor("")
        return tf.where(tf.equal(pieces, ""), PAD_ID, self._target.string_to_id(pieces))

    def _log_probabilities(self, source_ids: tf.Tensor, target_ids: tf.Tensor) -> tf.Tensor:
        """Log probability of each translation, float32 `(B,)`."""
        logits = self._forward(source_ids, target_ids).logits
        return teacher_forcing.log_probabilities_of(logits, target_ids)

    def _head(
        self, source_ids: tf.Tensor, target_ids: tf.Tensor, index: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Queries `(B, T, K)`, keys `(B, S, K)` and values `(B, S, V)` of one cross-attention head.

        `index (B, 2)` holds its layer and its number, from 0.
        """
        forward = self._forward(source_ids, target_ids)._asdict()
        index = tf.ensure_shape(index, [None, 2])
        names = ("queries", "keys", "values")
        return {name: tf.gather_nd(forward[name], index, batch_dims=1) for name in names}

    def _describe(
        self, source_ids: tf.Tensor, target_ids: tf.Tensor, values: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Outputs of `attend` but the translation, padded with empty strings and zeros.

        `values (B, placeholders)` holds the value of each placeholder.
        """
        forward = self._forward(source_ids, target_ids)
        distributions = tf.nn.softmax(tf.cast(forward.logits, tf.float32))  # (B, T, V)
        alternatives, likelihoods = teacher_forcing.likeliest_tokens(
            distributions, source_ids, target_ids, *self._of_alternatives
        )
        probabilities = tf.gather(distributions, target_ids, batch_dims=2)
        return {
            "source_pieces": _pieces(self._source, source_ids, values),
            "target_pieces": _pieces(self._target, target_ids, values),
            "probabilities": tf.where(tf.equal(target_ids, PAD_ID), 0.0, probabilities),
            "alternatives": _pieces(self._target, alternatives, values),
            "alternative_probabilities": likelihoods,
            "weights": forward.cross,
            "encoder_weights": forward.encoder,
            "decoder_weights": forward.decoder,
        }


def _in_groups(function: Callable, inputs: list[tf.TensorSpec]) -> Callable[..., Any]:
    """Function of ids of both sides and other inputs, computed in groups of rows."""
    graph = tf.function(function, inputs, autograph=False)

    def call(*inputs: tf.Tensor) -> Any:
        outputs = tf.nest.map_structure(
            lambda spec: tf.TensorSpec(spec.shape[1:], spec.dtype),
            graph.get_concrete_function().structured_outputs,
        )
        positions = tf.maximum(*(tf.shape(ids)[1] for ids in inputs[:2]))
        return in_groups(graph, inputs, positions, outputs)

    return call


def _pieces(tokenizer: GraphTokenizer, ids: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
    """Piece of each id, with values in place of placeholders; empty for padding."""
    pieces = tf.where(tf.equal(ids, PAD_ID), "", tokenizer.id_to_string(ids))
    of_row = [-1] + [1] * (ids.shape.rank - 1)
    for number, placeholder in enumerate(PLACEHOLDERS):
        value = tf.reshape(values[:, number], of_row)
        pieces = tf.where(tf.equal(pieces, placeholder), value, pieces)
    return pieces
