import dataclasses
import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf
from greedy_by_hand import greedy
from small_models import strengthen

from keras_attn import Decoder, Encoder, Transformer
from keras_attn.position_schemes import SCHEMES
from keras_attn.translation.config import CHOICES, Config
from keras_attn.translation.decoding.search import Search
from keras_attn.translation.model import in_dtype, make_model
from keras_attn.translation.special_ids import EOS_ID, PAD_ID

SIZES = {"num_hiddens": 8, "ffn_num_hiddens": 16, "num_heads": 2}
CONFIG = Config(max_length=6, num_encoder_layers=1, num_decoder_layers=1, **SIZES)
SOURCES = np.array([[7, EOS_ID, 0, 0], [4, 9, EOS_ID, 0], [12, 5, 5, EOS_ID]], np.int32)
# Options that a search does not know of; each is one of a model with one of the positions.
OTHERS = [
    *({"norm": name} for name in CHOICES["norm"][1:]),
    *({"activation": name} for name in CHOICES["activation"][1:]),
    {"norm_first": False, "num_kv_heads": 1},
    {"gated": True, "norm_epsilon": 0.1},
    {"use_bias": True},
    {"tie_embeddings": True, "logits_bias": True},
    {"tie_embeddings": True, "share_embeddings": True, "shared_vocab": True},
]
OPTIONS = [
    {"position": position} | dict(item for one in OTHERS[i :: len(SCHEMES)] for item in one.items())
    for i, position in enumerate(SCHEMES)
]


@pytest.mark.parametrize(
    "options",
    # Each is traced: the first here, the others in `-m slow`.
    [OPTIONS[0], *(pytest.param(options, marks=pytest.mark.slow) for options in OPTIONS[1:])],
    ids=lambda options: str(options)[1:-1],
)
def test_search_translates_as_the_layers_do_with_each_option(options):
    config = dataclasses.replace(CONFIG, beam_size=1, **options)
    config.validate()
    model = strengthen(make_model(13, 13 if config.shared_vocab else 11, config), seed=3)
    expected = [greedy(model, row[row != PAD_ID], config.max_length) for row in SOURCES]
    assert any(expected)
    found = Search(model, config)(tf.constant(SOURCES)).tokens[:, 0].numpy()
    assert [row[row != PAD_ID].tolist() for row in found] == expected


def test_every_field_of_the_group_reaches_the_layers():
    changed = dict(itertools.chain(*(one.items() for one in OPTIONS)), position="rotary")
    changed |= {"num_encoder_layers": 1, "num_decoder_layers": 2, "num_hiddens": 12}
    changed |= {"ffn_num_hiddens": 24, "num_heads": 3, "dropout": 0.25}
    config = dataclasses.replace(CONFIG, **changed)
    assert set(changed) == set(config.model_options()) | {"shared_vocab"}
    model = make_model(13, 13, config)
    assert (model.encoder.num_layers, model.decoder.num_layers) == (1, 2)
    assert changed.pop("logits_bias") and model.decoder.logits_use_bias
    for name in ("tie_embeddings", "share_embeddings"):
        assert changed.pop(name) and getattr(model.decoder, name)
    for name in ("position", "num_encoder_layers", "num_decoder_layers", "shared_vocab"):
        del changed[name]
    for stack in (model.encoder, model.decoder):
        assert stack.activation.__name__ == changed["activation"]
        for name in set(changed) - {"activation"}:
            assert getattr(stack, name) == changed[name]


@keras.saving.register_keras_serializable("test_model")
class MyEncoder(Encoder):
    def call(self, ids, **arguments):
        return -super().call(ids, **arguments)


@pytest.mark.parametrize(
    ("trained_in", "served_in", "tolerance"),
    [("mixed_bfloat16", "float32", 0.1), ("float32", "bfloat16", 0.3)],
)
def test_a_model_in_another_dtype_has_its_classes_and_weights(trained_in, served_in, tolerance):
    encoder = MyEncoder(13, 2, 12, 16, 2, name="mine", dtype=trained_in)
    decoder = Decoder(11, 1, 12, 16, 2, tie_embeddings=True, dtype=trained_in)
    model = Transformer(encoder, decoder, dtype=trained_in)
    model.build(((None, None), (None, None)))
    made = in_dtype(model, served_in)
    assert type(made.encoder) is MyEncoder and made.encoder.name == "mine"
    assert {layer.compute_dtype for layer in made._flatten_layers()} == {served_in}
    for mine, theirs in zip(made.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_allclose(mine.astype("float32"), theirs, atol=0, rtol=0.01)
    sides = SOURCES, np.array([[2, 4, 5], [2, 9, 0], [2, 10, 7]])
    expected, found = (np.asarray(one(sides)).astype("float32") for one in (model, made))
    assert np.abs(found - expected).max() < tolerance * np.abs(expected).max()
