import numpy as np
import pytest

from keras_attn import MultiHeadAttention, RotaryEmbedding

K = 8
HEADS = np.random.default_rng(5).normal(size=(2, 3, 6, K)).astype(np.float32)


def test_half_layout_pairs_features_half_a_head_apart():
    angles = np.arange(3, 9)[:, None] * 500.0 ** (-2 * np.arange(K // 2) / K)
    pairs = (HEADS[..., : K // 2] + 1j * HEADS[..., K // 2 :]) * np.exp(1j * angles)
    expected = np.concatenate([pairs.real, pairs.imag], axis=-1)
    layer = RotaryEmbedding(base=500, layout="half")
    np.testing.assert_allclose(layer.rotate(HEADS, start=3), expected, atol=1e-5)


def test_linear_scaling_divides_positions():
    angles = np.arange(6)[:, None] / 4 * 10000.0 ** (-2 * np.arange(K // 2) / K)
    pairs = (HEADS[..., 0::2] + 1j * HEADS[..., 1::2]) * np.exp(1j * angles)
    rotated = np.asarray(RotaryEmbedding(scaling="linear", factor=4).rotate(HEADS))
    np.testing.assert_allclose(rotated[..., 0::2], pairs.real, atol=1e-5)
    np.testing.assert_allclose(rotated[..., 1::2], pairs.imag, atol=1e-5)


def test_yarn_keeps_fast_rates_divides_slow_ones_and_blends_between():
    size, length, factor = 64, 2048, 4.0
    layer = RotaryEmbedding(scaling="yarn", factor=factor, original_max_len=length)
    plain = 10000.0 ** (-2 * np.arange(size // 2) / size)
    turns = length * plain / (2 * np.pi)  # of each pair within the original length
    found = layer.rates(size)
    np.testing.assert_allclose(found[turns > 40], plain[turns > 40])
    np.testing.assert_allclose(found[turns < 0.7], plain[turns < 0.7] / factor)
    between = (turns < 30) & (turns > 1.2)
    assert between.sum() > 3
    assert ((found < plain) & (found > plain / factor))[between].all()
    # Pair 16 of 32 lies at (16 - 10) / (21 - 10)... of the ramp between 32 turns and 1.
    first = np.floor(size * np.log(length / (2 * np.pi * 32)) / (2 * np.log(10000)))
    last = np.ceil(size * np.log(length / (2 * np.pi)) / (2 * np.log(10000)))
    share = (16 - first) / (last - first)
    np.testing.assert_allclose(found[16], plain[16] * ((1 - share) + share / factor))


def test_yarn_raises_scores_by_its_temperature():
    layer = RotaryEmbedding(scaling="yarn", factor=8.0, original_max_len=4096)
    lengths = np.linalg.norm(np.asarray(layer.rotate(HEADS)), axis=-1)
    expected = (0.1 * np.log(8.0) + 1) * np.linalg.norm(HEADS, axis=-1)
    np.testing.assert_allclose(lengths, expected, rtol=1e-5)


def test_each_row_may_have_a_position_of_its_own():
    positions, layer = np.array([4, 0, 9, 9, 2, 1]), RotaryEmbedding()
    rows = [layer.rotate(HEADS[:, :, t : t + 1], start=p) for t, p in enumerate(positions.tolist())]
    for given in (positions, np.stack([positions] * 2)):
        found = layer.rotate(HEADS, positions=given)
        np.testing.assert_allclose(found, np.concatenate(rows, axis=2), atol=1e-6)


@pytest.mark.parametrize("first", [0, 1_000, 100_000_000, 2_000_000_000])
def test_only_differences_of_positions_count_however_large_they_are(first):
    layer = RotaryEmbedding()
    near = np.asarray(layer.rotate(HEADS))
    far = np.asarray(layer.rotate(HEADS, positions=np.arange(first, first + 6)))
    expected, found = (np.einsum("bhtk,bhsk->bhts", x, x) for x in (near, far))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    np.testing.assert_array_equal(np.asarray(layer.rotate(HEADS, start=first)), far)


def test_explicit_positions_skip_padding():
    attention, x = MultiHeadAttention(8, 2, position=RotaryEmbedding()), HEADS[:, 0]
    expected = attention(x, x, use_causal_mask=True)
    padded = np.pad(x, ((0, 0), (2, 0), (0, 0)))
    positions = np.maximum(np.arange(8) - 2, 0)
    given = {"key_mask": np.tile(np.arange(8) >= 2, (2, 1)), "use_causal_mask": True}
    for each in (positions, np.tile(positions, (2, 1))):
        output = attention(padded, padded, positions=each, **given)
        np.testing.assert_allclose(output[:, 2:], expected, atol=1e-5)


def test_a_fraction_of_each_head_turns():
    layer = RotaryEmbedding(fraction=0.5)
    found = np.asarray(layer.rotate(HEADS, start=2))
    expected = np.asarray(RotaryEmbedding().rotate(HEADS[..., : K // 2], start=2))
    np.testing.assert_allclose(found[..., : K // 2], expected, atol=1e-6)
    np.testing.assert_array_equal(found[..., K // 2 :], HEADS[..., K // 2 :])


def test_llama3_scaling_blends_by_turns():
    size, length, factor = 64, 2048, 8.0
    layer = RotaryEmbedding(500_000, scaling="llama3", factor=factor, original_max_len=length)
    plain = 500_000.0 ** (-2 * np.arange(size // 2) / size)
    turns, found = length * plain / (2 * np.pi), layer.rates(size)
    np.testing.assert_allclose(found[turns > 4], plain[turns > 4])
    np.testing.assert_allclose(found[turns < 1], plain[turns < 1] / factor)
    between = (turns < 4) & (turns > 1)
    share = (turns - 1) / 3
    blend = plain * (share + (1 - share) / factor)
    assert between.sum() > 2
    np.testing.assert_allclose(found[between], blend[between])
