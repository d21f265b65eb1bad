"""Teacher forcing: log probabilities and attention weights of given translations."""

from __future__ import annotations

import tensorflow as tf

from keras_attn.transformer import Transformer
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
    logits = model((source_ids, _shifted(target_ids)), training=False)  # (B, T, V)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=target_ids, logits=tf.cast(logits, tf.float32)
    )
    return -tf.reduce_sum(tf.where(tf.equal(target_ids, PAD_ID), 0.0, losses), axis=1)


def attention_to_source(
    model: Transformer, source_ids: tf.Tensor, target_ids: tf.Tensor
) -> tf.Tensor:
    """Cross-attention weights of each piece of a given translation over the source.

    Args:
        model: Trained model.
        source_ids: Piece ids with EOS, int32 `(B, S)`, padded with id 0.
        target_ids: Piece ids with EOS, int32 `(B, T)`, padded with id 0.

    Returns:
        Cross-attention weights, float32 `(B, layers, H, T, S)`; 0 for padding.
    """
    _, weights = model(
        (source_ids, _shifted(target_ids)), training=False, return_attention_scores=True
    )
    layers = [f"decoder/block_{i}/cross_attention" for i in range(model.decoder.num_layers)]
    stacked = tf.stack([weights[layer] for layer in layers], axis=1)
    is_piece = tf.not_equal(target_ids, PAD_ID)[:, None, None, :, None]
    return tf.where(is_piece, tf.cast(stacked, tf.float32), 0.0)


def _shifted(target_ids: tf.Tensor) -> tf.Tensor:
    """Decoder inputs for the labels `target_ids`: BOS first, no EOS."""
    begin = tf.fill([tf.shape(target_ids)[0], 1], BOS_ID)
    pieces = tf.where(tf.equal(target_ids, EOS_ID), PAD_ID, target_ids)
    return tf.concat([begin, pieces], axis=1)[:, : tf.shape(target_ids)[1]]
