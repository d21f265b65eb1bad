"""Best candidates for the next hypotheses of a beam: each hypothesis and each next token."""

import tensorflow as tf

from keras_attn.translation.decoding.beams import Beam, Rows
from keras_attn.translation.decoding.constraints import NEG_INF, Constraints, repetitions
from keras_attn.translation.special_ids import EOS_ID, PAD_ID

# Tokens of a chunk of the vocabulary. The first chunk holds the special ids and the placeholders.
CHUNK = 64


def best_candidates(
    rows: Rows,
    beam: Beam,
    logits: tf.Tensor,
    number: int,
    constraints: Constraints,
    can_omit_scores: bool,
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Log probabilities, parents and tokens of the best candidates, `(B, number)`, best first.

    The vocabulary is divided into chunks. The best candidates are in the chunks with the highest
    maxima, so only these chunks are sorted. The first chunk of each hypothesis is always included,
    because constraints apply to its tokens.

    With `can_omit_scores`, the logits `(B, K, V)` of the next tokens decide as log probabilities
    do: candidates extend one hypothesis and have no length penalty.
    """
    logits = _in_chunks(tf.cast(logits, tf.float32))  # (B, K, N, CHUNK)
    batch_size, (beam_size, num_chunks) = tf.shape(logits)[0], logits.shape[1:3]
    highest = tf.reduce_max(logits, axis=-1)  # (B, K, N)
    if can_omit_scores:  # the maximum of the logits keeps sums small
        normalizer = tf.cond(
            rows.scored,
            lambda: _log_sum_exp(logits, highest),
            lambda: tf.reduce_max(highest, axis=-1),
        )
    else:
        normalizer = _log_sum_exp(logits, highest)
    # A loop forgets the size of the beam.
    log_probs = tf.ensure_shape(beam.log_probs - normalizer, [None, beam_size])
    if constraints.no_repeat_ngram:
        logits, highest = _without_repetitions(logits, highest, beam, constraints.no_repeat_ngram)
    firsts = tf.tile(tf.range(beam_size)[None], [batch_size, 1])
    parent, chunk = _best_chunks(highest[:, :, 1:] + log_probs[..., None], number)
    parent = tf.concat([firsts, parent], axis=1)
    chunk = tf.concat([tf.zeros_like(firsts), chunk + 1], axis=1)

    index = (tf.range(batch_size)[:, None] * beam_size + parent) * num_chunks + chunk
    totals = tf.gather(tf.reshape(logits, [-1, CHUNK]), index)
    totals = totals + tf.gather(log_probs, parent, batch_dims=1)[..., None]
    can_end = (rows.minimums <= beam.step)[:, None, None]
    must_end = (rows.limits <= beam.step)[:, None, None]
    first, others = totals[:, :beam_size], tf.where(must_end, NEG_INF, totals[:, beam_size:])
    if constraints.forced_eos:
        is_forced = must_end & (tf.range(CHUNK) == EOS_ID)
        first = tf.where(is_forced, beam.log_probs[..., None], first)
    mask = constraints.is_forbidden(CHUNK, can_end, must_end, beam.placeholders_left)
    totals = tf.concat([tf.where(mask, NEG_INF, first), others], axis=1)
    totals = tf.reshape(totals, tf.stack([batch_size, tf.shape(chunk)[1] * CHUNK]))
    totals, best = tf.math.top_k(totals, number)
    parent, chunk = (tf.gather(x, best // CHUNK, batch_dims=1) for x in (parent, chunk))
    return totals, parent, chunk * CHUNK + best % CHUNK


def _in_chunks(logits: tf.Tensor) -> tf.Tensor:
    """Reshape logits `(B, K, V)` to `(B, K, N, CHUNK)`, padded with -inf at the end."""
    missing = -logits.shape[-1] % CHUNK
    if missing:
        logits = tf.pad(logits, [[0, 0], [0, 0], [0, missing]], constant_values=NEG_INF)
    beam_size, num_chunks = logits.shape[1], logits.shape[2] // CHUNK
    return tf.reshape(logits, tf.stack([tf.shape(logits)[0], beam_size, num_chunks, CHUNK]))


def _log_sum_exp(logits: tf.Tensor, highest: tf.Tensor) -> tf.Tensor:
    """Logarithm of the sum of the exponentials of all logits of a hypothesis, float32 `(B, K)`.

    Computed from the softmax of the likeliest token: `tf.nn.softmax` is the only pass over all
    tokens for which TensorFlow makes no intermediate copy.
    """
    shape = tf.shape(logits)
    chunk = tf.argmax(highest, axis=-1, output_type=tf.int32)[..., None]  # (B, K, 1)
    token = tf.argmax(tf.gather(logits, chunk, batch_dims=2), axis=-1, output_type=tf.int32)
    likeliest = tf.reshape(chunk * CHUNK + token, [-1])  # (B * K,)
    flat = tf.reshape(logits, tf.stack([shape[0] * shape[1], shape[2] * CHUNK]))
    probability = tf.gather(tf.nn.softmax(flat), likeliest, batch_dims=1)
    return tf.reduce_max(highest, axis=-1) - tf.math.log(tf.reshape(probability, shape[:2]))


def _without_repetitions(
    logits: tf.Tensor, highest: tf.Tensor, beam: Beam, n: int
) -> tuple[tf.Tensor, tf.Tensor]:
    """Logits and maxima of the chunks, with -inf for tokens that would repeat an n-gram."""
    tokens = repetitions(beam.tokens, beam.step, n)  # (B, K, starts)

    def forbid() -> tuple[tf.Tensor, tf.Tensor]:
        shape = tf.shape(tokens)
        flat = tf.reshape(logits, tf.stack([shape[0] * shape[1], logits.shape[2] * CHUNK]))
        ids = tf.reshape(tokens, tf.stack([shape[0] * shape[1], shape[2]]))
        index = tf.broadcast_to(tf.range(tf.shape(ids)[0])[:, None], tf.shape(ids))
        places = tf.stack([index, ids], axis=-1)
        flat = tf.tensor_scatter_nd_min(flat, places, tf.fill(tf.shape(ids), NEG_INF))
        allowed = tf.ensure_shape(tf.reshape(flat, tf.shape(logits)), logits.shape)
        return allowed, tf.reduce_max(allowed, axis=-1)

    # Most steps repeat nothing; they do not copy the logits.
    return tf.cond(tf.reduce_any(tokens != PAD_ID), forbid, lambda: (logits, highest))


def _best_chunks(highest: tf.Tensor, number: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Parents and chunks of the `number` highest maxima `(B, K, N)`, or of all if there are fewer.

    The `number` best tokens of all chunks are in these chunks.
    """
    beam_size, num_chunks = highest.shape[1:]
    flat = tf.reshape(highest, tf.stack([tf.shape(highest)[0], beam_size * num_chunks]))
    _, best = tf.math.top_k(flat, min(number, beam_size * num_chunks))
    # Without chunks `best` is empty; `max` avoids a division by 0.
    return best // max(num_chunks, 1), best % max(num_chunks, 1)
