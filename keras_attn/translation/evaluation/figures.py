"""Figures of the report: learning curve, and attention weights of one translation."""

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from keras_attn.translation.evaluation.markdown import FIGURES
from keras_attn.translation.evaluation.report import EpochRecord
from keras_attn.translation.export.translator import Translator

LEARNING, ATTENTION = FIGURES


def can_be_drawn() -> bool:
    """Whether the packages of the extra `plots` are installed."""
    return all(importlib.util.find_spec(name) for name in ("matplotlib", "matplotlib_fontja"))


def draw(folder: Path, translator: Translator, text: str, history: Sequence[EpochRecord]) -> None:
    """Write both figures to the folder of a version; `text` is translated for attention."""
    from matplotlib.figure import Figure

    from keras_attn.plots import plot_attention

    figure = Figure((7, 3.2), layout="constrained")
    losses = figure.subplots()
    minutes = [epoch.seconds / 60 for epoch in history]
    losses.plot(minutes, [epoch.loss for epoch in history], "C0.-")
    losses.set_xlabel("minutes")
    losses.set_ylabel("training loss", color="C0")
    scores = losses.twinx()
    scores.plot(minutes, [epoch.bleu for epoch in history], "C1.-")
    scores.set_ylabel("validation BLEU", color="C1")
    figure.savefig(folder / LEARNING, dpi=150)

    attention = translator.attend(text)
    weights = enumerate(attention.weights, start=1)
    layers = {f"decoder layer {number}": np.asarray(layer)[None] for number, layer in weights}
    grid = plot_attention(layers, attention.target_pieces, attention.source_pieces)
    grid.savefig(folder / ATTENTION, dpi=150)
