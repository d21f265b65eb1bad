import numpy as np
import pytest
from keras import ops

from keras_attn.distances import squared_distances

# Offset from the origin, and spread, of the points.
CLOUDS = [(0.0, 1.0), (1000.0, 1.0), (-1000.0, 300.0), (0.0, 1e4), (1e-9, 1e-12), (3e6, 1e6)]


def formula(query, key):
    return ((query.astype(np.float64)[:, :, None] - key.astype(np.float64)[:, None]) ** 2).sum(-1)


def cloud(offset, spread, size, dtype=np.float32):
    random = np.random.default_rng(1)
    points = [offset + spread * random.normal(size=(2, n, size)) for n in (5, 7)]
    return [x.astype(dtype) for x in points]


@pytest.mark.parametrize("size", [1, 2, 3, 64, 127])
@pytest.mark.parametrize("offset, spread", CLOUDS)
def test_equals_the_differences_wherever_the_points_are(offset, spread, size):
    query, key = cloud(offset, spread, size)
    expected = formula(query, key)
    distances = squared_distances(*map(ops.convert_to_tensor, (query, key)))
    np.testing.assert_allclose(distances, expected, rtol=1e-5, atol=1e-5 * expected.mean())


@pytest.mark.parametrize("offset, spread", CLOUDS)
def test_a_compiler_keeps_it_exact(compiled, offset, spread):
    query, key = cloud(offset, spread, 13)
    expected = formula(query, key)
    distances = compiled(squared_distances)(*map(ops.convert_to_tensor, (query, key)))
    np.testing.assert_allclose(distances, expected, rtol=1e-5, atol=1e-5 * expected.mean())


@pytest.mark.parametrize("offset, spread", CLOUDS[:3])
def test_gradient_is_twice_the_difference(gradients, offset, spread):
    query, key = cloud(offset, spread, 3)
    weights = np.random.default_rng(2).normal(size=(2, 5, 7)).astype(np.float32)
    found = gradients(
        lambda q, k: ops.sum(ops.multiply(squared_distances(q, k), weights)), query, key
    )
    differences = query.astype(np.float64)[:, :, None] - key.astype(np.float64)[:, None]
    pulls = 2 * differences * weights[..., None]
    # Float32 holds points near 1000 to 6e-5, and twice their weighted sum to some of that.
    tolerance = 2e-5 * spread + 3e-6 * abs(offset)
    np.testing.assert_allclose(found[0], pulls.sum(2), atol=tolerance)
    np.testing.assert_allclose(found[1], -pulls.sum(1), atol=tolerance)


def test_a_point_is_at_distance_zero_of_itself():
    query, _ = cloud(1000.0, 1.0, 11)
    distances = squared_distances(*map(ops.convert_to_tensor, (query, query)))
    np.testing.assert_allclose(np.diagonal(distances, axis1=1, axis2=2), 0, atol=1e-5)


def test_squares_of_half_floats_do_not_overflow():
    query, key = cloud(0.0, 1e4, 5, np.float16)
    distances = squared_distances(*map(ops.convert_to_tensor, (query, key)))
    np.testing.assert_allclose(distances, formula(query, key), rtol=1e-5)


@pytest.mark.parametrize("other", [0.0, 1e12, np.nan, np.inf])
def test_distances_do_not_depend_on_other_points(other):
    query, key = cloud(10.0, 1.0, 3)
    expected = ops.convert_to_numpy(squared_distances(*map(ops.convert_to_tensor, (query, key))))
    query[:, 4], key[:, 1] = other, other
    found = ops.convert_to_numpy(squared_distances(*map(ops.convert_to_tensor, (query, key))))
    np.testing.assert_array_equal(found[:, :4, 2:], expected[:, :4, 2:])


def test_zeros_and_numbers_near_the_limits_of_float32_give_no_nan():
    points = ops.convert_to_tensor(np.array([[[0.0], [1e-38], [1e18], [-1e-45]]], np.float32))
    assert np.isfinite(ops.convert_to_numpy(squared_distances(points, points))).all()


@pytest.mark.parametrize("way", ["eager", "graph", "xla"])
@pytest.mark.parametrize("batch_size, num_queries, num_keys", [(0, 5, 7), (2, 0, 7), (2, 5, 0)])
def test_no_points_give_no_distances(compiled, way, batch_size, num_queries, num_keys):
    points = [np.zeros((batch_size, n, 3), np.float32) for n in (num_queries, num_keys)]
    function = squared_distances
    if way != "eager":
        function = compiled(function, jit_compile=way == "xla", any_size=True)
    distances = function(*map(ops.convert_to_tensor, points))
    assert tuple(distances.shape) == (batch_size, num_queries, num_keys)


@pytest.mark.parametrize("way", ["eager", "graph", "xla"])
def test_keys_of_one_example_serve_all_queries(compiled, way):
    query, key = cloud(10.0, 1.0, 3)
    function = squared_distances
    if way != "eager":
        function = compiled(function, jit_compile=way == "xla", any_size=True)
    distances = function(*map(ops.convert_to_tensor, (query, key[:1])))
    expected = formula(query, key[:1].repeat(2, axis=0))
    np.testing.assert_allclose(distances, expected, rtol=1e-5, atol=1e-5)
