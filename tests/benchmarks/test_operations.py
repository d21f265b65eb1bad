"""The operations that a share of the peak is told of, counted product by product."""

import runpy

import numpy as np
from processes import ROOT

from keras_attn import Transformer
from keras_attn.translation.config import Config

module = runpy.run_path(ROOT / "benchmarks/operations.py")
SIZES = {"num_hiddens": 8, "num_heads": 4, "ffn_num_hiddens": 12}


def test_a_token_takes_two_operations_for_each_number_in_a_kernel_and_three_passes():
    of_batch = module["of_batch"]
    for options in ({}, {"num_kv_heads": 2}, {"gated": True}):
        config = Config(num_encoder_layers=2, num_decoder_layers=3, **SIZES, **options)
        model = Transformer.from_sizes(9, 9, 2, 3, 8, 12, 4, **options)
        model.build(((None, None), (None, None)))
        kernels = [w for w in model.weights if len(w.shape) == 2 and "embedding" not in w.path]
        both = (of_batch(np.array([lengths]), config, num_logits=9) for lengths in ([1, 0], [0, 1]))
        attention = 3 * (2 * 4 + 3 * 2) * 8
        assert sum(both) - attention == 3 * 2 * sum(np.prod(w.shape) for w in kernels), options


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
    found = module["operations"]([(source, target, target)], config, num_logits=50)
    assert found == 3 * forward
