"""Every wrong call is a `ValueError` that names the argument, what it must be and what it was."""

import functools

import keras
import numpy as np
import pytest
from every_layer import LAYERS

import keras_attn
from keras_attn import (
    AdditiveAttention,
    BilinearAttention,
    Decoder,
    DecoderBlock,
    DotProductAttention,
    Encoder,
    EncoderBlock,
    GaussianKernelAttention,
    MultiHeadAttention,
    PositionalEncoding,
    Residual,
    RotaryEmbedding,
    ShawRelativePosition,
    T5RelativeBias,
    TokenEmbedding,
    Transformer,
    masked_softmax,
)

B, T, S, D = 2, 3, 5, 6
QUERY, KEY = np.ones((B, T, D), np.float32), np.ones((B, S, D), np.float32)
X, MEMORY = QUERY, np.ones((B, S, 4), np.float32)
SCORES = np.ones((B, T, S), np.float32)
IDS = np.ones((B, T), np.int32)
SIZES = (D, 7, 3)


def fault_of(call, name, expected, received):
    """Faults in the way in which a call is refused; none if the error says what it must."""
    try:
        call()
    except ValueError as error:
        message = str(error).replace("\n", " ")
        if f"`{name}` {expected}" in message and f"Received: {received}" in message:
            return []
        return [f"`{name}` {expected}. Received: {received}\n  is not in: {message}"]
    return [f"Accepted: {received}"]


RATE, FLAG = "must be a number of at least 0 and below 1", "must be True or False"
COUNT = "must be a positive integer"
# A wrong value of each argument of many layers.
ARGUMENTS = {
    **dict.fromkeys(["num_hiddens", "num_heads", "num_kv_heads", "vocab_size"], (0, COUNT)),
    **dict.fromkeys(["num_layers", "max_len", "window", "value_dim", "head_size"], (-3, COUNT)),
    **dict.fromkeys(["scale", "gated", "use_bias", "use_gate", "use_sinks"], (2, FLAG)),
    **dict.fromkeys(["norm_first", "blockwise", "cross_attention"], ("no", FLAG)),
    **dict.fromkeys(["tie_embeddings", "ffn_use_bias", "scale_embeddings"], (None, FLAG)),
    "logits_use_bias": ("no", FLAG),
    "fraction": (1.5, "must be a number above 0 and at most 1"),
    "padding_id": (-1, "must be None or an integer of at least 0"),
    "ffn_dropout": (1.0, RATE),
    "ffn_num_hiddens": (None, COUNT),
    "dropout": (1.5, RATE),
    "bandwidth": (0, "must be a number above 0"),
    "activation": ("rellu", "must be a function, or a name"),
    "norm": ("batch", "must be one of 'layer', 'rms'"),
    "position": ("nowhere", "must be "),
}


def test_a_wrong_value_of_every_argument_is_named_by_every_layer():
    faults = []
    for label in (label for label in LAYERS if "-" not in label and label != "Transformer"):
        layer_class, arguments = getattr(keras_attn, label), LAYERS[label][0]
        for name in set(layer_class(**arguments).get_config()) & set(ARGUMENTS):
            value, expected = ARGUMENTS[name]
            make = functools.partial(layer_class, **{**arguments, name: value})
            found = fault_of(make, name, expected, f"{name}={value!r}")
            faults += [f"{label}: {fault}" for fault in found]
    assert not faults, "\n".join(faults)


# fmt: off
CONSTRUCTORS = [
    (lambda: AdditiveAttention(8.0), "num_hiddens", COUNT, "num_hiddens=8.0"),
    (lambda: AdditiveAttention(True), "num_hiddens", COUNT, "num_hiddens=True"),
    (lambda: BilinearAttention(1), "dropout", RATE, "dropout=1."),
    (lambda: DotProductAttention(-0.1), "dropout", RATE, "dropout=-0.1"),
    (lambda: DotProductAttention("0.1"), "dropout", RATE, "dropout='0.1'"),
    (lambda: TokenEmbedding(7, 4, np.inf), "dropout", RATE, "dropout=inf"),
    (lambda: GaussianKernelAttention(np.nan),
     "bandwidth", "must be a number above 0", "bandwidth=nan"),
    (lambda: GaussianKernelAttention(1.0, "yes"), "trainable", FLAG, "trainable='yes'"),
    (lambda: MultiHeadAttention(10, 3),
     "num_hiddens", "must be a multiple of `num_heads`",
     "num_hiddens=10, num_heads=3. Use num_hiddens=12"),
    (lambda: DecoderBlock(*SIZES, num_kv_heads=2),
     "num_heads", "must be a multiple of `num_kv_heads`", "num_heads=3, num_kv_heads=2"),
    (lambda: ShawRelativePosition(0), "max_distance", COUNT, "max_distance=0"),
    (lambda: T5RelativeBias(5),
     "num_buckets", "must be an even integer of at least 4", "num_buckets=5"),
    (lambda: T5RelativeBias(32, 8),
     "max_distance", "must be above 8", "max_distance=8, num_buckets=32"),
    (lambda: RotaryEmbedding("10"), "base", "must be a number above 0", "base='10'"),
    (lambda: RotaryEmbedding(1), "base", "must be a number above 1", "base=1"),
    (lambda: RotaryEmbedding(layout="pairs"),
     "layout", "must be one of 'interleaved', 'half'", "layout='pairs'"),
    (lambda: RotaryEmbedding(scaling="dynamic"),
     "scaling", "must be one of None, 'linear', 'yarn'", "scaling='dynamic'"),
    (lambda: RotaryEmbedding(scaling="yarn"), "original_max_len", COUNT, "original_max_len=None"),
    (lambda: RotaryEmbedding(factor=0), "factor", "must be a number above 0", "factor=0"),
    (lambda: Transformer(ENCODER, Decoder(9, 1, *SIZES, cross_attention=False)),
     "decoder", "must have cross-attention", "decoder.cross_attention=False"),
    (lambda: Transformer(DECODER, DECODER), "encoder", "must be an Encoder", "encoder=<Decoder"),
    (lambda: Transformer(ENCODER, ENCODER), "decoder", "must be a Decoder", "decoder=<Encoder"),
]
# fmt: on

DECODER_BLOCK = DecoderBlock(*SIZES)
ENCODER, DECODER = Encoder(9, 2, *SIZES), Decoder(9, 2, *SIZES)
ENCODER(IDS), DECODER_BLOCK(X, MEMORY), DECODER(IDS, MEMORY)
HEADS, ROTARY = MultiHeadAttention(D, 3), MultiHeadAttention(D, 3, position=RotaryEmbedding())
HEADS(X, X), ROTARY(X, X)

# fmt: off
CALLS = [
    (lambda: PositionalEncoding()(QUERY, start=-1),
     "start", "must be an integer of at least 0", "start=-1"),
    (lambda: TokenEmbedding(7, 4)(IDS[0]), "ids", "must have shape (B, T)", "ids.shape=(3,)"),
    (lambda: TokenEmbedding(7, 4, dtype="mixed_bfloat16")(np.array([[1001.0]])),
     "ids", "must be integers", "ids.dtype="),
    (lambda: Encoder(9, 1, *SIZES)(IDS[None]),
     "ids", "must have shape (B, T)", "ids.shape=(1, 2, 3)"),
    (lambda: Decoder(9, 1, *SIZES)(IDS[0], MEMORY),
     "ids", "must have shape (B, T)", "ids.shape=(3,)"),
    (lambda: TokenEmbedding(7, 4)(IDS, start=-2),
     "start", "must be an integer of at least 0", "start=-2"),
    (lambda: Residual()(QUERY, sublayer=3), "sublayer", "must be a function", "sublayer=3"),
    (lambda: Residual()(QUERY, sublayer=lambda x: x[:, :2]),
     "sublayer", "must keep the shape of its input",
     "sublayer(x).shape=(2, 2, 6), x.shape=(2, 3, 6)"),
    (lambda: DotProductAttention()(QUERY, MEMORY),
     "query", "and `key` must have the same last dimension",
     "query.shape=(2, 3, 6), key.shape=(2, 5, 4)"),
    (lambda: DotProductAttention()(QUERY, KEY, attention_mask=np.ones((B, 1, T, S), bool)),
     "attention_mask", "must broadcast to (B, T, S) for a layer with one head",
     "attention_mask.shape=(2, 1, 3, 5)"),
    (lambda: masked_softmax(np.ones((B, T, S), np.int32)),
     "scores", "must be floats", "scores.dtype=int32"),
    (lambda: masked_softmax(SCORES[0], valid_lens=[1, 2, 3]),
     "valid_lens", "needs `scores` of shape (B, ..., T, S)", "scores.shape=(3, 5)"),
    (lambda: masked_softmax(SCORES, valid_lens=[[1, 2]] * 2),
     "valid_lens", "must have shape (B,) or (B, T), here with B=2, T=3", "valid_lens.shape=(2, 2)"),
    (lambda: masked_softmax(SCORES, valid_lens=[6, 1]),
     "valid_lens", "must be at least 0 and at most S=5", "valid_lens=[6, 1]"),
    (lambda: masked_softmax(SCORES, mask=np.ones((B, T, 4), bool)),
     "mask", "must broadcast to `scores`", "mask.shape=(2, 3, 4), scores.shape=(2, 3, 5)"),
    (lambda: masked_softmax(SCORES, mask=SCORES * -1e9),
     "mask", "must be boolean, True = attend", "mask.dtype=float32"),
    (lambda: HEADS(X),
     "key", "must be given, or a `cache` of all keys", "key=None, cache=None"),
    (lambda: HEADS(X, X, cache=MultiHeadAttention(D, 2).make_cache(B, 4)),
     "cache", "must be a dict of `key` and `value`, each of shape (B, 3, L, 2)",
     "cache={'key': (2, 2, 4, 3)"),
    (lambda: HEADS(X, X, cache=[]), "cache", "must be a dict of `key` and `value`", "cache=[]"),
    (lambda: HEADS(X, X, cache=HEADS.make_cache(3, 9)),
     "cache", "must have the batch size of the queries, 2", "cache={'key': (3, 3, 9, 2)"),
    (lambda: HEADS(X, X, positions=np.arange(T)),
     "positions", "require `position=RotaryEmbedding()`", "position=None"),
    (lambda: ROTARY(X, X, positions=np.arange(2)),
     "positions", "must have shape (B, T) or (T,)", "positions.shape=(2,)"),
    (lambda: ROTARY(X, KEY, positions=np.arange(T)),
     "positions", "require as many keys as queries", "query.shape=(2, 3, 6), key.shape=(2, 5, 6)"),
    (lambda: ROTARY(X, X, positions=np.zeros(T, np.float32)),
     "positions", "must be integers", "positions.dtype=float32"),
    (lambda: HEADS(X, X, attention_mask=np.ones((B, 2, T, T), bool)),
     "attention_mask", "must have shape (T, S)", "attention_mask.shape=(2, 2, 3, 3)"),
    (lambda: EncoderBlock(*SIZES)(MEMORY),
     "x", "must have `num_hiddens` features", "x.shape=(2, 5, 4), num_hiddens=6"),
    (lambda: DECODER_BLOCK(X),
     "memory", "must be given to a block with `cross_attention`", "memory=None, cache=None"),
    (lambda: DECODER_BLOCK(X, np.ones((3, S, 4))),
     "memory", "must have shape (B, S, D), here with B=2", "memory.shape=(3, 5, 4)"),
    (lambda: DECODER_BLOCK(X, MEMORY, memory_valid_lens=[6, 1]),
     "memory_valid_lens", "must be at least 0 and at most S=5", "memory_valid_lens=[6, 1]"),
    (lambda: DECODER_BLOCK(X, MEMORY, memory_mask=np.ones((B, T), bool)),
     "memory_mask", "must have shape (B, S)", "memory_mask.shape=(2, 3)"),
    (lambda: DecoderBlock(*SIZES, cross_attention=False)(X, MEMORY),
     "memory", "must be None for a block without", "memory.shape=(2, 5, 4)"),
    (lambda: DECODER_BLOCK(X, cache={}), "cache", "must be a dict of memory and self", "cache={}"),
    (lambda: DECODER_BLOCK(X, cache=DECODER_BLOCK.make_cache(3, 9, np.ones((3, 7, 4)))),
     "cache", "must have the batch size of the queries, 2", "cache={'key': (3, 3, 9, 2)"),
    (lambda: ENCODER(IDS, valid_lens=[-1, 2]),
     "valid_lens", "must be at least 0 and at most S=3", "valid_lens=[-1, 2]"),
    (lambda: DECODER(IDS, cache=DECODER.make_cache(B, 4, MEMORY)[:1]),
     "cache", "must be a list of 2 caches, one for each block", "cache=["),
    (lambda: DECODER(IDS, cache=DECODER.make_cache(B, 2, MEMORY)),
     "cache", "must be long enough", "start=0, key.shape[1]=3, a cache of length 2"),
    (lambda: Transformer(Encoder(9, 1, *SIZES), Decoder(9, 1, *SIZES))(IDS),
     "inputs", "must be a pair", "inputs.shape=(2, 3)"),
]
ATTENTION_CALLS = [
    ({"query": QUERY[0]}, "query", "must have shape (B, T, D)", "query.shape=(3, 6)"),
    ({"key": np.ones((3, S, D))},
     "key", "must have shape (B, S, D), here with B=2", "key.shape=(3, 5, 6)"),
    ({"value": KEY[:, :4]},
     "value", "must have shape (B, S, D), here with B=2, T=3, S=5", "value.shape=(2, 4, 6)"),
    ({"valid_lens": [1, 2, 3]},
     "valid_lens", "must have shape (B,) or (B, T)", "valid_lens.shape=(3,)"),
    ({"valid_lens": [2.0, 1.0]}, "valid_lens", "must be integers", "valid_lens.dtype=float"),
    ({"valid_lens": keras.Input(())}, "valid_lens", "must be integers", "valid_lens.dtype=float"),
    ({"valid_lens": np.array([-1, 2])},
     "valid_lens", "must be at least 0 and at most S=5", "valid_lens=[-1, 2]"),
    ({"valid_lens": [[0, 1, 9]] * 2},
     "valid_lens", "must be at least 0 and at most S=5", "valid_lens=[[0, 1, 9], [0, 1, 9]]"),
    ({"attention_mask": np.ones((T, 4), bool)},
     "attention_mask", "must have shape (T, S)", "attention_mask.shape=(3, 4)"),
    ({"attention_mask": np.zeros((T, S))},
     "attention_mask", "must be boolean, True = attend", "attention_mask.dtype=float"),
    ({"attention_mask": keras.Input((T, S))},
     "attention_mask", "must be boolean, True = attend", "attention_mask.dtype=float"),
    ({"query_mask": np.ones((B, S), bool)},
     "query_mask", "must have shape (B, T)", "query_mask.shape=(2, 5)"),
    ({"key_mask": np.ones((B, T), bool)},
     "key_mask", "must have shape (B, S)", "key_mask.shape=(2, 3)"),
    ({"value_mask": np.ones((B, 1, S), bool)},
     "value_mask", "must have shape (B, S)", "value_mask.shape=(2, 1, 5)"),
]
# fmt: on


def test_wrong_values_and_calls_are_named():
    faults = [fault for row in CONSTRUCTORS + CALLS for fault in fault_of(*row)]
    assert not faults, "\n".join(faults)


def test_every_attention_layer_names_wrong_calls():
    faults = []
    for layer in (AdditiveAttention(4), BilinearAttention(), GaussianKernelAttention(), HEADS):
        for arguments, *expected in ATTENTION_CALLS:
            call = functools.partial(layer, **{"query": QUERY, "key": KEY, **arguments})
            faults += [f"{layer.name}: {fault}" for fault in fault_of(call, *expected)]
    assert not faults, "\n".join(faults)


def test_an_option_that_no_layer_has_is_named():
    with pytest.raises(ValueError, match="colour"):
        Encoder(9, 1, *SIZES, colour="red")
