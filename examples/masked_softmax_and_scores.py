"""Masked softmax and four attention scores on the same queries and keys.

    python examples/masked_softmax_and_scores.py --png scores.png

Queries and keys are points of the plane. The dot product is largest for a key far out in the
direction of the query, the Gaussian kernel for the key nearest to the query. Additive and bilinear
attention have trainable weights, here with random initial values.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import keras
import numpy as np

from keras_attn import (
    AdditiveAttention,
    BilinearAttention,
    DotProductAttention,
    GaussianKernelAttention,
    masked_softmax,
)

QUERIES = {"right": (1.0, 0.0), "up": (0.0, 1.0), "origin": (0.0, 0.0)}
# The last key is padding: no query attends to it.
KEYS = {
    "right": (1.0, 0.0),
    "far right": (3.0, 0.0),
    "up": (0.0, 1.0),
    "left": (-1.0, 0.0),
    "padding": (2.0, 2.0),
}


def points(named: Mapping[str, tuple[float, float]]) -> np.ndarray:
    """Batch with one example, `(1, T, 2)`."""
    return np.array([list(named.values())], "float32")


def make_layers() -> dict[str, keras.layers.Layer]:
    """Attention layers by name of the score."""
    return {
        "additive": AdditiveAttention(num_hiddens=8),
        "scaled dot product": DotProductAttention(),
        "bilinear": BilinearAttention(),
        "Gaussian kernel": GaussianKernelAttention(bandwidth=1.0),
    }


def attention_weights(layer: keras.layers.Layer) -> np.ndarray:
    """Attention weights of each query of `QUERIES` over `KEYS`, `(T, S)`."""
    queries, keys = points(QUERIES), points(KEYS)
    lengths = np.array([len(KEYS) - 1])
    _, weights = layer(queries, keys, valid_lens=lengths, return_attention_scores=True)
    return np.asarray(weights)[0]


def print_table(title: str, columns: Sequence[str], rows: Mapping[str, np.ndarray]) -> None:
    print(f"\n{title:<20}" + "".join(f"{column:>11}" for column in columns))
    for name, row in rows.items():
        print(f"{name:<20}" + "".join(f"{weight:>11.3f}" for weight in row))


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--png", type=Path, help="image file to write")
    arguments = parser.parse_args(argv)
    keras.utils.set_random_seed(0)

    # Three examples with one query each. The last query has no valid key, so weights are 0.
    lengths = np.array([4, 2, 0])
    scores = np.tile(np.array([1.0, 2.0, 3.0, 4.0], "float32"), (3, 1, 1))
    weights = np.asarray(masked_softmax(scores, lengths))[:, 0]
    rows = {f"{length} valid": row for length, row in zip(lengths, weights, strict=True)}
    print_table("masked softmax of", ["1", "2", "3", "4"], rows)

    found = {name: attention_weights(layer) for name, layer in make_layers().items()}
    for name, weights in found.items():
        print_table(name, list(KEYS), dict(zip(QUERIES, weights, strict=True)))
    if arguments.png:
        from keras_attn.plots import plot_attention

        figure = plot_attention(found, list(QUERIES), list(KEYS))
        figure.savefig(arguments.png, dpi=120)


if __name__ == "__main__":
    main()
