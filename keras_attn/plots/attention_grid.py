"""Plot of attention weights: a grid of heat maps."""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text

from keras_attn.plots.heat_maps import AS_IT_IS, add_colour_bar, count, heat_map, numbers_of

WEIGHT_COLOURS = "Reds"  # nearly white for 0
SMALLEST_FONT, LARGEST_FONT = 6.0, 9.0  # points, of tokens
LINE_HEIGHT = 1.4  # multiple of the font size
SMALLEST_PANEL = 0.6  # inches
WIDEST_GRID = 24.0  # inches; tokens shrink before a grid grows further


def plot_attention(
    weights: Any,
    query_tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    example: int = 0,
) -> Figure:
    """Grid of heat maps of attention weights: a row for each layer, a column for each head.

    A heat map has a row for each query and a column for each key. All heat maps share one colour
    bar, from 0 to the largest weight. Tokens may contain Japanese characters and `$`.

    Args:
        weights: Attention weights `(T, S)`, `(H, T, S)` or `(B, H, T, S)`, or a dict of attention
            weights by layer name. Layers may differ in `H`, and without tokens also in `T` and
            `S`.
        query_tokens: `T` strings. Defaults to None: queries are numbered.
        key_tokens: `S` strings. Defaults to None: keys are numbered.
        example: Index of an example in the batch, if `weights` have a batch. Defaults to 0.

    Returns:
        Figure. The axes are the heat maps, row by row, and the colour bar.

    Raises:
        ValueError: If `weights` have another rank or are not between 0 and 1, if `example` is not
            in the batch, or if the number of tokens differs from the number of queries or keys.

    Example:

    >>> figure = plot_attention({"block_0": np.full((1, 2, 2, 3), 1 / 3)}, ["a", "b"])
    >>> [axes.get_title() for axes in figure.axes]
    ['head 0', 'head 1', '']
    """
    layers = _layers(weights, example)
    for name, layer in layers.items():
        _check_tokens("query_tokens", query_tokens, "T", layer.shape[1], name)
        _check_tokens("key_tokens", key_tokens, "S", layer.shape[2], name)
    rows = list(layers.values())
    heads = [len(layer) for layer in rows]
    cell, font = _cell_and_font(rows, query_tokens, key_tokens)
    highest = max(float(layer.max()) for layer in rows) or 1.0
    figure = Figure()
    grid = figure.subplots(len(heads), max(heads), squeeze=False)
    for row, (name, layer) in enumerate(layers.items()):
        grid[row, 0].set_ylabel(name.replace("/", "/\n"), fontsize=9, **AS_IT_IS)
        for head, axes in enumerate(grid[row]):
            if head >= heads[row]:
                axes.remove()
                continue
            heat_map(axes, layer[head], WEIGHT_COLOURS, 0, highest)
            if max(heads) > 1 and all(number <= head for number in heads[:row]):
                axes.set_title(f"head {head}", fontsize=10)
            _set_ticks(axes.yaxis, query_tokens if head == 0 else (), font)
            # Keys are labelled where no heat map with as many keys stands below.
            below = [other.shape[2] for other in rows[row + 1 : row + 2] if head < len(other)]
            _set_ticks(axes.xaxis, () if below == [layer.shape[2]] else key_tokens, font)
    figure.supylabel("queries", fontsize=10)
    figure.supxlabel("keys", fontsize=10)
    _fit(figure, list(grid[:, 0]), rows, cell)
    return figure


def _set_ticks(axis: Axis, tokens: Sequence[str] | None, font: float) -> None:
    """Label an axis with tokens, or with numbers if `tokens` is None; no labels if it is empty."""
    if tokens is None:
        count(axis)
        axis.set_tick_params(labelsize=8)
    else:
        axis.set_ticks(range(len(tokens)), labels=list(tokens), fontsize=font, **AS_IT_IS)
        axis.set_tick_params(length=0, pad=2)


def _cell_and_font(layers: list[np.ndarray], *tokens: Sequence[str] | None) -> tuple[float, float]:
    """Size of a cell in inches and font size of the tokens in points."""
    num_heads, num_queries, num_keys = np.max([layer.shape for layer in layers], axis=0)
    cell = float(np.clip(12 / num_heads, 1.3, 4.0)) / max(num_queries, num_keys)
    if all(part is None for part in tokens):
        return cell, LARGEST_FONT
    largest = WIDEST_GRID / (num_heads * num_keys) * 72 / LINE_HEIGHT
    font = float(np.clip(largest, SMALLEST_FONT, LARGEST_FONT))
    return max(cell, font * LINE_HEIGHT / 72), font


def _fit(figure: Figure, column: list[Axes], layers: list[np.ndarray], cell: float) -> None:
    """Add the colour bar and set the size of the figure so that all labels fit.

    `column` is the first heat map of each row, with the labels on the left. Cells are square,
    `cell` inches, unless a heat map would be too small for these labels.
    """
    heights = [
        max(cell * layer.shape[1], SMALLEST_PANEL, _inches(figure, axes.yaxis.label)[1] + 0.1)
        for layer, axes in zip(layers, column, strict=True)
    ]
    num_columns, _, num_keys = np.max([layer.shape for layer in layers], axis=0)
    width = max(cell * num_keys, SMALLEST_PANEL)
    spec: Any = column[0].get_gridspec()
    spec.set_height_ratios(heights)
    labels = column[-1].get_xticklabels()
    if max(_inches(figure, label)[0] for label in labels) > width / len(labels):
        for axes in figure.axes:
            axes.tick_params(axis="x", labelrotation=90)
    layout = ConstrainedLayoutEngine()
    figure.set_layout_engine(layout)
    # 1.2 allows for the spaces between the rows; the layout limits the height of the bar.
    add_colour_bar(figure, figure.axes, "weight", num_columns * width, sum(heights) * 1.2)
    figure.set_size_inches(num_columns * width + 8, sum(heights) + 8)
    # Labels keep their size when the figure is resized, but spaces between heat maps do not: a
    # second pass corrects the size.
    for _ in range(2):
        layout.execute(figure)
        boxes = [axes.get_window_extent() for axes in column]
        more = (
            num_columns * (width - boxes[0].width / figure.dpi),
            sum(heights) - sum(box.height for box in boxes) / figure.dpi,
        )
        figure.set_size_inches(*(figure.get_size_inches() + more))


def _inches(figure: Figure, text: Text) -> tuple[float, float]:
    # Without this small renderer, matplotlib creates one as large as the figure for each text.
    box = text.get_window_extent(RendererAgg(1, 1, figure.dpi))
    return box.width / figure.dpi, box.height / figure.dpi


def _layers(weights: Any, example: int) -> dict[str, np.ndarray]:
    """Attention weights `(H, T, S)` of one example by layer name; the name is "" without a dict."""
    if isinstance(weights, list | tuple) and any(np.ndim(one) == 4 for one in weights):
        raise ValueError(
            "`weights` of several layers must be a dict, `{name: weights}`, as layers return it. "
            f"Received: a {type(weights).__name__} of {len(weights)}."
        )
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
    is_integer = isinstance(example, Integral) and not isinstance(example, bool)
    if not is_integer or not 0 <= example < len(array):
        raise ValueError(
            f"`example` must be an integer from 0 to {len(array) - 1}: `{name}` has "
            f"{len(array)} in its batch. Received: example={example!r}."
        )
    chosen = array[example]
    if not (chosen.min() >= 0 and chosen.max() <= 1.01):  # False for NaN; bfloat16 rounds
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
            f"Received: len({name})={len(tokens)}. Plot layers of other sizes separately."
        )
