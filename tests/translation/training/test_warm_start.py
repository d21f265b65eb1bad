import dataclasses
import json
import shutil

import numpy as np
import pytest
import tensorflow as tf
from shared_translator import CONFIG
from small_models import assert_weights
from small_training import state_of

from keras_attn.translation import lexicon, named_weights
from keras_attn.translation.config import Config
from keras_attn.translation.model import make_model as build_model
from keras_attn.translation.training import warm_start
from keras_attn.translation.training.weight_average import WeightAverage


@pytest.fixture(scope="module")
def version(exported):
    return exported / "1"


@pytest.fixture
def build(tokenizers):
    """`build(**options)`: a model with other weights than the exported one."""

    def build(**options):
        config = dataclasses.replace(CONFIG, **options)
        return build_model(*(side.vocab_size for side in tokenizers), config)

    return build


def test_weights_and_tokenizers_are_those_of_the_exported_model_of_an_older_format_too(
    version, tokenizers, make_model, build, tmp_path
):
    older = tmp_path / "3"
    shutil.copytree(version, older)
    path = older / "assets.extra" / "config.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    for name in ("adam_lr_ratio", "sampled_softmax_fraction", "max_length_extra"):
        del record[name]
    path.write_text(json.dumps({**record, "format_version": 3}), encoding="utf-8")
    found, given = warm_start.inherit(start_from=str(older))
    assert found == older and given["num_hiddens"] == CONFIG.num_hiddens
    warm_start.copy_tokenizers(found, tmp_path)
    for name, side in tokenizers._asdict().items():
        assert (tmp_path / f"{name}.model").read_bytes() == side.proto
    model = build()
    warm_start.copy_weights(found, model)
    assert_weights(model, make_model().get_weights())


def test_weights_and_tokenizers_are_those_of_a_training(version, tokenizers, build, tmp_path):
    training = tmp_path / "training"
    warm_start.copy_tokenizers(version, training)
    CONFIG.save(training / "config.json")
    model, other = build(), build()
    average = WeightAverage(model.trainable_variables, 0.9)
    state = state_of(model, training, average)

    def learn():
        state.step.assign_add(1)
        average.values[0].assign_add(tf.ones_like(average.values[0]))
        return [np.array(value) for value in average.values]

    # Before the first validation the averages, then the best of them.
    for has_validated in (False, True):
        best = learn()
        if has_validated:
            state.keep_if_best(10.0, average.values)
            learn()
        state.save()
        found, given = warm_start.inherit(start_from=str(training))
        assert found == training and given["num_hiddens"] == CONFIG.num_hiddens
        warm_start.copy_weights(found, other)
        assert_weights(other, best)
    warm_start.copy_tokenizers(training, tmp_path)
    assert (tmp_path / "source.model").read_bytes() == tokenizers.source.proto


def test_the_lexicon_is_that_of_the_version_if_it_has_one(version, tmp_path):
    assert warm_start.is_version(version) and not warm_start.is_version(None)
    assert warm_start.read_lexicon(version) is None
    found = lexicon.learn([[np.array([5])], [np.array([6])]], [9, 9], seed=0)
    (tmp_path / "assets.extra").mkdir()
    found.save(tmp_path / "assets.extra" / "lexicon.npz")
    assert warm_start.read_lexicon(tmp_path).keys.tolist() == found.keys.tolist() == [5, 6 * 9 + 5]


def test_sizes_and_search_are_inherited_and_the_rest_is_the_users(version):
    found, given = warm_start.inherit(start_from=str(version.parent), minutes=7, dropout=0.3)
    assert found == version
    # The search is the model's, too.
    own = {"minutes": 7, "dropout": 0.3, "max_length": 128, "start_from": str(version)}
    assert Config(**given) == dataclasses.replace(CONFIG, **own, **warm_start.DEFAULTS)
    _, given = warm_start.inherit(start_from=str(version), learning_rate=0.002, beam_size=3)
    assert (given["learning_rate"], given["beam_size"]) == (0.002, 3)
    assert warm_start.inherit(minutes=7) == (None, {"minutes": 7})


def test_a_test_set_that_the_earlier_training_may_have_seen_is_named(version, recwarn):
    warm_start.inherit(start_from=str(version))
    assert not recwarn
    with pytest.warns(UserWarning, match="trained without --hold-out news.tsv. If these"):
        warm_start.inherit(start_from=str(version), hold_out="news.tsv")


def test_what_needs_another_model_or_has_none_is_refused(version, build, monkeypatch, tmp_path):
    differs = "source='fr' where the model has 'ja', num_heads=4 where the model has 2"
    with pytest.raises(ValueError, match=differs):
        warm_start.inherit(start_from=str(version), num_heads=4, source="fr", num_hiddens=16)
    with pytest.raises(ValueError, match="There is no exported model"):
        warm_start.inherit(start_from=str(tmp_path))
    values = named_weights.of_model(build())
    monkeypatch.setattr(named_weights, "of_version", lambda version: values)
    with pytest.raises(ValueError, match="cannot start from .* missing encoder/block_2/"):
        warm_start.copy_weights(version, build(num_encoder_layers=3))
    (tmp_path / "checkpoint-3.index").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="checkpoint-3` cannot be read"):
        warm_start.copy_weights(tmp_path, build())
