from functools import partial

import numpy as np
import pytest

from keras_attn import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.cleaning import Pair
from keras_attn.translation.export.saved_model import export
from keras_attn.translation.tokenization import tokenizer

# Sentences written for these tests.
PAIRS = [
    Pair("猫が窓のそばで寝ている。", "A cat is sleeping by the window."),
    Pair("明日は早く起きます。", "I will get up early tomorrow."),
    Pair("この道は駅まで続く。", "This road leads to the station."),
    Pair("友達に手紙を書いた。", "I wrote a letter to my friend."),
    Pair("雨なので傘が要ります。", "It is raining, so you need an umbrella."),
]


@pytest.fixture(scope="session")
def texts():
    """Texts of all kinds: empty, long, with unknown and rare characters."""
    return [
        "猫が手紙を書いた。",
        "",
        "🙂👩‍👩‍👧",
        "ほげ鬱龘ﾊﾝｶｸＡＢＣ",
        "駅" * 10_000,
        "明日は雨なので早く起きます。",
        "   ",
    ]


@pytest.fixture(scope="session")
def pairs():
    return PAIRS


@pytest.fixture(scope="session")
def make_model(tokenizers):
    return partial(model_for, tokenizers)


def model_for(tokenizers, dtype="float32"):
    model = Transformer.from_sizes(
        tokenizers.source.vocab_size,
        tokenizers.target.vocab_size,
        1,
        1,
        num_hiddens=16,
        ffn_num_hiddens=16,
        num_heads=2,
        blockwise=False,  # as in training: graphs are smaller
        dtype=dtype,
    )
    model((np.ones((1, 1), int), np.ones((1, 1), int)))
    random = np.random.default_rng(2)
    # Strong weights and no training: translations are nonsense that differs from text to text,
    # and the same for every model made here. Scales of the normalisations stay around 1.
    model.set_weights([(w == 1) + random.normal(0, 0.5, w.shape) for w in model.get_weights()])
    return model


@pytest.fixture(scope="session")
def tokenizers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizers")
    return tokenizer.load_or_train(folder, PAIRS, Config(vocab_size=400))


@pytest.fixture(scope="session")
def config():
    return Config(max_pieces=40)


@pytest.fixture(scope="session")
def folder(make_model, tokenizers, config, tmp_path_factory):
    """A folder with one version of a translator."""
    folder = tmp_path_factory.mktemp("models") / "ja-en"
    export(make_model(), tokenizers, config, folder)
    return folder
