"""Number of useful operations of batches."""

from collections.abc import Sequence

import numpy as np

from keras_attn.translation.config import Config
from keras_attn.translation.special_ids import PAD_ID


def of_batch(lengths: np.ndarray, config: Config, num_logits: int) -> float:
    """Multiplications and additions for the tokens of a batch, forward and backward.

    Counts products with weights, and attention; a causal mask halves the products of attention. The
    backward pass counts twice the forward pass. Padding does not count.

    Args:
        lengths: Source and target tokens of each pair, `(B, 2)`.
        config: Sizes of the model.
        num_logits: Number of logits computed for a target token.
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


def logits_of_a_token(program: str, config: Config) -> int:
    """Number of logits computed for a target token; ours samples the vocabulary in training."""
    share = config.sampled_softmax_fraction if program == "ours" else 1.0
    return int(share * config.vocab_size)


def operations(some: Sequence[tuple[np.ndarray, ...]], config: Config, num_logits: int) -> float:
    """Operations of some batches `(source, target_in, target_out)`, as `of_batch` counts them."""
    total = 0.0
    for source, _, target in some:
        lengths = [(ids != PAD_ID).sum(axis=1) for ids in (source, target)]
        total += of_batch(np.stack(lengths, axis=1), config, num_logits)
    return total
