"""Visible queries and keys of a mask, computed block by block."""

from __future__ import annotations

from typing import Any

from keras import ops

from keras_attn.blockwise import block_sizes
from keras_attn.masks import join_masks_of_block
from keras_attn.relative import at_least_one


def seen_by_blocks(
    batch_size: Any, num_queries: Any, num_keys: Any, masks: dict[str, Any]
) -> tuple[Any, Any]:
    """Same as `masks.seen`, without the mask of all queries in memory.

    Args:
        batch_size: `B`.
        num_queries: `T`.
        num_keys: `S`.
        masks: Arguments of `join_masks` by name.

    Returns:
        Boolean `(B, T)`: whether a query sees any key. Boolean `(B, S)`: whether a key is seen.
    """
    num_blocks, block_size = block_sizes(num_queries)
    attention_mask = masks.get("attention_mask")
    has_heads = attention_mask is not None and len(attention_mask.shape) == 4
    heads = ops.arange(ops.shape(attention_mask)[1] if has_heads else 1, dtype="int32")

    def look_at_block(number, found):
        queries, keys = found
        number = ops.convert_to_tensor(number, "int32")  # TensorFlow counts in Python if eager
        example, i = number // num_blocks, number % num_blocks
        rows = i * block_size + ops.arange(block_size, dtype="int32")
        mask = join_masks_of_block(rows, num_keys, example, heads, **masks)
        mask = ops.any(mask, axis=(0, 1))  # (r or 1, S)
        mask = ops.logical_and(mask, ops.expand_dims(rows < num_queries, 1))
        seen = ops.cast(ops.expand_dims(ops.any(mask, axis=-1), 0), "int32")
        queries = ops.scatter_update(queries, ops.reshape(number, (1, 1)), seen)
        seen = ops.cast(ops.any(mask, axis=0, keepdims=True), "int32")  # (1, S or 1)
        seen = ops.maximum(ops.take(keys, example[None], axis=0)[:, :num_keys], seen)
        seen = ops.pad(seen, [(0, 0), (0, 1)])
        return queries, ops.scatter_update(keys, ops.reshape(example, (1, 1)), seen)

    # One row and one extra column at least: XLA compiles the loop for empty inputs too, and cannot
    # update empty tensors.
    num_rows = at_least_one(batch_size)
    nothing = (
        ops.zeros((num_rows * num_blocks, block_size), "int32"),
        ops.zeros((num_rows, num_keys + 1), "int32"),
    )
    queries, keys = ops.fori_loop(0, batch_size * num_blocks, look_at_block, nothing)
    queries = ops.reshape(queries, (num_rows, num_blocks * block_size))
    # OpenVINO loses the sizes in the loop.
    keys = ops.reshape(keys, (num_rows, num_keys + 1))
    return (
        ops.cast(queries[:batch_size, :num_queries], "bool"),
        ops.cast(keys[:batch_size, :num_keys], "bool"),
    )
