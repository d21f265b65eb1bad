import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attn import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.cleaning import Pair
from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.tokenization import tokenizer
from keras_attn.translation.training import validation
from keras_attn.translation.training.weight_average import WeightAverage

PAIRS = [Pair("やまにのぼる", "we climb a mountain"), Pair("うみでおよぐ", "we swim in the sea")]


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory):
    return tokenizer.load_or_train(tmp_path_factory.mktemp("t"), PAIRS, Config(vocab_size=300))


@pytest.fixture
def model(tokenizers):
    keras.utils.set_random_seed(4)
    sizes = (tokenizers.source.vocab_size, tokenizers.target.vocab_size)
    model = Transformer.from_sizes(*sizes, 1, 1, num_hiddens=8, ffn_num_hiddens=8, num_heads=2)
    model.build(((None, None), (None, None)))
    return model


class Kept:
    """Takes the place of what keeps weights and time."""

    reserve_seconds, seconds, left = 0.0, 12.0, 0.5

    def __init__(self, num_worse=0):
        self.bleus, self.num_worse, self.history = [], tf.Variable(num_worse), []

    def remember(self, *reached):
        self.history.append(reached)

    def keep_if_best(self, bleu, averages):
        self.bleus.append(bleu)
        return True


def test_translates_in_order_whatever_the_lengths(model, tokenizers):
    translate = validation.translate_with(model, tokenizers, Config(max_pieces=24))
    texts = ["うみ", "やまにのぼる" * 3, "う", "", "うみでおよぐ"]
    assert translate(texts) == [translate([text])[0] for text in texts]


def test_follows_the_weights_of_the_model(model, tokenizers):
    translate = validation.translate_with(model, tokenizers, Config(max_pieces=24))
    before = translate(["やまにのぼる"])
    random = np.random.default_rng(0)
    model.set_weights([w + random.normal(0, 1, w.shape) for w in model.get_weights()])
    assert translate(["やまにのぼる"]) != before


def test_scores_the_averaged_weights_and_gives_the_others_back(model, tokenizers, capsys):
    average = WeightAverage(model.trainable_variables, 0.9)
    for value in average.values:
        value.assign(value + 0.5)
    weights, averages = model.get_weights(), [v.numpy() for v in average.values]
    kept = Kept()
    examples = [Example(pair.source, (pair.target,)) for pair in PAIRS]
    callback = validation.Validation(
        model, tokenizers, examples, Config(max_pieces=24, steps=9), average, kept, kept
    )
    callback.on_epoch_end(0, {"loss": 2.0})
    for before, after in zip(weights, model.get_weights(), strict=True):
        np.testing.assert_array_equal(before, after)
    for before, after in zip(averages, average.values, strict=True):
        np.testing.assert_array_equal(before, after.numpy())
    printed = capsys.readouterr().err
    assert f"epoch 1: loss 2.000, validation BLEU {kept.bleus[0]:.1f} (best so far)" in printed
    assert PAIRS[0].source in printed
    callback.on_epoch_end(1, {"loss": 1.0})
    again = capsys.readouterr().err
    assert again.startswith("epoch 2: loss 1.000") and PAIRS[0].source not in again
    assert kept.reserve_seconds > 0
    assert kept.history[0] == (12.0, 2.0, kept.bleus[0])


def test_a_large_validation_set_is_thinned_evenly(model, tokenizers):
    examples = [Example(str(i), (str(i),)) for i in range(1201)]
    average = WeightAverage(model.trainable_variables, 0.9)
    kept = Kept()
    callback = validation.Validation(model, tokenizers, examples, Config(), average, kept, kept)
    used = [int(example.source) for example in callback._examples]
    assert used == list(range(0, 1201, 3))


@pytest.mark.parametrize(("num_worse", "stops"), [(1, False), (2, True)])
def test_training_stops_after_as_many_worse_epochs_as_patience_has(
    model, tokenizers, num_worse, stops
):
    average = WeightAverage(model.trainable_variables, 0.9)
    kept = Kept(num_worse)
    callback = validation.Validation(
        model,
        tokenizers,
        [Example(pair.source, (pair.target,)) for pair in PAIRS],
        Config(max_pieces=24, patience=2),
        average,
        kept,
        kept,
    )
    callback.set_model(model)
    model.stop_training = False
    callback.on_epoch_end(0)
    assert model.stop_training is stops


def test_in_minutes_a_fifth_of_the_time_goes_into_validation(model, tokenizers, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(validation.time, "monotonic", lambda: now[0])
    kept = Kept()
    callback = validation.Validation(
        model,
        tokenizers,
        [Example(pair.source, (pair.target,)) for pair in PAIRS],
        Config(max_pieces=24, minutes=3.0),
        WeightAverage(model.trainable_variables, 0.9),
        kept,
        kept,
    )
    callback.set_model(model)
    model.stop_training = False
    translate = callback._translate

    def translate_in_two_seconds(sources):
        now[0] += 2.0
        return translate(sources)

    callback._translate = translate_in_two_seconds
    validated = []
    for epoch in range(6):
        now[0] += 3.0
        before = len(kept.bleus)
        callback.on_epoch_end(epoch, {"loss": 1.0})
        validated.append(len(kept.bleus) > before)
    assert validated == [True, False, False, True, False, False]
    kept.left = 0.0  # the weights of the last batch are validated at any time
    callback.on_epoch_end(6, {"loss": 1.0})
    assert len(kept.bleus) == 3
