import numpy as np
import pytest
from keras import ops

from keras_attn import blockwise
from keras_attn.masks import join_masks, seen
from keras_attn.seen_by_blocks import seen_by_blocks

B, H, T, S = 3, 2, 7, 5
RANDOM = np.random.default_rng(4)
MASKS = {
    "causal": {"use_causal_mask": True, "start": 0},
    "window": {"use_causal_mask": True, "window": 2},
    "queries": {"query_mask": RANDOM.random((B, T)) < 0.5},
    "keys": {"key_mask": RANDOM.random((B, S)) < 0.5},
    "lengths": {"valid_lens": np.array([3, 0, 5])},
    "heads": {"attention_mask": RANDOM.random((B, H, T, S)) < 0.2},
    "one row": {"attention_mask": RANDOM.random((1, 1, S)) < 0.5},
    "all": {
        "query_mask": RANDOM.random((B, T)) < 0.7,
        "valid_lens": RANDOM.integers(0, S + 1, (B, T)),
        "attention_mask": RANDOM.random((T, S)) < 0.4,
    },
}


@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("way", ["eager", "graph", "xla"])
def test_is_what_the_whole_mask_leaves(masks, way, monkeypatch, compiled):
    monkeypatch.setattr(blockwise, "BLOCK_QUERIES", 3)
    expected = seen(join_masks(T, S, **masks))

    def function(x):
        batch_size, num_queries, num_keys = ops.shape(x)
        return seen_by_blocks(batch_size, num_queries, num_keys, masks)

    if way != "eager":
        function = compiled(function, jit_compile=way == "xla")
    found = function(ops.zeros((B, T, S)))
    for mine, others, size in zip(found, expected, (T, S), strict=True):
        others = np.broadcast_to(ops.convert_to_numpy(others), (B, size))
        assert ops.convert_to_numpy(mine).tolist() == others.tolist()
