import dataclasses

import numpy as np
import pytest
from shared_translator import CONFIG, PAIRS

from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.evaluation.evaluate import evaluate
from keras_attn.translation.export.saved_model import export
from keras_attn.translation.training import validation
from keras_attn.translation.training.weight_average import WeightAverage

EXAMPLES = [Example(pair.source, (pair.target,)) for pair in PAIRS[:2]]


@pytest.fixture(scope="module")
def model(make_model):
    return make_model()


@pytest.fixture(scope="module")
def translate(model, tokenizers):
    return validation.translate_with(model, tokenizers, CONFIG)


@pytest.fixture
def validate(model, tokenizers, translate, monkeypatch):
    """`validate(kept, **options)`: the callback; all of them translate with one search."""
    monkeypatch.setattr(validation, "translate_with", lambda *_: translate)

    def validate(kept, examples=EXAMPLES, **options):
        config = dataclasses.replace(CONFIG, **options)
        average = WeightAverage(model.trainable_variables, 0.9)
        callback = validation.Validation(model, tokenizers, examples, config, average, kept, kept)
        callback.set_model(model)
        model.stop_training = False
        return callback

    return validate


class Kept:
    """Takes the place of what keeps weights and time."""

    reserve_seconds, seconds, left = 0.0, 12.0, 0.5

    def __init__(self):
        self.bleus, self.history = [], []

    def remember(self, *reached):
        self.history.append(reached)

    def keep_if_best(self, bleu, averages):
        self.bleus.append(bleu)
        return True

    def is_past(self, patience):
        return False


def test_translates_in_order_whatever_the_lengths_with_the_weights_of_now(model, translate):
    one, other = (example.source for example in EXAMPLES)
    texts = [other[:3], one + other, "う", "", other]
    translations = translate(texts)
    # Texts are read as the export reads them: sentence by sentence, with placeholders.
    assert translate(["12:30", one + other]) == ["12:30", " ".join(translate([one, other]))]
    assert translations == [translate([text])[0] for text in texts]
    weights = model.get_weights()
    random = np.random.default_rng(0)
    model.set_weights([weight + random.normal(0, 1, weight.shape) for weight in weights])
    assert translate(texts) != translations
    model.set_weights(weights)


@pytest.mark.slow  # an export
def test_translations_are_those_of_evaluating_the_export_placeholders_and_all(
    model, translate, tokenizers, tmp_path
):
    greedy = dataclasses.replace(CONFIG, beam_size=1)
    exported = export(model, tokenizers, greedy, tmp_path / "ja-en")
    texts = [
        *(pair.source for pair in PAIRS),
        "12:30に{name}と1,900円の傘を見た。3/4の猫。",
        "😀",
        "",
    ]
    report = evaluate(exported, [Example(text, ("a",)) for text in texts], CONFIG.target)
    assert translate(texts) == [sample.translation for sample in report.translations]


def test_scores_the_averaged_weights_and_gives_the_others_back(model, validate, capsys):
    kept = Kept()
    callback = validate(kept, steps=9)
    averages = callback._average.values
    for value in averages:
        value.assign(value + 0.5)
    before = [np.array(one) for one in (*model.weights, *averages)]
    callback.on_epoch_end(0, {"loss": 2.0})
    for one, other in zip(before, (*model.weights, *averages), strict=True):
        np.testing.assert_array_equal(one, other)
    printed = capsys.readouterr().err
    assert f"epoch 1: loss 2.000, validation BLEU {kept.bleus[0]:.1f} (best so far)" in printed
    assert PAIRS[0].source in printed
    callback.on_epoch_end(1, {"loss": 1.0})
    again = capsys.readouterr().err
    assert again.startswith("epoch 2: loss 1.000") and PAIRS[0].source not in again
    assert kept.reserve_seconds > 0
    assert kept.history[0] == (12.0, 2.0, kept.bleus[0])


def test_a_large_validation_set_is_thinned_evenly(validate):
    callback = validate(Kept(), [Example(str(i), (str(i),)) for i in range(1201)])
    used = [int(example.source) for example in callback._examples]
    assert used == list(range(0, 1201, 3))


def test_in_minutes_a_fifth_of_the_time_goes_into_validation(validate, clock):
    kept = Kept()
    callback = validate(kept, minutes=3.0)

    def translate_in_two_seconds(sources):
        clock[0] += 2.0
        return sources

    callback._translate = translate_in_two_seconds
    numbers = []
    for epoch in range(7):
        clock[0] += 3.0
        if epoch == 6:
            kept.left = 0.0  # the weights of the last batch are validated at any time
        callback.on_epoch_end(epoch, {"loss": 1.0})
        numbers.append(len(kept.bleus))
    assert numbers == [1, 1, 1, 2, 2, 2, 3]
