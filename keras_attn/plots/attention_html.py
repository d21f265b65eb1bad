"""Attention weights as HTML that can be explored: lines, heat map and heads."""

import hashlib
import html
import json
import re
from collections.abc import Sequence
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from keras_attn.plots.weights import layers_of, masked_by, numbers_of

VIEW = Path(__file__).parent / "attention" / "view.js"
# The drawings of the server's page.
PAGE = Path(__file__).parents[1] / "serving" / "page"
STYLES = (PAGE / "page.css", PAGE / "lines.css", VIEW.with_suffix(".css"))
MOST_CELLS = 65_536  # of a heat map: a browser is slow with more
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "([^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:class|function|const) (\w+))", re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/|^\s*//[^\n]*$|^\s+", re.DOTALL | re.MULTILINE)


class AttentionHtml:
    """Drawing of attention weights that a notebook shows and a browser opens.

    Args:
        fragment: HTML for a place inside a page.
        title: Title of the page, plain text.
    """

    def __init__(self, fragment: str, title: str) -> None:
        self._fragment = fragment
        self._title = title

    def _repr_html_(self) -> str:
        return self._fragment

    def __repr__(self) -> str:
        return f"<{self._title}; `save` writes a page>"

    def save(self, path: str | PathLike[str]) -> None:
        """Write a page that needs no other file and no network."""
        page = (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n'
            "<style>body { font-family: system-ui, sans-serif; }</style>\n"
            f"<title>{html.escape(self._title)}</title>\n</head>\n<body>\n<main>\n"
            f"<h1>{html.escape(self._title)}</h1>\n"
            f"{self._fragment}\n</main>\n</body>\n</html>\n"
        )
        Path(path).write_text(page, encoding="utf-8")


def show_attention(
    weights: Any,
    query_tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    example: int | None = None,
    mask: Any = None,
) -> AttentionHtml:
    """Drawing of attention weights to explore in a notebook or a browser, without a network.

    Lines join queries and keys: the thicker a line, the larger the weight. A heat map has all
    numbers. Small pictures of all heads choose a head. Everything works by mouse, touch and
    keyboard, and what is chosen is said in words.

    Args:
        weights: Attention weights `(T, S)`, `(H, T, S)` or `(L, H, T, S)`, `L` being layers, or a
            dict of attention weights by layer name, as layers return it. The layers of a dict may
            have a batch and may differ in size.
        query_tokens: `T` strings. Defaults to None: queries are numbered.
        key_tokens: `S` strings. Defaults to None: keys are numbered.
        example: Index of an example in the batch, if `weights` have a batch: `(B, H, T, S)`.
            Defaults to None: an array of four dimensions has layers, and of a dict the first
            example is drawn.
        mask: Boolean mask, True = attend, as for `plot_attention`.

    Returns:
        Object that a notebook shows. `save(path)` writes a page.

    Raises:
        ValueError: If an argument is refused by `plot_attention`, or if a layer has more than
            65,536 pairs of a query and a key.

    Example:

    >>> shown = show_attention([[0.9, 0.1], [0.2, 0.8]], ["I", "sleep"], ["私は", "眠る"])
    >>> shown
    <Attention weights: 2 queries, 2 keys; `save` writes a page>
    """
    if example is None and not isinstance(weights, dict):
        array = numbers_of("weights", weights)
        if array.ndim == 4:
            names = [f"layer {i}" for i in range(len(array))]
            if mask is not None:
                mask = dict(zip(names, masked_by("weights", array, mask), strict=True))
            weights = dict(zip(names, array, strict=True))
    layers = layers_of(weights, example or 0, mask, query_tokens, key_tokens)
    for name, layer in layers.items():
        if layer[0].size > MOST_CELLS:
            raise ValueError(
                f"`weights` of a layer must have at most {MOST_CELLS:,} pairs of query and key. "
                f"Received: T={layer.shape[1]}, S={layer.shape[2]} in layer {name!r}. "
                "Show a part, or use `plot_attention`."
            )
    data = {
        "layers": [{"name": name, "heads": _rounded(layer)} for name, layer in layers.items()],
        "queries": None if query_tokens is None else list(query_tokens),
        "keys": None if key_tokens is None else list(key_tokens),
    }
    return AttentionHtml(_fragment(data, _title(layers)), _title(layers))


def _title(layers: dict[str, np.ma.MaskedArray]) -> str:
    heads, queries, keys = next(iter(layers.values())).shape
    sizes = [f"{len(layers)} layers"] * (len(layers) > 1) + [f"{heads} heads"] * (heads > 1)
    return "Attention weights: " + ", ".join([*sizes, f"{queries} queries", f"{keys} keys"])


def _rounded(layer: np.ma.MaskedArray) -> list[Any]:
    return layer.astype("float64").round(3).tolist()  # None where masked


def _fragment(data: dict[str, Any], title: str) -> str:
    numbers = _literal(data)
    place = hashlib.sha256(numbers.encode()).hexdigest()[:12]
    return (
        f'<div data-attention="{place}" role="group" aria-label="{html.escape(title)}">'
        f"<p>{html.escape(title)}. The drawing needs JavaScript: run the cell again, or trust the "
        'notebook.</p></div>\n<script>\n(() => {\n"use strict";\n'
        f"{_script()}\n"
        f"for (const host of document.querySelectorAll('[data-attention=\"{place}\"]'))\n"
        f"if (!host.shadowRoot) modules.view.show(host, {_literal(_style())}, {numbers});\n"
        "})();\n</script>"
    )


def _literal(value: Any) -> str:
    """Literal of JavaScript, without characters that mean something in HTML."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace("\u2028", r"\u2028").replace("\u2029", r"\u2029")


@cache
def _style() -> str:
    """Style sheet inside the shadow of an element; sizes do not follow the page around it."""
    text = "".join(path.read_text(encoding="utf-8") for path in STYLES).replace(":root", ":host")
    return re.sub(r"([\d.]+)rem", lambda size: f"{16 * float(size[1]):g}px", _bare(text))


@cache
def _script() -> str:
    """Modules as one script: each is a function's result, after those that it imports."""
    parts: dict[Path, str] = {}

    def add(path: Path) -> None:
        source = path.read_text(encoding="utf-8")
        for _, other in _IMPORT.findall(source):
            if (imported := (path.parent / other).resolve()) not in parts:
                add(imported)
        names = ", ".join(_EXPORT.findall(source))
        source = _EXPORT.sub("", _IMPORT.sub(_constants, source))
        parts[path] = (
            f"modules.{path.stem} = (() => {{\n{_bare(source)}return {{ {names} }};\n}})();"
        )

    add(VIEW)
    return "\n".join(["const modules = {};", *parts.values()])


def _constants(found: re.Match[str]) -> str:
    return f"const {found[1]} = modules.{Path(found[2]).stem};\n"


def _bare(source: str) -> str:
    """Source without comments and indentation."""
    return _COMMENT.sub("", source)
