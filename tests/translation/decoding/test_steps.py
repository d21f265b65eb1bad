import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_attn
from keras_attn import Decoder, Transformer
from keras_attn.translation.decoding.steps import (
    CachedSteps,
    WholePrefix,
    make_steps,
    write,
    write_in_place,
)
from keras_attn.translation.model import in_dtype
from keras_attn.translation.special_ids import BOS_ID, EOS_ID

SOURCES = np.array([[4, 9, EOS_ID, 0], [7, EOS_ID, 0, 0], [12, 5, 5, EOS_ID]], np.int32)


def strong(*sizes, **options):
    """A model with strong random weights."""
    model = Transformer.from_sizes(13, 11, *sizes, 12, 16, 2, **options)
    model.build(((None, None), (None, None)))
    random = np.random.default_rng(0)
    model.set_weights([random.normal(0, 0.6, w.shape) for w in model.get_weights()])
    return model


def begin(steps, sources, room):
    """Memory, and a cache with room."""
    memory = steps.encode(tf.constant(sources))
    cache = steps.make_cache(len(sources), memory)
    paddings = [[0, 0], [0, 0], [0, room], [0, 0]]
    return memory, tf.nest.map_structure(lambda part: tf.pad(part, paddings), cache)


def follow(steps, said, ancestors, sources=SOURCES, room=None):
    """Logits `(T, B, N, V)` of hypotheses that say `said (T, B, N)`."""
    room = room or len(said)
    memory, cache = begin(steps, sources, room)
    found = []
    for t in range(len(said)):
        seen = np.where(np.arange(room) <= t, ancestors[t], -1)
        logits, cache = steps.step(
            tf.constant(said[t]), tf.constant(t), tf.constant(seen, tf.int32), cache, memory
        )
        found.append(tf.cast(logits, tf.float32).numpy())
    return np.stack(found)


def hypotheses(num_steps=4, beam_size=2):
    """Tokens of hypotheses `(T, B, N)`, and ancestors of each at each step `(T, B, N, T)`."""
    random = np.random.default_rng(1)
    said = random.integers(4, 11, (num_steps, 3, beam_size)).astype(np.int32)
    said[0] = BOS_ID
    # Hypothesis k of step t goes on from hypothesis parents[t, b, k] of the step before.
    parents = random.integers(0, beam_size, (num_steps, 3, beam_size))
    ancestors = np.zeros((num_steps, 3, beam_size, num_steps), np.int32)
    for t, b, k in np.ndindex(num_steps, 3, beam_size):
        line = [k]
        for earlier in range(t, 0, -1):
            line.insert(0, parents[earlier, b, line[0]])
        ancestors[t, b, k, : t + 1] = line
    return said, ancestors


def expected_logits(model, said, ancestors):
    """Logits of the model for each whole hypothesis."""
    num_steps, batch_size, beam_size = said.shape
    found = np.zeros((num_steps, batch_size, beam_size, 11), np.float32)
    for t, k in np.ndindex(num_steps, beam_size):
        targets = [
            [said[i, b, ancestors[t, b, k, i]] for i in range(t + 1)] for b in range(batch_size)
        ]
        found[t, :, k] = model((SOURCES, np.array(targets)))[:, -1]
    return found


POSITIONS = {
    "sinusoidal": "sinusoidal",
    "learned": keras_attn.LearnedPositionalEncoding(8),
    "rotary": keras_attn.RotaryEmbedding(),
    "shaw": keras_attn.ShawRelativePosition(3),
    "t5": keras_attn.T5RelativeBias(8, 16),
    "alibi": keras_attn.AlibiBias(),
    "none": None,
}
FAST = [("sinusoidal", 2), ("rotary", 2), ("shaw", 1), ("t5", 2), ("none", 1)]


@pytest.mark.parametrize(
    ("position", "beam_size"),
    [
        pytest.param(name, size, marks=[] if (name, size) in FAST else [pytest.mark.slow])
        for name in POSITIONS
        for size in (1, 2)
    ],
)
def test_a_hypothesis_sees_its_ancestors_and_nobody_else(position, beam_size):
    model = strong(1, 2, position=POSITIONS[position], num_kv_heads=1)
    said, ancestors = hypotheses(beam_size=beam_size)
    expected = expected_logits(model, said, ancestors)
    for in_place in (False, True):
        steps = make_steps(model, beam_size, in_place)
        by_distance = position in ("shaw", "t5", "alibi") and beam_size > 1
        assert isinstance(steps, WholePrefix if by_distance else CachedSteps)
        np.testing.assert_allclose(follow(steps, said, ancestors), expected, atol=1e-3)


@pytest.mark.parametrize("logits_bias", [False, True])
def test_tied_logits_are_those_of_the_model_without_a_transposed_table(logits_bias):
    model = strong(1, 1, tie_embeddings=True, logits_bias=logits_bias)
    said, ancestors = hypotheses()
    steps = make_steps(model, 2, in_place=False)
    expected = expected_logits(model, said, ancestors)
    np.testing.assert_allclose(follow(steps, said, ancestors), expected, atol=1e-3)

    memory, cache = begin(steps, SOURCES, 4)
    seen = tf.zeros([3, 2, 4], tf.int32)
    graph = tf.function(steps.step).get_concrete_function(
        tf.constant(said[0]), tf.constant(0), seen, cache, memory
    )
    shapes = [made.shape for op in graph.graph.get_operations() for made in op.outputs]
    assert tf.TensorShape([12, 11]) not in shapes


def test_logits_of_a_model_in_bfloat16_are_near(tiny_model):
    said, ancestors = hypotheses()
    expected = expected_logits(tiny_model, said, ancestors)
    found = follow(make_steps(in_dtype(tiny_model, "bfloat16"), 2, True), said, ancestors)
    assert np.abs(found - expected).max() < 0.3 * np.abs(expected).max()


def test_padding_of_sources_changes_nothing(tiny_model):
    steps = make_steps(tiny_model, 2, in_place=False)
    padded = np.pad(SOURCES, [(0, 0), (0, 4)])
    np.testing.assert_allclose(
        follow(steps, *hypotheses()), follow(steps, *hypotheses(), padded), atol=1e-4
    )


class Blind(Transformer):
    """Transformer whose decoder sees the negative memory."""

    def call(self, inputs, training=None):
        source, target = inputs
        memory, mask = -self.encoder(source), self.encoder.compute_mask(source)
        return self.decoder(target, memory, memory_mask=mask)


@keras.saving.register_keras_serializable("test_steps")
class Louder(Decoder):
    """Decoder with logits of its own."""

    def call(
        self,
        ids,
        memory=None,
        return_attention_scores=False,
        training=None,
        memory_mask=None,
    ):
        return 3.0 * super().call(ids, memory, memory_mask=memory_mask)


@pytest.mark.parametrize(
    ("model_class", "decoder_class"), [(Transformer, Louder), (Blind, Decoder)]
)
def test_a_subclass_is_decoded_as_it_is_written(tiny_model, model_class, decoder_class):
    encoder = keras.saving.deserialize_keras_object(
        keras.saving.serialize_keras_object(tiny_model.encoder)
    )
    decoder = decoder_class.from_config(tiny_model.decoder.get_config())
    model = model_class(encoder, decoder)
    model.build(((None, None), (None, None)))
    model.set_weights(tiny_model.get_weights())
    steps = make_steps(model, 2, in_place=True)
    assert isinstance(steps, WholePrefix)
    said, ancestors = hypotheses()
    expected = expected_logits(model, said, ancestors)
    np.testing.assert_allclose(follow(steps, said, ancestors), expected, atol=1e-3)
    assert np.abs(expected - expected_logits(tiny_model, said, ancestors)).max() > 0.1


def test_room_may_be_longer_than_a_learned_table():
    model = strong(1, 1, position=keras_attn.LearnedPositionalEncoding(4))
    said, ancestors = hypotheses(num_steps=4)
    roomy = np.pad(ancestors, [(0, 0)] * 3 + [(0, 12)], constant_values=-1)
    expected = expected_logits(model, said, ancestors)
    for steps in (CachedSteps, WholePrefix):
        found = follow(steps(model, 2, write), said, roomy, room=16)
        np.testing.assert_allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize("update", [write, write_in_place])
def test_writes_new_entries_and_nothing_else(update):
    old = np.random.default_rng(2).normal(size=(2, 3, 8, 5)).astype(np.float32)
    new = np.ones((2, 3, 2, 5), np.float32)
    call = tf.function(lambda x, start: update({"key": x + 0.0}, {"key": new}, start, None)["key"])
    for start in (0, 4, 6):
        expected = old.copy()
        expected[:, :, start : start + 2] = new
        np.testing.assert_array_equal(call(old, tf.constant(start)), expected)
