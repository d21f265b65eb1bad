import numpy as np
import pytest
import tensorflow as tf
from small_models import Blind, strong

import keras_attn
from keras_attn.translation.decoding.steps import DecoderSteps
from keras_attn.translation.model import in_dtype
from keras_attn.translation.special_ids import BOS_ID, EOS_ID

SOURCES = np.array([[4, 9, EOS_ID, 0], [7, EOS_ID, 0, 0], [12, 5, 5, EOS_ID]], np.int32)


def follow(steps, said, ancestors, sources=SOURCES):
    """Logits `(T, B, N, V)` of hypotheses that say `said (T, B, N)`."""
    room = ancestors.shape[-1]
    memory = steps.encode(tf.constant(sources))
    paddings = [[0, 0], [0, 0], [0, room], [0, 0]]
    cache = tf.nest.map_structure(lambda part: tf.pad(part, paddings), steps.make_cache(memory))
    found = []
    for t in range(len(said)):
        seen = np.where(np.arange(room) <= t, ancestors[t], -1)
        logits, cache = steps.step(
            tf.constant(said[t]), tf.constant(t), tf.constant(seen, tf.int32), cache, memory
        )
        found.append(tf.cast(logits, tf.float32).numpy())
    return np.stack(found)


def hypotheses(beam_size=2, num_steps=4):
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
    """Logits of the model for each whole hypothesis. What comes after it has no effect."""
    places = list(np.ndindex(said.shape))
    rows = [[said[i, b, ancestors[t, b, k, i]] for i in range(len(said))] for t, b, k in places]
    logits = model((SOURCES[[b for _, b, _ in places]], np.array(rows))).numpy()
    of_last = logits[range(len(places)), [t for t, _, _ in places]]
    return of_last.reshape(*said.shape, -1)


def assert_follows(model, beam_size=2, in_place=(False, True), more_room=0):
    """Logits of the steps are those of whole hypotheses."""
    said, ancestors = hypotheses(beam_size)
    expected = expected_logits(model, said, ancestors)
    ancestors = np.pad(ancestors, [(0, 0)] * 3 + [(0, more_room)], constant_values=-1)
    for way in in_place:
        found = follow(DecoderSteps(model, beam_size, way), said, ancestors)
        np.testing.assert_allclose(found, expected, atol=1e-3)


POSITIONS = {
    "sinusoidal": "sinusoidal",
    "learned": keras_attn.LearnedPositionalEncoding(8),
    "rotary": keras_attn.RotaryEmbedding(),
    "shaw": keras_attn.ShawRelativePosition(3),
    "t5": keras_attn.T5RelativeBias(8, 16),
    "alibi": keras_attn.AlibiBias(),
    "none": None,
}
FAST = [("sinusoidal", 2), ("rotary", 2), ("shaw", 1), ("t5", 2)]


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
    assert_follows(model, beam_size)


def test_tied_logits_are_those_of_the_model():
    for logits_bias in (False, True):
        model = strong(tie_embeddings=True, logits_use_bias=logits_bias)
        assert_follows(model, in_place=[False])


def test_logits_in_bfloat16_are_near_and_padding_of_sources_changes_nothing(tiny_model):
    exact = follow(DecoderSteps(tiny_model, 2, True), *hypotheses())
    rounded = follow(DecoderSteps(in_dtype(tiny_model, "bfloat16"), 2, True), *hypotheses())
    assert np.abs(rounded - exact).max() < 0.3 * np.abs(exact).max()
    padded = np.pad(SOURCES, [(0, 0), (0, 4)])
    found = follow(DecoderSteps(tiny_model, 2, True), *hypotheses(), padded)
    np.testing.assert_allclose(found, exact, atol=1e-4)


def test_a_model_with_a_call_of_its_own_is_refused(tiny_model):
    model = Blind.from_config(tiny_model.get_config())
    with pytest.raises(ValueError, match="without a `call` of its own.*Received: model=Blind"):
        DecoderSteps(model, 2)


@pytest.mark.parametrize("position", [keras_attn.LearnedPositionalEncoding(4), POSITIONS["t5"]])
def test_room_may_be_longer_than_a_learned_table(position):
    assert_follows(strong(position=position), in_place=[False], more_room=12)


def test_a_window_holds_tokens_of_the_hypothesis():
    assert_follows(strong(1, 2, window=2), in_place=[True])
