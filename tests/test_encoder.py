import numpy as np
import pytest
from keras import ops

from keras_attn import Encoder, EncoderBlock, FeedForward, MultiHeadAttention

B, S, D = 2, 5, 6


def norm(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-6)


def part(block, kind):
    (found,) = [layer for layer in block._flatten_layers() if isinstance(layer, kind)]
    return found


@pytest.mark.parametrize("norm_first", [True, False])
def test_block_is_its_parts_in_the_order_of_the_paper(norm_first):
    x = np.random.default_rng(0).normal(size=(B, S, D)).astype(np.float32)
    block = EncoderBlock(D, 7, 3, norm_first=norm_first)
    output = block(x, valid_lens=[5, 3])
    attend, feed = part(block, MultiHeadAttention), part(block, FeedForward)
    if norm_first:
        y = norm(x)
        y = x + ops.convert_to_numpy(attend(y, y, valid_lens=[5, 3]))
        expected = y + ops.convert_to_numpy(feed(norm(y)))
    else:
        y = norm(x + ops.convert_to_numpy(attend(x, x, valid_lens=[5, 3])))
        expected = norm(y + ops.convert_to_numpy(feed(y)))
    np.testing.assert_allclose(output, expected, atol=1e-5)


def test_block_of_another_width_is_refused():
    with pytest.raises(ValueError, match=r"x.shape=\(2, 5, 4\), num_hiddens=6"):
        EncoderBlock(D, 7, 3)(np.ones((B, S, 4)))


@pytest.fixture(scope="module")
def encoder():
    return Encoder(vocab_size=13, num_layers=2, num_hiddens=D, ffn_num_hiddens=7, num_heads=3)


def test_more_padding_changes_nothing(encoder):
    ids = np.array([[3, 5, 7, 0], [2, 0, 0, 0]])
    memory = ops.convert_to_numpy(encoder(ids))
    longer = ops.convert_to_numpy(encoder(np.pad(ids, ((0, 0), (0, 3)))))
    real = ids != 0
    np.testing.assert_allclose(longer[:, :4][real], memory[real], atol=1e-5)


def test_valid_lens_are_the_same_as_padding(encoder):
    ids = np.array([[3, 5, 7, 9], [2, 4, 6, 8]])
    padded = encoder(np.where(np.arange(4) < [[3], [2]], ids, 0))
    by_length = encoder(ids, valid_lens=[3, 2])
    np.testing.assert_allclose(by_length[0, :3], padded[0, :3], atol=1e-5)
    np.testing.assert_allclose(by_length[1, :2], padded[1, :2], atol=1e-5)


def test_memory_carries_the_mask_of_its_ids(encoder):
    memory = encoder(np.array([[3, 0]]))
    assert ops.convert_to_numpy(memory._keras_mask).tolist() == [[True, False]]


def test_embedding_is_scaled_and_ordered_by_position(encoder):
    same = ops.convert_to_numpy(encoder(np.array([[4, 4, 4]])))[0]
    assert not np.allclose(same[0], same[1])


def test_last_norm_only_where_norm_comes_first():
    sizes = (13, 1, D, 7, 3)
    first, last = Encoder(*sizes), Encoder(*sizes, norm_first=False)
    ids = np.array([[3, 5]])
    for each in (first, last):
        np.testing.assert_allclose(ops.mean(each(ids), -1), np.zeros((1, 2)), atol=1e-5)
    assert len(first.weights) == len(last.weights) + 2


def test_every_weight_gets_a_gradient(encoder, weight_gradients):
    ids = np.array([[3, 5, 7]])
    encoder(ids)
    for gradient in weight_gradients(encoder, lambda: ops.sum(encoder(ids) ** 3)):
        assert np.abs(gradient).max() > 0


def test_no_layers_are_refused():
    with pytest.raises(ValueError, match="Received: num_layers=0"):
        Encoder(13, 0, D, 7, 3)
