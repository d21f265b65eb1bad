import numpy as np

from keras_attn.translation.training import seeds


def numbers(seed):
    return np.asarray(seeds.uniform((2_000,), seed))


def test_numbers_are_uniform_from_0_to_1_and_follow_from_both_integers_of_the_seed():
    found = numbers(seeds.of(1, 2))
    assert 0 <= found.min() and found.max() < 1
    np.testing.assert_allclose(np.quantile(found, [0.25, 0.5, 0.75]), [0.25, 0.5, 0.75], atol=0.05)
    np.testing.assert_array_equal(numbers(seeds.of(1, 2)), found)
    for other in ((1, 3), (2, 2), (2, 1)):
        assert np.abs(np.corrcoef(found, numbers(seeds.of(*other)))[0, 1]) < 0.1


def test_a_seed_is_split_into_independent_ones():
    seed = seeds.of(7, 8)
    parts = seeds.split(seed, 3)
    assert len(parts) == 3 and seeds.split(seed, 0) == []
    correlations = np.corrcoef([numbers(one) for one in (seed, *parts)]) - np.eye(4)
    assert np.abs(correlations).max() < 0.1
