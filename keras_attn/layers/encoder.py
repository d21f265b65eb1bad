"""Transformer encoder: token ids to memory."""

from __future__ import annotations

from typing import Any

import keras

from keras_attn.layers.checks import check_layout
from keras_attn.layers.from_keras import block_like_keras_hub
from keras_attn.layers.stack import Block, Stack, by_block, listed


@keras.saving.register_keras_serializable(package="keras_attn")
class EncoderBlock(Block):
    """Encoder block: self-attention and feed-forward network with residual connections.

    The left side of figure 1 of Vaswani et al. 2017.

    Masking: no query attends to a position that `valid_lens` or the Keras mask hides.

    Args:
        num_hiddens: Width `D`, a multiple of `num_heads`.
        ffn_num_hiddens: Inner width of the feed-forward network.
        num_heads: `H`.
        dropout: Rate of dropout of attention weights and after each sub-layer. Defaults to 0.
        norm_first: Whether the input of a sub-layer is normalised (True, the default), or the sum.
        use_bias: Whether the projections of attention have a bias. Defaults to False.
        activation: Activation of the feed-forward network. Defaults to `"relu"`.
        gated: Whether the feed-forward network has a gate. Defaults to False.
        norm: `"layer"` or `"rms"`, the kind of normalisation. Defaults to `"layer"`.
        norm_epsilon: Number that every normalisation adds to the variance. Defaults to 1e-6.
        num_kv_heads: Heads of keys and values. Defaults to `num_heads`.
        head_size: Features of queries and keys in each head. Defaults to `D / H`.
        ffn_use_bias: Whether the feed-forward network has biases. Defaults to True.
        ffn_dropout: Rate of dropout inside the feed-forward network. Defaults to 0.
        position: A scheme of positions inside the scores of self-attention, as in
            `MultiHeadAttention`. Defaults to None.
        window: Size of the sliding window, as in `MultiHeadAttention`. Defaults to None.
        use_gate, qk_norm, soft_cap, use_sinks, blockwise: As in `MultiHeadAttention`.
        **settings: `seed` of the dropout, and settings of kernels and biases:
            `kernel_initializer`, `bias_initializer`, `kernel_regularizer`, `bias_regularizer`,
            `kernel_constraint`, `bias_constraint`, as in `keras.layers.Dense`.

    Call arguments:
        x: `(B, S, D)`.
        valid_lens: Integers `(B,)` or `(B, S)`: number of valid positions; later ones are masked.
        return_attention_scores: Whether the attention weights are returned too.
        training: Whether dropout applies.
        x_mask: Boolean `(B, S)`; Keras fills it.
        positions: Positions of the rows, as in `MultiHeadAttention`.
        attention_mask: Boolean, broadcastable to `(B, S, S)` or `(B, H, S, S)`.
        use_causal_mask: Whether position `t` attends to positions up to `t` only.

    Returns:
        `(B, S, D)`, or that and `{"self_attention": weights (B, H, S, S)}`.

    Raises:
        ValueError: If an argument is invalid, or the last dimension of `x` is not `num_hiddens`.

    Example:

    >>> block = EncoderBlock(num_hiddens=8, ffn_num_hiddens=16, num_heads=2)
    >>> tuple(block(keras.ops.ones((2, 5, 8)), valid_lens=[5, 3]).shape)
    (2, 5, 8)
    """

    layout = "BSD"

    def call(
        self,
        x: Any,
        valid_lens: Any = None,
        return_attention_scores: bool = False,
        training: bool | None = None,
        x_mask: Any = None,
        positions: Any = None,
        attention_mask: Any = None,
        use_causal_mask: bool = False,
    ) -> Any:
        check_layout("x", x.shape, "BSD")
        x = self._to_float(x)
        x, *weights = self._add(
            self._around_self_attention,
            x,
            lambda y: self._self_attention(
                y,
                key=y,
                valid_lens=valid_lens,
                attention_mask=attention_mask,
                use_causal_mask=use_causal_mask,
                query_mask=x_mask,
                key_mask=x_mask,
                return_attention_scores=return_attention_scores,
                training=training,
                positions=positions,
            ),
            training,
        )
        x = self._feed(x, training)
        return (x, {"self_attention": weights[0]}) if return_attention_scores else x

    @classmethod
    def from_keras_hub(cls, layer: keras.layers.Layer) -> EncoderBlock:
        """Return a block with the options and weights of a `keras_hub.layers.TransformerEncoder`.

        Raises:
            ValueError: If the layer is another, or is not built.
        """
        return block_like_keras_hub(cls, layer)


@keras.saving.register_keras_serializable(package="keras_attn")
class Encoder(Stack):
    """Encoder: embedding with positions, then encoder blocks.

    Section 3.1 of Vaswani et al. 2017; with `norm_first` the last block is followed by a
    normalisation (Xiong et al. 2020).

    Masking: `padding_id` is padding. The output has a Keras mask.

    Args:
        vocab_size: `V`.
        num_layers: Number of blocks, a positive integer.
        num_hiddens: Width `D`, a multiple of `num_heads`.
        ffn_num_hiddens: Inner width of the feed-forward networks.
        num_heads: `H`.
        dropout: Rate of dropout. Defaults to 0.
        norm_first: Whether sub-layers get normalised input. Defaults to True.
        position: A layer that adds positions to the embedding (`PositionalEncoding`,
            `LearnedPositionalEncoding`), a scheme inside the scores (such as `RotaryEmbedding`;
            each block has a copy with separate weights), a name such as `"sinusoidal"` or
            `"rotary"`, or None. Defaults to `"sinusoidal"`.
        padding_id, scale_embeddings: As in `TokenEmbedding`.
        embeddings_initializer, embeddings_regularizer, embeddings_constraint: As in
            `TokenEmbedding`.
        **options: The further arguments of `EncoderBlock`.

    Call arguments:
        ids: Integers `(B, S)`.
        valid_lens: Integers `(B,)`: number of valid positions; later ones are masked.
        return_attention_scores: Whether the attention weights are returned too.
        training: Whether dropout applies.
        attention_mask: Boolean, broadcastable to `(B, S, S)`, such as one for each of several
            sequences in a row.
        use_causal_mask: Whether position `t` attends to positions up to `t` only.
        positions: Positions of the ids, integers `(S,)` or `(B, S)`. Defaults to `0, 1, ...`.

    Returns:
        Memory `(B, S, D)`, or that and the weights by layer, `{"block_0/self_attention": (B, H, S,
        S), ...}`.

    Raises:
        ValueError: If a size is not a positive integer, or an option is invalid.

    Example:

    >>> encoder = Encoder(
    ...     vocab_size=10, num_layers=2, num_hiddens=8, ffn_num_hiddens=16, num_heads=2
    ... )
    >>> ids = keras.ops.convert_to_tensor([[3, 7, 0], [5, 6, 4]])
    >>> memory, weights = encoder(ids, return_attention_scores=True)
    >>> tuple(memory.shape), sorted(weights)
    ((2, 3, 8), ['block_0/self_attention', 'block_1/self_attention'])
    """

    def _make_block(self, **options: Any) -> EncoderBlock:
        return EncoderBlock(**options)

    def build(self, ids_shape: tuple) -> None:
        self._build_stack(ids_shape)

    def compute_output_shape(self, ids_shape: tuple) -> tuple:
        return (*ids_shape, self.num_hiddens)

    def call(
        self,
        ids: Any,
        valid_lens: Any = None,
        return_attention_scores: bool = False,
        training: bool | None = None,
        attention_mask: Any = None,
        use_causal_mask: bool = False,
        positions: Any = None,
    ) -> Any:
        x = self.embedding(ids, training=training, positions=positions)
        mask = self.compute_mask(ids)
        weights: dict[str, Any] = {}
        for block in self.blocks:
            x, *found = listed(
                block(
                    x,
                    valid_lens=valid_lens,
                    return_attention_scores=return_attention_scores,
                    training=training,
                    x_mask=mask,
                    positions=positions if self._rotates else None,
                    attention_mask=attention_mask,
                    use_causal_mask=use_causal_mask,
                )
            )
            weights |= by_block(block, *found)
        memory = self._normalized(x, training)
        return (memory, weights) if return_attention_scores else memory
