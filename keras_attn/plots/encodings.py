"""Plots of positional encodings."""

import math
from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from keras_attn.layers.checks import check_layout
from keras_attn.plots.heat_maps import SIGNED_COLOURS, add_colour_bar, count, heat_map
from keras_attn.plots.weights import numbers_of


def plot_encoding(encoding: Any) -> Figure:
    """Heat map of a positional encoding: one row per position, one column per dimension.

    Args:
        encoding: Positional encoding `(T, D)`, such as
            `PositionalEncoding()(zeros((1, T, D)))[0]`.

    Returns:
        Figure with two axes: the heat map and the colour bar, which is symmetric around 0.

    Raises:
        ValueError: If `encoding` has another rank, is empty or not finite.
    """
    figure = Figure((7, 5), layout="constrained")
    _draw_encoding(figure, figure.subplots(), _encoding(encoding))
    return figure


def plot_encoding_curves(encoding: Any, columns: Iterable[int]) -> Figure:
    """Curves of selected columns of a positional encoding over the positions.

    Args:
        encoding: Positional encoding `(T, D)`.
        columns: Indices of the columns, from 0 to `D - 1`; one curve for each.

    Returns:
        Figure with one axes.

    Raises:
        ValueError: If `encoding` has another rank, is empty or not finite, or if `columns`
            is empty or has an index outside `0` to `D - 1`.

    Example:

    >>> figure = plot_encoding_curves(np.eye(4), [1, 3])
    >>> [curve.get_label() for curve in figure.axes[0].lines]
    ['column 1', 'column 3']
    """
    table = _encoding(encoding)
    num_columns = table.shape[1]
    chosen = list(columns) if isinstance(columns, Iterable) else []
    is_integer = [isinstance(c, Integral) and not isinstance(c, bool) for c in chosen]
    if not chosen or not all(is_integer) or not all(0 <= c < num_columns for c in chosen):
        raise ValueError(
            f"`columns` must be integers from 0 to {num_columns - 1}, as `encoding` has "
            f"D={num_columns} columns. Received: columns={columns!r}."
        )
    legend_columns = math.ceil(len(chosen) / 12)
    figure = Figure((6 + 1.2 * legend_columns, 3.2), layout="constrained")
    axes = figure.subplots()
    if len(chosen) > 10:  # the default cycle of colours would repeat
        axes.set_prop_cycle(color=colormaps["viridis"](np.linspace(0, 0.9, len(chosen))))
    for column in chosen:
        axes.plot(table[:, column], label=f"column {column}")
    axes.set(xlabel="position", ylabel="encoding")
    count(axes.xaxis)
    axes.margins(x=0)
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", frameon=False, ncols=legend_columns)
    return figure


def plot_position_similarity(encoding: Any) -> Figure:
    """Heat map of the cosine similarity of the encodings of all pairs of positions.

    Args:
        encoding: Positional encoding `(T, D)`. The similarity of a zero row is 0, also to itself.

    Returns:
        Figure with two axes: the heat map and the colour bar, from -1 to 1.

    Raises:
        ValueError: If `encoding` has another rank, is empty or not finite.
    """
    table = _encoding(encoding)
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    directions = np.divide(table, lengths, out=np.zeros_like(table), where=lengths > 0)
    figure = Figure((5.9, 5), layout="constrained")
    axes = figure.subplots()
    heat_map(axes, directions @ directions.T, SIGNED_COLOURS, -1, 1)
    add_colour_bar(figure, [axes], "cosine similarity", 5, 5)
    axes.set(xlabel="position", ylabel="position")
    count(axes.xaxis, axes.yaxis)
    return figure


def plot_binary_counting(num_bits: int = 3, encoding: Any = None) -> Figure:
    """Table of binary numbers, an analogy to the frequencies of a sinusoidal encoding.

    Each bit changes half as often as the bit to the right. In a sinusoidal encoding, each column
    changes more slowly than the column to the left.

    Args:
        num_bits: Number of bits, from 1 to 8. The numbers are 0 to `2**num_bits - 1`. Defaults
            to 3.
        encoding: Positional encoding `(T, D)`, drawn next to the numbers. Defaults to None, numbers
            only.

    Returns:
        Figure. The first axes hold the digits, most significant first.

    Raises:
        ValueError: If `num_bits` is not an integer from 1 to 8, or `encoding` has another rank,
            is empty or not finite.

    Example:

    >>> figure = plot_binary_counting(2)
    >>> "".join(text.get_text() for text in figure.axes[0].texts)
    '00011011'
    """
    is_integer = isinstance(num_bits, Integral) and not isinstance(num_bits, bool)
    if not is_integer or not 1 <= num_bits <= 8:  # 256 rows of digits
        raise ValueError(
            f"`num_bits` must be an integer from 1 to 8. Received: num_bits={num_bits!r}."
        )
    numbers = np.arange(2**num_bits)
    bits = numbers[:, None] >> np.arange(num_bits)[::-1] & 1  # (2**num_bits, num_bits)
    widths = [0.4 * num_bits + 0.8] + ([] if encoding is None else [6])
    figure = Figure((sum(widths), max(3.5, len(bits) / 5)), layout="constrained")
    axes, *right = figure.subplots(1, len(widths), width_ratios=widths, squeeze=False)[0]
    if encoding is not None:
        _draw_encoding(figure, right[0], _encoding(encoding))
        right[0].set_title("positional encoding", fontsize=10)
    heat_map(axes, bits, "Greys", 0, 1.4)
    for (row, column), bit in np.ndenumerate(bits):
        colour = "white" if bit else "black"
        axes.text(column, row, str(bit), ha="center", va="center", color=colour, fontsize=9)
    axes.set_title("binary", fontsize=10)
    axes.set(xlabel="bit", ylabel="number")
    axes.set_xticks(range(num_bits), labels=[str(bit) for bit in reversed(range(num_bits))])
    axes.set_yticks(numbers, labels=[str(number) for number in numbers])
    axes.tick_params(length=0)
    return figure


def _draw_encoding(figure: Figure, axes: Axes, table: np.ndarray) -> None:
    limit = float(np.abs(table).max()) or 1.0
    heat_map(axes, table, SIGNED_COLOURS, -limit, limit)
    add_colour_bar(figure, [axes], "encoding", 4.5, 1.1 * figure.get_figheight())
    axes.set(xlabel="column", ylabel="position")
    count(axes.xaxis, axes.yaxis)


def _encoding(encoding: Any) -> np.ndarray:
    table = numbers_of("encoding", encoding)
    check_layout("encoding", table, "TD")
    is_finite = bool(np.isfinite(table).all())
    if table.size == 0 or not is_finite:
        raise ValueError(
            "`encoding` must have at least one position and column, all finite. "
            f"Received: encoding.shape={table.shape}, finite={is_finite}."
        )
    return table
