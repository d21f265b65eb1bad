"""Number of useful operations of training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from keras_attn.translation.config import Config
from keras_attn.translation.special_ids import PAD_ID


def logits_of_a_token(name: str, vocab_size: int) -> int:
    """Number of logits computed for a target token; ours samples the vocabulary in training."""
    return int(Config.sampled_share * vocab_size) if name.startswith("ours") else vocab_size


def operations(
    some: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
    fields: dict[str, Any],
    num_logits: int,
) -> float:
    """Multiplications and additions for the tokens of some batches, forward and backward.

    Counts products with weights, and attention; a causal mask halves the products of attention. The
    backward pass counts twice the forward pass.
    """
    width, inner = fields["num_hiddens"], fields["ffn_num_hiddens"]
    block = 8 * width**2 + 4 * width * inner  # one token, self-attention and feed-forward
    total = 0.0
    for source, _, target in some:
        s, t = ((ids != PAD_ID).sum(axis=1).astype(float) for ids in (source, target))
        encoder = s * block + 4 * s * s * width
        decoder = t * (block + 4 * width**2) + s * 4 * width**2 + 2 * t * t * width
        decoder += 4 * t * s * width
        total += float(np.sum(fields["num_encoder_layers"] * encoder))
        total += float(np.sum(fields["num_decoder_layers"] * decoder))
        total += float(np.sum(t * 2 * width * num_logits))
    return 3 * total
