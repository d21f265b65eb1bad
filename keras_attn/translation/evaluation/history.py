"""Training history: one record for each validation."""

from __future__ import annotations

from typing import NamedTuple


class EpochRecord(NamedTuple):
    """Training state at a validation, after an epoch.

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
