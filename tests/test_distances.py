import numpy as np
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


def distances_of(query, key, function=squared_distances):
    return ops.convert_to_numpy(function(*map(ops.convert_to_tensor, (query, key))))


def check(query, key, function=squared_distances):
    expected = formula(query, key)
    found = distances_of(query, key, function)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * expected.mean())


def test_equals_the_differences_wherever_the_points_are():
    for offset, spread in CLOUDS:
        for size in (1, 2, 3, 64, 127):
            check(*cloud(offset, spread, size))


def test_a_compiler_keeps_it_exact(compiled):
    function = compiled(squared_distances)
    for offset, spread in CLOUDS:
        check(*cloud(offset, spread, 13), function)


def test_gradient_is_twice_the_difference(gradients):
    weights = np.random.default_rng(2).normal(size=(2, 5, 7)).astype(np.float32)
    for offset, spread in CLOUDS[:3]:
        query, key = cloud(offset, spread, 3)
        found = gradients(
            lambda q, k: ops.sum(ops.multiply(squared_distances(q, k), weights)), query, key
        )
        differences = query.astype(np.float64)[:, :, None] - key.astype(np.float64)[:, None]
        pulls = 2 * differences * weights[..., None]
        # Float32 holds points near 1000 to 6e-5, and twice their weighted sum to some of that.
        tolerance = 2e-5 * spread + 3e-6 * abs(offset)
        np.testing.assert_allclose(found[0], pulls.sum(2), atol=tolerance)
        np.testing.assert_allclose(found[1], -pulls.sum(1), atol=tolerance)


def test_numbers_near_the_limits_of_their_type_give_numbers():
    query, _ = cloud(1000.0, 1.0, 11)
    of_itself = np.diagonal(distances_of(query, query), axis1=1, axis2=2)
    np.testing.assert_allclose(of_itself, 0, atol=1e-5)
    query, key = cloud(0.0, 1e4, 5, np.float16)  # squares are above 65504
    np.testing.assert_allclose(distances_of(query, key), formula(query, key), rtol=1e-5)
    points = np.array([[[0.0], [1e-38], [1e18], [-1e-45]]], np.float32)
    assert np.isfinite(distances_of(points, points)).all()


def test_distances_do_not_depend_on_other_points():
    query, key = cloud(10.0, 1.0, 3)
    expected = distances_of(query, key)
    for other in (0.0, 1e12, np.nan, np.inf):
        query[:, 4], key[:, 1] = other, other
        np.testing.assert_array_equal(distances_of(query, key)[:, :4, 2:], expected[:, :4, 2:])


def test_no_points_give_no_distances_and_keys_of_one_example_serve_all_queries(compiled):
    query, key = cloud(10.0, 1.0, 3)
    graph = compiled(squared_distances, jit_compile=False, any_size=True)
    for function in (squared_distances, graph):
        assert distances_of(query[:0], key[:0], function).shape == (0, 5, 7)
        assert distances_of(query[:, :0], key, function).shape == (2, 0, 7)
        assert distances_of(query, key[:, :0], function).shape == (2, 5, 0)
        expected = formula(query, key[:1].repeat(2, axis=0))
        found = distances_of(query, key[:1], function)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
