"""Best candidates for the next hypotheses of a beam: each hypothesis and each next token."""

import tensorflow as tf

from keras_attn.translation.decoding.beams import Beam, Rows
from keras_attn.translation.decoding.constraints import NEG_INF, Constraints, repetitions
from keras_attn.translation.special_ids import EOS_ID, PAD_ID

# Tokens of a chunk of the vocabulary. The first chunk holds the special ids and the placeholders.
CHUNK = 64


def best_candidates(
    rows: Rows, beam: Beam, logits: tf.Tensor, number: int, constraints: Constraints
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Log probabilities, parents and tokens of the best candidates, `(B, number)`, best first.

    The best candidates are in the chunks of the vocabulary with the highest maxima, so only these
    are sorted. Constraints apply to the first chunk, so it is always included.
    """
    logits, highest = _in_chunks(logits)
    batch_size, beam_size, num_chunks = tf.shape(highest)[0], highest.shape[1], _size(highest, 2)
    # A loop forgets the size of the beam.
    log_probs = tf.ensure_shape(beam.log_probs - _log_sum_exp(logits, highest), [None, beam_size])
    if constraints.no_repeat_ngram:
        logits, highest = _without_repetitions(logits, highest, beam, constraints.no_repeat_ngram)
    firsts = tf.tile(tf.range(beam_size)[None], [batch_size, 1])
    parent, chunk = _best_chunks(highest[:, :, 1:] + log_probs[..., None], number)
    parent = tf.concat([firsts, parent], axis=1)
    chunk = tf.concat([tf.zeros_like(firsts), chunk + 1], axis=1)

    index = (tf.range(batch_size)[:, None] * beam_size + parent) * num_chunks + chunk
    totals = tf.gather(tf.reshape(logits, [-1, CHUNK]), index)
    totals = totals + tf.gather(log_probs, parent, batch_dims=1)[..., None]
    mask, must_end = _constraints_of(rows, beam, constraints)
    first, others = totals[:, :beam_size], tf.where(must_end, NEG_INF, totals[:, beam_size:])
    if constraints.forced_eos:
        is_forced = must_end & (tf.range(CHUNK) == EOS_ID)
        first = tf.where(is_forced, beam.log_probs[..., None], first)
    totals = tf.concat([tf.where(mask, NEG_INF, first), others], axis=1)
    totals = tf.reshape(totals, [-1, chunk.shape[1] * CHUNK])
    totals, best = tf.math.top_k(totals, number)
    parent, chunk = (tf.gather(x, best // CHUNK, batch_dims=1) for x in (parent, chunk))
    return totals, parent, chunk * CHUNK + best % CHUNK


def best_token(
    rows: Rows, beam: Beam, logits: tf.Tensor, constraints: Constraints
) -> tuple[tf.Tensor, tf.Tensor]:
    """Best token and its log probability, `(B,)`, after a single hypothesis of each row.

    Without `rows.scored`, the logit takes the place of the log probability.
    """
    logits, highest = _in_chunks(logits)
    normalizer = tf.cond(
        rows.scored,
        lambda: _log_sum_exp(logits, highest)[:, 0],
        lambda: tf.zeros_like(beam.log_probs[:, 0]),
    )
    if constraints.no_repeat_ngram:
        logits, highest = _without_repetitions(logits, highest, beam, constraints.no_repeat_ngram)
    mask, must_end = _constraints_of(rows, beam, constraints)
    first = tf.where(mask[:, 0], NEG_INF, logits[:, 0, 0])
    chunk = tf.argmax(highest[:, 0, 1:], axis=1, output_type=tf.int32) + 1
    other = tf.where(must_end[:, 0], NEG_INF, tf.gather(logits[:, 0], chunk, batch_dims=1))
    both = tf.concat([first, other], axis=1)
    best = tf.argmax(both, axis=1, output_type=tf.int32)
    token = tf.where(best < CHUNK, best, (chunk - 1) * CHUNK + best)
    log_prob = tf.reduce_max(both, axis=1) - normalizer
    return token, tf.where(must_end[:, 0, 0], 0.0, log_prob) if constraints.forced_eos else log_prob


def _constraints_of(
    rows: Rows, beam: Beam, constraints: Constraints
) -> tuple[tf.Tensor, tf.Tensor]:
    """Mask of the first chunk `(B, K, CHUNK)`, and whether only EOS may come, `(B, 1, 1)`."""
    can_end = (rows.minimums <= beam.step)[:, None, None]
    must_end = (rows.limits <= beam.step)[:, None, None]
    return constraints.is_forbidden(CHUNK, can_end, must_end, beam.placeholders_left), must_end


def _in_chunks(logits: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Logits `(B, K, V)` as float32 `(B, K, N, CHUNK)`, and the maximum of each chunk.

    There are at least two chunks, the last padded with -inf. Logits of a shortlist have whole
    chunks.
    """
    logits = tf.cast(logits, tf.float32)
    _, beam_size, vocab_size = logits.shape
    if vocab_size is not None:
        missing = max(-(-vocab_size // CHUNK), 2) * CHUNK - vocab_size
        if missing:
            logits = tf.pad(logits, [[0, 0], [0, 0], [0, missing]], constant_values=NEG_INF)
    logits = tf.reshape(logits, [-1, beam_size, _size(logits, 2) // CHUNK, CHUNK])
    return logits, tf.reduce_max(logits, axis=-1)


def _log_sum_exp(logits: tf.Tensor, highest: tf.Tensor) -> tf.Tensor:
    """Logarithm of the sum of the exponentials of all logits of a hypothesis, float32 `(B, K)`.

    From the softmax of the likeliest token, because `tf.nn.softmax` makes no intermediate copy.
    """
    beam_size, num_chunks = highest.shape[1], _size(highest, 2)
    flat = tf.reshape(tf.nn.softmax(tf.reshape(logits, [-1, num_chunks * CHUNK])), [-1, CHUNK])
    chunk = tf.reshape(tf.argmax(highest, axis=-1, output_type=tf.int32), [-1])  # (B * K,)
    of_chunk = tf.gather(flat, tf.range(tf.size(chunk)) * num_chunks + chunk)
    probability = tf.reshape(tf.reduce_max(of_chunk, axis=-1), [-1, beam_size])
    return tf.reduce_max(highest, axis=-1) - tf.math.log(probability)


def _without_repetitions(
    logits: tf.Tensor, highest: tf.Tensor, beam: Beam, n: int
) -> tuple[tf.Tensor, tf.Tensor]:
    """Logits and maxima of the chunks, with -inf for tokens that would repeat an n-gram."""
    tokens = repetitions(beam.tokens, beam.step, n)  # (B, K, starts)

    def forbid() -> tuple[tf.Tensor, tf.Tensor]:
        flat = tf.reshape(logits, [-1, _size(logits, 2) * CHUNK])
        ids = tf.reshape(tokens, tf.stack([tf.shape(flat)[0], tf.shape(tokens)[2]]))
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
    beam_size, num_chunks = highest.shape[1], _size(highest, 2)
    flat = tf.reshape(highest, [-1, beam_size * num_chunks])
    if flat.shape[1] is not None:  # a small vocabulary
        number = min(number, flat.shape[1])
    _, best = tf.math.top_k(flat, number)
    return best // num_chunks, best % num_chunks


def _size(x: tf.Tensor, axis: int) -> int | tf.Tensor:
    """Size of an axis, an integer if the graph knows it."""
    return tf.shape(x)[axis] if x.shape[axis] is None else x.shape[axis]
