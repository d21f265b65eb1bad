"""Plot of attention weights: a grid of heat maps."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text

from keras_attn.plots.heat_maps import AS_IT_IS, add_colour_bar, count, heat_map
from keras_attn.plots.weights import layers_of

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
    mask: Any = None,
) -> Figure:
    """Grid of heat maps of attention weights: a row for each layer, a column for each head.

    A heat map has a row for each query and a column for each key. All heat maps share one colour
    bar, from 0 to the largest weight. Masked cells are hatched. Tokens are drawn as they are.

    Args:
        weights: Attention weights `(T, S)`, `(H, T, S)` or `(B, H, T, S)`, or a dict of them by
            layer name. Layers may differ in `H`, and without tokens also in `T` and `S`.
        query_tokens: `T` strings. Defaults to None: queries are numbered.
        key_tokens: `S` strings. Defaults to None: keys are numbered.
        example: Index of an example in the batch, if `weights` have a batch. Defaults to 0.
        mask: Boolean mask, True = attend, whose shape broadcasts to the weights of each layer, or
            a dict of masks by layer name. Defaults to None: cells whose weight is exactly 0 are
            masked. Rounded weights need a mask.

    Returns:
        Figure. The axes are the heat maps, row by row, and the colour bar.

    Raises:
        ValueError: If `weights` have another rank or are not between 0 and 1, if `example` is not
            in the batch, if the number of tokens differs from the number of queries or keys, or if
            `mask` has another shape or hides a weight above 0.

    Example:

    >>> figure = plot_attention({"block_0": np.full((1, 2, 2, 3), 1 / 3)}, ["a", "b"])
    >>> [axes.get_title() for axes in figure.axes]
    ['head 0', 'head 1', '']
    """
    layers = layers_of(weights, example, mask, query_tokens, key_tokens)
    rows: list[Any] = list(layers.values())
    heads = [len(layer) for layer in rows]
    cell, font = _cell_and_font(rows, query_tokens, key_tokens)
    highest = max(float(layer.data.max()) for layer in rows) or 1.0
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
    is_masked = any(np.ma.is_masked(layer) for layer in layers)
    label = "weight (hatched: masked)" if is_masked else "weight"
    # 1.2 allows for the spaces between the rows; the layout limits the height of the bar.
    add_colour_bar(figure, figure.axes, label, num_columns * width, sum(heights) * 1.2)
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
