"""The operations that a share of the peak is told of, counted product by product."""

import runpy

import numpy as np
from processes import ROOT

from keras_attn.translation.config import Config

operations = runpy.run_path(ROOT / "benchmarks/operations.py")["operations"]


def product(rows, inner, columns):
    return 2 * rows * inner * columns


def test_operations_are_those_of_the_products_of_real_tokens():
    config = Config(num_encoder_layers=3, num_decoder_layers=2, num_hiddens=6, ffn_num_hiddens=10)
    source = np.array([[5, 6, 7, 3, 0], [5, 3, 0, 0, 0]])
    target = np.array([[5, 6, 3], [9, 3, 0]])
    forward = 0
    for s, t in ((4, 3), (2, 2)):
        feed_forward = product(1, 6, 10) + product(1, 10, 6)
        encoder = 4 * product(s, 6, 6) + 2 * product(s, 6, s) + s * feed_forward
        causal = product(t, 6, t)  # half of the scores and half of the sums over values
        decoder = 4 * product(t, 6, 6) + causal + t * feed_forward
        decoder += 2 * product(t, 6, 6) + 2 * product(s, 6, 6) + 2 * product(t, 6, s)
        forward += 3 * encoder + 2 * decoder + product(t, 6, 50)
    assert operations([(source, target, target)], config, num_logits=50) == 3 * forward
