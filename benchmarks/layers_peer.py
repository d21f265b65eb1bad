"""Multi-head attention of one library, in a separate process of `layers.py`.

Reads one JSON request from each line and writes one JSON line as answer. All libraries get the same
weights, inputs and output gradients, so that their results can be compared.
"""

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from machine import num_cores
from peer import answer_requests

# The timed functions recompute everything and return all results: the output first, then the
# gradients of the input and the weights. So no computation can be optimised away.
Passes = dict[str, Callable[[], list[Any]]]


def main() -> None:
    library = sys.argv[1]
    make = make_torch_passes if library == "torch" else make_keras_passes
    passes: Passes = {}

    def answer(request: dict[str, Any]) -> Any:
        if "shape" not in request:
            return median_time(passes[request["pass"]], request["seconds"])
        passes.update(make(library, **request))
        return {name: magnitudes(run()) for name, run in passes.items()}

    answer_requests(answer)


def median_time(run: Callable[[], list[Any]], seconds: float) -> float:
    """Median seconds of a call, over calls that take `seconds` in total; skips the first call."""
    run()
    times: list[float] = []
    while sum(times) < seconds:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def magnitudes(results: list[Any]) -> list[float]:
    """Sums of absolute values of output, input gradient and weight gradients, for comparison."""
    sums = [float(np.abs(to_numpy(result)).sum(dtype="float64")) for result in results]
    return [*sums[:2], sum(sums[2:])][: len(sums)]


def to_numpy(result: Any) -> np.ndarray:
    if hasattr(result, "detach"):  # torch's: NumPy has no bfloat16
        return result.detach().float().numpy()
    return np.asarray(result, "float32")


def make_arrays(shape: list[int]) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Input `(B, T, D)`, output gradient, and (kernel `(D, D)`, bias) of the four projections.

    The order of the projections is query, key, value, output.
    """
    batch_size, length, width, _ = shape
    random = np.random.default_rng(0)
    x, upstream = random.normal(size=(2, batch_size, length, width)).astype("float32")
    weights: list[np.ndarray] = []
    for _ in range(4):
        weights.append(random.normal(size=(width, width)).astype("float32") * width**-0.5)
        weights.append(random.normal(size=width).astype("float32") * 0.1)
    return x, upstream, weights


def make_layer(library: str, width: int, num_heads: int, dtype: str) -> Any:
    import keras

    import keras_attn

    if library == "keras":
        return keras.layers.MultiHeadAttention(num_heads, width // num_heads, dtype=dtype)
    return keras_attn.MultiHeadAttention(width, num_heads, use_bias=True, dtype=dtype)


def make_keras_passes(library: str, shape: list[int], dtype: str, causal: bool) -> Passes:
    import tensorflow as tf

    if not tf.config.threading.get_intra_op_parallelism_threads():
        tf.config.threading.set_intra_op_parallelism_threads(num_cores())
    layer = make_layer(library, *shape[2:], dtype)
    array, upstream_array, weights = make_arrays(shape)
    x, upstream = (tf.constant(a, dtype) for a in (array, upstream_array))
    layer(x, x)
    # Both layers list kernel and bias of query, key, value and output in this order; Keras's
    # kernels have the heads as an axis of their own.
    layer.set_weights([w.reshape(v.shape) for w, v in zip(weights, layer.weights, strict=True)])
    variables = [v.value for v in layer.trainable_variables]

    @tf.function
    def forward(x: Any) -> list[Any]:
        return [layer(x, x, use_causal_mask=causal, training=False)]

    @tf.function
    def forward_and_backward(x: Any, upstream: Any) -> list[Any]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            output = layer(x, x, use_causal_mask=causal, training=True)
        return [output, *tape.gradient(output, [x, *variables], output_gradients=upstream)]

    return {
        "forward": lambda: forward(x),
        "forward+backward": lambda: forward_and_backward(x, upstream),
    }


def make_torch_passes(library: str, shape: list[int], dtype: str, causal: bool) -> Passes:
    import torch

    torch.set_num_threads(num_cores())
    _, length, width, num_heads = shape
    array, upstream_array, weights = make_arrays(shape)
    layer = torch.nn.MultiheadAttention(width, num_heads, batch_first=True)
    kernels, biases = ([torch.from_numpy(w) for w in weights[first::2]] for first in (0, 1))
    layer.load_state_dict(
        {
            "in_proj_weight": torch.cat([kernel.T for kernel in kernels[:3]]),
            "in_proj_bias": torch.cat(biases[:3]),
            "out_proj.weight": kernels[3].T,
            "out_proj.bias": biases[3],
        }
    )
    layer.to(getattr(torch, dtype))
    x, upstream = (torch.from_numpy(a).to(getattr(torch, dtype)) for a in (array, upstream_array))
    mask = torch.nn.Transformer.generate_square_subsequent_mask(length) if causal else None
    options = {"need_weights": False, "attn_mask": mask, "is_causal": causal}
    parameters = list(layer.parameters())

    def forward() -> list[Any]:
        layer.eval()
        with torch.inference_mode():
            return [layer(x, x, x, **options)[0]]

    def forward_and_backward() -> list[Any]:
        layer.train()
        leaf = x.detach().requires_grad_()
        output = layer(leaf, leaf, leaf, **options)[0]
        return [output, *torch.autograd.grad(output, [leaf, *parameters], upstream)]

    return {"forward": forward, "forward+backward": forward_and_backward}


if __name__ == "__main__":
    main()
