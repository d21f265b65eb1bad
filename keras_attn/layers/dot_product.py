"""Scaled dot-product attention of several heads: scores, weights, sums; at once or in blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import keras
from keras import backend, ops

from keras_attn.layers.dropout import drop
from keras_attn.layers.masks import Masks
from keras_attn.layers.precision import matmul, precise_dtype, score_dtype
from keras_attn.layers.relative_positions import at_least_one, by_offset, by_pair
from keras_attn.layers.softmax import weigh

# Number of attention weights of a batch at which blocks start: 1 GiB in float32. Below, keeping
# the weights for the gradient is faster than computing them twice.
BLOCKWISE_WEIGHTS = 2**28
# Queries in a block: many enough for fast products, few enough for the processor's cache.
BLOCK_QUERIES = 256
# Batch size that stands for an unknown one, as in `fit`.
TYPICAL_BATCH_SIZE = 8
# Up to this number of queries, such as in decoding, transposing the scores is faster than `einsum`.
FEW_ROWS = 8


class Inputs(NamedTuple):
    """Everything in one call of attention that has a gradient.

    Attributes:
        queries: Scaled queries `(B, H, T, K)`.
        keys: `(B, G, S, K)`, `G` a divisor of `H`.
        values: `(B, G, S, Kv)`.
        bias: `(H, R)`, added to the scores by offset (`OffsetTerms`), or None.
        key_vectors: `(R, K)`, added to a key as a query sees it, or None.
        value_vectors: `(R, Kv)`, added to a value as a query sees it, or None.
        sinks: Logits `(H,)` that take part in the denominator of the softmax alone, or None.
        attention_bias: Added to the scores, broadcastable to `(B, H, T, S)`, or None.
    """

    queries: Any
    keys: Any
    values: Any
    bias: Any = None
    key_vectors: Any = None
    value_vectors: Any = None
    sinks: Any = None
    attention_bias: Any = None


class Rules(NamedTuple):
    """Rules by which scores become weights.

    Attributes:
        soft_cap: Bound `c` of the scores, `c * tanh(score / c)` (Gemma Team 2024, section 2), or
            None.
        dropout: Rate at which weights are dropped.
        seed: Layer with a generator of seeds, from which `attend` draws one of two integers; not
            needed if `dropout` is 0.
    """

    soft_cap: float | None = None
    dropout: float = 0.0
    seed: Any = None


def attend(
    inputs: Inputs,
    masks: Masks,
    rules: Rules = Rules(),  # noqa: B008 (a tuple)
    needs_weights: bool = False,
    blockwise: bool | None = None,
) -> tuple[Any, Any]:
    """Attention of all queries: `softmax(Q K^T) V` of each head (Vaswani et al. 2017, section 3.2).

    Many weights are computed in blocks of queries, again for the gradient (Rabe and Staats 2021,
    section 3): memory grows with `T + S` and not with `T * S`. With a window, a block reads only
    the keys that it can see. A backend's own kernel computes the sums where it can.

    Args:
        inputs: Tensors with a gradient.
        masks: Masks of the call.
        rules: From scores to weights.
        needs_weights: Whether the weights are returned, which excludes blocks. Defaults to False.
        blockwise: Whether to compute in blocks. Defaults to None: decided by the sizes.

    Returns:
        Sums `(B, H, T, Kv)`, and weights `(B, H, T, S)` or None.
    """
    # The sum with 0 is no variable: a variable would get its gradient twice on TensorFlow.
    tables = [None if x is None else ops.convert_to_tensor(x) + 0.0 for x in inputs[3:]]
    inputs = Inputs(*inputs[:3], *tables)
    if rules.dropout:
        rules = rules._replace(seed=rules.seed.seed_generator.next())
    if needs_weights:
        return _attend_at_once(inputs, masks, rules)
    in_blocks = _blocks_pay(inputs.queries, masks) if blockwise is None else blockwise
    if _kernel_may(inputs, masks, rules, in_blocks):
        return _call_kernel(inputs, masks.join()), None

    def at_once(inputs):
        return _attend_at_once(inputs, masks, rules)[0]

    def by_blocks(inputs):
        return _Blocks(inputs, masks, rules).sums()

    if in_blocks is False:
        return at_once(inputs), None
    if in_blocks is True:
        return by_blocks(inputs), None
    # Each branch is computed again for the gradient: XLA cannot compile the gradient of
    # TensorFlow's `cond` where a branch keeps tensors of unknown sizes.
    return ops.cond(
        in_blocks, lambda: _forgetful(by_blocks, inputs), lambda: _forgetful(at_once, inputs)
    ), None


def _attend_at_once(inputs, masks, rules):
    """Sums `(B, H, T, Kv)` and weights `(B, H, T, S)`."""
    scores = score(inputs, rules.soft_cap)
    sinks = None if inputs.sinks is None else inputs.sinks[:, None, None]
    weights = ops.cast(weigh(scores, masks.join(), sinks), inputs.values.dtype)
    dropped = weights
    if rules.dropout:
        dropped = drop(weights, rules.dropout, _Seed(rules.seed))
    sums = multiply(dropped, inputs.values)
    if inputs.value_vectors is not None:
        vectors = ops.cast(inputs.value_vectors, sums.dtype)
        sums = sums + multiply_by_matrix(by_offset(dropped), vectors)
    return sums, weights


def score(inputs: Inputs, soft_cap: float | None = None) -> Any:
    """Return scores `(B, H, T, S)`; float32 for float16, whose products overflow."""
    dtype = score_dtype(inputs.queries.dtype)
    queries, keys = ops.cast(inputs.queries, dtype), ops.cast(inputs.keys, dtype)
    scores = multiply(queries, keys, times_transposed)
    if inputs.key_vectors is not None:
        vectors = ops.transpose(ops.cast(inputs.key_vectors, dtype))
        scores = scores + by_pair(multiply_by_matrix(queries, vectors))
    if inputs.bias is not None:
        bias = ops.cast(inputs.bias, dtype)[:, None]  # (H, 1, R)
        bias = ops.broadcast_to(bias, (bias.shape[0], ops.shape(queries)[2], ops.shape(bias)[-1]))
        scores = scores + by_pair(bias)
    if inputs.attention_bias is not None:
        scores = scores + ops.cast(inputs.attention_bias, dtype)
    if soft_cap is not None:
        scores = ops.cast(scores, precise_dtype(dtype))
        scores = soft_cap * ops.tanh(scores / soft_cap)
    return scores


class _Seed(keras.random.SeedGenerator):
    """Constant seed, so that the gradient drops the same weights as the forward pass."""

    def __init__(self, seed: Any) -> None:
        self._seed = seed
        self._initial_seed = 0  # with None, Keras on PyTorch would ignore the seed

    def next(self, ordered: bool = True) -> Any:
        return self._seed


def _forgetful(function: Callable[..., Any], inputs: Inputs, *more: Any) -> Any:
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


class _Blocks:
    """Attention in blocks: some queries of a share, which is one example and one key-value head.

    There is at least one example and one query: XLA compiles loops for empty inputs too, and cannot
    slice them.
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
        more_examples, more_queries = self.num_examples - batch_size, self.num_rows - num_queries
        queries, keys, values = (_pad(x, 0, 0, more_examples) for x in inputs[:3])
        bias, key_vectors, value_vectors, sinks, attention_bias = inputs[3:]
        if attention_bias is not None and attention_bias.shape[2] != 1:
            attention_bias = _pad(attention_bias, 2, 0, more_queries)
        self.inputs = Inputs(
            self._split(_pad(queries, 2, 0, more_queries), self.num_heads),
            self._split(keys, 1),
            self._split(values, 1),
            # Offsets of the queries that were added come first.
            _pad(bias, 1, more_queries, 0),
            _pad(key_vectors, 0, more_queries, 0),
            _pad(value_vectors, 0, more_queries, 0),
            sinks,
            attention_bias,
        )

    def _split(self, x, num_heads):
        """Tensor `(B, H, T, K)` by shares: `(shares, h, T, K)`."""
        return ops.reshape(x, (self.num_shares, num_heads, *ops.shape(x)[2:]))

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
        inputs = self._share(self.inputs, share)

        def of_block(i, before):
            return _forgetful(
                lambda inputs, zero: self._of_block(inputs, share, i, zero), inputs, before
            )

        shape = (self.num_heads, self.num_queries, inputs.values.shape[-1])
        return self._loop(of_block, self.num_blocks, shape, before)

    def _of_number(self, number, before):
        share, i = number // self.num_blocks, number % self.num_blocks

        def of_block(inputs, zero):
            return self._of_block(self._share(inputs, share), share, i, zero)

        return _forgetful(of_block, self.inputs, before)

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

    def _share(self, inputs, share):
        """Inputs of one share."""
        queries, keys, values = (ops.take(x, share[None], axis=0) for x in inputs[:3])
        bias, key_vectors, value_vectors, sinks, attention_bias = inputs[3:]
        first = share % self.num_groups * self.num_heads
        bias, sinks = (_slice(x, 0, first, self.num_heads) for x in (bias, sinks))
        if attention_bias is not None:
            example = ops.minimum(share // self.num_groups, ops.shape(attention_bias)[0] - 1)
            attention_bias = ops.take(attention_bias, example[None], axis=0)
            if attention_bias.shape[1] != 1:
                attention_bias = _slice(attention_bias, 1, first, self.num_heads)
        terms = (bias, key_vectors, value_vectors, sinks, attention_bias)
        return Inputs(queries, keys, values, *terms)

    def _of_block(self, inputs, share, i, zero):
        """Sums `(h, r, Kv)` of the queries of block `i`."""
        queries, keys, values, bias, key_vectors, value_vectors, sinks, attention_bias = inputs
        first_query = i * self.num_queries
        first_key = self.masks.first_seen(first_query, self.num_keys)
        queries = _slice(queries, 2, first_query, self.num_queries) + zero
        if self.num_keys is not self.masks.num_keys:
            keys, values = (_slice(x, 2, first_key, self.num_keys) for x in (keys, values))
            if attention_bias is not None and attention_bias.shape[3] != 1:
                attention_bias = _slice(attention_bias, 3, first_key, self.num_keys)
        if attention_bias is not None and attention_bias.shape[2] != 1:
            attention_bias = _slice(attention_bias, 2, first_query, self.num_queries)
        offset = first_key - first_query - self.num_queries + self.num_rows
        num_offsets = self.num_queries + self.num_keys - 1
        bias = _slice(bias, 1, offset, num_offsets)
        key_vectors, value_vectors = (
            _slice(x, 0, offset, num_offsets) for x in (key_vectors, value_vectors)
        )
        heads = share % self.num_groups * self.num_heads + ops.arange(self.num_heads, dtype="int32")
        masks = self.masks.of_block(
            share // self.num_groups, heads, first_query, self.num_queries, first_key, self.num_keys
        )
        rules = self.rules
        if rules.dropout:
            number = share * self.num_blocks + i
            more = ops.cast(ops.stack([0 * number, number]), rules.seed.dtype)
            rules = rules._replace(seed=rules.seed + more)
        inputs = Inputs(
            queries, keys, values, bias, key_vectors, value_vectors, sinks, attention_bias
        )
        return _attend_at_once(inputs, masks, rules)[0][0]


def most_queries(masks: Masks) -> int:
    """Return the limit of queries in a block: up to four times as many where a window hides."""
    if isinstance(masks.num_keys, int):
        for more in (4, 2):
            most = more * BLOCK_QUERIES
            if most * masks.num_seen(most) <= BLOCK_QUERIES * masks.num_keys:
                return most
    return BLOCK_QUERIES


def _blocks_pay(queries, masks):
    """Whether to compute in blocks: a boolean, or a tensor if the sizes are tensors."""
    batch_size, num_heads, num_queries, _ = ops.shape(queries)
    num_keys = masks.num_keys
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


def _pad(x, axis, before, after):
    """Tensor with zeros at both ends of an axis; None as None."""
    if x is None or (isinstance(before + after, int) and before + after == 0):
        return x
    return ops.pad(x, [(before, after) if i == axis else (0, 0) for i in range(len(x.shape))])


def _slice(x, axis, first, size):
    """Entries of a tensor from `first` along an axis; None as None."""
    if x is None:
        return x
    sizes = list(ops.shape(x))
    sizes[axis] = size
    # Of one dtype: JAX with 64 bits refuses to mix them.
    indices = [ops.cast(first if i == axis else 0, "int32") for i in range(len(sizes))]
    return ops.slice(x, indices, sizes)


# The backend's kernel


def _kernel_may(inputs, masks, rules, in_blocks):
    """Whether the backend's kernel, such as flash attention, computes the sums.

    TensorFlow has none. `keras.config.disable_flash_attention()` turns kernels off: those of
    PyTorch have no second derivative. They take values of the size of keys alone, and no terms.
    """
    name = backend.backend()
    is_plain = all(x is None for x in (*inputs[3:], rules.soft_cap)) and not rules.dropout
    sizes = (size for x in inputs[:3] for size in x.shape)
    # JAX's kernel for CPUs needs as much memory as all weights, and so does a mask of all pairs.
    saves_memory = name == "torch" or not keras.distribution.list_devices()[0].startswith("cpu")
    return (
        name in ("jax", "torch")
        and is_plain
        and keras.config.is_flash_attention_enabled() is not False
        and all(isinstance(size, int) and size > 0 for size in sizes)
        and inputs.keys.shape[-1] == inputs.values.shape[-1]
        and (in_blocks is False or (masks.hide_nothing and saves_memory))
    )


def _call_kernel(inputs, mask):
    by_position = (ops.swapaxes(x, 1, 2) for x in inputs[:3])
    sums = ops.swapaxes(ops.dot_product_attention(*by_position, mask=mask, scale=1.0), 1, 2)
    if mask is None:
        return sums
    # Kernels give a query without keys the mean of all values.
    return ops.where(ops.any(mask, axis=-1, keepdims=True), sums, ops.zeros_like(sums))


# Products


def with_heads(attention_bias: Any) -> Any:
    """Return a bias `(T, S)`, `(B, T, S)` or `(B, H, T, S)` with four axes; None as None."""
    if attention_bias is None:
        return None
    attention_bias = ops.convert_to_tensor(attention_bias)
    axes = {2: (0, 1), 3: 1, 4: ()}[len(attention_bias.shape)]
    return ops.expand_dims(attention_bias, axes)


def match_batch(x: Any, other: Any) -> Any:
    """`x` repeated to the batch size of `other` if the batch size of `x` is 1.

    `matmul` of rank 4 must not broadcast: on TensorFlow with oneDNN the result is wrong
    (tensorflow/tensorflow#123109). Nothing is repeated if the batch sizes are known to be equal.

    Args:
        x: Tensor `(B, ...)` or `(1, ...)`.
        other: Tensor `(B, ...)`.
    """
    is_known = isinstance(x.shape[0], int) and x.shape[0] != 1
    if is_known or x.shape[0] == other.shape[0] == 1:
        return x
    return ops.broadcast_to(x, (ops.shape(other)[0], *ops.shape(x)[1:]))


def times_transposed(left: Any, right: Any) -> Any:
    """`left @ right^T` of rank 3 or 4 without a copy of `right^T`.

    `ops.matmul` would need the copy in eager mode, for gradients and under XLA.
    """
    num_rows = left.shape[-2]
    if isinstance(num_rows, int) and num_rows <= FEW_ROWS:
        return ops.swapaxes(matmul(right, ops.swapaxes(left, -1, -2)), -1, -2)
    # Without `optimize`, Keras transposes on TensorFlow too.
    equation = "bhtx,bhsx->bhts" if len(left.shape) == 4 else "btx,bsx->bts"
    return ops.einsum(equation, left, right, optimize="greedy")


def multiply(left: Any, right: Any, product: Callable[[Any, Any], Any] = matmul) -> Any:
    """`left @ right`, one key-value head of `right` for each group of heads of `left`.

    Args:
        left: `(B, H, T, X)`.
        right: `(B, G, X, Y)`, `G` a divisor of `H`.
        product: Another product of tensors of rank 4. Defaults to `matmul`.

    Returns:
        `(B, H, T, Y)`.
    """
    num_heads, num_groups = left.shape[1], right.shape[1]
    if num_heads == num_groups:
        return product(left, right)
    batch_size, _, num_queries, _ = ops.shape(left)
    rows = product(as_groups(left, num_groups), right)
    return ops.reshape(rows, (batch_size, num_heads, num_queries, ops.shape(rows)[-1]))


def multiply_by_matrix(x: Any, matrix: Any) -> Any:
    """`x @ matrix` of `(B, H, T, X)` and `(X, Y)`, as a product of two matrices."""
    *lead, size = ops.shape(x)
    rows = ops.reshape(x, (lead[0] * lead[1] * lead[2], size))
    return ops.reshape(matmul(rows, matrix), (*lead, ops.shape(matrix)[-1]))


def as_groups(x: Any, num_groups: int) -> Any:
    """`(B, H, T, X)` as `(B, G, H/G * T, X)`: joins the heads that share a key-value head."""
    batch_size, num_heads, num_queries, size = ops.shape(x)
    return ops.reshape(x, (batch_size, num_groups, num_heads // num_groups * num_queries, size))
