"""The one tiny translator of a test run: exported once, shared by all processes, read-only.

It is not trained. Strong random weights make translations that differ from text to text.
"""

import dataclasses

import numpy as np

from keras_attn.translation.config import Config
from keras_attn.translation.corpus.pairs import Pair
from keras_attn.translation.export.saved_model import export
from keras_attn.translation.model import make_model
from keras_attn.translation.tokenization import tokenizer

# Sentences written for the tests.
PAIRS = [
    Pair("猫が窓のそばで寝ている。", "A cat is sleeping by the window."),
    Pair("明日は早く起きます。", "I will get up early tomorrow."),
    Pair("この道は駅まで続く。", "This road leads to the station."),
    Pair("友達に手紙を書いた。", "I wrote a letter to my friend."),
    Pair("雨なので傘が要ります。", "It is raining, so you need an umbrella."),
    Pair("昨日、友達と映画を見ました。", "I watched a movie with my friends yesterday."),
    Pair("川の水は冷たい。", "The water of the river is cold."),
    Pair("庭に花が咲く。", "Flowers bloom in the garden."),
]
CONFIG = Config(
    vocab_size=400,
    max_length=40,
    beam_size=3,
    num_encoder_layers=2,
    num_decoder_layers=1,
    num_hiddens=16,
    ffn_num_hiddens=16,
    num_heads=2,
    precision="float32",
)


def make_tokenizers(folder):
    return tokenizer.load_or_train(folder, PAIRS, CONFIG)


def make_shared_model(tokenizers, precision="float32"):
    """The model of the translator, always with the same weights."""
    config = dataclasses.replace(CONFIG, precision=precision)
    model = make_model(*(side.vocab_size for side in tokenizers), config)
    random = np.random.default_rng(2)
    # Scales of the normalizations stay around 1.
    model.set_weights([(w == 1) + random.normal(0, 0.5, w.shape) for w in model.get_weights()])
    return model


def export_to(folder):
    """Export the translator to `folder / "ja-en"`."""
    tokenizers = make_tokenizers(folder)
    export(make_shared_model(tokenizers), tokenizers, CONFIG, folder / "ja-en")
