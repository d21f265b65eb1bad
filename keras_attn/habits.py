"""Habits of users of Keras, KerasHub, PyTorch and d2l, with what to write here instead.

It imports the standard library only. The tables are read when a call is wrong.
"""

import difflib
import functools
import inspect
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any


def _by_name(rows: dict[str, str]) -> dict[str, str]:
    """Sentences by name, of rows whose keys hold several names."""
    return {name: sentence for names, sentence in rows.items() for name in names.split()}


_PADDING = (
    "A mask of padding (True = a token) is `key_mask` of attention, `x_mask` of a block and "
    "`memory_mask` of a memory; an Encoder or Decoder makes it of the ids that equal `padding_id`."
)
_TORCH_MASK = "PyTorch's True hides a key, here True = attend: invert it (`~mask`)."
_PAIRS = "A mask of pairs is `attention_mask`."
_WIDTH = "The width is `num_hiddens`."
_OUTPUT = "Leave it out: the width of the output is that of the input."
_LAST_AXIS = "Leave it out: the last axis is normalised."

# By the names of arguments elsewhere, of constructors and of calls.
ARGUMENTS = _by_name(
    {
        "key_dim": "Keras's `key_dim` is the size of one head; here `num_hiddens` is that of all, "
        "num_heads * key_dim{product}. To compute what Keras's layer does, add use_bias=True and "
        "output_shape=the last axis of the query, or use MultiHeadAttention.from_keras(layer).",
        "num_query_heads num_attention_heads nhead heads": "The number of heads is `num_heads`.",
        "num_key_value_heads num_query_groups": "Groups of heads are `num_kv_heads`.",
        "head_dim": "The size of one head is `head_size`.",
        "sliding_window": "The window is `window`.",
        "attention_axes": "Attention is over axis 1 of (B, T, D): reshape the input.",
        "flash_attention": "Leave it out: the layer chooses the fast way, see `blockwise`.",
        "score_mode": 'Mode "concat" is AdditiveAttention, "dot" is DotProductAttention.',
        "use_scale": "DotProductAttention(scale=True) divides scores by sqrt(D).",
        "mask": f"{_PAIRS} masked_softmax takes `mask`. {_PADDING}",
        "padding_mask decoder_padding_mask encoder_padding_mask": _PADDING,
        "key_padding_mask src_key_padding_mask tgt_key_padding_mask memory_key_padding_mask": (
            f"{_PADDING} {_TORCH_MASK}"
        ),
        "attn_mask src_mask tgt_mask": f"{_PAIRS} {_TORCH_MASK} Floats are `attention_bias`.",
        "is_causal causal": "A causal mask is use_causal_mask=True in the call.",
        "return_attention_weights need_weights output_attentions": (
            "Weights are returned with return_attention_scores=True."
        ),
        "average_attn_weights": "Weights are those of each head: take their mean over axis 1.",
        "batch_first": "Leave it out: the batch is always the first axis.",
        "embed_dim d_model hidden_size embedding_dim output_dim": _WIDTH,
        "hidden_dim": f"{_WIDTH} That of the feed-forward network is `ffn_num_hiddens`.",
        "intermediate_dim dim_feedforward ffn_num_input ffn_hiddens ff_dim": (
            "The inner width of the feed-forward network is `ffn_num_hiddens`; the width "
            "`num_hiddens` is given too."
        ),
        "ffn_num_outputs": _OUTPUT,
        "kdim vdim key_size query_size value_size": (
            "Leave it out: input sizes are taken from the input."
        ),
        "input_dim vocabulary_size num_embeddings": "The size of the vocabulary is `vocab_size`.",
        "sequence_length max_position": "The longest length is `max_len`.",
        "mask_zero": "Padding is `padding_id`, 0 by default.",
        "bias": "Biases are `use_bias`, in a block `use_bias` and `ffn_use_bias`.",
        "dropout_rate rate attention_dropout": "The rate is `dropout`.",
        "normalize_first pre_norm": "Pre-norm is `norm_first`, True by default.",
        "layer_norm_epsilon layer_norm_eps epsilon": "The number is `norm_epsilon`.",
        "norm_shape": _LAST_AXIS,
        "num_blks num_blocks n_layers": "The blocks are `num_layers`.",
        "queries X": "The name is `query` in attention, `x` in a block.",
        "keys": "The name is `key`.",
        "values": "The name is `value`.",
        "use_cache": "A cache is made by `make_cache` and passed as `cache`.",
        "encoder_sequence enc_outputs": "The output of the encoder is `memory`.",
        "enc_valid_lens": "Lengths of the memory are `memory_valid_lens`.",
        "decoder_sequence src tgt inputs": "The input is `x` of a block, `ids` of a stack.",
    }
)
# By the names of attributes elsewhere.
ATTRIBUTES = _by_name(
    {
        "attention_weights attention_scores _attention_scores attn": (
            "Call the layer with return_attention_scores=True: it returns output and weights."
        ),
        "eval train": "Leave it out: dropout applies with training=True and in `fit` only.",
        "forward": "Call the layer itself.",
        "P": "The table is `layer(keras.ops.zeros((1, T, D)))[0]`.",
        "key_dim": "The size of all heads together is `num_hiddens`.",
        "state_dict parameters": "Weights are `layer.weights`, `get_weights` and `save_weights`.",
    }
)
# By the names of classes elsewhere.
CLASSES = _by_name(
    {
        "Translator": "Write `from keras_attn.translation import Translator`.",
        "Attention": "Write DotProductAttention.",
        "MultiheadAttention CachedMultiHeadAttention": "Write MultiHeadAttention.",
        "GroupedQueryAttention GroupQueryAttention MultiQueryAttention": (
            "Write MultiHeadAttention(..., num_kv_heads=...)."
        ),
        "TransformerEncoderBlock TransformerEncoderLayer TransformerEncoder": (
            "One block is EncoderBlock, a stack with its embedding is Encoder."
        ),
        "TransformerDecoderBlock TransformerDecoderLayer TransformerDecoder": (
            "One block is DecoderBlock, a stack with its embedding is Decoder."
        ),
        "PositionWiseFFN PositionwiseFFN": "Write FeedForward.",
        "AddNorm": "Write Residual(norm_first=False), which takes the sub-layer as a function.",
        "EncoderDecoder Seq2Seq": "Write Transformer.",
        "TokenAndPositionEmbedding ReversibleEmbedding Embedding": "Write TokenEmbedding.",
        "SinePositionEncoding": "Write PositionalEncoding, which adds to its input.",
        "PositionEmbedding": "Write LearnedPositionalEncoding.",
        "NWKernelRegression": "Write GaussianKernelAttention.",
        "show_heatmaps plot_attention": "Write `from keras_attn.plots import plot_attention`.",
    }
)


def _over(value: Any, limit: Any) -> bool:
    """Whether both are integers, and the value is larger."""
    return isinstance(value, Integral) and isinstance(limit, Integral) and value > limit


_SIZES_FIRST: tuple[Any, str] = (
    lambda rest, dropout, **_: rest or _over(dropout, 1),
    "Sizes of keys, queries and values, which d2l gives first, are taken from the input.",
)
_BLOCK: list[tuple[Any, str]] = [
    _SIZES_FIRST,
    (
        lambda num_heads, ffn_num_hiddens, **_: _over(num_heads, ffn_num_hiddens),
        "PyTorch gives the number of heads second; here it is the third.",
    ),
    (
        lambda ffn_num_hiddens, num_heads, **_: (
            ffn_num_hiddens and type(num_heads) in (float, type(None))
        ),
        "KerasHub gives (intermediate_dim, num_heads); here the width comes first.",
    ),
]
_STACK: list[tuple[Any, str]] = [
    (
        lambda num_layers, ffn_num_hiddens, rest, **_: rest or _over(num_layers, ffn_num_hiddens),
        "d2l gives the number of blocks fifth; here it is the second.",
    )
]
# By class: what values given by position look like in another order, and a sentence. A value that
# is not given is None, `rest` are values without an argument.
ORDERS: dict[str, list[tuple[Any, str]]] = {
    "MultiHeadAttention": [
        _SIZES_FIRST,
        (
            lambda num_hiddens, num_heads, **_: (
                _over(num_heads, 1) and _over(num_heads + 1, num_hiddens)
            ),
            "keras.layers.MultiHeadAttention takes (num_heads, key_dim): write "
            "MultiHeadAttention(num_hiddens={product}, num_heads={first}).",
        ),
    ],
    "AdditiveAttention": [_SIZES_FIRST],
    "Encoder": _STACK,
    "Decoder": _STACK,
    "EncoderBlock": _BLOCK,
    "DecoderBlock": _BLOCK,
    "FeedForward": [
        (
            lambda activation, **_: isinstance(activation, int),
            f"{_OUTPUT} The second argument is `activation`.",
        )
    ],
    "Residual": [(lambda dropout, **_: isinstance(dropout, list), _LAST_AXIS)],
    "TokenEmbedding": [
        (
            lambda dropout, **_: _over(dropout, 1),
            "KerasHub gives (vocabulary_size, sequence_length, embedding_dim); here the width "
            "comes second, and a length belongs to position=LearnedPositionalEncoding(max_len).",
        )
    ],
    "Transformer": [
        (
            lambda encoder, **_: isinstance(encoder, int),
            "Transformer takes an encoder and a decoder; Transformer.from_sizes takes numbers.",
        )
    ],
}


@functools.cache
def _parameters(layer_class: type) -> list[inspect.Parameter]:
    return list(inspect.signature(layer_class.__init__).parameters.values())[1:]  # type: ignore[misc]


def check_constructor(layer_class: type, args: tuple, kwargs: dict[str, Any]) -> None:
    """Check arguments of a constructor for those of another library.

    Raises:
        ValueError: If values by position are in another order, or an argument has another name
            while a required one is missing. Other faults are left to the constructor.
    """
    parameters = _parameters(layer_class)
    names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    is_ours = len(args) > 1 and layer_class.__module__.startswith("keras_attn.")
    for is_other, sentence in ORDERS.get(layer_class.__name__, ()) if is_ours else ():
        if is_other(**{**dict.fromkeys(names), **given, "rest": args[len(names) :]}):
            counts = all(isinstance(x, int) for x in args[:2])
            product = args[0] * args[1] if counts else ""
            sentence = sentence.format(product=product, first=args[0])
            raise ValueError(
                f"{layer_class.__name__} takes ({', '.join(names)}) by position. {sentence} "
                f"Received: {', '.join(map(_shown, args))}. Pass arguments by name."
            )
    allowed = [p.name for p in parameters]
    unknown = [name for name in kwargs if name in ARGUMENTS and name not in allowed]
    required = [p.name for p in parameters if p.default is p.empty and p.name in names]
    if unknown and not given.keys() >= set(required):
        raise wrong_names(layer_class.__name__, unknown, allowed, kwargs)


def wrong_names(
    owner: str, names: Iterable[str], allowed: Iterable[str], given: Mapping[str, Any]
) -> ValueError:
    """Return the error of arguments that `owner` does not have; `given` are all of the call."""
    heads, size = given.get("num_heads"), given.get("key_dim")
    both = isinstance(heads, int) and isinstance(size, int)
    product = f" = {heads * size}" if both else ""  # type: ignore[operator]
    allowed = [name for name in allowed if name not in ("args", "kwargs", "settings", "options")]
    sentences = []
    for name in names:
        near = difflib.get_close_matches(name, allowed, 1, 0.75)
        sentence = f"Did you mean `{near[0]}`?" if near else f"It takes {', '.join(allowed)}."
        sentence = ARGUMENTS.get(name, sentence).format(product=product)
        sentences.append(
            f"{owner} has no argument `{name}`. {sentence} Received: {name}={_shown(given[name])}."
        )
    return ValueError(" ".join(sentences))


def bind(owner: str, signature: inspect.Signature, args: tuple, kwargs: Mapping) -> dict[str, Any]:
    """Return the arguments of a call by name.

    Raises:
        ValueError: If they do not fit the signature.
    """
    try:
        return signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        unknown = [name for name in kwargs if name not in signature.parameters]
        if unknown:
            raise wrong_names(owner, unknown, signature.parameters, kwargs) from None
        hint = ""
        if "key" in signature.parameters and "'key'" in str(error):
            hint = " Self-attention is `layer(x, x)`: query and key."
        names = ", ".join(signature.parameters)
        raise ValueError(f"{owner} is called as `layer({names})`: {error}.{hint}") from None


def no_attribute(owner: str, name: str, table: Mapping[str, str] = ATTRIBUTES) -> AttributeError:
    """Return the error of an attribute that `owner` does not have."""
    return AttributeError(f"{owner} has no attribute {name!r}. {table.get(name, '')}".rstrip())


def _shown(value: Any) -> str:
    """A value for a message: a tensor by its shape."""
    shape = getattr(value, "shape", None)
    return f"{value!r:.60}" if shape is None else f"a tensor of shape {tuple(shape)}"
