import numpy as np

from keras_attn.translation.training import seeds


def numbers(*seed):
    return np.asarray(seeds.uniform((2_000,), seeds.of(*seed)))


def test_numbers_follow_from_both_integers_of_the_seed():
    np.testing.assert_array_equal(numbers(1, 2), numbers(1, 2))
    for other in ((1, 3), (2, 2), (2, 1)):
        assert np.abs(np.corrcoef(numbers(1, 2), numbers(*other))[0, 1]) < 0.1


def test_numbers_are_uniform_from_0_to_1():
    found = numbers(5, 6)
    assert 0 <= found.min() and found.max() < 1
    np.testing.assert_allclose(np.quantile(found, [0.25, 0.5, 0.75]), [0.25, 0.5, 0.75], atol=0.05)


def test_a_seed_is_split_into_independent_ones():
    parts = [np.asarray(seeds.uniform((2_000,), one)) for one in seeds.split(seeds.of(7, 8), 3)]
    assert len(parts) == 3 and seeds.split(seeds.of(7, 8), 0) == []
    correlations = np.corrcoef([numbers(7, 8), *parts]) - np.eye(4)
    assert np.abs(correlations).max() < 0.1
