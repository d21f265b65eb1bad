"""Pieces, attention weights and probabilities of a translation: outputs of three signatures."""

from functools import partial

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

    A call takes ids with EOS, int32 `(B, S)` and `(B, T)`, padded with id 0, and the value of each
    placeholder, strings `(B, placeholders)`. It returns the outputs of the signature `attend` but
    the translation; pieces are padded with empty strings, weights with zeros.
    """

    def __init__(
        self,
        model: Transformer,
        config: Config,
        source: GraphTokenizer,
        target: GraphTokenizer,
        placeholder_ids: tuple[int, ...],
    ):
        self._config = config
        self._source, self._target = source, target
        self._placeholder_ids = placeholder_ids
        ids = tf.TensorSpec((None, None), tf.int32)
        # `tf.function`, so that the signatures of a SavedModel share one graph of the model.
        graph = partial(tf.function, autograph=False)
        self._forward = graph(
            partial(teacher_forcing.forward_with_attention, model), input_signature=[ids, ids]
        )
        values = tf.TensorSpec((None, None), tf.string)
        self._describe = graph(self._outputs, input_signature=[ids, ids, values])

    def __call__(
        self, source_ids: tf.Tensor, target_ids: tf.Tensor, values: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        outputs = tf.nest.map_structure(
            lambda spec: tf.TensorSpec(spec.shape[1:], spec.dtype),
            self._describe.get_concrete_function().structured_outputs,
        )
        positions = tf.maximum(tf.shape(source_ids)[1], tf.shape(target_ids)[1])
        return in_groups(self._describe, (source_ids, target_ids, values), positions, outputs)

    def log_probabilities(self, source_ids: tf.Tensor, target_ids: tf.Tensor) -> tf.Tensor:
        """Log probability of each translation, float32 `(B,)`."""

        def compute(source_ids: tf.Tensor, target_ids: tf.Tensor) -> tf.Tensor:
            logits = self._forward(source_ids, target_ids).logits
            return teacher_forcing.log_probabilities_of(logits, target_ids)

        positions = tf.maximum(tf.shape(source_ids)[1], tf.shape(target_ids)[1])
        output = tf.TensorSpec([], tf.float32)
        return in_groups(compute, (source_ids, target_ids), positions, output)

    def head(
        self, source_ids: tf.Tensor, target_ids: tf.Tensor, layer: tf.Tensor, head: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Queries `(B, T, K)`, keys `(B, S, K)` and values `(B, S, V)` of one cross-attention head.

        `layer (B,)` and `head (B,)` are counted from 0.
        """

        def of_head(
            source_ids: tf.Tensor, target_ids: tf.Tensor, index: tf.Tensor
        ) -> dict[str, tf.Tensor]:
            forward = self._forward(source_ids, target_ids)
            return {
                name: tf.gather_nd(getattr(forward, name), index, batch_dims=1)
                for name in ("queries", "keys", "values")
            }

        inputs = (source_ids, target_ids, tf.stack([layer, head], axis=1))
        positions = tf.maximum(tf.shape(source_ids)[1], tf.shape(target_ids)[1])
        forward = self._forward.get_concrete_function().structured_outputs
        outputs = {
            name: tf.TensorSpec([None, getattr(forward, name).shape[-1]], tf.float32)
            for name in ("queries", "keys", "values")
        }
        return in_groups(of_head, inputs, positions, outputs)

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

    def _outputs(
        self, source_ids: tf.Tensor, target_ids: tf.Tensor, values: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        forward = self._forward(source_ids, target_ids)
        distributions = tf.nn.softmax(tf.cast(forward.logits, tf.float32))  # (B, T, V)
        alternatives, likelihoods = teacher_forcing.likeliest_tokens(
            distributions,
            source_ids,
            target_ids,
            self._config,
            NUM_ALTERNATIVES,
            self._placeholder_ids,
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


def _pieces(tokenizer: GraphTokenizer, ids: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
    """Piece of each id, with values in place of placeholders; empty for padding."""
    pieces = tf.where(tf.equal(ids, PAD_ID), "", tokenizer.id_to_string(ids))
    of_row = [-1] + [1] * (ids.shape.rank - 1)
    for number, placeholder in enumerate(PLACEHOLDERS):
        value = tf.reshape(values[:, number], of_row)
        pieces = tf.where(tf.equal(pieces, placeholder), value, pieces)
    return pieces
