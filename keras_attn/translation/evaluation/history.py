"""What training reached, epoch by epoch."""

from __future__ import annotations

from typing import NamedTuple


class Reached(NamedTuple):
    """Where a training stood after an epoch."""

    step: int
    seconds: float
    loss: float
    bleu: float
