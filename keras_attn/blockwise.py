"""The same attention in little memory: a block of queries at a time, and again for the gradient."""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
from keras import ops

from keras_attn.heads import as_groups, keep_finite, multiply, pool, score, sees_any, transpose
from keras_attn.masks import hides_nothing, join_masks_of_block
from keras_attn.relative import OffsetTerms, by_offset, by_pair
from keras_attn.softmax import masked_softmax

# Queries of a block, and weights of a block: enough for fast products, little enough to stay near
# the processor.
BLOCK_QUERIES = 512
BLOCK_WEIGHTS = 2**23


def attend_blockwise(queries, keys, values, masks, terms, dropout=0.0, seed=None):
    """What `heads.attend` gives, in memory that grows with `T + S` and not with `T * S`.

    A block of queries meets all keys, so that its softmax needs no second pass. No weights are
    kept: the gradient computes those of a block again (Rabe and Staats 2021, section 3, with
    blocks of queries alone: rescaling the sums for blocks of keys costs more than it saves).

    Args:
        queries: Scaled queries `(B, H, T, K)`.
        keys: `(B, G, S, K)`, `G` a divisor of `H`.
        values: `(B, G, S, K)`.
        masks: Arguments of `join_masks` by name.
        terms: `OffsetTerms` of a position scheme.
        dropout: Rate at which weights are dropped.
        seed: Seed of the dropout, two integers; not needed if `dropout` is 0.

    Returns:
        Sums `(B, H, T, K)`.
    """
    finite = None
    if not hides_nothing(masks):
        values, finite = keep_finite(values)
    blocks = _Blocks(queries, keys, masks, finite, dropout, seed)
    given = {name: part for name, part in terms._asdict().items() if part is not None}
    names = ("q", "k", "v", *given)

    @ops.custom_gradient
    def attention(*arrays):
        inputs = dict(zip(names, arrays, strict=True))
        sums = blocks.forward(inputs)

        def gradient(*args, upstream=None):
            # Backends differ in how they hand over the gradient of the output.
            upstream = args[0] if upstream is None else upstream
            found = blocks.backward(inputs, sums, upstream)
            return tuple(found[name] for name in names)

        return sums, gradient

    dtype = queries.dtype
    return attention(queries, keys, values, *(ops.cast(part, dtype) for part in given.values()))


class FixedSeed(keras.random.SeedGenerator):
    """A seed that stays, so that the gradient drops what was dropped."""

    def __init__(self, seed):
        self._seed = seed
        self._initial_seed = 0  # not None, with which Keras on torch would drop by no seed at all

    def next(self, ordered=True):
        return self._seed


class _Block(NamedTuple):
    """Some queries of one share and what they make of its keys, `r` queries and `h` heads.

    Attributes:
        queries: `(1, h, r, K)`.
        terms: Their part of the `OffsetTerms`.
        weights: `(1, h, r, S)`.
        spoilt: Which of them may attend to a value that is not finite, or None.
        drop: Function that applies dropout to the weights, the same each time.
    """

    queries: Any
    terms: OffsetTerms
    weights: Any
    spoilt: Any
    drop: Any


class _Blocks:
    """Sizes and masks of one call, and the loops over its blocks.

    The outer loop goes over shares: one example, and so many of its heads that a block has about
    `BLOCK_WEIGHTS` weights. The inner loop goes over blocks of queries.
    """

    def __init__(self, queries, keys, masks, finite, dropout, seed):
        self.batch_size, num_heads, self.num_queries, self.head_size = ops.shape(queries)
        num_groups, self.num_keys = keys.shape[1], ops.shape(keys)[2]
        self.masks, self.finite, self.dropout, self.seed = masks, finite, dropout, seed
        self.num_blocks, self.block_size = block_sizes(self.num_queries)
        self.num_padded = self.num_blocks * self.block_size - self.num_queries
        heads_of_a_group = num_heads // num_groups
        self.groups = most_groups(num_groups, heads_of_a_group * self.block_size * self.num_keys)
        self.heads = self.groups * heads_of_a_group
        self.shares_per_example = num_groups // self.groups

    def forward(self, inputs):
        """Sums `(B, H, T, K)` of the inputs of `attend_blockwise`, by name."""
        inputs = self._pad(inputs)
        shares = self._to_shares(inputs)

        def attend_share(_, index):
            share = self._share(shares, index)

            def attend_block(i, sums):
                block = self._block(inputs, share, i)
                made = pool(block.drop(block.weights), share["v"], block.terms)
                if block.spoilt is not None:
                    made = ops.where(block.spoilt, ops.cast(float("nan"), made.dtype), made)
                return ops.slice_update(sums, (0, 0, i * self.block_size, 0), made)

            sums = ops.fori_loop(0, self.num_blocks, attend_block, ops.zeros_like(share["q"]))
            return sums, sums

        # The carry is not used, but a backend wants one that looks like the result.
        _, sums = ops.scan(attend_share, ops.zeros_like(shares["q"][0]), self._indices())
        return self._from_shares(sums)[:, :, : self.num_queries]

    def backward(self, inputs, sums, upstream):
        """The gradients of the inputs, by name, in their shapes and dtypes."""
        padded = self._pad({**inputs, "sums": sums, "upstream": upstream})
        shares = self._to_shares(padded)
        # float32, because each block adds to what others have added.
        start = {
            name: ops.zeros(ops.shape(shares[name][0] if name in shares else part), "float32")
            for name, part in padded.items()
            if name in inputs
        }

        def add_share(_, index):
            share = self._share(shares, index)

            def add_block(i, sums):
                return self._add_block(padded, share, i, sums)

            sums = ops.fori_loop(0, self.num_blocks, add_block, start)
            return sums, sums

        _, sums = ops.scan(add_share, start, self._indices())
        gradients = {}
        for name, part in inputs.items():
            if name in ("keys", "values"):
                total = ops.sum(sums[name], axis=0)[self.num_padded :]
            elif name == "bias":
                total = ops.sum(self._from_shares(sums[name]), axis=0)[:, 0, self.num_padded :]
            else:
                total = self._from_shares(sums[name])
                total = total[:, :, : self.num_queries] if name == "q" else total
            gradients[name] = ops.cast(total, part.dtype)
        return gradients

    def _add_block(self, inputs, share, i, sums):
        """The gradients that one block adds to `sums`."""
        block = self._block(inputs, share, i)
        upstream, made = self._rows(share["upstream"], i), self._rows(share["sums"], i)
        if block.spoilt is not None:
            nothing = ops.zeros_like(upstream)
            upstream = ops.where(block.spoilt, nothing, upstream)
            made = ops.where(block.spoilt, nothing, made)
        dropped = block.drop(block.weights)
        d_weights = multiply(upstream, transpose(share["v"]))
        if block.terms.values is not None:
            d_weights = d_weights + by_pair(ops.matmul(upstream, transpose(block.terms.values)))
        # d softmax: p * (dp - sum(p * dp)), and that sum is upstream * output (Dao et al. 2022).
        products = ops.cast(upstream, "float32") * ops.cast(made, "float32")
        total = ops.sum(products, axis=-1, keepdims=True)
        d_scores = ops.cast(block.drop(d_weights), "float32") - total
        d_scores = ops.cast(ops.cast(block.weights, "float32") * d_scores, upstream.dtype)

        d_queries = multiply(d_scores, share["k"])
        added = {
            "k": self._of_groups(d_scores, block.queries),
            "v": self._of_groups(dropped, upstream),
        }
        first = (self.num_blocks - 1 - i) * self.block_size
        sums = dict(sums)
        if block.terms.bias is not None or block.terms.keys is not None:
            by_distance = by_offset(d_scores)  # (1, h, r, R)
        if block.terms.bias is not None:
            d_bias = ops.sum(by_distance, axis=2, keepdims=True)
            sums["bias"] = _add_at(sums["bias"], (0, 0, 0, first), d_bias)
        if block.terms.keys is not None:
            d_queries = d_queries + ops.matmul(by_distance, block.terms.keys)
            d_keys = self._of_all_heads(by_distance, block.queries)
            sums["keys"] = _add_at(sums["keys"], (first, 0), d_keys)
        if block.terms.values is not None:
            d_values = self._of_all_heads(by_offset(dropped), upstream)
            sums["values"] = _add_at(sums["values"], (first, 0), d_values)
        for name, term in added.items():
            sums[name] = sums[name] + ops.cast(term, "float32")
        d_queries = ops.cast(d_queries, "float32")
        sums["q"] = ops.slice_update(sums["q"], (0, 0, i * self.block_size, 0), d_queries)
        return sums

    def _block(self, inputs, share, i):
        queries = self._rows(share["q"], i)
        terms = self._terms(inputs, share, i)
        example = share["index"] // self.shares_per_example
        first_head = share["index"] % self.shares_per_example * self.heads
        mask = join_masks_of_block(
            i * self.block_size + ops.arange(self.block_size, dtype="int32"),
            self.num_keys,
            example,
            first_head + ops.arange(self.heads, dtype="int32"),
            **self.masks,
        )
        weights = masked_softmax(score(queries, share["k"], terms), mask=mask)
        spoilt = None
        if mask is not None:
            finite = ops.take(self.finite, example[None], axis=0)
            spoilt = sees_any(mask, ops.logical_not(finite))
        return _Block(queries, terms, weights, spoilt, self._drop(share, i))

    def _drop(self, share, i):
        if not self.dropout:
            return lambda weights: weights
        number = share["index"] * self.num_blocks + i
        seed = self.seed + ops.cast(ops.stack([0 * number, number]), self.seed.dtype)
        return lambda weights: keras.random.dropout(weights, self.dropout, seed=FixedSeed(seed))

    def _rows(self, x, i):
        shape = (1, self.heads, self.block_size, self.head_size)
        return ops.slice(x, (0, 0, i * self.block_size, 0), shape)

    def _terms(self, inputs, share, i):
        """The terms of the offsets that block `i` meets: the last block meets the first ones."""
        first = (self.num_blocks - 1 - i) * self.block_size
        size = self.block_size + self.num_keys - 1
        terms = OffsetTerms()
        if "bias" in inputs:
            bias = ops.slice(share["bias"], (0, 0, 0, first), (1, self.heads, 1, size))
            terms = terms._replace(bias=bias[0, :, 0])
        for name in ("keys", "values"):
            if name in inputs:
                rows = ops.slice(inputs[name], (first, 0), (size, self.head_size))
                terms = terms._replace(**{name: rows})
        return terms

    def _pad(self, inputs):
        """Inputs with queries for whole blocks; offsets before the first are those of the added."""
        padded = dict(inputs)
        for name in {"q", "sums", "upstream"} & set(inputs):
            padded[name] = ops.pad(inputs[name], [(0, 0), (0, 0), (0, self.num_padded), (0, 0)])
        for name in {"keys", "values"} & set(inputs):
            padded[name] = ops.pad(inputs[name], [(self.num_padded, 0), (0, 0)])
        if "bias" in inputs:
            padded["bias"] = ops.pad(inputs["bias"], [(0, 0), (self.num_padded, 0)])
        return padded

    def _indices(self):
        return ops.arange(self.batch_size * self.shares_per_example, dtype="int32")

    def _share(self, shares, index):
        """What one turn of the outer loop gets: one example and some heads."""
        parts = {name: ops.take(part, index, axis=0) for name, part in shares.items()}
        return {"index": index, **parts}

    def _to_shares(self, inputs):
        """What all turns get, stacked: `(shares, 1, h, ...)`."""
        num_shares = self.batch_size * self.shares_per_example
        shares = {}
        for name, heads in (
            ("q", self.heads),
            ("sums", self.heads),
            ("upstream", self.heads),
            ("k", self.groups),
            ("v", self.groups),
        ):
            if name in inputs:
                shape = (num_shares, 1, heads, *ops.shape(inputs[name])[2:])
                shares[name] = ops.reshape(inputs[name], shape)
        if "bias" in inputs:
            bias = ops.reshape(inputs["bias"], (self.shares_per_example, 1, self.heads, 1, -1))
            shares["bias"] = ops.tile(bias, (self.batch_size, 1, 1, 1, 1))
        return shares

    def _from_shares(self, x):
        """`(shares, 1, h, T, K)` as `(B, H, T, K)`."""
        heads = self.shares_per_example * x.shape[2]
        return ops.reshape(x, (self.batch_size, heads, *ops.shape(x)[3:]))

    def _of_groups(self, left, right):
        """`left^T right` by key-value head: `(1, h, r, X)` and `(1, h, r, Y)` to `(1, g, X, Y)`."""
        return ops.matmul(transpose(as_groups(left, self.groups)), as_groups(right, self.groups))

    def _of_all_heads(self, left, right):
        """`left^T right` over all heads: `(1, h, r, X)` and `(1, h, r, Y)` to `(X, Y)`."""
        return ops.matmul(transpose(as_groups(left, 1)), as_groups(right, 1))[0, 0]


def most_groups(num_groups, weights_of_a_group):
    """How many key-value heads share a block: a divisor of their number, 1 if sizes are unknown."""
    if not isinstance(weights_of_a_group, int):
        return 1
    fitting = [
        n
        for n in range(1, num_groups + 1)
        if num_groups % n == 0 and n * weights_of_a_group <= BLOCK_WEIGHTS
    ]
    return max(fitting, default=1)


def _add_at(x, start, part):
    part = ops.cast(part, x.dtype)
    return ops.slice_update(x, start, ops.slice(x, start, ops.shape(part)) + part)


def seen_by_blocks(batch_size, num_queries, num_keys, masks):
    """`masks.seen` of masks that never exist as a whole.

    Args:
        batch_size: `B`.
        num_queries: `T`.
        num_keys: `S`.
        masks: Arguments of `join_masks` by name.

    Returns:
        Which queries see any key and which keys any query sees, boolean `(B, T)` and `(B, S)`.
    """
    num_blocks, block_size = block_sizes(num_queries)
    attention_mask = masks.get("attention_mask")
    has_heads = attention_mask is not None and len(attention_mask.shape) == 4
    heads = ops.arange(ops.shape(attention_mask)[1] if has_heads else 1, dtype="int32")

    def look_at_example(_, example):
        def look_at_block(i, found):
            queries, keys = found
            rows = i * block_size + ops.arange(block_size, dtype="int32")
            mask = join_masks_of_block(rows, num_keys, example, heads, **masks)
            mask = ops.any(mask, axis=(0, 1))  # (r or 1, S)
            mask = ops.logical_and(mask, (rows < num_queries)[:, None])
            queries = ops.slice_update(queries, (i * block_size,), ops.any(mask, axis=-1))
            return queries, ops.logical_or(keys, ops.any(mask, axis=0))

        found = ops.fori_loop(0, num_blocks, look_at_block, nothing)
        return found, found

    nothing = (
        ops.zeros((num_blocks * block_size,), "bool"),
        ops.zeros((num_keys,), "bool"),
    )
    _, (queries, keys) = ops.scan(look_at_example, nothing, ops.arange(batch_size, dtype="int32"))
    return queries[:, :num_queries], keys


def block_sizes(num_queries):
    """How many blocks of how many queries; those past `num_queries` are padding."""
    num_blocks = (num_queries + BLOCK_QUERIES - 1) // BLOCK_QUERIES
    return num_blocks, (num_queries + num_blocks - 1) // num_blocks
