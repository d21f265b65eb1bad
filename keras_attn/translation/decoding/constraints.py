"""Constraints on translations: length, forbidden tokens, placeholders, repetition and a prefix."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from keras_attn.translation.config import Config
from keras_attn.translation.decoding.steps import Step
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID, UNK_ID

NEG_INF = float("-inf")  # log probability of a token that must not come next
# Ids that no translation contains: the model is never trained to generate them.
FORBIDDEN_IDS = (PAD_ID, UNK_ID, BOS_ID)


class Constraints(NamedTuple):
    """Constraints on the tokens of a translation, the same for all rows."""

    forbidden_ids: tuple[int, ...] = FORBIDDEN_IDS
    # Consecutive ids that a translation has once if its source has them, and never otherwise.
    placeholder_ids: tuple[int, ...] = ()
    no_repeat_ngram: int = 0  # size of n-grams that a translation must not repeat; 0 for none
    # Whether EOS has probability 1 after the last token that the maximum length allows.
    forced_eos: bool = False

    @classmethod
    def of(cls, config: Config, placeholder_ids: tuple[int, ...]) -> Constraints:
        """Constraints of a configuration."""
        # No translation is long enough to repeat a longer n-gram.
        ngram = config.no_repeat_ngram if config.no_repeat_ngram < config.max_length else 0
        forbidden = FORBIDDEN_IDS if not config.allow_unk else (PAD_ID, BOS_ID)
        return cls(forbidden, placeholder_ids, ngram, config.forced_eos)

    def is_forbidden(
        self, size: int, can_end: tf.Tensor, must_end: tf.Tensor, placeholders_left: tf.Tensor
    ) -> tf.Tensor:
        """Mask of the first `size` ids, `(B, K, size)`, True for those that must not come next.

        `can_end` and `must_end`, boolean `(B, K, 1)`, are whether EOS is allowed, and whether only
        EOS is. `placeholders_left (B, K, P)` are those that must come before EOS.
        """
        ids = tf.range(size)
        is_end = ids == EOS_ID
        can_end = can_end & ~tf.reduce_any(placeholders_left, axis=-1, keepdims=True) | must_end
        mask = tf.reduce_any(ids[:, None] == tf.constant(self.forbidden_ids), axis=-1)
        mask = mask | (is_end & ~can_end) | (~is_end & must_end)
        if self.placeholder_ids:
            around = [self.placeholder_ids[0], size - self.placeholder_ids[-1] - 1]
            mask = mask | tf.pad(~placeholders_left, [[0, 0], [0, 0], around])
        return mask

    def placeholders_of(self, source_ids: tf.Tensor) -> tf.Tensor:
        """Whether each source has each placeholder, boolean `(B, P)`."""
        ids = tf.constant(self.placeholder_ids, tf.int32)
        return tf.reduce_any(source_ids[:, None] == ids[:, None], axis=-1)


def num_tokens(ids: tf.Tensor) -> tf.Tensor:
    """Number of tokens of each row without padding, int32 `(B,)`."""
    return tf.reduce_sum(tf.cast(tf.not_equal(ids, PAD_ID), tf.int32), axis=1)


def length_limits(num_source_tokens: tf.Tensor, config: Config) -> tf.Tensor:
    """Maximum length of each translation, EOS not counted, int32 `(B,)`.

    It follows from the length of the sentence, so no translation depends on the rest of a batch.
    """
    extra = min(config.max_length_extra, config.max_length)
    longest = _share(num_source_tokens, config.max_length_ratio, config.max_length)
    return tf.minimum(longest + extra, config.max_length)


def length_minimums(num_source_tokens: tf.Tensor, limits: tf.Tensor, config: Config) -> tf.Tensor:
    """Minimum length of each translation, EOS not counted, at most `limits`, int32 `(B,)`."""
    shortest = _share(num_source_tokens, config.min_length_ratio, config.max_length)
    if not config.allow_empty:  # unless the source has no token but EOS
        shortest = tf.maximum(shortest, tf.cast(num_source_tokens > 1, tf.int32))
    return tf.minimum(shortest, limits)


def _share(num_source_tokens: tf.Tensor, ratio: float, most: int) -> tf.Tensor:
    """`ratio` times the source, at most `most`, which is applied first: int32 would overflow."""
    share = min(ratio, most) * tf.cast(num_source_tokens, tf.float32)
    return tf.cast(tf.minimum(share, most), tf.int32)


def repetitions(tokens: tf.Tensor, step: tf.Tensor, n: int) -> tf.Tensor:
    """Token that would repeat the n-gram at each start, or `PAD_ID`, int32 `(B, K, starts)`.

    Hypotheses are `tokens (B, K, C)`, each of `step` tokens and padded at the end.
    """
    num_starts = tf.maximum(tf.shape(tokens)[-1] - n + 1, 0)
    starts = tf.range(num_starts)
    ahead = tf.range(n - 1)
    # The last n-1 tokens, and the first n-1 tokens of the n-gram at each start.
    recent = tf.gather(tokens, tf.maximum(step - (n - 1) + ahead, 0), axis=2)  # (B, K, n-1)
    before = tf.gather(tokens, starts[:, None] + ahead, axis=2)  # (B, K, starts, n-1)
    repeats = tf.reduce_all(before == recent[:, :, None], axis=-1) & (starts + n - 1 < step)
    return tf.where(repeats, tokens[:, :, n - 1 : n - 1 + num_starts], PAD_ID)


def prefix_constrained(step: Step, prefix: tf.Tensor, limits: tf.Tensor) -> Step:
    """Return a step after which only the next token of a prefix `(B, P)` is possible.

    The token keeps its probability: padding, which no hypothesis has, gets that of all others. Ids
    of the prefix beyond `limits` have no effect. For `BeamSearch.with_static_shapes`.
    """
    places = tf.range(tf.shape(prefix)[1])
    # One column more, so that there is padding after the prefix.
    given = tf.pad(tf.where(places < limits[:, None], prefix, PAD_ID), [[0, 0], [0, 1]])

    def constrained(
        last: tf.Tensor, position: tf.Tensor, ancestors: tf.Tensor, cache: Any, memory: Any
    ) -> tuple[tf.Tensor, Any]:
        logits, cache = step(last, position, ancestors, cache, memory)
        logits = tf.cast(logits, tf.float32)  # (B, K, V)
        token = given[:, tf.minimum(position, tf.shape(given)[1] - 1)][:, None, None]
        ids = tf.range(logits.shape[-1])
        others = tf.where(ids == token, NEG_INF, logits)
        others = tf.reduce_logsumexp(others, axis=-1, keepdims=True)  # (B, K, 1)
        only = tf.where(ids == token, logits, tf.where(ids == PAD_ID, others, NEG_INF))
        return tf.where(token == PAD_ID, logits, only), cache

    return constrained
