"""Transformer decoder: token ids and memory to logits, for sequences or steps with a cache."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from keras_attn.layers.cache import write_cache
from keras_attn.layers.checks import check_boolean, optional
from keras_attn.layers.decoder_block import DecoderBlock
from keras_attn.layers.dense import copy_initializer, logits_of
from keras_attn.layers.dot_product import Inputs
from keras_attn.layers.embedding import TokenEmbedding
from keras_attn.layers.stack import Stack, by_block, listed


@keras.saving.register_keras_serializable(package="keras_attn")
class Decoder(Stack):
    """Decoder: embedding, decoder blocks and a projection to logits of the next token.

    Section 3.1 of Vaswani et al. 2017; with `norm_first` the last block is followed by a
    normalisation (Xiong et al. 2020).

    Masking: logits at `t` depend on ids up to `t` only; no query attends to `padding_id`.

    Args:
        vocab_size: `V`.
        num_layers: Blocks, a positive integer.
        num_hiddens: Width `D`, a multiple of `num_heads`.
        ffn_num_hiddens: Inner width of the feed-forward networks.
        num_heads: `H`.
        dropout: Rate of dropout. Defaults to 0.
        norm_first: Whether sub-layers get normalised input. Defaults to True.
        cross_attention: Whether there is a memory to attend to. Without one, the decoder is a
            language model. Defaults to True.
        tie_embeddings: Whether logits are products with the embeddings of the tokens (Press and
            Wolf 2017), rather than a dense layer's. Defaults to False.
        logits_use_bias: Whether logits have a bias. Defaults to None: those of a dense layer have
            one, those of `tie_embeddings` have none.
        share_embeddings: Whether tokens and positions are embedded by the layer of the encoder. It
            is set by the `Transformer` that holds both. Defaults to False.
        position: As in `Encoder`. Defaults to `"sinusoidal"`.
        padding_id, scale_embeddings: As in `TokenEmbedding`.
        embeddings_initializer, embeddings_regularizer, embeddings_constraint: As in
            `TokenEmbedding`.
        **options: The further arguments of `EncoderBlock`.

    Call arguments:
        ids: Integers `(B, T)`.
        memory: `(B, S, Dm)`; not needed with a cache.
        memory_valid_lens: Integers `(B,)` or `(B, T)`.
        cache: Optional list of a cache for each block, from `make_cache`.
        start: Position of the first column of `ids`; an integer, or a scalar tensor.
        return_attention_scores: Whether the attention weights are returned too.
        training: Whether dropout applies.
        memory_mask: Boolean `(B, S)`; Keras fills it.
        positions: Positions of the ids in place of `start`, integers `(T,)` or `(B, T)`; `start` is
            then only the place of their keys in the cache.
        attention_mask: Boolean, broadcastable to `(B, T, T)`, or `(B, T, L)` with a cache of length
            `L`: what each id may attend to, in place of the causal mask and of padding. Several
            hypotheses of one sentence can thus share a cache.
        write: Function that writes to a cache, as in `MultiHeadAttention`.
        observe: Function that is called with the `Inputs` of each cross-attention, first block
            first.

    Returns:
        Logits `(B, T, V)`; with `return_attention_scores`, then the weights by layer,
        `{"block_0/self_attention": (B, H, T, T), "block_0/cross_attention": (B, H, T, S), ...}`;
        with a cache, then the new cache.

    Raises:
        ValueError: If a size is not a positive integer, or the memory is missing.

    Example:

    >>> decoder = Decoder(
    ...     vocab_size=10, num_layers=2, num_hiddens=8, ffn_num_hiddens=16, num_heads=2
    ... )
    >>> tuple(decoder(keras.ops.convert_to_tensor([[2, 7, 5]]), keras.ops.ones((1, 4, 8))).shape)
    (1, 3, 10)

    A language model has no memory:

    >>> model = Decoder(10, 2, 8, 16, 2, cross_attention=False, tie_embeddings=True)
    >>> tuple(model(keras.ops.convert_to_tensor([[2, 7, 5]])).shape)
    (1, 3, 10)
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
        cross_attention: bool = True,
        tie_embeddings: bool = False,
        logits_use_bias: bool | None = None,
        share_embeddings: bool = False,
        **options: Any,
    ) -> None:
        # Set before the parts are made, because `_make_block` and `_make_embedding` read them.
        self.cross_attention = check_boolean("cross_attention", cross_attention)
        self.share_embeddings = check_boolean("share_embeddings", share_embeddings)
        sizes = (num_hiddens, ffn_num_hiddens, num_heads)
        super().__init__(vocab_size, num_layers, *sizes, dropout, norm_first, **options)
        self.tie_embeddings = check_boolean("tie_embeddings", tie_embeddings)
        self.logits_use_bias = optional(check_boolean, "logits_use_bias", logits_use_bias)
        self._bias: Any = None  # of logits that are products with the embeddings
        if not self.tie_embeddings:
            self._logits_dense = self._make_projection(
                self.vocab_size, "logits", use_bias=self.logits_use_bias is not False
            )

    def _make_block(self, **options: Any) -> DecoderBlock:
        return DecoderBlock(cross_attention=self.cross_attention, **options)

    def _make_embedding(self, position: Any) -> TokenEmbedding | None:
        return None if self.share_embeddings else super()._make_embedding(position)

    def use_embedding(self, embedding: TokenEmbedding) -> None:
        """Embed tokens and positions by a layer that another layer holds.

        Raises:
            ValueError: If it does not have the sizes of this decoder.
        """
        theirs, own = ((x.vocab_size, x.num_hiddens) for x in (embedding, self))
        if theirs != own:
            raise ValueError(
                "`embedding` must have the sizes of the decoder to be shared. Received: "
                f"(vocab_size, num_hiddens)={theirs} and {own}."
            )
        # Not tracked: its weights are those of the layer that holds it.
        object.__setattr__(self, "embedding", embedding)

    def build(self, ids_shape: tuple, memory_shape: tuple | None = None) -> None:
        self._build_stack(ids_shape, memory_shape)
        if not self.tie_embeddings:
            self._logits_dense.build((*ids_shape, self.num_hiddens))
        elif self.logits_use_bias:
            self._bias = self.add_weight(
                (self.vocab_size,),
                initializer=copy_initializer(self.bias_initializer),
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                name="logits_bias",
            )

    def compute_output_shape(self, ids_shape: tuple, memory_shape: tuple | None = None) -> tuple:
        return (*ids_shape, self.vocab_size)

    def call(
        self,
        ids: Any,
        memory: Any = None,
        memory_valid_lens: Any = None,
        cache: list[dict[str, Any]] | None = None,
        start: Any = 0,
        return_attention_scores: bool = False,
        training: bool | None = None,
        memory_mask: Any = None,
        positions: Any = None,
        attention_mask: Any = None,
        write: Callable[..., dict[str, Any]] = write_cache,
        observe: Callable[[Inputs], Any] | None = None,
    ) -> Any:
        given = {"memory_valid_lens": memory_valid_lens, "memory_mask": memory_mask}
        given |= {"cache": cache, "start": start, "training": training}
        given |= {"positions": positions, "attention_mask": attention_mask, "write": write}
        given |= {"observe": observe}
        states, *asked_for = self._run(ids, memory, return_attention_scores, **given)
        logits = self._to_logits(states)
        if attention_mask is not None:
            # Instead of `compute_mask`. While JAX compiles, tensors take no attributes.
            with contextlib.suppress(AttributeError):
                logits._keras_mask = ops.ones_like(ids, dtype="bool")
        return (logits, *asked_for) if asked_for else logits

    def _to_logits(self, states):
        tied = self.tie_embeddings
        logits = self.embedding.logits(states) if tied else self._logits_dense(states)
        return logits if self._bias is None else logits + ops.cast(self._bias, logits.dtype)

    def states(self, ids: Any, memory: Any = None, **arguments: Any) -> Any:
        """Return the hidden states `(B, T, D)` that the output projection maps to logits.

        Args:
            ids: Integers `(B, T)`.
            memory: `(B, S, Dm)`, for a decoder with `cross_attention`.
            **arguments: `memory_valid_lens`, `memory_mask`, `start`, `training`, `positions` and
                `attention_mask` of a call. A call fills `memory_mask` with the Keras mask of the
                memory; this method does not.

        Raises:
            ValueError: If the layer is not built.
        """
        self._check_built("states")
        return self._run(ids, memory, **arguments)[0]

    def output_projection(self, token_ids: Any = None) -> tuple[Any, Any]:
        """Return kernel `(D, C)` and bias `(C,)` of the logits of some tokens.

        `states @ kernel + bias` are the logits of `C` tokens, for a loss over a part of the
        vocabulary. Where logits have no bias, it is one of zeros.

        Args:
            token_ids: Integers `(C,)`. Defaults to None, the whole vocabulary.

        Raises:
            ValueError: If the layer is not built, or the weights of the logits are quantized.
        """
        self._check_built("output_projection")
        tied = self.tie_embeddings
        layer = self.embedding.tokens if tied else self._logits_dense
        if layer.quantization_mode is not None:
            raise ValueError(
                "`output_projection` needs weights that are not quantized. "
                f"Received: quantization_mode={layer.quantization_mode!r} in {layer.name!r}."
            )
        bias = self._bias if tied else layer.bias
        weights = layer.embeddings if tied else layer.kernel
        return logits_of(weights, bias, token_ids, by_token=tied)

    def _check_built(self, method):
        if not self.built:
            raise ValueError(
                f"Build {self.name!r} before `{method}`: call it, or "
                "`build(ids_shape, memory_shape)`. Received: built=False."
            )

    def _run(
        self,
        ids,
        memory,
        return_attention_scores=False,
        cache=None,
        start=0,
        training=None,
        positions=None,
        attention_mask=None,
        **of_block,
    ):
        """Return the states; if asked for, then the weights by layer and the new cache."""
        is_list = isinstance(cache, list | tuple) and len(cache) == self.num_layers
        if cache is not None and not is_list:
            raise ValueError(
                f"`cache` must be a list of {self.num_layers} caches, one for each block, as "
                f"make_cache returns it. Received: cache={cache!r}."
            )
        if self.embedding is None:
            raise ValueError(
                "A decoder with `share_embeddings` must be part of a `Transformer`, whose encoder "
                f"has the embedding. Received: a call of {self.name!r} by itself."
            )
        x = self.embedding(ids, start=start, training=training, positions=positions)
        ids_mask = None if attention_mask is not None else self.compute_mask(ids)
        if attention_mask is not None:
            x = ops.copy(x)  # without the mask of the embedding, which hides id 0
        weights: dict[str, Any] = {}
        new_cache: list[Any] = []
        # A positional argument: rematerialization accepts no None and computes no gradients of
        # keyword arguments.
        given = () if memory is None else (memory,)
        for i, block in enumerate(self.blocks):
            x, *found = listed(
                block(
                    x,
                    *given,
                    cache=None if cache is None else cache[i],
                    start=start,
                    return_attention_scores=return_attention_scores,
                    training=training,
                    x_mask=ids_mask,
                    positions=positions if self._rotates else None,
                    attention_mask=attention_mask,
                    **of_block,
                )
            )
            if return_attention_scores:
                weights |= by_block(block, found.pop(0))
            new_cache += found
        results = [self._normalized(x, training), *([weights] if return_attention_scores else [])]
        return [*results, new_cache] if cache is not None else results

    def make_cache(
        self, batch_size: Any, length: Any, memory: Any = None, memory_mask: Any = None
    ) -> list[dict[str, Any]]:
        """Return an empty cache for each block, with the memory projected once.

        Args:
            batch_size: `B`.
            length: Number of positions.
            memory: `(B, S, Dm)`, for a decoder with `cross_attention`.
            memory_mask: Boolean `(B, S)`. Defaults to the Keras mask of `memory`.
        """
        self.block_0.check_memory(memory, None)
        if not self.built:
            self.build((None, None), None if memory is None else memory.shape)
        return [block.make_cache(batch_size, length, memory, memory_mask) for block in self.blocks]

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Decoder:
        if "logits_bias" in config:  # of 0.1.0
            config = dict(config)
            config["logits_use_bias"] = config.pop("logits_bias") or None
        return super().from_config(config)
