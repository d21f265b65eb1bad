import runpy

import numpy as np
from processes import ROOT

from keras_attn import Transformer
from keras_attn.translation.config import Config

of_batch = runpy.run_path(ROOT / "benchmarks/operations.py")["of_batch"]
SIZES = {"num_hiddens": 8, "num_heads": 4, "ffn_num_hiddens": 12}


def test_a_token_takes_two_operations_for_each_number_in_a_kernel_and_three_passes():
    for options in ({}, {"num_kv_heads": 2}, {"gated": True}):
        config = Config(num_encoder_layers=2, num_decoder_layers=3, **SIZES, **options)
        model = Transformer.from_sizes(9, 9, 2, 3, 8, 12, 4, **options)
        model.build(((None, None), (None, None)))
        kernels = [w for w in model.weights if len(w.shape) == 2 and "embedding" not in w.path]
        both = (of_batch(np.array([lengths]), config, num_logits=9) for lengths in ([1, 0], [0, 1]))
        attention = 3 * (2 * 4 + 3 * 2) * 8
        assert sum(both) - attention == 3 * 2 * sum(np.prod(w.shape) for w in kernels), options


def test_attention_grows_with_both_lengths_and_half_of_its_square_for_a_causal_mask():
    config = Config(num_encoder_layers=1, num_decoder_layers=1, **SIZES)

    def cost(s, t):
        return of_batch(np.array([[s, t]]), config, num_logits=1)

    assert cost(2, 0) - 2 * cost(1, 0) == 3 * 4 * 8 * (4 - 2)
    assert cost(0, 2) - 2 * cost(0, 1) == 3 * 2 * 8 * (4 - 2)
    assert cost(2, 3) - cost(2, 0) - cost(0, 3) == 3 * 4 * 8 * 2 * 3
