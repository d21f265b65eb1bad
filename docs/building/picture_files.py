"""Pictures of figures as PNG files that store what they show in their metadata."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import FixedLocator
from PIL import Image
from PIL.PngImagePlugin import PngInfo

KEY = "Description"  # of the metadata of a PNG file
DPI = 160


def save(figure: Figure, path: Path) -> None:
    """Write a figure with its description, in 256 colours, which make the file small."""
    drawn, texts = io.BytesIO(), PngInfo()
    figure.savefig(drawn, dpi=DPI)
    texts.add_text(KEY, json.dumps(description(figure), ensure_ascii=True))
    with Image.open(drawn) as picture:
        small = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    small.save(path, optimize=True, dpi=(DPI, DPI), pnginfo=texts)


def description(figure: Figure) -> list[dict[str, Any]]:
    """Titles, labels, texts and numbers of each axes of a figure, colour bars left out.

    Numbers are rounded to thousandths, so that they fit into the metadata of the file.
    """
    return [
        {
            "title": axes.get_title(),
            "labels": [axes.get_xlabel(), axes.get_ylabel()],
            "columns": _labels(axes.xaxis),
            "rows": _labels(axes.yaxis),
            "texts": [text.get_text() for text in axes.texts],
            "images": [_rounded(image.get_array()) for image in _images(axes)],
            "curves": [_rounded(line.get_ydata()) for line in axes.lines],
        }
        for axes in figure.axes
        if axes.get_label() != "<colorbar>"
    ]


def _labels(axis):
    # Numbers on an axis are chosen by matplotlib; only labels that were set are compared.
    is_set = isinstance(axis.get_major_locator(), FixedLocator)
    return [label.get_text() for label in axis.get_ticklabels()] if is_set else []


def _images(axes):
    return [child for child in axes.get_children() if isinstance(child, AxesImage)]


def _rounded(values):
    return np.ma.round(np.ma.asarray(values, "float64"), 3).tolist()  # None where masked


def stored_description(path: Path) -> list[dict[str, Any]]:
    """Description in the metadata of a picture."""
    with Image.open(path) as picture:
        return json.loads(picture.info[KEY])
