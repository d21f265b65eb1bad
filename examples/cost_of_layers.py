"""Time of convolution, recurrence and self-attention by sequence length.

    python examples/cost_of_layers.py --png cost.png

Measured times are printed next to the orders of growth in table 1 of Vaswani et al. 2017. Each
order is scaled to the time of the layer at the longest length. Input and output of all layers have
the shape `(B, n, d)`.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from keras_attn import DotProductAttention

# Columns of the paper: operations, sequential operations, longest path between two positions.
TABLE = {
    "convolution": ("O(k n d²)", "O(1)", "O(n/k), dilated O(log_k n)"),
    "recurrence": ("O(n d²)", "O(n)", "O(n)"),
    "self-attention": ("O(n² d)", "O(1)", "O(1)"),
}


def operations(name: str, length: int, width: int, kernel: int) -> int:
    """Number of operations by the formula in the first column of `TABLE`."""
    if name == "self-attention":
        return length**2 * width
    return length * width**2 * (kernel if name == "convolution" else 1)


def make_layers(width: int, kernel: int) -> dict[str, Callable[[tf.Tensor], tf.Tensor]]:
    """Layers by name, as functions of the input `(B, n, d)`."""
    convolution = keras.layers.Conv1D(width, kernel, padding="same")
    recurrence = keras.layers.SimpleRNN(width, return_sequences=True)
    # Attention without projections: projections would add O(n d²) operations.
    attention = DotProductAttention()
    return {
        "convolution": convolution,
        "recurrence": recurrence,
        "self-attention": lambda x: attention(x, x),
    }


def measure(
    lengths: Sequence[int], batch_size: int, width: int, kernel: int, turns: int
) -> dict[str, list[float]]:
    """Median seconds of a forward pass by layer, for each length."""
    random = np.random.default_rng(0)
    times: dict[tuple[str, int], list[float]] = {}
    passes: dict[tuple[str, int], Callable[[], tf.Tensor]] = {}
    for name, layer in make_layers(width, kernel).items():
        for length in lengths:
            x = tf.constant(random.normal(size=(batch_size, length, width)), tf.float32)
            # One graph for each shape, traced now, so that no measured call includes tracing.
            graph = tf.function(layer).get_concrete_function(x)
            passes[name, length] = lambda graph=graph, x=x: graph(x)
            passes[name, length]()
            times[name, length] = []
    # Layers and lengths alternate, so that other load on the machine affects all of them.
    for _ in range(turns):
        for key, run in passes.items():
            start = time.perf_counter()
            run().numpy()
            times[key].append(time.perf_counter() - start)
    return {name: [statistics.median(times[name, n]) for n in lengths] for name in TABLE}


def crossing(lengths: Sequence[int], rising: Sequence[float], other: Sequence[float]) -> float:
    """Length from which on `rising` stays above `other`; NaN if it ends below.

    Times between two lengths are interpolated linearly in log-log coordinates.
    """
    gaps = np.log(rising) - np.log(other)
    below = np.flatnonzero(gaps <= 0)
    if not len(below):
        return lengths[0]
    last = below[-1]
    if last == len(lengths) - 1:
        return float("nan")
    return float(np.exp(np.interp(0, gaps[last : last + 2], np.log(lengths[last : last + 2]))))


def draw(
    lengths: Sequence[int],
    times: Mapping[str, list[float]],
    scaled: Mapping[str, np.ndarray],
    path: Path,
) -> None:
    from matplotlib.figure import Figure

    figure = Figure((6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    for i, (name, (order, *_)) in enumerate(TABLE.items()):
        axes.plot(lengths, np.multiply(times[name], 1000), f"C{i}o-", label=f"{name}, measured")
        axes.plot(lengths, np.multiply(scaled[name], 1000), f"C{i}--", label=order)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("length n")
    axes.set_ylabel("milliseconds")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)


def main(argv: Sequence[str] | None = None) -> dict[str, list[float]]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lengths", type=int, nargs="+", default=[2**i for i in range(4, 12)])
    parser.add_argument("--width", type=int, default=128, help="width d")
    parser.add_argument("--kernel", type=int, default=3, help="kernel size k of the convolution")
    # With a batch of one, a recurrent step would be too short to measure.
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--png", type=Path, help="image file to write")
    a = parser.parse_args(argv)
    lengths = sorted(a.lengths)

    header = {"layer": ("operations", "sequential", "longest path")}
    for name, columns in {**header, **TABLE}.items():
        print(f"{name:<16}" + "".join(f"{column:<14}" for column in columns))

    times = measure(lengths, a.batch_size, a.width, a.kernel, a.turns)
    scaled = {}  # equal to the measured seconds at the longest length
    for name in TABLE:
        numbers = np.array([operations(name, n, a.width, a.kernel) for n in lengths], float)
        scaled[name] = numbers / numbers[-1] * times[name][-1]
    print(f"\nmilliseconds (and the scaled order); d={a.width}, k={a.kernel}, ", end="")
    print(f"batches of {a.batch_size}, median of {a.turns} turns")
    print(f"{'n':>6}" + "".join(f"{name:>24}" for name in TABLE))
    for i, n in enumerate(lengths):
        cells = (f"{times[x][i] * 1000:>13.2f} ({scaled[x][i] * 1000:>8.2f})" for x in TABLE)
        print(f"{n:>6}" + "".join(cells))
    length = crossing(lengths, times["self-attention"], times["recurrence"])
    print(
        f"\nSelf-attention is slower than recurrence from n = {length:.0f} on; by the number of "
        f"operations it would be n = d = {a.width}."
        if np.isfinite(length)
        else f"\nUp to n = {lengths[-1]}, self-attention is not slower than recurrence."
    )
    if a.png:
        draw(lengths, times, scaled, a.png)
    return times


if __name__ == "__main__":
    main()
