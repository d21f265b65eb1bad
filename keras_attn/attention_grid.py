"""Pictures of attention weights: a grid of heat maps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text

from keras_attn.heat_maps import AS_IT_IS, add_colour_bar, count, heat_map, numbers_of

WEIGHT_COLOURS = "Reds"  # nearly white for 0
SMALLEST_FONT, LARGEST_FONT = 6.0, 9.0  # points, of tokens
LINE_HEIGHT = 1.4  # times the font
SMALLEST_PANEL = 0.6  # inches
WIDEST_GRID = 24.0  # inches; tokens shrink before a grid grows further


def plot_attention(
    weights: Any,
    query_tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    example: int = 0,
) -> Figure:
    """A grid of heat maps of attention weights: a row for each layer, a column for each head.

    In a heat map queries go down and keys go right; one colour bar, from 0 to 1, holds for all.
    Tokens are shown as they are, Japanese and `$` among them.

    Args:
        weights: Attention weights `(T, S)`, `(H, T, S)` or `(B, H, T, S)`, or a dict of such by
            layer name, as models return it. Layers may differ in `H`, and where no tokens are
            given in `T` and `S`.
        query_tokens: `T` strings, or None for numbers.
        key_tokens: `S` strings, or None for numbers.
        example: Which example of the batch, where `weights` have a batch. Defaults to the first.

    Returns:
        The figure. Its axes are the heat maps, row by row, and then the colour bar.

    Raises:
        ValueError: If `weights` have another rank or are not between 0 and 1, if there is no
            such example, or if the tokens are not as many as the queries or keys.

    Example:

    >>> figure = plot_attention({"block_0": np.full((1, 2, 2, 3), 1 / 3)}, ["a", "b"])
    >>> [axes.get_title() for axes in figure.axes]
    ['head 0', 'head 1', '']
    """
    layers = _layers(weights, example)
    for name, layer in layers.items():
        _check_tokens("query_tokens", query_tokens, "T", layer.shape[1], name)
        _check_tokens("key_tokens", key_tokens, "S", layer.shape[2], name)
    heads = [len(layer) for layer in layers.values()]
    cell, font = _cell_and_font(layers, query_tokens, key_tokens)
    figure = Figure()
    spec = figure.add_gridspec(len(heads), max(heads))
    grid = spec.subplots(squeeze=False)
    for row, layer in enumerate(layers.values()):
        for head, axes in enumerate(grid[row]):
            if head >= heads[row]:
                axes.remove()
                continue
            heat_map(axes, layer[head], WEIGHT_COLOURS, 0, 1)
            if max(heads) > 1 and all(number <= head for number in heads[:row]):
                axes.set_title(f"head {head}", fontsize=10)
            _set_ticks(axes.yaxis, query_tokens if head == 0 else (), font)
            shown = _is_lowest(list(layers.values()), row, head)
            _set_ticks(axes.xaxis, key_tokens if shown else (), font)
    for axes, name in zip(grid[:, 0], layers, strict=True):
        axes.set_ylabel(name.replace("/", "/\n"), fontsize=9, **AS_IT_IS)
    figure.supylabel("queries", fontsize=10)
    figure.supxlabel("keys", fontsize=10)
    _fit(figure, spec, list(grid[:, 0]), list(layers.values()), cell)
    return figure


def _set_ticks(axis: Axis, tokens: Sequence[str] | None, font: float) -> None:
    """Tokens along an axis, numbers for None, nothing for no tokens."""
    if tokens is None:
        count(axis)
        axis.set_tick_params(labelsize=8)
    else:
        axis.set_ticks(range(len(tokens)), labels=list(tokens), fontsize=font, **AS_IT_IS)
        axis.set_tick_params(length=0, pad=2)


def _is_lowest(layers: list[np.ndarray], row: int, head: int) -> bool:
    """Whether no heat map with the same keys stands below that of a head."""
    below = layers[row + 1 : row + 2]
    return not (below and head < len(below[0]) and below[0].shape[2] == layers[row].shape[2])


def _cell_and_font(
    layers: Mapping[str, np.ndarray], *tokens: Sequence[str] | None
) -> tuple[float, float]:
    """How large a weight is drawn, in inches, and its token, in points."""
    num_heads, _, num_keys = np.max([layer.shape for layer in layers.values()], axis=0)
    longest = max(max(layer.shape[1:]) for layer in layers.values())
    of_panel = float(np.clip(12 / num_heads, 1.3, 4.0))
    if all(part is None for part in tokens):
        return of_panel / longest, LARGEST_FONT
    largest = WIDEST_GRID / (num_heads * num_keys) * 72 / LINE_HEIGHT
    font = float(np.clip(largest, SMALLEST_FONT, LARGEST_FONT))
    return max(of_panel / longest, font * LINE_HEIGHT / 72), font


def _fit(
    figure: Figure, spec: GridSpec, column: list[Axes], layers: list[np.ndarray], cell: float
) -> None:
    """Adds the colour bar and gives the figure the size in which all that is in it has room.

    Cells become square unless that makes a heat map too small for the texts beside it.

    Args:
        figure: With the grid in it.
        spec: Of the grid.
        column: The first heat map of each row; they carry the texts at the left.
        layers: The weights `(H, T, S)` of each row.
        cell: Size of a weight in inches.
    """
    names = [_inches(figure, axes.yaxis.label)[1] for axes in column]
    heights = [
        max(cell * layer.shape[1], SMALLEST_PANEL, name + 0.1)
        for layer, name in zip(layers, names, strict=True)
    ]
    num_columns = max(len(layer) for layer in layers)
    width = max(cell * max(layer.shape[2] for layer in layers), SMALLEST_PANEL)
    spec.set_height_ratios(heights)
    labels = column[-1].get_xticklabels()
    if max(_inches(figure, label)[0] for label in labels) > width / len(labels):
        for axes in figure.axes:
            axes.tick_params(axis="x", labelrotation=90)
    layout = ConstrainedLayoutEngine()
    figure.set_layout_engine(layout)
    # Higher than the rows, for the spaces between them; it gets no more than there is.
    add_colour_bar(figure, figure.axes, "weight", num_columns * width, sum(heights) * 1.2)
    figure.set_size_inches(num_columns * width + 8, sum(heights) + 8)
    # The texts around the heat maps keep their size whatever the figure's: a second pass is left
    # with the spaces between heat maps, which do not.
    for _ in range(2):
        layout.execute(figure)
        boxes = [axes.get_window_extent() for axes in column]
        more = (
            num_columns * (width - boxes[0].width / figure.dpi),
            sum(heights) - sum(box.height for box in boxes) / figure.dpi,
        )
        figure.set_size_inches(*(figure.get_size_inches() + more))


def _inches(figure: Figure, text: Text) -> tuple[float, float]:
    # A text's own way makes a renderer as large as the figure each time.
    box = text.get_window_extent(RendererAgg(1, 1, figure.dpi))
    return box.width / figure.dpi, box.height / figure.dpi


def _layers(weights: Any, example: int) -> dict[str, np.ndarray]:
    """The weights `(H, T, S)` of one example, by layer; what is no dict is one layer, ""."""
    if not isinstance(weights, Mapping):
        return {"": _one_example("weights", weights, example)}
    if not weights:
        raise ValueError("`weights` must hold at least one layer. Received: weights={}.")
    return {
        str(name): _one_example(f"weights[{name!r}]", layer, example)
        for name, layer in weights.items()
    }


def _one_example(name: str, weights: Any, example: int) -> np.ndarray:
    array = numbers_of(name, weights)
    if array.ndim not in (2, 3, 4) or array.size == 0:
        raise ValueError(
            f"`{name}` must have shape (T, S), (H, T, S) or (B, H, T, S), no size 0. "
            f"Received: {name}.shape={array.shape}."
        )
    array = array.reshape((1,) * (4 - array.ndim) + array.shape)
    if (
        isinstance(example, bool)
        or not isinstance(example, Integral)
        or not 0 <= example < len(array)
    ):
        raise ValueError(
            f"`example` must be an integer from 0 to {len(array) - 1}, as `{name}` has "
            f"{len(array)} in its batch. Received: example={example!r}."
        )
    chosen = array[example]
    if not (chosen.min() >= 0 and chosen.max() <= 1.01):  # NaN is neither; bfloat16 rounds
        raise ValueError(
            f"`{name}` must be attention weights, after the softmax: from 0 to 1. "
            f"Received: values from {chosen.min():.3g} to {chosen.max():.3g}."
        )
    return chosen


def _check_tokens(name: str, tokens: Any, letter: str, size: int, layer: str) -> None:
    if tokens is None:
        return
    is_list = isinstance(tokens, Iterable) and not isinstance(tokens, str)
    if not is_list or not all(isinstance(token, str) for token in tokens):
        raise ValueError(f"`{name}` must be a list of strings. Received: {name}={tokens!r}.")
    if len(tokens) != size:
        of_layer = f" of layer {layer!r}" if layer else ""
        raise ValueError(
            f"`{name}` must be as many as the weights{of_layer} have, {letter}={size}. "
            f"Received: len({name})={len(tokens)}. Plot layers of other sizes by themselves."
        )
