"""The same attention in blocks of queries: memory grows with `T + S` and not with `T * S`."""

from collections.abc import Callable
from typing import Any

import keras
from keras import backend, ops

from keras_attn.layers.dot_product import Inputs, Rules, attend_at_once
from keras_attn.layers.masks import Masks
from keras_attn.layers.offsets import at_least_one

# Queries in a block: many enough for fast products, few enough for the processor's cache.
BLOCK_QUERIES = 256
# Axes of each input; those of `attention_bias` may have size 1 in place of their own.
LAYOUTS = Inputs("BHTK", "BGSK", "BGSV", "HR", "RK", "RV", "H", "BHTS")


def forgetful(function: Callable[..., Any], inputs: Inputs, *more: Any) -> Any:
    """`function(inputs, *more)`, computed again for the gradient instead of kept."""
    names = [name for name, x in inputs._asdict().items() if x is not None]

    def of_arrays(*arrays):
        given = dict(zip(names, arrays, strict=False))
        inputs = Inputs(**{name: given.get(name) for name in Inputs._fields})
        return function(inputs, *arrays[len(names) :])

    # TensorFlow puts the name into its refusal of a second derivative.
    of_arrays.__name__ = "attention in blocks: this needs `blockwise=False`"
    # What has a gradient must be an argument: TensorFlow would not see through a closure.
    return keras.remat(of_arrays)(*(x for x in inputs if x is not None), *more)


class Blocks:
    """Attention in blocks: some queries of a share, which is one example and one key-value head.

    There is at least one example and one query: XLA compiles loops for empty inputs too, and cannot
    slice them.

    Args:
        inputs: Tensors with a gradient.
        masks: Masks of the call.
        rules: From scores to weights; `seed` is two integers.
    """

    def __init__(self, inputs: Inputs, masks: Masks, rules: Rules) -> None:
        self.masks, self.rules = masks, rules
        self.shape = ops.shape(inputs.queries)
        batch_size, num_heads, num_queries, _ = self.shape
        self.num_examples = at_least_one(batch_size)
        most = most_queries(masks)
        self.num_blocks = at_least_one((num_queries + most - 1) // most)
        self.num_queries = at_least_one((num_queries + self.num_blocks - 1) // self.num_blocks)
        self.num_rows = self.num_blocks * self.num_queries
        self.num_keys = masks.num_seen(self.num_queries)
        self.num_groups = inputs.keys.shape[1]
        self.num_heads = num_heads // self.num_groups  # in a block
        self.num_shares = self.num_examples * self.num_groups
        more_queries = self.num_rows - num_queries
        # Offsets of the queries that are added come first.
        more = {"B": (0, self.num_examples - batch_size), "T": (0, more_queries)}
        self.inputs = _pad(inputs, {**more, "R": (more_queries, 0)})

    def sums(self) -> Any:
        """Return the sums of all blocks, `(B, H, T, Kv)`."""
        size = self.inputs.values.shape[-1]
        of_block = (self.num_heads, self.num_queries, size)
        zero = ops.zeros((), self.inputs.values.dtype)
        if isinstance(self.num_shares, int) and isinstance(self.num_blocks, int):
            sums = self._loop(self._of_share, self.num_shares, (self.num_blocks, *of_block), zero)
        else:  # in one loop: neither ONNX nor LiteRT knows a loop in a loop
            sums = self._loop(self._of_number, self.num_shares * self.num_blocks, of_block, zero)
        batch_size, num_heads, num_queries, _ = self.shape
        sums = ops.reshape(sums, (self.num_shares, self.num_blocks, *of_block))
        sums = ops.transpose(sums, (0, 2, 1, 3, 4))
        sums = ops.reshape(sums, (self.num_examples, num_heads, self.num_rows, size))
        return sums[:batch_size, :, :num_queries]

    def _of_share(self, share, before):
        inputs = self._cut_share(self.inputs, share)

        def of_block(i, before):
            return forgetful(
                lambda inputs, zero: self._of_block(inputs, share, i, zero), inputs, before
            )

        shape = (self.num_heads, self.num_queries, inputs.values.shape[-1])
        return self._loop(of_block, self.num_blocks, shape, before)

    def _of_number(self, number, before):
        share, i = number // self.num_blocks, number % self.num_blocks

        def of_block(inputs, zero):
            return self._of_block(self._cut_share(inputs, share), share, i, zero)

        return forgetful(of_block, self.inputs, before)

    def _loop(self, function, count, shape, before):
        """Results of `function` for 0, 1, ..., each of a shape, stacked.

        Args:
            function: Function of a number, and of a zero that comes from the block before the last:
                so TensorFlow computes two blocks at a time, forwards and backwards, not ten.
            count: Number of results.
            shape: Shape of a result.
            before: The first such zero.
        """
        dtype = self.inputs.values.dtype
        if isinstance(count, int) and backend.backend() != "tensorflow":
            unused, indices = ops.zeros(shape, dtype), ops.arange(count, dtype="int32")
            return ops.scan(lambda unused, i: (unused, function(i, before)), unused, indices)[1]

        # XLA compiles the gradient of a loop whose number of iterations it can compute; that of
        # `ops.scan` on TensorFlow it cannot.
        def add(i, made, before, last):
            found = function(i, before)
            first = ops.reshape(found, (-1,))[0]
            zero = ops.where(i < 0, first, ops.zeros_like(first))  # `i` is never below 0
            made = ops.scatter_update(made, ops.reshape(i, (1, 1)), found[None])
            return i + 1, made, last, zero

        start = (ops.zeros((), "int32"), ops.zeros((count, *shape), dtype), before, before)
        return ops.while_loop(lambda i, *_: i < count, add, start, maximum_iterations=count)[1]

    def _cut_share(self, inputs, share):
        group = share % self.num_groups
        return _cut(
            inputs,
            B=(share // self.num_groups, 1),
            G=(group, 1),
            H=(group * self.num_heads, self.num_heads),
        )

    def _of_block(self, inputs, share, i, zero):
        """Sums `(h, r, Kv)` of the queries of block `i`."""
        # With the zero, so that masks wait for it too: there would be masks of a hundred blocks.
        first_query = i * self.num_queries + ops.cast(zero, "int32")
        first_key = self.masks.first_seen(first_query, self.num_keys)
        first_offset = first_key - first_query - self.num_queries + self.num_rows
        sees_some = self.num_keys is not self.masks.num_keys
        inputs = _cut(
            inputs,
            T=(first_query, self.num_queries),
            R=(first_offset, self.num_queries + self.num_keys - 1),
            **({"S": (first_key, self.num_keys)} if sees_some else {}),
        )
        inputs = inputs._replace(queries=inputs.queries + zero)
        heads = share % self.num_groups * self.num_heads + ops.arange(self.num_heads, dtype="int32")
        masks = self.masks.of_block(
            share // self.num_groups, heads, first_query, self.num_queries, first_key, self.num_keys
        )
        rules = self.rules
        if rules.dropout:
            number = share * self.num_blocks + i
            more = ops.cast(ops.stack([0 * number, number]), rules.seed.dtype)
            rules = rules._replace(seed=rules.seed + more)
        return attend_at_once(inputs, masks, rules)[0][0]


def most_queries(masks: Masks) -> int:
    """Return the limit of queries in a block: up to four times as many where a window hides."""
    if isinstance(masks.num_keys, int):
        for more in (4, 2):
            most = more * BLOCK_QUERIES
            if most * masks.num_seen(most) <= BLOCK_QUERIES * masks.num_keys:
                return most
    return BLOCK_QUERIES


def _pad(inputs, ends):
    """Inputs with zeros at both ends of axes, whose letters are given with how many."""

    def pad(x, layout):
        sizes = [
            (0, 0) if size == 1 else ends.get(letter, (0, 0))
            for letter, size in zip(layout, x.shape, strict=True)
        ]
        is_nothing = all(isinstance(size, int) and size == 0 for pair in sizes for size in pair)
        return x if is_nothing else ops.pad(x, sizes)

    return _each(pad, inputs)


def _cut(inputs, **ranges):
    """Slices of the inputs along axes, whose letters are given with first entry and number."""

    def cut(x, layout):
        first, sizes = [0] * len(layout), list(ops.shape(x))
        for axis, letter in enumerate(layout):
            if letter in ranges and not (layout == LAYOUTS.attention_bias and x.shape[axis] == 1):
                first[axis], size = ranges[letter]
                if letter == "B":  # its size may be unknown and yet 1
                    first[axis] = ops.minimum(first[axis], sizes[axis] - size)
                sizes[axis] = size
        if not set(ranges).intersection(layout):
            return x
        # Of one dtype: JAX with 64 bits refuses to mix them.
        return ops.slice(x, [ops.cast(index, "int32") for index in first], sizes)

    return _each(cut, inputs)


def _each(function, inputs):
    parts = zip(inputs, LAYOUTS, strict=True)
    return Inputs(*(x if x is None else function(x, layout) for x, layout in parts))
