import keras
import numpy as np
import pytest
from keras import ops

from keras_attn import MultiHeadAttention, any_size
from keras_attn.fused import attend_fused, can_fuse
from keras_attn.heads import attend
from keras_attn.relative import OffsetTerms

RANDOM = np.random.default_rng(1)
B, H, G, T, S, K = 2, 4, 2, 3, 5, 6
SHAPES = [(B, H, T, K), (B, G, S, K), (B, G, S, K)]
MASKS = {
    "none": None,
    "full": RANDOM.random((B, H, T, S)) < 0.5,
    "keys": RANDOM.random((B, 1, 1, S)) < 0.5,
    "causal": np.tril(np.ones((1, 1, T, S), bool)),
    "empty": np.zeros((1, 1, 1, 1), bool),
}

if keras.backend.backend() == "tensorflow":
    pytest.skip("TensorFlow has no kernel", allow_module_level=True)


def heads():
    return [RANDOM.normal(size=shape).astype(np.float32) for shape in SHAPES]


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_sums_and_gradients_are_those_of_the_weights(gradients, mask):
    mask = None if mask is None else ops.convert_to_tensor(mask)

    def plain(*x):
        return attend(*x, mask, OffsetTerms(), lambda weights: weights)[0]

    def fused(*x):
        return attend_fused(*x, mask)

    for groups in (1, 2, 4):
        queries, keys, values = heads()
        keys, values = (np.repeat(x[:, :1], groups, axis=1) for x in (keys, values))
        tensors = [ops.convert_to_tensor(x) for x in (queries, keys, values)]
        np.testing.assert_allclose(fused(*tensors), plain(*tensors), atol=1e-5)
        found = gradients(lambda *x: ops.sum(fused(*x) ** 2), queries, keys, values)
        expected = gradients(lambda *x: ops.sum(plain(*x) ** 2), queries, keys, values)
        for mine, others in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine, others, atol=1e-5)


def test_layers_use_the_kernel_where_neither_weights_nor_biases_are_asked_for(monkeypatch):
    calls = []

    def count(*args):
        calls.append(args)
        return attend_fused(*args)

    monkeypatch.setattr(any_size, "attend_fused", count)
    x = RANDOM.normal(size=(2, 5, 6)).astype(np.float32)
    layer = MultiHeadAttention(6, 3, dropout=0.5)
    for kwargs in ({}, {"use_causal_mask": True}, {"valid_lens": [3, 0]}):
        output = layer(x, x, **kwargs)
        with_weights, _ = layer(x, x, return_attention_scores=True, **kwargs)
        np.testing.assert_allclose(output, with_weights, atol=1e-5)
    assert len(calls) == 3
    layer(x, x, training=True)
    assert len(calls) == 3


def test_kernels_are_off_where_keras_disables_them():
    tensors = [ops.convert_to_tensor(x) for x in heads()]
    assert can_fuse(*tensors)
    keras.config.disable_flash_attention()
    try:
        assert not can_fuse(*tensors)
    finally:
        keras.config.enable_flash_attention()
    assert not can_fuse(*tensors[:2], tensors[2][..., :3])
