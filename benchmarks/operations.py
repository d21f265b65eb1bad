"""Number of useful operations of batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from keras_attn.translation.config import Config
from keras_attn.translation.special_ids import PAD_ID
from keras_attn.translation.training.operations import of_batch


def logits_of_a_token(name: str, vocab_size: int) -> int:
    """Number of logits computed for a target token; ours samples the vocabulary in training."""
    return int(Config.sampled_share * vocab_size) if name.startswith("ours") else vocab_size


def operations(
    some: Sequence[tuple[np.ndarray, ...]], fields: dict[str, Any], num_logits: int
) -> float:
    """Operations of some batches `(source, target_in, target_out)`, as `of_batch` counts them."""
    config, total = Config(**fields), 0.0
    for source, _, target in some:
        lengths = [(ids != PAD_ID).sum(axis=1) for ids in (source, target)]
        total += of_batch(np.stack(lengths, axis=1), config, num_logits)
    return total
