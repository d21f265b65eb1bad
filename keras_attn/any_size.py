"""Attention of sequences of any size: all weights at once, or block by block if many."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import keras
from keras import ops

from keras_attn.blockwise import attend_blockwise
from keras_attn.dropout import drop
from keras_attn.fused import attend_fused, can_fuse
from keras_attn.heads import attend, match_batch
from keras_attn.masks import hides_nothing, join_masks, seen, with_heads
from keras_attn.relative import OffsetTerms
from keras_attn.seen_by_blocks import seen_by_blocks

# Number of attention weights of a batch at which computing block by block starts: 1 GiB in float32.
# Below, keeping the weights for the gradient is faster than recomputing them.
BLOCKWISE_WEIGHTS = 2**28
# Batch size that stands for an unknown one, as in `fit`.
TYPICAL_BATCH_SIZE = 8


class View(NamedTuple):
    """Masks of one call, and how to compute the attention.

    Attributes:
        in_blocks: Whether to compute block by block: a boolean, or a tensor if sizes are unknown.
        masks: Arguments of `join_masks` by name.
        mask: Joined mask of four dimensions if `in_blocks` is False and anything is hidden, or
            None.
        queries: Which queries see any key, `(B, T)`, sizes 1 where a mask broadcasts; None for all.
        keys: Which keys any query sees, `(B, S)`, sizes 1 where a mask broadcasts; None for all.
        can_fuse: Whether a kernel may compute the sums: no weights are required, and `mask` is
            complete.
    """

    in_blocks: Any
    masks: dict[str, Any]
    mask: Any
    queries: Any
    keys: Any
    can_fuse: bool


def view_keys(
    queries: Any,
    num_keys: Any,
    num_heads: int,
    masks: dict[str, Any],
    needs_weights: bool = False,
    blockwise: bool | None = None,
) -> View:
    """The `View` of a call, made before projection so that unseen inputs can be hidden.

    Args:
        queries: Tensor `(B, T, ...)`; only the sizes are used.
        num_keys: `S`, as of `ops.shape`.
        num_heads: `H`.
        masks: Arguments of `join_masks` by name.
        needs_weights: Whether the caller needs the attention weights, which excludes blocks.
        blockwise: Whether to compute block by block. Defaults to None: decided by the sizes.
    """
    batch_size, num_queries = ops.shape(queries)[:2]
    if blockwise is None:
        blockwise = _blocks_pay(queries, num_heads, num_keys)
    in_blocks = False if needs_weights else blockwise
    if hides_nothing(masks):
        can_fuse = not needs_weights and (in_blocks is False or _saves_memory())
        return View(in_blocks, masks, None, None, None, can_fuse)
    if in_blocks is False:
        mask = _join(num_queries, num_keys, masks)
        seen_queries, seen_keys = seen(mask)
        return View(in_blocks, masks, mask, seen_queries, seen_keys, not needs_weights)

    def at_once():
        queries, keys = seen(_join(num_queries, num_keys, masks))
        return (
            ops.broadcast_to(queries, (batch_size, num_queries)),
            ops.broadcast_to(keys, (batch_size, num_keys)),
        )

    def by_blocks():
        return seen_by_blocks(batch_size, num_queries, num_keys, masks)

    found = by_blocks() if in_blocks is True else ops.cond(in_blocks, by_blocks, at_once)
    seen_queries, seen_keys = found
    return View(in_blocks, masks, None, seen_queries, seen_keys, False)


def attend_any_size(
    queries: Any,
    keys: Any,
    values: Any,
    view: View,
    terms: OffsetTerms = OffsetTerms(),  # noqa: B008 (a tuple)
    dropout: float = 0.0,
    seed_generator: Any = None,
    soft_cap: float | None = None,
    sinks: Any = None,
    values_are_finite: bool = False,
    same_batch: bool = False,
) -> tuple[Any, Any]:
    """Attention of queries to the keys in view, all weights at once or block by block.

    Args:
        queries: Scaled queries `(B, H, T, K)`.
        keys: `(B, G, S, K)`, `G` a divisor of `H`; batch size `B` or 1.
        values: `(B, G, S, Kv)`; batch size `B` or 1.
        view: Result of `view_keys`.
        terms: `OffsetTerms` of a position scheme. Defaults to no terms.
        dropout: Rate at which weights are dropped; 0 outside of training. Defaults to 0.
        seed_generator: `keras.random.SeedGenerator` of the dropout. Not needed if `dropout` is 0.
        soft_cap: Bound `c` of the scores: `c * tanh(score / c)`. Defaults to None, no bound.
        sinks: Logits `(H,)` that take part in the denominator of the softmax alone. Defaults to
            None.
        values_are_finite: Whether no guard against NaN behind the mask is needed. Defaults to
            False.
        same_batch: Whether keys and values are known to have the batch size of the queries.
            Defaults to False.

    Returns:
        Sums `(B, H, T, Kv)`, and weights `(B, H, T, S)` or None if blocks are possible.
    """
    if not same_batch:
        keys, values = match_batch(keys, queries), match_batch(values, queries)
    is_plain = all(part is None for part in (*terms, soft_cap, sinks)) and not dropout
    if is_plain and view.can_fuse and can_fuse(queries, keys, values):
        return attend_fused(queries, keys, values, view.mask), None
    if view.in_blocks is False:
        drop_weights = functools.partial(drop, rate=dropout, seed=seed_generator)
        return attend(
            queries,
            keys,
            values,
            view.mask,
            terms,
            drop_weights if dropout else lambda weights: weights,
            soft_cap,
            sinks,
            values_are_finite,
        )
    seed = seed_generator.next() if dropout else None
    sums = attend_blockwise(
        queries,
        keys,
        values,
        view.masks,
        terms,
        dropout,
        seed,
        soft_cap,
        sinks,
        in_blocks=view.in_blocks,
    )
    return sums, None


def _saves_memory():
    """Whether the backend's kernel needs less memory than all weights; JAX's on a CPU does not."""
    if keras.backend.backend() != "jax":
        return True
    return not keras.distribution.list_devices()[0].startswith("cpu")


def _blocks_pay(queries, num_heads, num_keys):
    """Whether to compute block by block: a boolean, or a tensor if the sizes are tensors."""
    batch_size, num_queries = ops.shape(queries)[:2]
    is_known = isinstance(batch_size, int)
    num_rows = (batch_size if is_known else TYPICAL_BATCH_SIZE) * num_heads
    limit = max(BLOCKWISE_WEIGHTS, 1)  # never for 0 weights
    if isinstance(num_queries, int) and isinstance(num_keys, int):
        return num_queries > 1 and num_rows * num_queries * num_keys >= limit
    is_step = isinstance(num_queries, int) and num_queries == 1
    if is_step or not (ops.is_tensor(num_queries) or ops.is_tensor(num_keys)):
        return False  # a step with a cache, or JAX computing shapes
    # As floats: the products overflow int32.
    num_queries, num_keys = (ops.cast(size, "float32") for size in (num_queries, num_keys))
    pays = num_rows * num_queries * num_keys >= limit
    return pays if is_known else ops.logical_and(pays, batch_size > 0)


def _join(num_queries, num_keys, masks):
    return with_heads(join_masks(num_queries, num_keys, **masks))
