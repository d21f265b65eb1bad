"""Common parts of encoder and decoder: options, blocks, stacks of blocks."""

import abc
from typing import Any

import keras
from keras import ops
from keras.dtype_policies import DTypePolicyMap

from keras_attn.layers.checks import (
    check_boolean,
    check_layout,
    check_positive_integer,
    check_positive_number,
    check_rate,
    get_activation,
    optional,
)
from keras_attn.layers.dense import ProjectingLayer, TableLayer
from keras_attn.layers.embedding import TokenEmbedding
from keras_attn.layers.feed_forward import FeedForward
from keras_attn.layers.layer import arguments_of
from keras_attn.layers.lora import Adaptable
from keras_attn.layers.multi_head import MultiHeadAttention
from keras_attn.layers.normalization import EPSILON, Normalization
from keras_attn.layers.positions import own_position
from keras_attn.layers.relative_positions import RelativePosition
from keras_attn.layers.residual import Residual


class Options(ProjectingLayer, Adaptable):
    """Base class of blocks and stacks: common arguments, described at `EncoderBlock`."""

    def __init__(
        self,
        num_hiddens: int,
        ffn_num_hiddens: int,
        num_heads: int,
        dropout: float = 0.0,
        norm_first: bool = True,
        use_bias: bool = False,
        activation: Any = "relu",
        gated: bool = False,
        norm: str = "layer",
        norm_epsilon: float = EPSILON,
        num_kv_heads: int | None = None,
        head_size: int | None = None,
        ffn_use_bias: bool = True,
        ffn_dropout: float = 0.0,
        position: Any = None,
        window: int | None = None,
        use_gate: bool = False,
        qk_norm: str | None = None,
        soft_cap: float | None = None,
        use_sinks: bool = False,
        blockwise: bool | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self.num_hiddens = check_positive_integer("num_hiddens", num_hiddens)
        self.ffn_num_hiddens = check_positive_integer("ffn_num_hiddens", ffn_num_hiddens)
        self.num_heads = check_positive_integer("num_heads", num_heads)
        self.dropout = check_rate("dropout", dropout)
        self.norm_first = check_boolean("norm_first", norm_first)
        self.use_bias = check_boolean("use_bias", use_bias)
        self.activation = get_activation("activation", activation)
        self.gated = check_boolean("gated", gated)
        self.norm = norm
        self.norm_epsilon = check_positive_number("norm_epsilon", norm_epsilon)
        self.num_kv_heads = optional(check_positive_integer, "num_kv_heads", num_kv_heads)
        self.head_size = optional(check_positive_integer, "head_size", head_size)
        self.ffn_use_bias = check_boolean("ffn_use_bias", ffn_use_bias)
        self.ffn_dropout = check_rate("ffn_dropout", ffn_dropout)
        # Not tracked as a sub-layer: attention and embedding make copies.
        object.__setattr__(self, "position", position)
        self.window = optional(check_positive_integer, "window", window)
        self.use_gate = check_boolean("use_gate", use_gate)
        self.qk_norm = qk_norm
        self.soft_cap = optional(check_positive_number, "soft_cap", soft_cap)
        self.use_sinks = check_boolean("use_sinks", use_sinks)
        self.blockwise = optional(check_boolean, "blockwise", blockwise)

    @property
    def options(self) -> dict[str, Any]:
        """All arguments by name, without the settings of weights."""
        return {name: getattr(self, name) for name in arguments_of(Options)}

    @property
    def attention_options(self) -> dict[str, Any]:
        """Arguments that every `MultiHeadAttention` of a block takes from the block."""
        others = ("num_hiddens", "num_heads", "position", "window")
        taken = set(arguments_of(MultiHeadAttention)).difference(others)
        return {name: option for name, option in self.options.items() if name in taken}


class Block(Options):
    """Base class of blocks: self-attention and feed-forward network with residual connections.

    A subclass calls them in `call`.
    """

    layout = "BTD"  # letters of the axes of `x`, for messages

    def __init__(
        self,
        num_hiddens: int,
        ffn_num_hiddens: int,
        num_heads: int,
        dropout: float = 0.0,
        norm_first: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(num_hiddens, ffn_num_hiddens, num_heads, dropout, norm_first, **options)
        self.supports_masking = True
        self._is_in_stack = False
        self._self_attention = self._make_attention(
            "self_attention", position=self.position, window=self.window
        )
        self._around_self_attention = self._make_residual("self_attention")
        self._feed_forward = FeedForward(
            self.ffn_num_hiddens,
            self.activation,
            self.ffn_dropout,
            self.gated,
            self.ffn_use_bias,
            seed=self._seed_for("feed_forward"),
            name="feed_forward",
            dtype=self.dtype_policy,
            **self.weight_settings,
        )
        self._around_feed_forward = self._make_residual("feed_forward")

    def _make_attention(self, name: str, **kwargs: Any) -> MultiHeadAttention:
        return MultiHeadAttention(
            self.num_hiddens,
            self.num_heads,
            seed=self._seed_for(name),
            name=name,
            dtype=self.dtype_policy,
            **self.attention_options,
            **self.weight_settings,
            **kwargs,
        )

    def _make_residual(self, sublayer: str) -> Residual:
        name = f"around_{sublayer}"
        return Residual(
            self.dropout,
            self.norm_first,
            self.norm,
            self.norm_epsilon,
            seed=self._seed_for(name),
            name=name,
            dtype=sum_policy(self.dtype_policy),
        )

    def join_stack(self) -> None:
        """Get inputs from a stack only, in the dtype of the residual stream."""
        self.autocast = False
        self._is_in_stack = True

    def _add(self, residual: Residual, x: Any, sublayer: Any, training: bool | None) -> list[Any]:
        """Return the sum of a sub-layer and its input, then its further results."""
        return listed(residual(x, sublayer=sublayer, training=training))

    def _feed(self, x: Any, training: bool | None) -> Any:
        """Feed-forward network, the last sub-layer, and the end of the residual stream."""
        feed_forward, around = self._feed_forward, self._around_feed_forward
        (x,) = self._add(around, x, lambda y: feed_forward(y, training=training), training)
        # Another block of a stack continues the stream.
        return x if self._is_in_stack else ops.cast(x, self.compute_dtype)

    def build(self, x_shape: tuple) -> None:
        check_layout("x", x_shape, self.layout)
        if x_shape[-1] != self.num_hiddens:
            raise ValueError(
                "`x` must have `num_hiddens` features, for the residual connection. "
                f"Received: x.shape={tuple(x_shape)}, num_hiddens={self.num_hiddens}."
            )
        self._self_attention.build(x_shape, x_shape)
        self._around_self_attention.build(x_shape)
        self._feed_forward.build(x_shape)
        self._around_feed_forward.build(x_shape)

    def compute_output_shape(self, x_shape: tuple, memory_shape: tuple | None = None) -> tuple:
        return tuple(x_shape)

    def compute_mask(self, x: Any, previous_mask: Any = None) -> Any:
        return previous_mask


class Stack(Options, TableLayer, abc.ABC):
    """Base class of stacks: token embedding, blocks, and with `norm_first` a normalisation.

    A subclass makes its blocks in `_make_block` and calls them in `call`.
    """

    def __init__(
        self,
        vocab_size: int,
        num_layers: int,
        num_hiddens: int,
        ffn_num_hiddens: int,
        num_heads: int,
        dropout: float = 0.0,
        norm_first: bool = True,
        *,
        position: Any = "sinusoidal",
        padding_id: int | None = 0,
        scale_embeddings: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(
            num_hiddens,
            ffn_num_hiddens,
            num_heads,
            dropout,
            norm_first,
            position=position,
            **options,
        )
        self.vocab_size = check_positive_integer("vocab_size", vocab_size)
        self.num_layers = check_positive_integer("num_layers", num_layers)
        self.padding_id = padding_id
        self.scale_embeddings = check_boolean("scale_embeddings", scale_embeddings)
        scheme = own_position(position)
        in_scores = isinstance(scheme, RelativePosition)
        self._rotates = in_scores and scheme.takes_positions
        self.embedding = self._make_embedding(None if in_scores else position)
        for i in range(self.num_layers):
            name = f"block_{i}"
            block = self._make_block(
                **{**self.options, "position": position if in_scores else None},
                **self.weight_settings,
                seed=self._seed_for(name),
                name=name,
                dtype=self.dtype_policy,
            )
            # One attribute per block: `tf.train.Checkpoint` does not save layers in a list.
            setattr(self, name, block)
            block.join_stack()
        self._norm = None
        if self.norm_first:
            options = {"dtype": self.dtype_policy, "name": "norm"}
            self._norm = Normalization(self.norm, self.norm_epsilon, **options)

    def _make_embedding(self, position: Any) -> Any:
        embedding = TokenEmbedding(
            self.vocab_size,
            self.num_hiddens,
            self.dropout,
            position,
            self.padding_id,
            self.scale_embeddings,
            **self.table_settings,
            seed=self._seed_for("embedding"),
            name="embedding",
            dtype=sum_policy(self.dtype_policy),
        )
        embedding.tokens.reverse_dtype = self.compute_dtype  # logits are products
        return embedding

    @property
    def blocks(self) -> list[Block]:
        """The blocks in the order in which they are called."""
        return [getattr(self, f"block_{i}") for i in range(self.num_layers)]

    @abc.abstractmethod
    def _make_block(self, **options: Any) -> Block:
        """Return a block with these arguments."""

    def _build_stack(self, ids_shape: tuple, *memory_shape: tuple | None) -> None:
        check_layout("ids", ids_shape, "BT")
        # The embedding of another stack is built there.
        if self.embedding is not None and not self.embedding.built:
            self.embedding.build(ids_shape)
        hidden_shape = (*ids_shape, self.num_hiddens)
        for block in self.blocks:
            block.build(hidden_shape, *memory_shape)
        if self._norm is not None:
            self._norm.build(hidden_shape)

    def _normalized(self, x: Any, training: bool | None) -> Any:
        """End of the residual stream, after the last block."""
        if self._norm is None:
            return ops.cast(x, self.compute_dtype)
        return self._norm(x, training=training)

    def compute_mask(self, ids: Any, previous_mask: Any = None) -> Any:
        return self.embedding.compute_mask(ids)


def by_block(block: Block, *found: dict[str, Any]) -> dict[str, Any]:
    """Return the attention weights that a block returned, if any, by names in the stack."""
    return {f"{block.name}/{name}": part for parts in found for name, part in parts.items()}


def listed(results: Any) -> list[Any]:
    """Return the results of a layer, which may be one or a tuple, as a list."""
    return list(results) if isinstance(results, tuple) else [results]


def sum_policy(policy: Any) -> Any:
    """Return the dtype policy of layers that add to the residual stream.

    Under a mixed policy, products are computed in half precision, and the sums of their results in
    the dtype of the weights, float32.
    """
    if not isinstance(policy, DTypePolicyMap):
        return keras.DTypePolicy(policy.variable_dtype)
    sums = DTypePolicyMap(sum_policy(policy.default_policy))
    for path, of_path in policy.items():
        sums[path] = of_path
    return sums
