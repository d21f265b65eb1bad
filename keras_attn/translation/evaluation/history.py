"""Training history: one record for each epoch."""

from __future__ import annotations

from typing import NamedTuple


class EpochRecord(NamedTuple):
    """Training state at the end of an epoch.

    Attributes:
        step: Global step.
        seconds: Training time so far.
        loss: Averaged training loss.
        bleu: Validation BLEU.
    """

    step: int
    seconds: float
    loss: float
    bleu: float
