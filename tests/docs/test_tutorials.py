"""Rendering of notebooks as pages, and their translations."""

import pytest


@pytest.fixture(scope="module")
def tutorials(building):
    import tutorials

    return tutorials


def notebook(*cells):
    """Notebook of Markdown cells, and of code cells given as lists of source and outputs."""
    return {
        "cells": [
            {"cell_type": "markdown", "source": cell}
            if isinstance(cell, str)
            else {"cell_type": "code", "source": cell[0], "outputs": cell[1:]}
            for cell in cells
        ]
    }


def test_text_code_prints_and_pictures_follow_each_other(tutorials):
    code = [
        "%matplotlib inline\nprint(1)\nfigure",
        {"output_type": "stream", "name": "stdout", "text": "\x1b[1m1\x1b[0m\n"},
        {"output_type": "stream", "name": "stderr", "text": "noise"},
        {"data": {"image/png": "cGljdHVyZQ==", "text/plain": "<Figure>"}},
    ]
    made = tutorials.page(notebook("# Scores\n\n## A `curve`", code), "1_scores", "images")
    assert made == (
        "# Scores\n\n## A `curve`\n\n```python\nprint(1)\nfigure\n```\n\n"
        "```text\n1\n```\n\n![A curve](images/1_scores_1.png)\n",
        {"1_scores_1.png": b"picture"},
    )


def test_a_translation_takes_the_place_of_the_text(tutorials):
    original = notebook("# One", ["x = 1"], "Two")
    page, _ = tutorials.page(original, "1", "images", ["# 一", "二"])
    assert page == "# 一\n\n```python\nx = 1\n```\n\n二\n"
    with pytest.raises(ValueError, match="must have 2 Markdown cells. Received: 1 cells"):
        tutorials.page(original, "1", "images", ["# 一"])


def test_translations_have_the_cells_of_their_source(tutorials):
    for name in tutorials.names():
        source = (tutorials.SOURCES / f"{name}.py").read_text(encoding="utf-8")
        for language in tutorials.LANGUAGES:
            words = tutorials.translated_cells(name, language)
            assert words is None or len(words) == source.count("\n# %% [markdown]\n")
