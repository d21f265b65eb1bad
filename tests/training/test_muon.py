from functools import partial

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attn.training import Muon
from keras_attn.translation.training.schedule import WarmUpStableDecay

SHAPES = {"wide": (5, 9), "tall": (9, 5), "logits": (5, 7), "embedding": (7, 5), "vector": (5,)}


def zeros(*shapes):
    return [keras.Variable(np.zeros(shape, np.float32)) for shape in shapes]


def draw(random, shapes):
    return [tf.constant(random.normal(size=shape), tf.float32) for shape in shapes]


def test_takes_the_steps_of_keras_muon():
    random = np.random.default_rng(2)
    starts = draw(random, SHAPES.values())
    options = {"adam_lr_ratio": 0.5, "global_clipnorm": 0.5}
    options |= {"adam_beta_2": 0.98, "weight_decay": 0.1, "adam_weight_decay": 0.2, "ns_steps": 3}
    fused, plain = (
        [keras.Variable(start, name=name) for name, start in zip(SHAPES, starts, strict=True)]
        for _ in range(2)
    )
    optimizers = [
        kind(WarmUpStableDecay(0.3, 4, 0.4), **options)
        for kind in (Muon, partial(keras.optimizers.Muon, exclude_layers=["logits"]))
    ]
    for _ in range(20):
        gradients = draw(random, SHAPES.values())
        for optimizer, weights in zip(optimizers, (fused, plain), strict=True):
            optimizer.apply(gradients, weights)
    for start, one, other in zip(starts, fused, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
        assert np.abs(np.asarray(one) - start).max() > 0.5


def test_matrices_go_by_turns_and_as_many_times_as_far():
    random = np.random.default_rng(6)
    shapes = [(4, 6), (5,), (6, 4), (3, 3)]
    optimizers = Muon(0.1), Muon(0.1, every=3)
    moved = [zeros(*shapes) for _ in optimizers]
    for optimizer, weights in zip(optimizers, moved, strict=True):
        optimizer.build(weights)
    for step in range(7):
        gradients = draw(random, shapes)
        steps = []
        for optimizer, weights in zip(optimizers, moved, strict=True):
            before = [np.array(weight) for weight in weights]
            optimizer.apply(gradients, weights)
            steps.append([np.array(new) - old for new, old in zip(weights, before, strict=True)])
        each, third = steps
        np.testing.assert_allclose(third[1], each[1], atol=1e-6)  # the vector, by Adam
        for turn, place in enumerate((0, 2, 3)):
            far = 3 if (step + turn) % 3 == 0 else 0
            np.testing.assert_allclose(third[place], far * each[place], atol=1e-5)


def test_bfloat16_is_near_float32_whatever_the_size_of_the_gradient():
    gradient = np.random.default_rng(4).normal(size=(64, 256)).astype(np.float32)
    for size in (0.0, 1e-12, 1.0, 1e12):  # a matrix without gradient stays
        exact, rounded = zeros(gradient.shape, gradient.shape)
        Muon(1.0).apply([tf.constant(size * gradient)], [exact])
        Muon(1.0, dtype="bfloat16").apply([tf.constant(size * gradient)], [rounded])
        error = np.linalg.norm(np.asarray(rounded) - exact)
        norm = np.linalg.norm(exact)
        assert error < 0.1 * norm if size else error == norm == 0, size


def test_accumulates():
    random = np.random.default_rng(5)
    shapes = [(4, 6), (5,)]
    at_once, in_parts = zeros(*shapes), zeros(*shapes)
    whole, parts = Muon(0.1), Muon(0.1, gradient_accumulation_steps=2)
    for _ in range(3):
        first, second = draw(random, shapes), draw(random, shapes)
        before = [np.array(weight) for weight in in_parts]
        parts.apply(first, in_parts)
        tf.nest.map_structure(np.testing.assert_array_equal, before, [*map(np.array, in_parts)])
        parts.apply(second, in_parts)
        whole.apply([(one + other) / 2 for one, other in zip(first, second, strict=True)], at_once)
    for one, other in zip(at_once, in_parts, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


def test_another_type_and_no_step_at_all_are_refused():
    with pytest.raises(ValueError, match="must be one of 'float32', 'bfloat16'. Received"):
        Muon(dtype="float16")
    with pytest.raises(ValueError, match="`every` must be a positive integer. Received: every=0"):
        Muon(every=0)


def test_config_round_trip():
    optimizer = Muon(0.2, adam_lr_ratio=0.3, dtype="bfloat16", every=2, ns_steps=3)
    assert Muon.from_config(optimizer.get_config()).get_config() == optimizer.get_config()
