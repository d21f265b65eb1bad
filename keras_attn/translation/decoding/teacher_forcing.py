"""Teacher forcing: log probabilities and attention weights of given translations."""

from __future__ import annotations

import inspect
from typing import NamedTuple

import tensorflow as tf

from keras_attn.layers.transformer import Transformer
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID


def log_probabilities(
    model: Transformer, source_ids: tf.Tensor, target_ids: tf.Tensor
) -> tf.Tensor:
    """Log probabilities (natural logarithm) of complete translations, EOS included.

    `log p(y | x) = sum_t log p(y_t | y_<t, x)` (Sutskever et al. 2014, section 2).

    Args:
        model: Trained model.
        source_ids: Piece ids with EOS, int32 `(B, S)`, padded with id 0.
        target_ids: Piece ids with EOS, int32 `(B, T)`, padded with id 0.

    Returns:
        float32 `(B,)`.
    """
    logits = model((source_ids, _shifted(target_ids)), training=False)
    return log_probabilities_of(logits, target_ids)


def log_probabilities_of(logits: tf.Tensor, target_ids: tf.Tensor) -> tf.Tensor:
    """Log probabilities of complete translations, from the logits at each position.

    Args:
        logits: Logits of the tokens at each position, `(B, T, V)`.
        target_ids: See `log_probabilities`.

    Returns:
        float32 `(B,)`.
    """
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=target_ids, logits=tf.cast(logits, tf.float32)
    )
    return -tf.reduce_sum(tf.where(tf.equal(target_ids, PAD_ID), 0.0, losses), axis=1)


def gives_attention(model: Transformer) -> bool:
    """Whether the model can return attention weights; a subclass may not."""
    return "return_attention_scores" in inspect.signature(model.call).parameters


class Reading(NamedTuple):
    """Computations of a model that reads given translations.

    Attributes:
        logits: Logits of the tokens at each position, `(B, T, V)`.
        cross: Cross-attention weights, float32 `(B, layers, H, T, S)`; 0 for padding. None if the
            model returns none; so are the other weights.
        encoder: Weights of the self-attention of the encoder, float32 `(B, layers, H, S, S)`.
        decoder: Weights of the self-attention of the decoder, float32 `(B, layers, H, T, T)`. The
            keys are the inputs of the decoder: BOS, then the pieces before the last.
    """

    logits: tf.Tensor
    cross: tf.Tensor | None
    encoder: tf.Tensor | None
    decoder: tf.Tensor | None


def read(model: Transformer, source_ids: tf.Tensor, target_ids: tf.Tensor) -> Reading:
    """Logits and attention weights under given translations, from one forward pass.

    A model whose `call` returns no attention weights has logits only.

    Args:
        model: Trained model.
        source_ids: Piece ids with EOS, int32 `(B, S)`, padded with id 0.
        target_ids: Piece ids with EOS, int32 `(B, T)`, padded with id 0.
    """
    sides = (source_ids, _shifted(target_ids))
    if not gives_attention(model):
        return Reading(model(sides, training=False), None, None, None)
    logits, weights = model(sides, training=False, return_attention_scores=True)

    def stacked(stack: str, layer: str, query_ids: tf.Tensor) -> tf.Tensor | None:
        found = [weights.get(f"{block}/{layer}") for block in _blocks(model, stack)]
        if any(one is None for one in found):
            return None
        is_piece = tf.not_equal(query_ids, PAD_ID)[:, None, None, :, None]
        return tf.where(is_piece, tf.cast(tf.stack(found, axis=1), tf.float32), 0.0)

    return Reading(
        logits,
        stacked("decoder", "cross_attention", target_ids),
        stacked("encoder", "self_attention", source_ids),
        stacked("decoder", "self_attention", target_ids),
    )


def _blocks(model: Transformer, stack: str) -> list[str]:
    num_layers = getattr(model, stack).num_layers
    return [f"{stack}/block_{i}" for i in range(num_layers)]


def _shifted(target_ids: tf.Tensor) -> tf.Tensor:
    """Decoder inputs for the labels `target_ids`: BOS first, no EOS."""
    begin = tf.fill([tf.shape(target_ids)[0], 1], BOS_ID)
    pieces = tf.where(tf.equal(target_ids, EOS_ID), PAD_ID, target_ids)
    return tf.concat([begin, pieces], axis=1)[:, : tf.shape(target_ids)[1]]
