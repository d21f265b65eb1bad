"""Training history: one record for each epoch."""

from __future__ import annotations

from typing import NamedTuple


class EpochRecord(NamedTuple):
    """State of a training at the end of an epoch: averaged training loss and validation BLEU."""

    step: int
    seconds: float
    loss: float
    bleu: float
