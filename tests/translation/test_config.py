import dataclasses
import json

import pytest

from keras_attn.translation.config import Config


def test_saved_configuration_loads_equal(tmp_path):
    config = Config(data="自分の文.tsv", hold_out="a.tsv + b.tsv", minutes=1.5, num_hiddens=128)
    config.save(tmp_path / "config.json")
    assert Config.load(tmp_path / "config.json") == config


def test_all_faults_are_named_at_once():
    wrong = {"dropout": 1.0, "minutes": 0, "precision": "int8", "cool_down": 0}
    with pytest.raises(ValueError) as error:
        Config(num_hiddens=30, num_heads=4, **wrong).validate()
    for received in ("num_hiddens=30, num_heads=4", *(f"{k}={v!r}" for k, v in wrong.items())):
        assert f"Received: {received}" in str(error.value)


OUT_OF_RANGE = {
    "vocab_size": [0],
    "num_heads": [2.5],
    "seed": [-1, 1.5, True],
    "minutes": [float("inf")],
    "clip_norm": [float("nan")],
    "label_smoothing": [1.0],
    "learning_rate": [0.0],
    "adam_lr_ratio": [0.0],
    "beam_size": [0, 10**6],
    "length_penalty": [-1.0, 1e9],
    "min_length_ratio": [3.0, float("nan")],
    "max_length_ratio": [-0.1, float("inf")],
    "no_repeat_ngram": [1.5],
    "steps": [-1],
    "patience": [-1],
    "accumulate": [0],
    "tokenizer": ["words"],
    "shared_vocab": [1],
    "sampled_share": [0.0],
    "newton_schulz_steps": [0],
    "matrix_update_interval": [0],
    "average_interval": [0],
    "adam_beta_2": [1.0],
    "stable_steps": [0],
    "max_length_extra": [-1],
    "max_padding": [0.0],
    "validation_sentences": [0],
}


def test_a_value_out_of_range_is_refused_by_name():
    for name, values in OUT_OF_RANGE.items():
        for value in values:
            with pytest.raises(ValueError, match=name):
                Config(**{name: value}).validate()
    with pytest.raises(ValueError, match="max_pieces"):
        Config(max_pieces=64, batch_tokens=100).validate()


def test_what_contradicts_another_value_is_refused_once():
    with pytest.raises(ValueError) as error:
        Config(num_heads=3, max_pieces=0).validate()
    assert str(error.value) == (
        "The configuration cannot be used. "
        "`max_pieces` must be a whole number at least 1. Received: max_pieces=0. "
        "`num_hiddens` must be a multiple of `num_heads`. Received: num_hiddens=256, num_heads=3."
    )


def test_defaults_can_be_used():
    Config().validate()
    Config(dropout=0, minutes=3, sampled_share=1).validate()  # whole numbers, as users write them


def test_each_field_has_a_help_text_and_a_range():
    faults = [
        field.name
        for field in dataclasses.fields(Config)
        if len(field.metadata["help"].split()) < 3
        or not field.metadata["group"]
        or bool(field.metadata["limits"]) != (type(field.default) in (int, float))
    ]
    assert not faults, faults


def rewritten(path, **changes):
    """Save a configuration with changes to the file; a value of None removes the field."""
    Config(seed=7, num_heads=8).save(path)
    record = {**json.loads(path.read_text(encoding="utf-8")), **changes}
    left = {name: value for name, value in record.items() if value is not None}
    path.write_text(json.dumps(left), encoding="utf-8")
    return path


def test_configuration_of_a_newer_format_version_is_refused(tmp_path):
    path = rewritten(tmp_path / "config.json", format_version=99)
    with pytest.raises(ValueError, match="newer version .* Received: format_version=99. Update"):
        Config.load(path)


def test_older_configuration_is_read_with_defaults_for_what_it_lacks(tmp_path, recwarn):
    path = rewritten(tmp_path / "config.json", format_version=3, sampled_share=None, seed=None)
    assert Config.load(path) == Config(num_heads=8)
    assert not recwarn


def test_a_file_that_is_no_configuration_is_refused(tmp_path):
    for text in ("", "[]", "{}", "not json", '{"format_version": "5"}'):
        (tmp_path / "config.json").write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match="not the configuration of a translator"):
            Config.load(tmp_path / "config.json")


def test_unknown_fields_are_left_out_with_a_warning_that_names_them(tmp_path):
    path = rewritten(tmp_path / "config.json", width=3, depth=2)
    with pytest.warns(UserWarning, match="does not know and leaves out: depth, width"):
        assert Config.load(path) == Config(seed=7, num_heads=8)


def test_differences_leave_out_the_length_of_training():
    config = Config()
    assert config.differences(dataclasses.replace(config, minutes=90.0, steps=7)) == []
    other = dataclasses.replace(config, seed=7)
    assert config.differences(other) == ["seed: 0 -> 7"]
