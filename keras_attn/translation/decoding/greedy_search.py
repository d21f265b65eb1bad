"""Greedy search in the graph."""

from typing import Any

import tensorflow as tf

from keras_attn.translation.decoding.beam_search import BeamSearch, LengthPenalty
from keras_attn.translation.decoding.beams import Beam, Hypotheses, Rows
from keras_attn.translation.decoding.candidates import best_token
from keras_attn.translation.decoding.constraints import NEG_INF, Constraints
from keras_attn.translation.decoding.steps import Step
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID


class GreedySearch(BeamSearch):
    """Search with one hypothesis, which takes the best token until that is EOS.

    It finds what `BeamSearch` finds with a beam of 1 and no length penalty, in a third of its
    operations: there are no ancestors, no other finished hypotheses and no candidates to sort.
    """

    def __init__(self, step: Step, constraints: Constraints):
        super().__init__(step, 1, LengthPenalty(0.0), constraints)

    def _start(self, cache: Any, rows: Rows) -> Beam:
        beam = super()._start(cache, rows)
        return beam._replace(ancestors=(), finished=())

    def _found(self, beam: Beam) -> Hypotheses:
        scores = tf.where(beam.done[:, None], beam.log_probs, NEG_INF)
        return Hypotheses(tf.where(tf.math.is_inf(scores)[..., None], PAD_ID, beam.tokens), scores)

    def _extend(self, rows: Rows, beam: Beam) -> Beam:
        places = tf.range(tf.shape(beam.tokens)[-1])  # (C,)
        newest = beam.tokens[:, :, tf.maximum(beam.step - 1, 0)]
        last = tf.where(beam.step > 0, newest, BOS_ID)
        ancestors = tf.where(places <= beam.step, 0, -1)[None, None]
        logits, cache = self._step(last, beam.step, ancestors, beam.cache, rows.memory)
        token, log_prob = best_token(rows, beam, logits, self._constraints)
        total = beam.log_probs + log_prob[:, None]
        done = beam.done | (token == EOS_ID) | tf.math.is_inf(total[:, 0])
        said = tf.where(done, PAD_ID, token)[:, None, None]
        return beam._replace(
            step=beam.step + 1,
            tokens=tf.where(places == beam.step, said, beam.tokens),
            log_probs=tf.where(beam.done[:, None], beam.log_probs, total),
            placeholders_left=beam.placeholders_left
            & (said != tf.constant(self._constraints.placeholder_ids, tf.int32)),
            done=done,
            cache=cache,
        )
