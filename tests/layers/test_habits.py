"""Calls as other libraries have them: the message says what to write instead."""

import warnings

import keras
import numpy as np
import pytest
from keras import ops

import keras_attn
from keras_attn import (
    AdditiveAttention,
    BilinearAttention,
    Decoder,
    DecoderBlock,
    DotProductAttention,
    Encoder,
    EncoderBlock,
    FeedForward,
    LearnedPositionalEncoding,
    MultiHeadAttention,
    PositionalEncoding,
    Residual,
    RotaryEmbedding,
    TokenEmbedding,
    Transformer,
    masked_softmax,
)

X, KEY = np.ones((2, 3, 6), np.float32), np.ones((2, 5, 6), np.float32)
IDS = np.ones((2, 3), np.int32)
PADDING = np.array([[1, 1, 0], [1, 0, 0]], bool)
HEADS, DOT = MultiHeadAttention(6, 3), DotProductAttention()
BLOCK, DECODER_BLOCK = EncoderBlock(6, 8, 3), DecoderBlock(6, 8, 3)
ENCODER, DECODER = Encoder(9, 1, 6, 8, 3), Decoder(9, 1, 6, 8, 3)
MODEL = Transformer(Encoder(9, 1, 6, 8, 3), Decoder(9, 1, 6, 8, 3))

WIDTH = "num_heads * key_dim = 64", "use_bias=True", "from_keras"
BY_NAME = "Pass arguments by name"
PAIRS_MASK, KEY_MASK = "`attention_mask`", "`key_mask`"
INVERT = "invert it (`~mask`)"
MASKS = "`mask > 0`", "`mask > -1`", "`attention_bias`"
# fmt: off
WRONG = [
    # Keras
    (lambda: MultiHeadAttention(num_heads=4, key_dim=16), *WIDTH),
    (lambda: MultiHeadAttention(num_hiddens=16, num_heads=4, key_dim=16), *WIDTH[1:]),
    (lambda: MultiHeadAttention(4, key_dim=16), "`key_dim`", "num_heads * key_dim"),
    (lambda: MultiHeadAttention(4, 16), "num_hiddens=64, num_heads=4", BY_NAME),
    (lambda: MultiHeadAttention(2, 2), "num_hiddens=4, num_heads=2", BY_NAME),
    (lambda: MultiHeadAttention(6, 3, 0.1, True, None, 2), "num_kv_heads) by position", BY_NAME),
    (lambda: MultiHeadAttention(head_dim=2, num_query_heads=2, num_key_value_heads=1),
     "`head_size`", "`num_heads`", "`num_kv_heads`"),
    (lambda: MultiHeadAttention(6, 3, sliding_window=2), "`window`"),
    (lambda: MultiHeadAttention(6, 3, flash_attention=True), "`blockwise`"),
    (lambda: MultiHeadAttention(6, 3, attention_axes=(1,)), "reshape"),
    (lambda: MultiHeadAttention(6, 3, atention_bias=True), "has no argument `atention_bias`"),
    (lambda: MultiHeadAttention(6, 3, use_bia=True), "Did you mean `use_bias`?"),
    (lambda: DotProductAttention(use_scale=True), "scale=True"),
    (lambda: DotProductAttention(score_mode="concat"), "AdditiveAttention"),
    (lambda: Encoder(9, 1, 6, 8, 3, colour="red"), "`colour`", "It takes vocab_size"),
    (lambda: TokenEmbedding(input_dim=9, output_dim=6), "`vocab_size`", "`num_hiddens`"),
    (lambda: TokenEmbedding(9, 6, mask_zero=True), "`padding_id`"),
    (lambda: DOT([X, KEY]), "[query, value, key]", "one by one"),
    (lambda: HEADS([X, KEY]), "[query, value, key]", "one by one"),
    (lambda: HEADS(X, KEY, KEY, np.ones((2, 3, 5), bool)), PAIRS_MASK),
    (lambda: HEADS(X, X, mask=PADDING), PAIRS_MASK, KEY_MASK),
    (lambda: HEADS(X, X, return_attention_weights=True), "return_attention_scores=True"),
    (lambda: HEADS(X, X, atention_mask=PADDING), "Did you mean `attention_mask`?"),
    (lambda: HEADS(X), "`key` must be given", "layer(x, x)"),
    (lambda: DOT(X), "layer(x, x)"),
    (lambda: DOT(), "is called as `layer(query, key, value"),
    (lambda: HEADS(X, X, X, None, None, False, False, None, None, None, None, None, 0, *"abcdef"),
     "too many positional arguments"),
    # Masks
    (lambda: HEADS(X, X, attention_mask=np.float32([[0, -1e9, -1e9]] * 3)), *MASKS),
    (lambda: masked_softmax(np.ones((2, 3, 3), np.float32), mask=np.zeros((3, 3))), *MASKS),
    (lambda: HEADS(X, KEY, attention_mask=np.ones((2, 5), bool)), KEY_MASK, "mask[:, None]"),
    (lambda: BLOCK(X, PADDING), "`x_mask`"),
    (lambda: HEADS(X, KEY, valid_lens=np.ones((2, 5), bool)), "(B,) or (B, T)"),
    (lambda: masked_softmax(np.ones((2, 3, 3), np.float32), np.ones((2, 3, 3), bool)),
     "by name: `mask`"),
    (lambda: HEADS(X, X, valid_lens=[2.0, 1.0]), "must be integers", "Cast them"),
    (lambda: HEADS(X, X, valid_lens=[4, 1]), "at most S=3"),
    # KerasHub
    (lambda: EncoderBlock(intermediate_dim=8, num_heads=2), "`ffn_num_hiddens`", "`num_hiddens`"),
    (lambda: EncoderBlock(8, 2), "KerasHub gives (intermediate_dim, num_heads)", BY_NAME),
    (lambda: EncoderBlock(8, 2, 0.1), "KerasHub gives (intermediate_dim, num_heads)", BY_NAME),
    (lambda: EncoderBlock(6, 8, 3, normalize_first=True), "`norm_first`"),
    (lambda: EncoderBlock(6, 8, 3, layer_norm_epsilon=1e-5), "`norm_epsilon`"),
    (lambda: BLOCK(X, padding_mask=PADDING), "`x_mask` of a block"),
    (lambda: BLOCK(inputs=X), "`x` of a block"),
    (lambda: DECODER_BLOCK(X, encoder_sequence=KEY), "`memory`"),
    (lambda: DECODER_BLOCK(X, KEY, encoder_padding_mask=PADDING), "`memory_mask` of a memory"),
    (lambda: TokenEmbedding(vocabulary_size=9, sequence_length=5, embedding_dim=6),
     "`vocab_size`", "`max_len`", "`num_hiddens`"),
    (lambda: TokenEmbedding(9, 5, 6), "(vocabulary_size, sequence_length, embedding_dim)"),
    # PyTorch
    (lambda: MultiHeadAttention(embed_dim=6, num_heads=3), "`num_hiddens`"),
    (lambda: MultiHeadAttention(6, 3, batch_first=True), "the first axis"),
    (lambda: MultiHeadAttention(6, 3, bias=True), "`use_bias`"),
    (lambda: MultiHeadAttention(6, 3, kdim=4, vdim=4), "taken from the input"),
    (lambda: EncoderBlock(d_model=6, nhead=3, dim_feedforward=8),
     "`num_hiddens`", "`num_heads`", "`ffn_num_hiddens`"),
    (lambda: EncoderBlock(512, 8, 2048), "PyTorch gives the number of heads second", BY_NAME),
    (lambda: HEADS(X, X, key_padding_mask=PADDING), KEY_MASK, INVERT),
    (lambda: HEADS(X, X, attn_mask=np.ones((3, 3), bool)), PAIRS_MASK, INVERT, "attention_bias"),
    (lambda: HEADS(X, X, is_causal=True), "use_causal_mask=True"),
    (lambda: HEADS(X, X, need_weights=True), "return_attention_scores=True"),
    (lambda: HEADS(X, X, average_attn_weights=True), "mean over axis 1"),
    (lambda: BLOCK(X, src_key_padding_mask=PADDING), "`x_mask` of a block", INVERT),
    (lambda: BLOCK(X, src_mask=np.ones((3, 3), bool)), PAIRS_MASK, INVERT),
    (lambda: Transformer(d_model=6, nhead=3), "`num_hiddens`", "`num_heads`"),
    # d2l
    (lambda: MultiHeadAttention(100, 100, 100, 100, 5, 0.5), "d2l", "from the input", BY_NAME),
    (lambda: MultiHeadAttention(100, 100, 100, 100, 5), "d2l", "taken from the input"),
    (lambda: MultiHeadAttention(key_size=6, query_size=6, value_size=6, num_hiddens=6),
     "`key_size`", "`query_size`", "`value_size`", "taken from the input"),
    (lambda: AdditiveAttention(key_size=2, query_size=20, num_hiddens=8), "taken from the input"),
    (lambda: AdditiveAttention(2, 20, 8, 0.1), "d2l", "taken from the input"),
    (lambda: Encoder(200, 24, 48, 8, 2, 0.5), "number of blocks fifth", BY_NAME),
    (lambda: Decoder(200, 24, 48, 8, 2), "number of blocks fifth", BY_NAME),
    (lambda: Encoder(200, 24, 24, 24, 24, [100, 24], 24, 48, 8, 2, 0.5), "fifth", BY_NAME),
    (lambda: EncoderBlock(24, 24, 24, 24, [100, 24], 24, 48, 8, 0.5), "d2l", BY_NAME),
    (lambda: Encoder(9, num_hiddens=6, ffn_num_hiddens=8, num_heads=3, num_blks=2), "`num_layers`"),
    (lambda: FeedForward(4, 8), "width of the output is that of the input", "`activation`"),
    (lambda: FeedForward(4, ffn_num_outputs=8), "width of the output"),
    (lambda: Residual([3, 4], 0.5), "last axis is normalised"),
    (lambda: Residual(norm_shape=4), "last axis is normalised"),
    (lambda: Residual(0.5)(X, X), "Residual(norm_first=False)(x, sublayer=f)"),
    (lambda: HEADS(queries=X, keys=X, values=X), "`query`", "`key`", "`value`"),
    (lambda: DECODER_BLOCK(X, KEY, enc_valid_lens=[3, 2]), "`memory_valid_lens`"),
    # Inputs
    (lambda: HEADS(X[0], X[0]), "must have shape (B, T, D)", "`x[None]`"),
    (lambda: HEADS(X[None], X[None]), "Reshape it", "TimeDistributed"),
    (lambda: BLOCK(X[0]), "must have shape (B, S, D)", "`x[None]`"),
    (lambda: BLOCK(IDS), "Token ids are embedded first (TokenEmbedding)"),
    (lambda: DECODER_BLOCK(IDS, KEY), "Token ids are embedded first (TokenEmbedding)"),
    (lambda: PositionalEncoding()(IDS), "Token ids are embedded first (TokenEmbedding)"),
    (lambda: MODEL(IDS, IDS), "`model((source, target))`"),
    (lambda: MODEL((IDS, IDS), mask=PADDING), "`mask`", KEY_MASK),
    (lambda: MODEL(IDS), "`model((source, target))`"),
    (lambda: Transformer(10, 12, 2, 1, 8, 16, 2), "Transformer.from_sizes takes numbers"),
    (lambda: Transformer(10, 12), "Transformer.from_sizes takes numbers"),
    (lambda: DECODER(IDS), "cross_attention=False"),
    (lambda: HEADS("a b c", "d"), "text to token ids", "TokenEmbedding"),
    (lambda: HEADS([[1.0]], X), "keras.ops.array"),
    (lambda: DotProductAttention()(X, KEY[..., :4]), "AdditiveAttention and BilinearAttention"),
    (lambda: LearnedPositionalEncoding(2)(X), "larger `max_len`"),
    # Values
    (lambda: MultiHeadAttention(18, 4), "Use num_hiddens=20"),
    (lambda: EncoderBlock(6, 8, 3, activation="geluu"), '"gelu"'),
    (lambda: MultiHeadAttention(6, 3, position=RotaryEmbedding), "add brackets"),
    (lambda: MultiHeadAttention(6, 3, position="rotari"), "'rotary'"),
    (lambda: MultiHeadAttention(6, 3, position=PositionalEncoding()), "call it on `x` before"),
    (lambda: BilinearAttention(10), "at least 0 and below 1"),
]
MISSING = [
    (HEADS, "attention_weights", "return_attention_scores=True"),
    (DOT, "attention_weights", "return_attention_scores=True"),
    (MODEL, "attention_weights", "return_attention_scores=True"),
    (HEADS, "key_dim", "`num_hiddens`"),
    (PositionalEncoding(), "P", "keras.ops.zeros((1, T, D))"),
    (keras_attn, "Translator", "from keras_attn.translation import Translator"),
    (keras_attn, "TransformerEncoder", "EncoderBlock"),
    (keras_attn, "PositionWiseFFN", "FeedForward"),
    (keras_attn, "AddNorm", "Residual"),
    (keras_attn, "GroupedQueryAttention", "num_kv_heads"),
    (keras_attn, "plot_attention", "from keras_attn.plots import plot_attention"),
]
# fmt: on


def test_each_wrong_call_says_what_to_write_instead():
    faults = []
    for number, (call, *expected) in enumerate(WRONG):
        try:
            call()
        except ValueError as error:
            lacking = [words for words in expected if words not in str(error)]
            faults += [f"{number}: {lacking} not in: {error}"] if lacking else []
        else:
            faults.append(f"{number}: accepted, instead of {expected}")
    assert not faults, "\n".join(faults)


def test_attributes_that_other_libraries_have_are_explained():
    for owner, name, words in MISSING:
        assert not hasattr(owner, name)
        with pytest.raises(AttributeError) as caught:
            getattr(owner, name)
        assert name in str(caught.value) and words in str(caught.value), caught.value


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="layers of PyTorch have `eval`")
def test_evaluation_needs_no_switch_and_a_ragged_tensor_becomes_a_dense_one():
    import tensorflow as tf

    with pytest.raises(AttributeError, match="training=True"):
        HEADS.eval()
    with pytest.raises(ValueError, match=r"`x.to_tensor\(\)`.*`x.row_lengths\(\)`"):
        ENCODER(tf.ragged.constant([[1, 2], [3]]))


def test_orders_of_the_documents_are_accepted():
    def size(layer, *inputs):
        return tuple(layer(*inputs).shape)

    assert size(MultiHeadAttention(6, 3, 0.1, True, 1), X, KEY) == (2, 3, 6)
    assert size(EncoderBlock(6, 8, 3, 0.1, False), X) == (2, 3, 6)
    assert size(Encoder(9, 2, 6, 8, 3, 0.1), IDS) == (2, 3, 6)
    assert size(MultiHeadAttention(1, 1), X, KEY) == (2, 3, 1)  # in both orders the same
    assert size(FeedForward(8, "gelu", 0.1), X) == (2, 3, 6)
    assert size(TokenEmbedding(9, 6, 0.1), IDS) == (2, 3, 6)
    # A list of lengths may stand in its place, as in the textbook.
    by_place, by_name = HEADS(X, KEY, KEY, [2, 4]), HEADS(X, KEY, KEY, valid_lens=[2, 4])
    np.testing.assert_array_equal(*map(ops.convert_to_numpy, (by_place, by_name)))


def test_a_mask_that_may_be_one_of_padding_is_pointed_out():
    x = np.random.default_rng(0).normal(size=(3, 3, 6)).astype(np.float32)
    padding = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1]], bool)
    with pytest.warns(UserWarning, match=r"read as \(T, S\).*`key_mask`, or `mask\[:, None\]`"):
        HEADS(x, x, attention_mask=padding)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for mask in (padding[None], padding[:, None], np.tri(3, dtype=bool), np.ones((3, 3), bool)):
            HEADS(x, x, attention_mask=mask)
        HEADS(X, X, attention_mask=padding)  # two examples: no doubt
        HEADS(x, x, key_mask=padding)
        BLOCK(x, np.tri(3, dtype=np.int32).cumsum(1))
    with pytest.warns(UserWarning, match=r"`valid_lens` \(B, T\) of only 0 and 1.*`x_mask`"):
        BLOCK(x, padding.astype(np.int32))


def test_a_subclass_may_have_arguments_of_these_names():
    class Mine(MultiHeadAttention):
        def __init__(self, num_heads, key_dim, mask=None):
            super().__init__(num_heads * key_dim, num_heads)

    assert Mine(2, 2).num_hiddens == 4 and Mine(4, key_dim=16).num_hiddens == 64
