import numpy as np
import pytest
from keras import ops

from keras_attn import Encoder, EncoderBlock, FeedForward, MultiHeadAttention, RotaryEmbedding

B, S, D = 2, 5, 6


def part(block, kind):
    (found,) = [layer for layer in block._flatten_layers() if isinstance(layer, kind)]
    return found


@pytest.mark.parametrize(
    "norm_first, options",
    [(True, {}), (False, {}), (True, {"norm": "rms", "gated": True, "activation": "silu"})],
)
def test_block_is_its_parts_in_the_order_of_the_paper(norm_first, options):
    def norm(x):
        if not options:
            x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)

    x = np.random.default_rng(0).normal(size=(B, S, D)).astype(np.float32)
    block = EncoderBlock(D, 7, 3, norm_first=norm_first, **options)
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


@pytest.fixture(scope="module")
def encoder():
    return Encoder(vocab_size=13, num_layers=2, num_hiddens=D, ffn_num_hiddens=7, num_heads=3)


def test_padding_changes_nothing_and_is_the_same_as_valid_lens(encoder):
    ids = np.array([[3, 5, 7, 0], [2, 0, 0, 0]])
    memory, mask = encoder(ids), ids != 0
    assert ops.convert_to_numpy(memory._keras_mask).tolist() == mask.tolist()
    memory = ops.convert_to_numpy(memory)
    longer = ops.convert_to_numpy(encoder(np.pad(ids, ((0, 0), (0, 3)))))
    by_length = ops.convert_to_numpy(encoder(np.where(mask, ids, 9), valid_lens=[3, 1]))
    for other in (longer[:, :4], by_length):
        np.testing.assert_allclose(other[mask], memory[mask], atol=1e-5)


def test_mask_of_a_block_is_that_of_its_keys():
    block, x = EncoderBlock(D, 7, 3), np.random.default_rng(1).normal(size=(B, S, D))
    x, mask = x.astype(np.float32), np.arange(S) < np.array([[3], [5]])
    expected = ops.convert_to_numpy(block(x, valid_lens=[3, 5]))
    found = ops.convert_to_numpy(block(x, x_mask=mask))
    np.testing.assert_allclose(found[mask], expected[mask], atol=1e-5)


def test_the_last_norm_is_there_where_norm_comes_first(encoder, weight_gradients):
    ids, last = np.array([[3, 5, 7]]), Encoder(13, 2, D, 7, 3, norm_first=False)
    for each in (encoder, last):
        np.testing.assert_allclose(ops.mean(each(ids), -1), np.zeros((1, 3)), atol=1e-5)
    assert len(encoder.weights) == len(last.weights) + 2
    for gradient in weight_gradients(encoder, lambda: ops.sum(encoder(ids) ** 3)):
        assert np.abs(gradient).max() > 0


def test_packed_sequences_are_those_alone():
    sizes = {"num_hiddens": 8, "ffn_num_hiddens": 9, "num_heads": 2, "head_size": 5}
    encoder = Encoder(11, 2, **sizes, position=RotaryEmbedding(), padding_id=None)
    first, second = np.array([[3, 0, 5]]), np.array([[7, 9]])
    packed = np.concatenate([first, second], axis=1)
    which, positions = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 2, 0, 1])
    for causal in (False, True):
        found = encoder(
            packed,
            attention_mask=which[:, None] == which,
            positions=positions,
            use_causal_mask=causal,
        )
        alone = [encoder(ids, use_causal_mask=causal) for ids in (first, second)]
        np.testing.assert_allclose(found, np.concatenate(alone, axis=1), atol=1e-5)
    assert encoder.compute_mask(packed) is None
    block = EncoderBlock(8, 9, 2)
    x = np.random.default_rng(0).normal(size=(1, 5, 8)).astype(np.float32)
    expected = block(x, attention_mask=np.tri(5, dtype=bool))
    np.testing.assert_allclose(block(x, use_causal_mask=True), expected, atol=1e-6)


def test_options_of_embedding_and_feed_forward_network():
    encoder = Encoder(11, 1, 8, 9, 2, scale_embeddings=False, position=None, ffn_use_bias=False)
    ids = np.array([[3, 5]])
    encoder(ids)
    table = ops.convert_to_numpy(encoder.embedding.tokens.embeddings)
    np.testing.assert_array_equal(encoder.embedding(ids), table[ids])
    assert not [w.path for w in encoder.block_0._feed_forward.weights if "bias" in w.name]
    dropping = EncoderBlock(8, 9, 2, ffn_dropout=0.9)._feed_forward
    assert dropping.dropout == 0.9
