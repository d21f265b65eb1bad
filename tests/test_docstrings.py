import doctest
import importlib

import pytest

MODULES = [
    "keras_attn.attention_grid",
    "keras_attn.decoder",
    "keras_attn.decoder_block",
    "keras_attn.distances",
    "keras_attn.distribution",
    "keras_attn.embedding",
    "keras_attn.encoder",
    "keras_attn.feed_forward",
    "keras_attn.gaussian",
    "keras_attn.multi_head",
    "keras_attn.plots",
    "keras_attn.positions",
    "keras_attn.relative",
    "keras_attn.residual",
    "keras_attn.rotary",
    "keras_attn.scoring",
    "keras_attn.softmax",
    "keras_attn.transformer",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
    assert result.attempted > 0
