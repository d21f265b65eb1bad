"""Positional encodings in the input and in the attention scores.

    python examples/positional_encodings.py --png positions.png

Attention without positions ignores the order of its input. Sinusoidal and learned encodings are
added to the input. Rotary, ALiBi, T5 and Shaw positions change the scores. Here every position has
the same input vector, so all differences between scores come from the positions. For the encodings
in the scores, only the distance from query to key matters.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import keras
import numpy as np

from keras_attn import (
    AlibiBias,
    LearnedPositionalEncoding,
    MultiHeadAttention,
    PositionalEncoding,
    RotaryEmbedding,
    ShawRelativePosition,
    T5RelativeBias,
)

LENGTH, WIDTH, NUM_HEADS = 32, 32, 4
SHOWN = (-8, -4, -2, -1, 0, 1, 2, 4, 8)  # distances from query to key


def sinusoidal_encoding(length: int, width: int) -> np.ndarray:
    """Sinusoidal encoding that `PositionalEncoding` adds to the input, `(T, D)`."""
    return np.asarray(PositionalEncoding()(np.zeros((1, length, width), "float32")))[0]


def by_distance(table: np.ndarray) -> tuple[dict[int, float], float]:
    """Mean of a table `(T, T)` for each distance `s - t`, and the variation at equal distance.

    The variation is the largest range of the numbers at one distance. It is 0 if the numbers depend
    only on the distance.
    """
    distances = range(1 - len(table), len(table))
    diagonals = {distance: np.diagonal(table, distance) for distance in distances}
    means = {distance: float(diagonal.mean()) for distance, diagonal in diagonals.items()}
    return means, max(float(np.ptp(diagonal)) for diagonal in diagonals.values())


def attention_by_scheme(length: int, width: int) -> dict[str, np.ndarray]:
    """Attention weights `(H, T, T)` of identical tokens, by positional encoding."""
    token = np.random.default_rng(0).normal(size=width).astype("float32")
    tokens = np.tile(token, (1, length, 1))
    added = {
        "sinusoidal, added": PositionalEncoding(),
        "learned, added": LearnedPositionalEncoding(max_len=length),
    }
    inside = {
        "rotary": RotaryEmbedding(),
        "ALiBi": AlibiBias(),
        "T5": T5RelativeBias(num_buckets=16, max_distance=32),
        "Shaw": ShawRelativePosition(max_distance=4),
    }
    found = {}
    for name, scheme in {**added, **inside}.items():
        attention = MultiHeadAttention(width, NUM_HEADS, position=inside.get(name))
        x = scheme(tokens) if name in added else tokens
        attention(x, x)  # creates the weights
        if name == "T5":  # random values instead of the initial zeros
            table = np.random.default_rng(1).normal(size=attention.position.weights[0].shape)
            attention.position.set_weights([table])
        _, weights = attention(x, x, return_attention_scores=True)
        found[name] = np.asarray(weights)[0]
    return found


def scores_of(weights: np.ndarray) -> np.ndarray:
    """Scores of attention weights `(T, T)`, minus the score of each query at its own position."""
    logarithms = np.log(weights)
    return logarithms - np.diagonal(logarithms)[:, None]


def draw_scores(found: Mapping[str, np.ndarray], path: Path) -> None:
    """Plot the scores of head 0 against the distance, for encodings in the scores."""
    from matplotlib.figure import Figure

    figure = Figure((6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    for name, weights in found.items():
        if "added" not in name:
            means, _ = by_distance(scores_of(weights[0]))
            axes.plot(list(means), list(means.values()), label=name)
    axes.set_xlabel("distance from query to key")
    axes.set_ylabel("score minus score at distance 0")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--png", type=Path, help="image files to write: name-curves.png and so on")
    arguments = parser.parse_args(argv)
    keras.utils.set_random_seed(0)
    header = "".join(f"{distance:>8}" for distance in SHOWN) + f"{'variation':>12}"

    def print_row(name: str, table: np.ndarray) -> None:
        means, wavering = by_distance(table)
        print(f"{name:<18}" + "".join(f"{means[d]:>8.2f}" for d in SHOWN) + f"{wavering:>12.1e}")

    print(f"{'distance':<18}{header}\n\ndot product of two positions")
    encoding = sinusoidal_encoding(LENGTH, WIDTH)
    print_row("sinusoidal", encoding @ encoding.T)
    print("\nscore of a key minus score at the query position (head 0)")
    found = attention_by_scheme(LENGTH, WIDTH)
    for name, weights in found.items():
        print_row(name, scores_of(weights[0]))
    if arguments.png:
        draw_scores(found, arguments.png.with_stem(f"{arguments.png.stem}-scores"))
        from keras_attn import plots

        figures = {
            "curves": plots.plot_encoding_curves(encoding, range(6, 10)),
            "heat-map": plots.plot_encoding(encoding),
            "similarity": plots.plot_position_similarity(encoding),
        }
        for name, figure in figures.items():
            figure.savefig(arguments.png.with_stem(f"{arguments.png.stem}-{name}"), dpi=120)


if __name__ == "__main__":
    main()
