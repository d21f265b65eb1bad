import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attn.translation.training.muon import FusedMuon
from keras_attn.translation.training.schedule import WarmUpStableDecay

SHAPES = {"wide": (5, 9), "tall": (9, 5), "logits": (5, 7), "embedding": (7, 5), "vector": (5,)}


def make_weights(starts):
    return [keras.Variable(start, name=name) for name, start in starts.items()]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"global_clipnorm": 0.5, "adam_beta_2": 0.98, "ns_steps": 3},
        {"weight_decay": 0.1, "adam_weight_decay": 0.2},
    ],
)
def test_takes_the_steps_of_keras_muon(options):
    random = np.random.default_rng(2)
    starts = {k: random.normal(size=shape).astype(np.float32) for k, shape in SHAPES.items()}
    no_decay = {"weight_decay": None, "adam_weight_decay": None}
    options = {"exclude_layers": ["logits"], **no_decay, **options}
    ways = [
        (
            kind(WarmUpStableDecay(0.3, 4, 0.4), adam_lr_ratio=0.5, **options),
            make_weights(starts),
        )
        for kind in (FusedMuon, keras.optimizers.Muon)
    ]
    for _ in range(20):
        gradients = [tf.constant(random.normal(size=s), tf.float32) for s in SHAPES.values()]
        for optimizer, weights in ways:
            optimizer.apply(gradients, weights)
    (_, fused), (_, plain) = ways
    for name, one, other in zip(starts, fused, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
        assert np.abs(np.asarray(one) - starts[name]).max() > 0.5


def test_a_matrix_goes_along_the_nearest_orthogonal_one_and_stays_without_gradient():
    gradient = np.random.default_rng(3).normal(size=(6, 4)).astype(np.float32)
    weight = keras.Variable(np.zeros((6, 4), np.float32))
    FusedMuon(0.1, ns_steps=12).apply([tf.constant(gradient)], [weight])
    left, _, right = np.linalg.svd(gradient, full_matrices=False)
    # The iteration ends with singular values near 1, not at it.
    along = left.T @ np.asarray(weight) @ right.T / (-0.1 * 0.2 * 6**0.5)
    np.testing.assert_allclose(along, np.eye(4), atol=0.4)
    np.testing.assert_allclose(along - np.diag(np.diag(along)), 0, atol=1e-3)
    weight = keras.Variable(np.ones((4, 6), np.float32))
    FusedMuon(1.0).apply([tf.zeros((4, 6))], [weight])
    np.testing.assert_array_equal(weight, 1)


def test_matrices_go_by_turns_and_as_many_times_as_far():
    random = np.random.default_rng(6)
    shapes = [(4, 6), (5,), (6, 4), (3, 3)]
    each, third = FusedMuon(0.1), FusedMuon(0.1, every=3)
    moved = []
    for optimizer in (each, third):
        moved.append([keras.Variable(np.zeros(shape, np.float32)) for shape in shapes])
        optimizer.build(moved[-1])
    for step in range(7):
        gradients = [tf.constant(random.normal(size=s), tf.float32) for s in shapes]
        before = [[np.array(weight) for weight in weights] for weights in moved]
        for optimizer, weights in ((each, moved[0]), (third, moved[1])):
            optimizer.apply(gradients, weights)
        steps = [
            [np.array(new) - old for new, old in zip(*both, strict=True)]
            for both in zip(moved, before, strict=True)
        ]
        np.testing.assert_allclose(steps[1][1], steps[0][1], atol=1e-6)  # the vector, by Adam
        for turn, place in enumerate((0, 2, 3)):
            far = 3 if (step + turn) % 3 == 0 else 0
            np.testing.assert_allclose(steps[1][place], far * steps[0][place], atol=1e-5)


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_bfloat16_is_near_float32_whatever_the_size_of_the_gradient(size):
    gradient = size * np.random.default_rng(4).normal(size=(256, 1024)).astype(np.float32)
    steps = []
    for dtype in ("float32", "bfloat16"):
        weight = keras.Variable(np.zeros((256, 1024), np.float32))
        FusedMuon(1.0, dtype=dtype).apply([tf.constant(gradient)], [weight])
        steps.append(np.asarray(weight))
    exact, rounded = steps
    assert np.linalg.norm(rounded - exact) < 0.1 * np.linalg.norm(exact)


@pytest.mark.parametrize("shape", [(4, 6), (5,)])
def test_accumulates(shape):
    random = np.random.default_rng(5)
    weights = [keras.Variable(np.zeros(shape, np.float32)) for _ in range(2)]
    whole, parts = FusedMuon(0.1), FusedMuon(0.1, gradient_accumulation_steps=2)
    for _ in range(3):
        first, second = (random.normal(size=shape).astype(np.float32) for _ in range(2))
        for gradient in (first, second):
            parts.apply([tf.constant(gradient)], weights[:1])
        whole.apply([tf.constant((first + second) / 2)], weights[1:])
    np.testing.assert_allclose(weights[0], weights[1], rtol=1e-4, atol=1e-6)


def test_another_type_and_no_step_at_all_are_refused():
    with pytest.raises(ValueError, match='must be "float32" or "bfloat16". Received'):
        FusedMuon(dtype="float16")
    with pytest.raises(ValueError, match="`every` must be at least 1. Received: every=0"):
        FusedMuon(every=0)


def test_config_round_trip():
    optimizer = FusedMuon(0.2, adam_lr_ratio=0.3, dtype="bfloat16", every=2, ns_steps=3)
    assert FusedMuon.from_config(optimizer.get_config()).get_config() == optimizer.get_config()
