import dataclasses
import itertools

import numpy as np
import pytest
import tensorflow as tf
from greedy_by_hand import greedy

from keras_attn.translation.config import ACTIVATIONS, NORMS, POSITIONS, Config
from keras_attn.translation.decoding.fold import fold
from keras_attn.translation.decoding.search import best_translations, num_positions
from keras_attn.translation.model import make_model
from keras_attn.translation.special_ids import EOS_ID, PAD_ID

CONFIG = Config(
    max_pieces=6,
    num_encoder_layers=1,
    num_decoder_layers=1,
    num_hiddens=8,
    ffn_num_hiddens=16,
    num_heads=2,
)
SOURCES = np.array([[7, EOS_ID, 0, 0], [4, 9, EOS_ID, 0], [12, 5, 5, EOS_ID]], np.int32)
OPTIONS = [
    *({"position": name} for name in POSITIONS),
    *({"norm": name} for name in NORMS[1:]),
    *({"activation": name} for name in ACTIVATIONS[1:]),
    {"norm_first": False},
    {"gated": True},
    {"num_kv_heads": 1},
    {"use_bias": True},
    {"tie_embeddings": True},
]


def strong(config):
    """A model whose translations depend on the source."""
    model = make_model(13, 11, config)
    random = np.random.default_rng(3)
    for weight in model.trainable_variables:
        weight.assign((np.asarray(weight) == 1) + random.normal(0, 0.6, weight.shape))
    return model


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: str(options)[1:-1])
def test_search_translates_as_the_layers_do_with_each_option(options):
    config = dataclasses.replace(CONFIG, beam_size=1, **options)
    config.validate()
    model = strong(config)
    expected = [greedy(model, row[row != PAD_ID], config.max_pieces) for row in SOURCES]
    assert any(expected)
    folded = fold(model, num_positions(config))
    found = best_translations(folded, tf.constant(SOURCES), config).tokens[:, 0].numpy()
    assert [row[row != PAD_ID].tolist() for row in found] == expected


def test_every_field_of_the_group_reaches_the_layers():
    changed = dict(itertools.chain(*(one.items() for one in OPTIONS)), position="rotary")
    changed |= {"num_encoder_layers": 1, "num_decoder_layers": 2, "num_hiddens": 12}
    changed |= {"ffn_num_hiddens": 24, "num_heads": 3, "dropout": 0.25}
    config = dataclasses.replace(CONFIG, **changed)
    assert set(changed) == set(config.model_options())
    model = make_model(13, 11, config)
    for stack in (model.encoder, model.decoder):
        for name in set(changed) - {"position", "num_encoder_layers", "num_decoder_layers"}:
            if name == "tie_embeddings":
                assert model.decoder.tie_embeddings
            elif name == "activation":
                assert stack.activation.__name__ == changed[name]
            else:
                assert getattr(stack, name) == changed[name]
    assert (model.encoder.num_layers, model.decoder.num_layers) == (1, 2)
