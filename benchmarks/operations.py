"""Number of useful operations of batches."""

from collections.abc import Sequence

import numpy as np

from keras_attn.translation.config import Config
from keras_attn.translation.special_ids import PAD_ID


def operations(batches: Sequence[tuple[np.ndarray, ...]], config: Config, program: str) -> float:
    """Multiplications and additions for the tokens of batches, forward and backward.

    Counts products with weights, and attention; a causal mask halves the products of attention. The
    backward pass counts twice the forward pass. Padding does not count. `program` is "ours", which
    computes logits for a sample of the vocabulary, or another.

    Batches are tuples of ids `(source, target_in, target_out)`.
    """
    share = config.sampled_softmax_fraction if program == "ours" else 1.0
    num_logits = int(share * config.vocab_size)
    width = config.num_hiddens
    key_share = (config.num_kv_heads or config.num_heads) / config.num_heads
    queries, keys = 4 * width**2, key_share * 4 * width**2  # and sums; and values
    feed_forward = (6 if config.gated else 4) * width * config.ffn_num_hiddens
    block = queries + keys + feed_forward  # of a token that sees its own sentence
    source, target = (  # number of tokens of each sentence
        np.concatenate([(batch[side] != PAD_ID).sum(axis=1) for batch in batches]).astype(float)
        for side in (0, 2)
    )
    encoder = source * block + 4 * source**2 * width
    decoder = target * (block + queries) + source * keys + 2 * target**2 * width
    decoder += 4 * source * target * width
    total = config.num_encoder_layers * encoder + config.num_decoder_layers * decoder
    return float(3 * np.sum(total + target * 2 * width * num_logits))
