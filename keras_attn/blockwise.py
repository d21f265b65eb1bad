"""Blockwise attention in little memory, recomputed for the gradient."""

from __future__ import annotations

from typing import Any

from keras import ops

from keras_attn.derivatives import Block, Tensors, as_inputs, differentiable, fixed_dropout
from keras_attn.heads import keep_finite, precise_dtype, sees_any
from keras_attn.masks import hides_nothing, join_masks, join_masks_of_block, with_heads
from keras_attn.relative import OffsetTerms, at_least_one

# Limits of queries and of weights in a block: large enough for fast products, small enough for the
# processor's cache.
BLOCK_QUERIES = 512
BLOCK_WEIGHTS = 2**23


def attend_blockwise(
    queries: Any,
    keys: Any,
    values: Any,
    masks: Tensors,
    terms: OffsetTerms,
    dropout: float = 0.0,
    seed: Any = None,
    soft_cap: float | None = None,
    sinks: Any = None,
    in_blocks: Any = True,
) -> Any:
    """Same sums as `heads.attend`, in memory that grows with `T + S` and not with `T * S`.

    Each block holds some queries and all keys, so that one pass computes the softmax. The gradient
    recomputes the weights of each block (Rabe and Staats 2021, section 3). Keys are not split into
    blocks: rescaling the sums costs more than it saves. The second derivative is computed in
    blocks too.

    Args:
        queries: Scaled queries `(B, H, T, K)`.
        keys: `(B, G, S, K)`, `G` a divisor of `H`.
        values: `(B, G, S, Kv)`.
        masks: Arguments of `join_masks` by name.
        terms: `OffsetTerms` of a position scheme.
        dropout: Rate at which weights are dropped. Defaults to 0.
        seed: Seed of the dropout, two integers; not needed if `dropout` is 0.
        soft_cap: Bound `c` of the scores: `c * tanh(score / c)`. Defaults to None, no bound.
        sinks: Logits `(H,)` that take part in the denominator of the softmax alone. Defaults to
            None.
        in_blocks: Whether to compute block by block, a boolean or a boolean tensor. False computes
            all weights at once, and again for the gradient. Defaults to True.

    Returns:
        Sums `(B, H, T, Kv)`.
    """
    inputs = as_inputs(queries, keys, values, terms, sinks)
    given = (masks, dropout, seed, soft_cap)
    blocks = _Blocks(inputs, *given)
    whole = _Whole(inputs, *given)

    def choose(method):
        def by_either_way(*args):
            if in_blocks is True:
                return getattr(blocks, method)(*args)
            return ops.cond(
                in_blocks,
                lambda: getattr(blocks, method)(*args),
                lambda: getattr(whole, method)(*args),
            )

        return by_either_way

    # `cond` is called inside the custom gradient: XLA cannot compile the gradient of TensorFlow's
    # `cond`, which replaces tensors of unknown sizes by empty tensors.
    attention = differentiable(
        tuple(inputs), choose("forward"), choose("gradients"), choose("second_gradients")
    )
    return attention(*inputs.values())


class _Whole:
    """All queries as one block."""

    def __init__(self, inputs, masks, dropout, seed, soft_cap):
        self.sizes = ops.shape(inputs["q"])[2], ops.shape(inputs["k"])[2]
        self.masks, self.soft_cap = masks, soft_cap
        self.drop = fixed_dropout(dropout, seed)

    def forward(self, inputs):
        return self._block(inputs).sums()

    def gradients(self, inputs, sums, upstream):
        return _like(inputs, self._block(inputs).gradients(upstream, sums))

    def second_gradients(self, inputs, upstream, directions):
        found = self._block(inputs).second_gradients(upstream, directions)
        return _like({**inputs, "upstream": upstream}, found)

    def _block(self, inputs):
        mask = join_masks(*self.sizes, **self.masks)
        mask = with_heads(mask)
        spoilt = None
        if mask is not None:
            values, finite = keep_finite(inputs["v"])
            inputs, spoilt = {**inputs, "v": values}, sees_any(mask, ops.logical_not(finite))
        return Block(inputs, mask, spoilt, self.drop, self.soft_cap)


def _like(tensors, found):
    return {name: ops.cast(found[name], x.dtype) for name, x in tensors.items()}


# Tensors by the part of them that one block reads. A share is one example and some of the heads.
ROWS = ("q", "sums", "upstream")  # some queries of a share
GROUPS = ("k", "v")  # all keys of a share
HEADS = ("bias", "sinks")  # the heads of a share, the same for all examples
TABLES = ("keys", "values")  # the same for all examples and heads
OFFSETS = ("bias", *TABLES)  # some offsets


class _Blocks:
    """Sizes and masks of one call, and the loops over its blocks.

    The outer loop is over shares: one example, and as many heads as fit into `BLOCK_WEIGHTS`
    weights of a block. The inner loop is over blocks of queries.
    """

    def __init__(self, inputs, masks, dropout, seed, soft_cap):
        self.num_examples, num_heads, self.num_queries, _ = ops.shape(inputs["q"])
        # At least one example: XLA compiles the loops for an empty batch too, and cannot slice it.
        self.batch_size = at_least_one(self.num_examples)
        num_groups, self.num_keys = inputs["k"].shape[1], ops.shape(inputs["k"])[2]
        self.masks, self.soft_cap = masks, soft_cap
        self.dropout, self.seed = dropout, seed
        self.num_blocks, self.block_size = block_sizes(self.num_queries)
        self.num_padded = self.num_blocks * self.block_size - self.num_queries
        heads_of_a_group = num_heads // num_groups
        self.groups = most_groups(num_groups, heads_of_a_group * self.block_size * self.num_keys)
        self.heads = self.groups * heads_of_a_group
        self.shares_per_example = num_groups // self.groups

    def forward(self, inputs):
        """Sums `(B, H, T, Kv)` of inputs by name.

        One loop with `scatter_update`: ONNX and OpenVINO have no `slice_update`, LiteRT has no
        `scan` over unknown sizes.
        """
        shares, finite = self._make_shares(inputs)
        num_shares = self.batch_size * self.shares_per_example
        size = inputs["v"].shape[-1]

        def add_block(number, sums):
            number = ops.convert_to_tensor(number, "int32")  # TensorFlow counts in Python if eager
            index, i = number // self.num_blocks, number % self.num_blocks
            share = self._share(shares, index)
            parts = {name: self._part(name, x, i) for name, x in share.items()}
            made = self._block(parts, finite, index, i).sums()
            return ops.scatter_update(sums, ops.reshape(number, (1, 1)), made)

        rows = (num_shares * self.num_blocks, self.heads, self.block_size, size)
        nothing = ops.zeros(rows, inputs["v"].dtype)
        sums = ops.fori_loop(0, num_shares * self.num_blocks, add_block, nothing)
        sums = ops.reshape(sums, (num_shares, self.num_blocks, *rows[1:]))
        sums = ops.transpose(sums, (0, 2, 1, 3, 4))  # (shares, h, blocks, r, Kv)
        sums = ops.reshape(
            sums, (num_shares, 1, self.heads, self.num_blocks * self.block_size, size)
        )
        return self._from_shares("sums", sums)

    def gradients(self, inputs, sums, upstream):
        """Gradients of the inputs, by name, in their shapes and dtypes."""

        def of_block(block, parts):
            return block.gradients(parts["upstream"], parts.get("sums"))

        arrays = {**inputs, "upstream": upstream}
        if sums is not None:
            arrays["sums"] = sums
        return self._gradients_like(inputs, arrays, of_block)

    def second_gradients(self, inputs, upstream, directions):
        """Gradients of the inputs, and of `upstream`, by name."""

        def of_block(block, parts):
            directions = {name[2:]: part for name, part in parts.items() if name[:2] == "d_"}
            return block.second_gradients(parts["upstream"], directions)

        directions = {f"d_{name}": part for name, part in directions.items()}
        arrays = {**inputs, "upstream": upstream}
        return self._gradients_like(arrays, {**arrays, **directions}, of_block)

    def _gradients_like(self, tensors, arrays, of_block):
        shapes = {name: ops.shape(x) for name, x in tensors.items()}
        # Precise, because the results are sums over many blocks.
        dtype = precise_dtype(arrays["v"].dtype)
        return _like(tensors, self._collect(arrays, shapes, dtype, of_block))

    def _collect(self, arrays, shapes, dtype, of_block):
        """Totals over all blocks, by name.

        Args:
            arrays: Tensors by name, of which each block gets its part.
            shapes: Shapes of the results by name.
            dtype: Dtype of the results.
            of_block: Function of a `Block` and the parts it was made of; returns results by name.
        """
        shares, finite = self._make_shares(arrays)
        start = {name: ops.zeros(self._shape(name, s), dtype) for name, s in shapes.items()}

        def add_share(_, index):
            share = self._share(shares, index)

            def add_block(i, totals):
                parts = {name: self._part(name, x, i) for name, x in share.items()}
                found = of_block(self._block(parts, finite, index, i), parts)
                return {name: self._add(name, x, found[name], i) for name, x in totals.items()}

            totals = ops.fori_loop(0, self.num_blocks, add_block, start)
            return totals, totals

        # Unused carry: backends require one with the structure of the result.
        indices = ops.arange(self.batch_size * self.shares_per_example, dtype="int32")
        _, totals = ops.scan(add_share, start, indices)
        return {name: self._from_shares(name, total) for name, total in totals.items()}

    def _make_shares(self, arrays):
        """Shares of all arrays by name, and which values are finite, `(B, S)`, or None."""
        finite = None
        if not hides_nothing(self.masks):
            # Computed here, inside the custom gradient: JAX refuses tensors that an outer function
            # computed from the inputs.
            values, finite = keep_finite(arrays["v"])
            arrays = {**arrays, "v": values}
            finite = self._add_examples(finite)
        shares = {name: self._as_shares(name, self._pad(name, x)) for name, x in arrays.items()}
        return shares, finite

    def _block(self, parts, finite, index, i):
        example = index // self.shares_per_example
        first_head = index % self.shares_per_example * self.heads
        mask = join_masks_of_block(
            i * self.block_size + ops.arange(self.block_size, dtype="int32"),
            self.num_keys,
            example,
            first_head + ops.arange(self.heads, dtype="int32"),
            **self.masks,
        )
        spoilt = None
        if mask is not None:
            finite = ops.take(finite, example[None], axis=0)
            spoilt = sees_any(mask, ops.logical_not(finite))
        drop = fixed_dropout(0.0, None)
        if self.dropout:
            number = index * self.num_blocks + i
            seed = self.seed + ops.cast(ops.stack([0 * number, number]), self.seed.dtype)
            drop = fixed_dropout(self.dropout, seed)
        names = ("q", *GROUPS, *HEADS, *TABLES)
        inputs = {name: parts[name] for name in names if name in parts}
        return Block(inputs, mask, spoilt, drop, self.soft_cap)

    def _first_offset(self, i):
        """First offset of block `i`; the last block has the first offsets."""
        return (self.num_blocks - 1 - i) * self.block_size

    def _part(self, name, x, i):
        """Part of a share's tensor that block `i` reads."""
        kind = name.removeprefix("d_")
        num_offsets = self.block_size + self.num_keys - 1
        if kind in ROWS:
            shape = (1, self.heads, self.block_size, x.shape[-1])
            return ops.slice(x, (0, 0, i * self.block_size, 0), shape)
        if kind == "bias":
            return ops.slice(x, (0, self._first_offset(i)), (self.heads, num_offsets))
        if kind in TABLES:
            return ops.slice(x, (self._first_offset(i), 0), (num_offsets, x.shape[-1]))
        return x

    def _add(self, name, total, part, i):
        """Total of a share after adding the result of block `i`."""
        part = ops.cast(part, total.dtype)
        if name in ROWS:
            return ops.slice_update(total, (0, 0, i * self.block_size, 0), part)
        if name in OFFSETS:
            start = (0, self._first_offset(i)) if name == "bias" else (self._first_offset(i), 0)
            part = ops.slice(total, start, ops.shape(part)) + part
            return ops.slice_update(total, start, part)
        return total + part

    def _pad(self, name, x):
        """Tensor padded to whole blocks of queries, with offsets for the added queries."""
        kind = name.removeprefix("d_")
        if kind in ROWS:
            return ops.pad(self._add_examples(x), [(0, 0), (0, 0), (0, self.num_padded), (0, 0)])
        if kind in GROUPS:
            return self._add_examples(x)
        if kind == "bias":
            return ops.pad(x, [(0, 0), (self.num_padded, 0)])
        return ops.pad(x, [(self.num_padded, 0), (0, 0)]) if kind in TABLES else x

    def _add_examples(self, x):
        """Tensor with one example of zeros if the batch is empty."""
        num_added = self.batch_size - self.num_examples
        if isinstance(num_added, int) and num_added == 0:
            return x
        zeros = ops.zeros((num_added, *ops.shape(x)[1:]), x.dtype)
        return ops.concatenate([x, zeros], axis=0)

    def _shape(self, name, shape):
        """The shape of one share of a result of the given shape, padded."""
        if name in ROWS:
            return (1, self.heads, self.num_blocks * self.block_size, shape[-1])
        if name in GROUPS:
            return (1, self.groups, *shape[2:])
        if name in TABLES:
            return (shape[0] + self.num_padded, shape[1])
        return (self.heads, shape[1] + self.num_padded) if name == "bias" else (self.heads,)

    def _as_shares(self, name, x):
        """Tensor with a first axis of shares; for `HEADS`, the shares of one example."""
        kind = name.removeprefix("d_")
        if kind in TABLES:
            return x
        if kind in HEADS:
            return ops.reshape(x, (self.shares_per_example, self.heads, *ops.shape(x)[1:]))
        heads = self.groups if kind in GROUPS else self.heads
        num_shares = self.batch_size * self.shares_per_example
        return ops.reshape(x, (num_shares, 1, heads, *ops.shape(x)[2:]))

    def _share(self, shares, index):
        """Tensors of one share: one example and some heads."""
        share = {}
        for name, x in shares.items():
            kind = name.removeprefix("d_")
            of_head = index % self.shares_per_example if kind in HEADS else index
            share[name] = x if kind in TABLES else ops.take(x, of_head, axis=0)
        return share

    def _from_shares(self, name, x):
        """Result of all shares, stacked, in the shape of the input; the reverse of `_as_shares`."""
        if name in TABLES:
            return ops.sum(x, axis=0)[self.num_padded :]
        if name in HEADS:
            shape = (self.batch_size, self.shares_per_example * self.heads, *ops.shape(x)[2:])
            total = ops.sum(ops.reshape(x, shape), axis=0)
            return total[:, self.num_padded :] if name == "bias" else total
        heads = self.shares_per_example * x.shape[2]
        x = ops.reshape(x, (self.batch_size, heads, *ops.shape(x)[3:]))[: self.num_examples]
        return x[:, :, : self.num_queries] if name in ROWS else x


def most_groups(num_groups: int, weights_of_a_group: Any) -> int:
    """Number of key-value heads in a block: a divisor of their number, 1 if sizes are unknown."""
    if not isinstance(weights_of_a_group, int):
        return 1
    fitting = [
        n
        for n in range(1, num_groups + 1)
        if num_groups % n == 0 and n * weights_of_a_group <= BLOCK_WEIGHTS
    ]
    return max(fitting, default=1)


def block_sizes(num_queries: Any) -> tuple[Any, Any]:
    """Number and size of the blocks of queries, at least 1; rows past `num_queries` are padding."""
    num_blocks = at_least_one((num_queries + BLOCK_QUERIES - 1) // BLOCK_QUERIES)
    return num_blocks, at_least_one((num_queries + num_blocks - 1) // num_blocks)
