"""Attention of several heads: at once, in blocks, or by the kernel of a backend."""

from typing import Any

import keras
from keras import backend, ops

from keras_attn.layers.blocks import Blocks, forgetful
from keras_attn.layers.dot_product import Inputs, Rules, attend_at_once
from keras_attn.layers.masks import Masks

# Number of attention weights of a batch at which blocks start: 1 GiB in float32. Below, keeping
# the weights for the gradient is faster than computing them twice.
BLOCKWISE_WEIGHTS = 2**28
# Batch size that stands for an unknown one, as in `fit`.
TYPICAL_BATCH_SIZE = 8


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
    # The sum with 0 is not a variable: a variable would get its gradient twice on TensorFlow.
    tables = [None if x is None else ops.convert_to_tensor(x) + 0.0 for x in inputs[3:]]
    inputs = Inputs(*inputs[:3], *tables)
    if rules.dropout:
        rules = rules._replace(seed=rules.seed.seed_generator.next())
    if needs_weights:
        return attend_at_once(inputs, masks, rules)
    in_blocks = _blocks_pay(inputs.queries, masks) if blockwise is None else blockwise
    if _kernel_may(inputs, masks, rules, in_blocks):
        return _call_kernel(inputs, masks.join()), None

    def at_once(inputs):
        return attend_at_once(inputs, masks, rules)[0]

    def by_blocks(inputs):
        return Blocks(inputs, masks, rules).sums()

    if in_blocks is False:
        return at_once(inputs), None
    if in_blocks is True:
        return by_blocks(inputs), None
    # Each branch is computed again for the gradient: XLA cannot compile the gradient of
    # TensorFlow's `cond` where a branch keeps tensors of unknown sizes.
    return ops.cond(
        in_blocks, lambda: forgetful(by_blocks, inputs), lambda: forgetful(at_once, inputs)
    ), None


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
