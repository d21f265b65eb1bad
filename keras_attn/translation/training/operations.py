"""Number of useful operations of training."""

from __future__ import annotations

import numpy as np

from keras_attn.translation.config import Config


def of_batch(lengths: np.ndarray, config: Config, num_logits: int) -> float:
    """Multiplications and additions for the tokens of a batch, forward and backward.

    Counts products with weights, and attention; a causal mask halves the products of attention. The
    backward pass counts twice the forward pass. Padding does not count.

    Args:
        lengths: Source and target tokens of each pair, `(B, 2)`.
        config: Sizes of the model.
        num_logits: Number of logits computed for a target token.

    Example:

    >>> config = Config(num_hiddens=4, num_heads=2, ffn_num_hiddens=8, num_encoder_layers=1)
    >>> of_batch(np.array([[1, 0]]), config, num_logits=6)  # a source token
    1200.0
    """
    width = config.num_hiddens
    share = (config.num_kv_heads or config.num_heads) / config.num_heads
    queries, keys = 4 * width**2, share * 4 * width**2  # and sums; and values
    feed_forward = (6 if config.gated else 4) * width * config.ffn_num_hiddens
    block = queries + keys + feed_forward  # of a token that sees its own sentence
    source, target = np.asarray(lengths, float).T
    encoder = source * block + 4 * source**2 * width
    decoder = target * (block + queries) + source * keys + 2 * target**2 * width
    decoder += 4 * source * target * width
    total = config.num_encoder_layers * encoder + config.num_decoder_layers * decoder
    return float(3 * np.sum(total + target * 2 * width * num_logits))
