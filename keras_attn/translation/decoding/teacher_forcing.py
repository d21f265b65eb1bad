"""Teacher forcing: log probabilities, attention weights and alternatives of given translations.

Ids of sources `(B, S)` and of targets `(B, T)` end with EOS and are padded with 0.
"""

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

from keras_attn.layers.dot_product import Inputs
from keras_attn.layers.transformer import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.decoding.constraints import (
    Constraints,
    length_limits,
    length_minimums,
    num_tokens,
)
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID


def log_probabilities(
    model: Transformer, source_ids: tf.Tensor, target_ids: tf.Tensor
) -> tf.Tensor:
    """Log probabilities of complete translations, EOS included, `(B,)`.

    `log p(y | x) = sum_t log p(y_t | y_<t, x)` (Sutskever et al. 2014, section 2).
    """
    logits = model((source_ids, decoder_inputs(target_ids)), training=False)
    return log_probabilities_of(logits, target_ids)


def log_probabilities_of(logits: tf.Tensor, target_ids: tf.Tensor) -> tf.Tensor:
    """Log probabilities `(B,)` of complete translations, from the logits `(B, T, V)`."""
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=target_ids, logits=tf.cast(logits, tf.float32)
    )
    return -tf.reduce_sum(tf.where(tf.equal(target_ids, PAD_ID), 0.0, losses), axis=1)


class Forward(NamedTuple):
    """Logits, and float32 attention weights with 0 for padding, under given translations."""

    logits: tf.Tensor  # (B, T, V): of the tokens at each position
    cross: tf.Tensor  # (B, layers, H, T, S): cross-attention
    encoder: tf.Tensor  # (B, layers, H, S, S): self-attention of the encoder
    # (B, layers, H, T, T): self-attention of the decoder. The keys are the inputs of the decoder:
    # BOS, then the pieces before the last.
    decoder: tf.Tensor
    # Of cross-attention; its scores are `queries @ keys^T / sqrt(K)`.
    queries: tf.Tensor  # (B, layers, H, T, K)
    keys: tf.Tensor  # (B, layers, H, S, K)
    values: tf.Tensor  # (B, layers, H, S, V)


def forward_with_attention(
    model: Transformer, source_ids: tf.Tensor, target_ids: tf.Tensor
) -> Forward:
    """Results of one pass of the model under given translations."""
    observed: list[Inputs] = []
    asked = {"training": False, "return_attention_scores": True}
    memory, of_encoder = model.encoder(source_ids, **asked)
    mask = model.encoder.compute_mask(source_ids)
    logits, of_decoder = model.decoder(
        decoder_inputs(target_ids), memory, memory_mask=mask, observe=observed.append, **asked
    )

    def stacked(found: Sequence[tf.Tensor], ids: tf.Tensor) -> tf.Tensor:
        """`(B, layers, H, ids, ...)` of `(B, H, ids, ...)` by layer; the heads may be groups."""
        x = tf.cast(tf.stack(found, axis=1), tf.float32)
        x = tf.repeat(x, model.decoder.num_heads // x.shape[2], axis=2)
        return tf.where(tf.not_equal(ids, PAD_ID)[:, None, None, :, None], x, 0.0)

    def weights(of_blocks: dict[str, tf.Tensor], layer: str, ids: tf.Tensor) -> tf.Tensor:
        return stacked([x for name, x in of_blocks.items() if name.endswith(f"/{layer}")], ids)

    queries, keys, values = ([one[i] for one in observed] for i in range(3))
    return Forward(
        logits,
        weights(of_decoder, "cross_attention", target_ids),
        weights(of_encoder, "self_attention", source_ids),
        weights(of_decoder, "self_attention", target_ids),
        stacked(queries, target_ids) * queries[0].shape[-1] ** 0.5,  # without the scale
        stacked(keys, source_ids),
        stacked(values, source_ids),
    )


def likeliest_tokens(
    probabilities: tf.Tensor,
    source_ids: tf.Tensor,
    target_ids: tf.Tensor,
    config: Config,
    number: int,
    placeholder_ids: tuple[int, ...] = (),
) -> tuple[tf.Tensor, tf.Tensor]:
    """Likeliest tokens that a search allows, of `probabilities (B, T, V)`.

    Returns the `number` likeliest ids at each position, int32 `(B, T, number)`, and their
    probabilities, not renormalised. Both are 0 for padding and where fewer tokens are allowed. The
    constraint against repeated n-grams is not applied.
    """
    constraints = Constraints.of(config, placeholder_ids)
    lengths = num_tokens(source_ids)
    limits = length_limits(lengths, config)
    minimums = length_minimums(lengths, limits, config)
    position = tf.range(tf.shape(target_ids)[1])[:, None]
    can_end, must_end = (position >= limit[:, None, None] for limit in (minimums, limits))
    uses = tf.cast(target_ids[..., None] == tf.constant(placeholder_ids, tf.int32), tf.int32)
    is_used = tf.cumsum(uses, axis=1, exclusive=True) > 0  # (B, T, P)
    left = constraints.placeholders_of(source_ids)[:, None] & ~is_used
    mask = constraints.is_forbidden(probabilities.shape[-1], can_end, must_end, left)
    mask = mask | tf.equal(target_ids, PAD_ID)[..., None]
    highest, found = tf.math.top_k(tf.where(mask, 0.0, probabilities), number)
    return tf.where(highest > 0, found, PAD_ID), highest


def decoder_inputs(target_ids: tf.Tensor) -> tf.Tensor:
    """Decoder inputs for the labels `target_ids`: BOS first, no EOS."""
    begin = tf.fill([tf.shape(target_ids)[0], 1], BOS_ID)
    pieces = tf.where(tf.equal(target_ids, EOS_ID), PAD_ID, target_ids)
    return tf.concat([begin, pieces], axis=1)[:, : tf.shape(target_ids)[1]]
