"""Pictures of a training for its report: how it learnt, and what a translation looked at."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from keras_attn.translation.evaluation.history import Reached
from keras_attn.translation.evaluation.report import PICTURES
from keras_attn.translation.export.translator import Translator

LEARNING, ATTENTION = PICTURES


def can_be_drawn() -> bool:
    """Whether the extra `plots` is installed."""
    return all(importlib.util.find_spec(name) for name in ("matplotlib", "matplotlib_fontja"))


def draw(folder: Path, translator: Translator, text: str, history: Sequence[Reached]) -> None:
    """Write both pictures into a version's folder.

    Args:
        folder: Where to.
        translator: The exported model.
        text: What it is to translate for the picture of its attention.
        history: What was reached after each epoch.
    """
    from matplotlib.figure import Figure

    from keras_attn.plots import plot_attention

    figure = Figure((7, 3.2), layout="constrained")
    losses = figure.subplots()
    minutes = [reached.seconds / 60 for reached in history]
    losses.plot(minutes, [reached.loss for reached in history], "C0.-")
    losses.set_xlabel("minutes")
    losses.set_ylabel("training loss", color="C0")
    scores = losses.twinx()
    scores.plot(minutes, [reached.bleu for reached in history], "C1.-")
    scores.set_ylabel("validation BLEU", color="C1")
    figure.savefig(folder / LEARNING, dpi=150)

    seen = translator.attend(text)
    layers = {f"decoder layer {i + 1}": np.asarray(w)[None] for i, w in enumerate(seen.weights)}
    plot_attention(layers, seen.target_pieces, seen.source_pieces).savefig(
        folder / ATTENTION, dpi=150
    )
