"""First and second derivative of attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from keras_attn.dropout import drop
from keras_attn.heads import (
    add_sinks_axes,
    as_groups,
    cap_scores,
    pool,
    precise_dtype,
    score,
    score_dtype,
)
from keras_attn.relative import OffsetTerms, by_offset
from keras_attn.softmax import weigh

Tensors = dict[str, Any]


class Block:
    """Attention of some queries to all keys: sums, gradient, and the gradient of the gradient.

    With scores `s`, weights `p = softmax(s)` and upstream gradient `g`, the gradient of `s` is
    `p * (dp - sum(p * dp))`, `dp = g V^T` (Dao et al. 2022, appendix B.4). The second derivative
    differentiates `<gradient, directions>`, which is `<g, derivative of the sums along the
    directions>`.

    Args:
        inputs: Tensors by name: `q` `(b, h, r, K)`, `k` `(b, g, S, K)`, `v` `(b, g, S, Kv)`, and
            optional `bias` `(h, R)`, `keys` `(R, K)`, `values` `(R, Kv)`, `sinks` `(h,)`.
        mask: Joined mask `(b, h, r, S)`, its sizes 1 where it broadcasts, or None.
        spoilt: Boolean `(b, h, r, 1)`, whether a query may attend to inf or NaN, or None.
        drop: Function that applies the same dropout to weights in each call.
        soft_cap: Bound of the scores, or None.
    """

    def __init__(
        self,
        inputs: Tensors,
        mask: Any,
        spoilt: Any,
        drop: Callable[[Any], Any],
        soft_cap: float | None,
    ) -> None:
        self.inputs, self.spoilt, self.drop = inputs, spoilt, drop
        self.dtype = inputs["v"].dtype
        terms = OffsetTerms(bias=inputs.get("bias"), keys=inputs.get("keys"))
        scores = score(inputs["q"], inputs["k"], terms)
        self.slope = None
        if soft_cap is not None:
            scores = cap_scores(scores, soft_cap, mask)
            share = scores / soft_cap
            self.slope = 1.0 - share * share
            self.curvature = (-2.0 / soft_cap) * share * self.slope
        self.weights, self.sink_weights = weigh(scores, mask, add_sinks_axes(inputs.get("sinks")))

    def sums(self) -> Any:
        """Sums `(b, h, r, Kv)`, NaN for queries that may attend to a value that is not finite."""
        sums = self._pool(self._dropped(self.weights), self.inputs)
        if self.spoilt is None:
            return sums
        return ops.where(self.spoilt, ops.cast(float("nan"), sums.dtype), sums)

    def gradients(self, upstream: Any, sums: Any = None) -> Tensors:
        """Gradients of the inputs by name.

        Args:
            upstream: Gradient of the sums.
            sums: Result of `sums()`, to save time, or None.
        """
        upstream = self._unspoilt(upstream)
        d_weights = self._weight_gradients(upstream, self.inputs)
        if sums is None:
            total = self._mean(d_weights)
        else:
            products = self._precise(upstream) * self._precise(self._unspoilt(sums))
            total = ops.sum(products, axis=-1, keepdims=True)
        d_scores = self.weights * (d_weights - total)
        if self.slope is not None:
            d_scores = d_scores * self.slope
        found = self._score_gradients(d_scores, self.inputs)
        found |= self._value_gradients(self._dropped(self.weights), upstream)
        if self.sink_weights is not None:
            found["sinks"] = ops.sum(-self.sink_weights * total, axis=(0, 2, 3))
        return found

    def second_gradients(self, upstream: Any, directions: Tensors) -> Tensors:
        """Gradients of `<gradients(upstream), directions>`: of the inputs, and of `upstream`."""
        inputs = self.inputs
        upstream = self._unspoilt(upstream)
        d_weights = self._weight_gradients(upstream, inputs)
        turned = self._weight_gradients(upstream, directions)
        slopes = self._precise(
            score(directions["q"], inputs["k"], OffsetTerms(keys=inputs.get("keys")))
            + score(
                inputs["q"],
                directions["k"],
                OffsetTerms(bias=directions.get("bias"), keys=directions.get("keys")),
            )
        )
        along = slopes if self.slope is None else slopes * self.slope
        mean, total = self._mean(along), self._mean(d_weights)
        if self.sink_weights is not None:
            mean = mean + self.sink_weights * self._precise(add_sinks_axes(directions["sinks"]))
        constant = self._mean(along * d_weights) - mean * total + self._mean(turned)
        first = self.weights * (d_weights - total)
        second = (along - mean) * (d_weights - total) - constant + turned
        second = self.weights * second
        if self.slope is not None:
            second = second * self.slope + first * slopes * self.curvature
            first = first * self.slope
        moved = self._dropped(self.weights * (along - mean))

        found = self._score_gradients(second, inputs)
        turned_back = self._score_gradients(first, directions)
        for name in {"q", "k", "keys"} & set(found):
            found[name] = found[name] + turned_back[name]
        found |= self._value_gradients(moved, upstream)
        if self.sink_weights is not None:
            direction = self._precise(add_sinks_axes(directions["sinks"]))
            of_sinks = (mean - direction) * total - constant
            found["sinks"] = ops.sum(self.sink_weights * of_sinks, axis=(0, 2, 3))
        sums = self._pool(moved, inputs) + self._pool(self._dropped(self.weights), directions)
        found["upstream"] = self._unspoilt(sums)
        return found

    def _precise(self, x: Any) -> Any:
        return ops.cast(x, self.weights.dtype)

    def _mean(self, x: Any) -> Any:
        return ops.sum(self.weights * x, axis=-1, keepdims=True)

    def _dropped(self, weights: Any) -> Any:
        return ops.cast(self.drop(weights), self.dtype)

    def _unspoilt(self, x: Any) -> Any:
        return x if self.spoilt is None else ops.where(self.spoilt, ops.zeros_like(x), x)

    def _pool(self, weights: Any, parts: Tensors) -> Any:
        return pool(weights, parts["v"], OffsetTerms(values=parts.get("values")))

    def _weight_gradients(self, upstream: Any, parts: Tensors) -> Any:
        """Gradient of the weights: a product with values, as scores are one with keys."""
        found = score(upstream, parts["v"], OffsetTerms(keys=parts.get("values")))
        return self.drop(self._precise(found))

    def _value_gradients(self, weights: Any, upstream: Any) -> Tensors:
        found = {"v": self._by_group(weights, upstream)}
        if "values" in self.inputs:
            found["values"] = all_heads_product(by_offset(weights), upstream)
        return found

    def _score_gradients(self, d_scores: Any, parts: Tensors) -> Tensors:
        d_scores = ops.cast(d_scores, score_dtype(self.dtype))
        query, vectors = parts["q"], parts.get("keys")
        found = {
            "q": pool(d_scores, parts["k"], OffsetTerms(values=vectors)),
            "k": self._by_group(d_scores, query),
        }
        if "bias" in parts or vectors is not None:
            by_distance = by_offset(d_scores)  # (b, h, r, R)
        if "bias" in parts:
            found["bias"] = ops.sum(self._precise(by_distance), axis=(0, 2))
        if vectors is not None:
            found["keys"] = all_heads_product(by_distance, query)
        return found

    def _by_group(self, left: Any, right: Any) -> Any:
        """`left^T right`: `(b, h, r, X)` and `(b, h, r, Y)` to `(b, g, X, Y)`."""
        num_groups = self.inputs["k"].shape[1]
        left, right = as_groups(left, num_groups), as_groups(right, num_groups)
        return ops.matmul(ops.swapaxes(left, -1, -2), right)


def all_heads_product(left: Any, right: Any) -> Any:
    """`left^T right` over all heads: `(b, h, r, X)` and `(b, h, r, Y)` to `(X, Y)`."""
    left, right = (
        ops.reshape(x, (_size(ops.shape(x)[:-1]), ops.shape(x)[-1])) for x in (left, right)
    )
    return ops.matmul(ops.transpose(left), right)


def _size(shape: Any) -> Any:
    size = 1
    for length in shape:
        size = size * length
    return size


class FixedSeed(keras.random.SeedGenerator):
    """Constant seed, so that the gradient drops the same weights as the forward pass."""

    def __init__(self, seed: Any) -> None:
        self._seed = seed
        self._initial_seed = 0  # with None, Keras on PyTorch would ignore the seed

    def next(self, ordered: bool = True) -> Any:
        return self._seed


def fixed_dropout(rate: float, seed: Any) -> Callable[[Any], Any]:
    """Dropout function that drops the same weights in each call."""
    if not rate:
        return lambda weights: weights
    return lambda weights: drop(weights, rate, FixedSeed(seed))


def differentiable(
    names: tuple[str, ...],
    forward: Callable[[Tensors], Any],
    backward: Callable[[Tensors, Any, Any], Tensors],
    second_backward: Callable[[Tensors, Any, Tensors], Tensors],
) -> Callable[..., Any]:
    """Function of named tensors with a custom gradient and second derivative.

    Args:
        names: Names of the arguments.
        forward: Sums of the inputs by name.
        backward: Gradients by name of `(inputs, sums, upstream)`; `sums` may be None.
        second_backward: Gradients by name of `(inputs, upstream, directions)`, including the
            gradient of `upstream`.
    """

    @ops.custom_gradient
    def first_gradient(*arrays):
        *given, sums, upstream = arrays
        inputs = dict(zip(names, given, strict=True))
        others = _unlinked({"sums": sums, "upstream": upstream})
        found = backward(_unlinked(inputs), *others.values())

        def gradient(*directions):
            # JAX passes all directions as one tuple.
            directions = directions[0] if len(directions) == 1 else directions
            found = second_backward(inputs, upstream, dict(zip(names, directions, strict=True)))
            # The gradients of the inputs include the gradient through the sums.
            inner = [found[name] for name in names]
            return (*inner, ops.zeros_like(sums), found["upstream"])

        return tuple(found[name] for name in names), gradient

    @ops.custom_gradient
    def attention(*arrays):
        inputs = dict(zip(names, arrays, strict=True))
        sums = forward(_unlinked(inputs))

        def gradient(*args, upstream=None):
            if upstream is None:
                # `stop_gradient`: TensorFlow would differentiate the loops that computed the sums.
                return first_gradient(*arrays, ops.stop_gradient(sums), args[0])
            # PyTorch passes the inputs again and differentiates this computation itself.
            found = backward(dict(zip(names, args, strict=True)), None, upstream)
            return tuple(found[name] for name in names)

        return sums, gradient

    return attention


def _unlinked(tensors: Tensors) -> Tensors:
    """Tensors behind `stop_gradient` on TensorFlow.

    Under a persistent tape, TensorFlow would build the gradients of loops, and fail. On JAX, the
    second derivative needs the link.
    """
    if keras.backend.backend() != "tensorflow":
        return tensors
    return {name: ops.stop_gradient(x) for name, x in tensors.items()}


def as_inputs(queries: Any, keys: Any, values: Any, terms: OffsetTerms, sinks: Any) -> Tensors:
    """Inputs of `Block` by name; inputs that are None are left out."""
    dtype = queries.dtype
    given = {**terms._asdict(), "sinks": sinks}
    given = {name: ops.cast(part, dtype) for name, part in given.items() if part is not None}
    if sinks is not None:
        given["sinks"] = ops.cast(sinks, precise_dtype(dtype))
    return {"q": queries, "k": keys, "v": values, **given}
