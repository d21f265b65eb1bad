import numpy as np
import pytest
import tensorflow as tf

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
        y = x + attend(y, y, valid_lens=[5, 3]).numpy()
        expected = y + feed(norm(y)).numpy()
    else:
        y = norm(x + attend(x, x, valid_lens=[5, 3]).numpy())
        expected = norm(y + feed(y).numpy())
    np.testing.assert_allclose(output, expected, atol=1e-5)


def test_block_of_another_width_is_refused():
    with pytest.raises(ValueError, match=r"x.shape=\(2, 5, 4\), num_hiddens=6"):
        EncoderBlock(D, 7, 3)(np.ones((B, S, 4)))


@pytest.fixture(scope="module")
def encoder():
    return Encoder(vocab_size=13, num_layers=2, num_hiddens=D, ffn_num_hiddens=7, num_heads=3)


def test_more_padding_changes_nothing(encoder):
    ids = np.array([[3, 5, 7, 0], [2, 0, 0, 0]])
    memory = encoder(ids)
    longer = encoder(np.pad(ids, ((0, 0), (0, 3))))
    real = ids != 0
    np.testing.assert_allclose(longer.numpy()[:, :4][real], memory.numpy()[real], atol=1e-5)


def test_valid_lens_are_the_same_as_padding(encoder):
    ids = np.array([[3, 5, 7, 9], [2, 4, 6, 8]])
    padded = np.where(np.arange(4) < [[3], [2]], ids, 0)
    by_length = encoder(ids, valid_lens=[3, 2]).numpy()
    np.testing.assert_allclose(by_length[0, :3], encoder(padded).numpy()[0, :3], atol=1e-5)
    np.testing.assert_allclose(by_length[1, :2], encoder(padded).numpy()[1, :2], atol=1e-5)


def test_memory_carries_the_mask_of_its_ids(encoder):
    memory = encoder(np.array([[3, 0]]))
    assert memory._keras_mask.numpy().tolist() == [[True, False]]


def test_embedding_is_scaled_and_ordered_by_position(encoder):
    same = encoder(np.array([[4, 4, 4]])).numpy()[0]
    assert not np.allclose(same[0], same[1])


def test_last_norm_only_where_norm_comes_first():
    sizes = (13, 1, D, 7, 3)
    first, last = Encoder(*sizes), Encoder(*sizes, norm_first=False)
    ids = np.array([[3, 5]])
    for each in (first, last):
        np.testing.assert_allclose(each(ids).numpy().mean(-1), 0, atol=1e-5)
    assert len(first.weights) == len(last.weights) + 2


def test_every_weight_gets_a_gradient(encoder):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(encoder(np.array([[3, 5, 7]])) ** 3)
    for gradient in tape.gradient(loss, encoder.trainable_variables):
        assert np.abs(tf.convert_to_tensor(gradient).numpy()).max() > 0


def test_no_layers_are_refused():
    with pytest.raises(ValueError, match="Received: num_layers=0"):
        Encoder(13, 0, D, 7, 3)
