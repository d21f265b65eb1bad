"""Heat maps with matplotlib: Japanese font, colour bar and axis ticks."""

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from keras_attn.cli import missing

_NEEDED = missing("matplotlib` and `matplotlib-fontja", "plots")
try:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure
    from matplotlib.font_manager import fontManager
    from matplotlib.ticker import MaxNLocator
except ImportError as error:
    raise ImportError(_NEEDED) from error
# Not imported: an import of matplotlib_fontja changes the default font of all figures.
_font_package = importlib.util.find_spec("matplotlib_fontja")
if _font_package is None or _font_package.origin is None:
    raise ImportError(_NEEDED)
if "IPAexGothic" not in fontManager.get_font_names():
    fontManager.addfont(Path(_font_package.origin).parent / "fonts" / "ipaexg.ttf")
# Text properties of labels made from data, which must not be parsed as mathematics or TeX. Each
# character is drawn with the first font that has it. Only DejaVu Sans has `▁`, with which
# SentencePiece marks the beginning of a word.
AS_IT_IS: dict[str, Any] = {
    "fontfamily": ["DejaVu Sans", "IPAexGothic"],
    "parse_math": False,
    "usetex": False,
}
SIGNED_COLOURS = "RdBu_r"  # white for 0, in the middle
COLOUR_BAR_WIDTH = 0.14  # inches


def heat_map(axes: Axes, values: np.ndarray, colours: str, low: float, high: float) -> None:
    """Draw a heat map with row 0 at the top, whatever the settings of matplotlib.

    Masked cells of a masked array are hatched.
    """
    axes.imshow(values, colours, vmin=low, vmax=high, aspect="auto", origin="upper")
    axes.grid(False)
    masked = np.argwhere(np.ma.getmaskarray(values))
    if len(masked):
        corners = np.array([(-0.5, -0.5), (-0.5, 0.5), (0.5, 0.5), (0.5, -0.5)])
        cells = [corners + (column, row) for row, column in masked]
        axes.add_collection(
            PolyCollection(
                cells, facecolors="#ececec", edgecolors="#a8a8a8", linewidths=0, hatch="////"
            ),
            autolim=False,
        )


def add_colour_bar(
    figure: Figure, panels: Sequence[Axes], label: str, width: float, height: float
) -> None:
    """Add a colour bar to heat maps whose total size is `width` by `height` inches."""
    share = COLOUR_BAR_WIDTH / width
    figure.colorbar(
        panels[0].images[0],
        ax=panels,
        label=label,
        fraction=share,
        pad=share,
        aspect=height / COLOUR_BAR_WIDTH,
    )


def count(*axis_list: Axis) -> None:
    """Label axes with round integers, few enough to be readable."""
    for axis in axis_list:
        axis.set_major_locator(
            MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True, min_n_ticks=1)
        )
