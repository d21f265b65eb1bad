"""Decoder block: self-attention, attention to a memory, feed-forward network."""

from collections.abc import Callable
from typing import Any

import keras

from keras_attn.layers.cache import write_cache
from keras_attn.layers.checks import check_boolean, check_layout
from keras_attn.layers.dot_product import Inputs
from keras_attn.layers.masks import check_shapes
from keras_attn.layers.stack import Block

# Names of the attention weights, by the names of their parts of a cache.
NAMES = {"self": "self_attention", "memory": "cross_attention"}


@keras.saving.register_keras_serializable(package="keras_attn")
class DecoderBlock(Block):
    """Decoder block: causal self-attention, cross-attention, feed-forward network.

    The right side of figure 1 of Vaswani et al. 2017; each sub-layer has a residual connection.

    Masking: position `t` attends to positions up to `t`. In the memory, it attends to positions
    that neither `memory_valid_lens` nor the Keras mask hides.

    A cache is a dict `{"self": ..., "memory": ...}` of caches of `MultiHeadAttention`.

    Args:
        num_hiddens: Width `D`, a multiple of `num_heads`.
        ffn_num_hiddens: Inner width of the feed-forward network.
        num_heads: `H`.
        dropout: Rate of dropout of attention weights and after each sub-layer. Defaults to 0.
        norm_first: Whether the input of a sub-layer is normalised (True, the default), or the sum.
        cross_attention: Whether there is a memory to attend to. Defaults to True.
        **options: The further arguments of `EncoderBlock`.

    Call arguments:
        x: `(B, T, D)`.
        memory: `(B, S, Dm)`; not needed with a cache.
        memory_valid_lens: Integers `(B,)` or `(B, T)`.
        cache: Optional cache, from `make_cache`.
        start: Position of the first row of `x`; an integer, or a scalar tensor. Defaults to 0.
        return_attention_scores: Whether the attention weights are returned too.
        training: Whether dropout applies.
        x_mask, memory_mask: Boolean `(B, T)` and `(B, S)`; Keras fills them. A cache keeps them.
        positions: Positions of the rows, as in `MultiHeadAttention`.
        attention_mask: Boolean, broadcastable to `(B, T, T)`, or `(B, T, L)` with a cache of length
            `L`: what self-attention may attend to, in place of the causal mask.
        write: Function that writes to a cache, as in `MultiHeadAttention`.
        observe: Function that is called with the `Inputs` of cross-attention, as in
            `MultiHeadAttention`.

    Returns:
        `(B, T, D)`; with `return_attention_scores`, then `{"self_attention": weights (B, H, T, T),
        "cross_attention": weights (B, H, T, S)}`; with a cache, then the new cache.

    Raises:
        ValueError: If the memory is missing, or given without `cross_attention`.

    Example:

    >>> block = DecoderBlock(num_hiddens=8, ffn_num_hiddens=16, num_heads=2)
    >>> tuple(block(keras.ops.ones((2, 5, 8)), keras.ops.ones((2, 3, 6))).shape)
    (2, 5, 8)
    """

    def __init__(
        self,
        num_hiddens: int,
        ffn_num_hiddens: int,
        num_heads: int,
        dropout: float = 0.0,
        norm_first: bool = True,
        cross_attention: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(num_hiddens, ffn_num_hiddens, num_heads, dropout, norm_first, **options)
        self.cross_attention = check_boolean("cross_attention", cross_attention)
        if self.cross_attention:
            self._cross_attention = self._make_attention("cross_attention")
            self._around_cross_attention = self._make_residual("cross_attention")

    def build(self, x_shape: tuple, memory_shape: tuple | None = None) -> None:
        super().build(x_shape)
        if self.cross_attention:
            self._cross_attention.build(x_shape, memory_shape or x_shape)
            self._around_cross_attention.build(x_shape)

    def call(
        self,
        x: Any,
        memory: Any = None,
        memory_valid_lens: Any = None,
        cache: dict[str, Any] | None = None,
        start: Any = 0,
        return_attention_scores: bool = False,
        training: bool | None = None,
        x_mask: Any = None,
        memory_mask: Any = None,
        positions: Any = None,
        attention_mask: Any = None,
        write: Callable[..., dict[str, Any]] = write_cache,
        observe: Callable[[Inputs], Any] | None = None,
    ) -> Any:
        x = self._checked(x, memory, cache, memory_valid_lens, memory_mask)
        shared = {"return_attention_scores": return_attention_scores, "training": training}
        shared["query_mask"] = x_mask
        found = {}
        # 1. Self-attention: each position attends to positions up to its own.
        x, *found["self"] = self._add(
            self._around_self_attention,
            x,
            lambda y: self._self_attention(
                y,
                key=y,
                attention_mask=attention_mask,
                use_causal_mask=attention_mask is None,
                key_mask=x_mask,
                start=start,
                cache=cache and cache["self"],
                positions=positions,
                write=write,
                **shared,
            ),
            training,
        )
        # 2. Cross-attention: each position attends to the memory.
        if self.cross_attention:
            x, *found["memory"] = self._add(
                self._around_cross_attention,
                x,
                lambda y: self._cross_attention(
                    *((y, memory) if cache is None else (y,)),
                    valid_lens=memory_valid_lens,
                    key_mask=memory_mask,
                    cache=cache and cache["memory"],
                    observe=observe,
                    **shared,
                ),
                training,
            )
        # 3. Feed-forward network, applied to each position separately.
        results: list[Any] = [self._feed(x, training)]
        if return_attention_scores:
            results.append({NAMES[name]: more[0] for name, more in found.items()})
        if cache is not None:
            results.append({name: more[-1] for name, more in found.items()})
        return results[0] if len(results) == 1 else tuple(results)

    def check_memory(self, memory: Any, cache: Any) -> None:
        """Check that a memory is given where this block attends to one."""
        if self.cross_attention and memory is None and cache is None:
            raise ValueError(
                "`memory` must be given to a block with `cross_attention`, or a `cache` that "
                "holds it. Received: memory=None, cache=None. A decoder without a memory, such as "
                "a language model, is made with cross_attention=False."
            )
        if not self.cross_attention and memory is not None:
            raise ValueError(
                "`memory` must be None for a block without `cross_attention`. "
                f"Received: memory.shape={tuple(memory.shape)}."
            )

    def _check_cache(self, cache):
        names = {"self", "memory"} if self.cross_attention else {"self"}
        if cache is not None and (not isinstance(cache, dict) or set(cache) != names):
            raise ValueError(
                f"`cache` must be a dict of {' and '.join(sorted(names))}, as make_cache returns "
                f"it. Received: cache={cache!r}."
            )

    def _checked(self, x, memory, cache, memory_valid_lens, memory_mask):
        """`x` as floats, after all checks."""
        x = self._to_float(x)
        check_layout("x", x.shape, "BTD")
        self.check_memory(memory, cache)
        self._check_cache(cache)
        if not self.cross_attention:
            return x
        # Here, so that messages name arguments of this layer: attention would name `key`.
        keys, axis = (memory, 1) if cache is None else (cache["memory"]["key"], 2)
        check_shapes(
            keys.shape[axis] if len(keys.shape) > axis else None,
            query=x,
            memory=memory if cache is None else None,
            memory_valid_lens=memory_valid_lens,
            memory_mask=memory_mask,
        )
        return x

    def make_cache(
        self, batch_size: Any, length: Any, memory: Any = None, memory_mask: Any = None
    ) -> dict[str, Any]:
        """Return an empty cache, with the memory projected once.

        Args:
            batch_size: `B`.
            length: Number of positions.
            memory: `(B, S, Dm)`, for a block with `cross_attention`.
            memory_mask: Boolean `(B, S)`. Defaults to the Keras mask of `memory`.
        """
        self.check_memory(memory, None)
        if not self.built:
            self.build((None, None, self.num_hiddens), None if memory is None else memory.shape)
        cache = {"self": self._self_attention.make_cache(batch_size, length)}
        if self.cross_attention:
            cache["memory"] = self._cross_attention.project_memory(memory, memory_mask=memory_mask)
        return cache
