import numpy as np
import pytest
import tensorflow as tf

from keras_attn.translation.decoding.folded import FoldedTransformer
from keras_attn.translation.special_ids import BOS_ID, EOS_ID

SOURCES = np.array([[4, 9, EOS_ID, 0], [7, EOS_ID, 0, 0], [12, 5, 5, EOS_ID]], np.int32)


def write(part, position, new):
    """Into a part of a cache, `(B, H, C, K * D/H)`."""
    part = part.numpy()
    part[:, :, int(position)] = new.numpy().reshape(*part.shape[:2], -1)
    return tf.constant(part)


def steps(folded, said, ancestors, sources=SOURCES):
    """Logits `(T, B, K, V)` of hypotheses that say `said (T, B, K)`."""
    memory = folded.encode(tf.constant(sources))
    num_steps, _, beam_size = said.shape
    cache = tf.nest.map_structure(
        lambda part: tf.pad(part, [[0, 0], [0, 0], [0, num_steps], [0, 0]]),
        folded.make_cache(len(sources), beam_size),
    )
    found = []
    for t in range(num_steps):
        seen = np.where(np.arange(num_steps) <= t, ancestors[t], -1)
        logits, cache = folded.step(
            tf.constant(said[t]), tf.constant(t), tf.constant(seen), cache, memory, write
        )
        found.append(logits.numpy())
    return np.stack(found)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-4), ("bfloat16", 0.3)])
def test_logits_are_those_of_the_model(tiny_model, dtype, tolerance):
    said = np.random.default_rng(0).integers(4, 11, (5, 3, 1)).astype(np.int32)
    said[0] = BOS_ID
    found = steps(FoldedTransformer(tiny_model, 8, dtype), said, np.zeros((5, 3, 1, 5), np.int32))
    expected = tiny_model((SOURCES, said[..., 0].T)).numpy()  # (B, T, V)
    difference = np.abs(found[:, :, 0, :11].astype(np.float32).transpose(1, 0, 2) - expected)
    assert difference.max() < tolerance * max(1, np.abs(expected).max())
    assert (found[..., 11:] < -1e8).all()


def test_a_hypothesis_sees_its_ancestors_and_nobody_else(tiny_model):
    random = np.random.default_rng(1)
    said = random.integers(4, 11, (4, 3, 2)).astype(np.int32)
    said[0] = BOS_ID
    # Hypothesis k of step t goes on from hypothesis parents[t, b, k] of the step before.
    parents = random.integers(0, 2, (4, 3, 2))
    ancestors = np.zeros((4, 3, 2, 4), np.int32)
    expected = np.zeros((4, 3, 2, 11), np.float32)
    for t in range(4):
        for b in range(3):
            for k in range(2):
                line = [k]
                for earlier in range(t, 0, -1):
                    line.insert(0, parents[earlier, b, line[0]])
                ancestors[t, b, k, : t + 1] = line
                target = [[said[i, b, line[i]] for i in range(t + 1)]]
                expected[t, b, k] = tiny_model((SOURCES[b : b + 1], np.array(target)))[0, -1]
    found = steps(FoldedTransformer(tiny_model, 8), said, ancestors)[..., :11]
    np.testing.assert_allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_memory_is_as_it_says_beforehand(tiny_model, dtype):
    folded = FoldedTransformer(tiny_model, 8, dtype)
    memory = folded.encode(tf.constant(SOURCES))
    tf.nest.assert_same_structure(folded.memory_spec, memory)
    for spec, part in zip(
        tf.nest.flatten(folded.memory_spec), tf.nest.flatten(memory), strict=True
    ):
        assert spec.is_compatible_with(part)


def test_padding_of_sources_changes_nothing(tiny_model):
    folded = FoldedTransformer(tiny_model, 8)
    said, ancestors = np.full((2, 3, 1), BOS_ID, np.int32), np.zeros((2, 3, 1, 2), np.int32)
    padded = np.pad(SOURCES, [(0, 0), (0, 4)])
    np.testing.assert_allclose(
        steps(folded, said, ancestors), steps(folded, said, ancestors, padded), atol=1e-5
    )
