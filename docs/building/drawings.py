"""Drawings of the tutorials and API pages, as SVG files.

    python docs/building/drawings.py                        draw all of them into `docs/pictures/`

Weights in a drawing are computed by the layers. Letters stay text, so that a file is small and
sharp at every size. The background is white, also on a dark page.
"""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from keras.ops import convert_to_numpy
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

import keras_attn

FOLDER = Path(__file__).parents[1] / "pictures"
INK, GREY, PALE, RED = "#222222", "#777777", "#eeeeee", "#c0392b"
# One colour for each role, in all drawings.
QUERY, KEY, VALUE, WEIGHT, OUTPUT = "#fbd5a5", "#b9d7f2", "#c3e6c3", "#f4b6b6", "#e4dcf5"


def canvas(width, height):
    """Empty figure in which one unit is a third of an inch."""
    figure = Figure((width / 3, height / 3), facecolor="white")
    limits = {"xlim": (0, width), "ylim": (height, 0)}  # y points down, as in a table
    axes = figure.add_axes((0, 0, 1, 1), frameon=False, xticks=[], yticks=[], **limits)
    return figure, axes


def write(axes, x, y, text, size=9, **options):
    options = {"ha": "center", "va": "center", "color": INK, "fontsize": size} | options
    axes.text(x, y, text, **options)


def note(axes, x, y, text):
    write(axes, x, y, text, 7.5, color=GREY)


def rectangle(axes, x, y, w, h, **options):
    axes.add_patch(Rectangle((x, y), w, h, **{"edgecolor": INK, "lw": 0.6} | options))


def box(axes, x, y, w, h, text, colour):
    """Rounded box with its upper left corner at `x, y`."""
    style = "round,pad=0,rounding_size=0.15"
    axes.add_patch(FancyBboxPatch((x, y), w, h, style, facecolor=colour, edgecolor=INK, lw=0.8))
    write(axes, x + w / 2, y + h / 2, text)


def arrow(axes, start, end, colour=INK, width=1.0):
    style = {"arrowstyle": "-|>", "mutation_scale": 8, "shrinkA": 0, "shrinkB": 0}
    axes.add_patch(FancyArrowPatch(start, end, color=colour, lw=width, **style))


def line(axes, *points):
    """Lines through `points`, with the head of an arrow at the last one."""
    axes.plot(*zip(*points[:-1], strict=True), color=INK, lw=1)
    arrow(axes, *points[-2:])


def table(axes, x, y, values, colour, form="", masked=False, size=1.0):
    """Cells with their numbers (`form`) or without; masked cells are hatched."""
    masked = np.broadcast_to(masked, np.shape(values))
    for (row, column), value in np.ndenumerate(values):
        left, top = x + column * size, y + row * size
        if masked[row, column]:
            rectangle(axes, left, top, size, size, facecolor="white", hatch="////", edgecolor=GREY)
            continue
        rectangle(axes, left, top, size, size, facecolor=colour)
        if form:
            text = format(value, form).replace("-0.0", "0.0")
            write(axes, left + size / 2, top + size / 2, text, 7.5)


def soft_dictionary() -> Figure:
    """A query against four keys: scores, weights, and the sum of the values."""
    query = np.array([[2.0, 0.0]], "float32")
    keys = np.array([[2, 1], [1, -1], [0, 2], [-1, 0]], "float32")
    values = np.array([[4, 0], [0, 4], [2, 2], [8, 8]], "float32")
    attention = keras_attn.DotProductAttention()
    batch = query[None], keys[None], values[None]
    output, weights = map(convert_to_numpy, attention(*batch, return_attention_scores=True))
    figure, axes = canvas(25, 8)
    names = ("query", "keys", "scores", "weights", "values", "output")
    for x, text in zip((1.5, 6.5, 10.3, 13.9, 18.2, 23), names, strict=True):
        write(axes, x, 0.8, text)
    table(axes, 0.5, 3.9, query, QUERY, ".0f")
    for i, weight in enumerate(weights[0, 0]):
        y = 1.6 + 1.6 * i
        table(axes, 5.5, y, keys[i : i + 1], KEY, ".0f")
        table(axes, 17.2, y, values[i : i + 1], VALUE, ".0f")
        arrow(axes, (2.7, 4.4), (5.3, y + 0.5), GREY)
        arrow(axes, (7.7, y + 0.5), (9.3, y + 0.5), GREY)
        write(axes, 10.3, y + 0.5, f"{query[0] @ keys[i] / np.sqrt(2):.1f}")
        rectangle(axes, 12.9, y + 0.1, 2.2 * weight, 0.8, facecolor=WEIGHT)
        write(axes, 13.1 + 2.2 * weight, y + 0.5, f"{weight:.2f}", ha="left")
        arrow(axes, (19.4, y + 0.5), (21.8, 4.4), GREY, 0.4 + 3 * weight)
    arrow(axes, (11.2, 4.5), (12.6, 4.5))
    table(axes, 22, 3.9, output[0], OUTPUT, ".1f")
    write(axes, 15.9, 4.5, "×")
    for x, y, text in ((8.5, 7.7, "q · k / √d"), (11.9, 3.9, "softmax"), (23, 5.6, "a sum")):
        note(axes, x, y, text)
    return figure


def scores_to_sum() -> Figure:
    """Matrices of attention with their shapes: three queries, four keys, the last one masked."""
    random = np.random.default_rng(3)
    query, key, value = (random.normal(size=shape) for shape in ((3, 2), (4, 2), (4, 3)))
    scores = query @ key.T / np.sqrt(2)
    weights = convert_to_numpy(keras_attn.masked_softmax(scores[None], np.array([3])))[0]
    masked = [False, False, False, True]
    figure, axes = canvas(31, 7)
    for x, values, colour, name, shape in (
        (0.5, query, QUERY, "queries", "T × d"),
        (3.7, key.T, KEY, "keys", "d × S"),
        (10.3, scores, PALE, "scores", "T × S"),
        (16.7, weights, WEIGHT, "weights", "T × S"),
        (21.7, value, VALUE, "values", "S × v"),
        (26.7, weights @ value, OUTPUT, "output", "T × v"),
    ):
        height, width = values.shape
        y = 3.5 - height / 2
        hidden = masked if name in ("scores", "weights") else False
        table(axes, x, y, values, colour, ".2f" if name == "weights" else ".1f", hidden)
        write(axes, x + width / 2, y - 0.7, name)
        note(axes, x + width / 2, y + height + 0.6, shape)
    for x, text in ((3.1, "×"), (21.2, "×"), (25.7, "=")):
        write(axes, x, 3.5, text)
    for x, text in ((8, "/ √d"), (14.5, "softmax")):
        arrow(axes, (x, 3.5), (x + 2, 3.5))
        note(axes, x + 1, 2.9, text)
    note(axes, 15.5, 6.6, "hatched: a masked key, weight exactly 0")
    return figure


def heads() -> Figure:
    """Projection, division into two heads, and the projection that joins them."""
    figure, axes = canvas(26, 10.4)
    table(axes, 0.5, 3.5, np.zeros((3, 4)), PALE, size=0.8)
    write(axes, 2.1, 2.9, "x")
    for i, (name, colour) in enumerate((("Q", QUERY), ("K", KEY), ("V", VALUE))):
        y = 0.6 + 3.2 * i
        line(axes, (3.9, 4.7), (4.5, 4.7), (4.5, y + 1.1), (5.2, y + 1.1))
        box(axes, 5.2, y + 0.4, 1.6, 1.4, f"$W_{name}$", "white")
        arrow(axes, (6.8, y + 1.1), (7.8, y + 1.1))
        for head in range(2):
            table(axes, 8 + 1.8 * head, y, np.zeros((3, 2)), colour, size=0.75)
            arrow(axes, (11.4, y + 1.1), (13.1, 2.2 + 4.7 * head + 0.35 * i), GREY)
    for head, turn in ((0, 4.4), (1, 5.1)):
        y = 1.6 + 4.7 * head
        box(axes, 13.2, y, 3.2, 1.9, f"attention\nof head {head + 1}", WEIGHT)
        line(axes, (16.4, y + 0.9), (17.4, y + 0.9), (17.4, turn), (18.2, turn))
        table(axes, 18.4 + 1.5 * head, 3.6, np.zeros((3, 2)), OUTPUT, size=0.75)
        note(axes, 8.75 + 1.8 * head, 10, f"head {head + 1}")
    for x in (2.1, 19.9):
        note(axes, x, 6.6, "T × D")
    write(axes, 19.9, 3, "joined")
    arrow(axes, (21.5, 4.7), (24.4, 4.7))
    box(axes, 22.1, 4, 1.6, 1.4, "$W_O$", "white")
    write(axes, 25.2, 4.7, "output", 8)
    return figure


def transformer_blocks() -> Figure:
    """Encoder and decoder in pre-norm, with a residual connection around each sub-layer."""
    figure, axes = canvas(20, 22)

    def stack(x, name, *sublayers):
        """Embedding, then norm, sub-layer and sum; from the bottom up. Returns the upper end."""
        box(axes, x - 2.7, 19, 5.4, 1.2, "embedding + positions", OUTPUT)
        y = 19.0
        for sublayer, colour in sublayers:
            arrow(axes, (x, y), (x, y - 1))
            box(axes, x - 2.2, y - 1.9, 4.4, 0.9, "norm", PALE)
            arrow(axes, (x, y - 1.9), (x, y - 2.3))
            box(axes, x - 2.2, y - 3.6, 4.4, 1.3, sublayer, colour)
            arrow(axes, (x, y - 3.6), (x, y - 4))
            write(axes, x, y - 4.25, "+", 11)
            line(axes, (x, y - 0.6), (x + 2.9, y - 0.6), (x + 2.9, y - 4.25), (x + 0.3, y - 4.25))
            y -= 4.5
        rectangle(axes, x - 3.3, y, 6.7, 18.7 - y, fill=False, edgecolor=GREY, ls="--")
        write(axes, x - 3.3, y - 0.5, name, ha="left")
        write(axes, x - 3.5, 18, "N ×", ha="right")
        arrow(axes, (x, y), (x, y - 1))
        box(axes, x - 2.2, y - 1.9, 4.4, 0.9, "norm", PALE)
        arrow(axes, (x, 20.7), (x, 20.2))
        return y - 1.9

    causal, across = ("causal\nself-attention", WEIGHT), ("cross-attention", QUERY)
    top = stack(4.8, "encoder", ("self-attention", WEIGHT), ("feed-forward", VALUE))
    end = stack(14.8, "decoder", causal, across, ("feed-forward", VALUE))
    line(axes, (4.8, top), (4.8, top - 0.6), (9.4, top - 0.6), (9.4, 11.55), (12.6, 11.55))
    arrow(axes, (14.8, end), (14.8, end - 0.5))
    box(axes, 12, end - 1.5, 5.6, 1, "logits of the next token", OUTPUT)
    write(axes, 4.8, 21.2, "source")
    write(axes, 14.8, 21.3, "target,\none place later")
    write(axes, 7, top - 1, "memory", 8)
    note(axes, 10.4, 10.7, "keys,\nvalues")
    return figure


def three_layers() -> Figure:
    """Drawing of the paths between two positions in convolution, recurrence and attention."""
    figure, axes = canvas(27, 8)

    def connect(left, low, high, reach, route):
        """Arrows from inputs at height `low`, those of `route` in red."""
        for start, end in np.ndindex(5, 5):
            if abs(end - start) <= reach:
                points = (left + 1.6 * start, low - 0.35), (left + 1.6 * end, high + 0.35)
                colour, width = (RED, 1.8) if (start, end) in route else ("#bbbbbb", 0.8)
                arrow(axes, *points, colour, width)

    connect(1.3, 6, 4, 1, ((0, 1), (4, 3)))
    connect(1.3, 4, 2, 1, ((1, 2), (3, 2)))
    connect(10.3, 5, 3, 0, ((0, 0), (4, 4)))
    connect(19.3, 5, 3, 4, ((0, 4), (4, 4)))
    for i in range(4):
        arrow(axes, (10.6 + 1.6 * i, 3), (11.6 + 1.6 * i, 3), RED, 1.8)
    for left, heights, name, path in (
        (1.3, (6, 4, 2), "convolution, kernel 3", "2 layers until both ends meet"),
        (10.3, (5, 3), "recurrence", "n steps, one after the other"),
        (19.3, (5, 3), "self-attention", "1 step"),
    ):
        write(axes, left + 3.2, 0.7, name, 10)
        write(axes, left + 3.2, 7.3, path, 8, color=RED)
        places = left + 1.6 * np.arange(5)
        for y in heights:
            colour = KEY if y == heights[0] else VALUE
            axes.plot(places, np.full(5, y), "o", color=colour, ms=8, mec=INK)
    return figure


def kinds() -> Figure:
    """Drawing of the masks of encoder only, encoder–decoder and decoder only."""
    figure, axes = canvas(27, 12)
    everything, causal = np.ones((3, 3)), np.tril(np.ones((3, 3)))
    # 0: masked, 1: self-attention, 2: cross-attention, 3: causal self-attention.
    both = np.block([[everything, 0 * everything], [2 * everything, 3 * causal]])
    colours = ["white", KEY, QUERY, WEIGHT]
    for left, title, models, parts in (
        (1.7, "encoder only", "BERT", everything),
        (8.7, "encoder–decoder", "T5, mBART", both),
        (19, "decoder only", "GPT, LLaMA", 3 * np.tril(np.ones((6, 6)))),
    ):
        middle = left + len(parts) / 2
        write(axes, middle, 0.7, title, 10)
        write(axes, middle, 1.6, models, 8, color=GREY)
        for (row, column), part in np.ndenumerate(parts.astype(int)):
            table(axes, left + column, 3.5 + row, [[0]], colours[part], masked=part == 0)
        for i, token in enumerate(["s1", "s2", "s3", "t1", "t2", "t3"][: len(parts)]):
            write(axes, left - 0.6, 4 + i, token, 8)
            write(axes, left + i + 0.5, 3, token, 8)
    names = ("masked", "self-attention", "cross-attention", "causal self-attention")
    for part, (x, text) in enumerate(zip((21.3, 1.6, 7.5, 13.7), names, strict=True)):
        table(axes, x, 10.6, [[0]], colours[part], masked=part == 0, size=0.8)
        write(axes, x + 1.1, 11, text, 8, ha="left")
    return figure


DRAWINGS = (soft_dictionary, scores_to_sum, heads, transformer_blocks, three_layers, kinds)


def description(figure: Figure) -> dict[str, Any]:
    """Texts, lines and shapes of a drawing with their places."""
    (axes,) = figure.axes
    found = {
        "texts": [[one.get_text(), *one.get_position()] for one in axes.texts],
        "lines": [np.ravel(one.get_xydata()).tolist() for one in axes.lines],
        "shapes": [[*one.get_facecolor(), *one.get_window_extent().bounds] for one in axes.patches],
    }
    return json.loads(json.dumps(found, default=float), parse_float=lambda x: round(float(x), 2))


def stored_description(path: Path) -> dict[str, Any]:
    """Description in the metadata of a drawing."""
    (text,) = re.findall("<dc:description>(.*?)</dc:description>", path.read_text("utf-8"))
    return json.loads(unescape(text))


def main() -> None:
    # Letters as text; the same names of shapes in each run.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "keras_attn"})
    for draw in DRAWINGS:
        metadata = {"Description": json.dumps(description(draw())), "Date": None}
        draw().savefig(FOLDER / f"{draw.__name__}.svg", metadata=metadata)


if __name__ == "__main__":
    main()
