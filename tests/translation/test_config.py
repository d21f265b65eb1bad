import dataclasses
import json

import pytest

from keras_attn.translation.config import Config


def test_all_faults_are_named_at_once():
    with pytest.raises(ValueError) as error:
        Config(num_heads=3, max_length=0).validate()
    assert str(error.value) == (
        "The configuration cannot be used. "
        "`max_length` must be a whole number at least 1. Received: max_length=0. "
        "`num_hiddens` must be a multiple of `num_heads`. Received: num_hiddens=256, num_heads=3."
    )


OUT_OF_RANGE = [
    (0, "vocab_size beam_size accumulate newton_schulz_steps matrix_update_interval"),
    (0, "average_interval inverse_sqrt_start validation_sentences minutes cooldown_fraction"),
    (0.0, "learning_rate adam_lr_ratio sampled_softmax_fraction max_padding"),
    (1.0, "label_smoothing adam_beta_2 dropout"),
    (-1, "seed steps patience max_length_extra length_penalty max_length_ratio"),
    (2.5, "num_heads seed no_repeat_ngram min_length_ratio"),
    (10**9, "beam_size length_penalty"),
    (float("inf"), "minutes max_length_ratio"),
    (float("nan"), "clip_norm min_length_ratio"),
    (True, "seed"),
    (1, "shared_vocab"),
    ("words", "precision"),
    ("bpe", "tokenizer"),  # of an older version
]


def test_a_value_out_of_range_is_refused_by_name():
    Config().validate()
    # Whole numbers, as users write them.
    Config(dropout=0, minutes=3, sampled_softmax_fraction=1).validate()
    for value, names in OUT_OF_RANGE:
        for name in names.split():
            with pytest.raises(ValueError, match=name):
                Config(**{name: value}).validate()
    with pytest.raises(ValueError, match="max_length"):
        Config(max_length=64, batch_tokens=100).validate()


def test_each_field_has_a_help_text_and_a_range():
    faults = [
        field.name
        for field in dataclasses.fields(Config)
        if len(field.metadata["help"].split()) < 3
        or not field.metadata["group"]
        or bool(field.metadata["limits"]) != (type(field.default) in (int, float))
    ]
    assert not faults, faults


def test_a_saved_configuration_loads_equal_and_one_of_another_version_as_far_as_it_is_known(
    tmp_path, recwarn
):
    path = tmp_path / "config.json"
    own = Config(data="自分の文.tsv", hold_out="a.tsv + b.tsv", minutes=1.5, num_hiddens=128)
    own.save(path)
    assert Config.load(path) == own
    Config(seed=7, num_heads=8).save(path)
    record = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**record, "format_version": 99}), encoding="utf-8")
    with pytest.raises(ValueError, match="newer version .* Received: format_version=99. Update"):
        Config.load(path)
    older = {**record, "format_version": 3, "max_pieces": 64, "tokenizer": "bpe"}
    del older["max_length"], older["seed"]
    path.write_text(json.dumps(older), encoding="utf-8")
    assert Config.load(path) == Config(num_heads=8, max_length=64, tokenizer="bpe")
    assert not recwarn
    path.write_text(json.dumps({**record, "width": 3, "depth": 2}), encoding="utf-8")
    with pytest.warns(UserWarning, match="does not know and leaves out: depth, width"):
        assert Config.load(path) == Config(seed=7, num_heads=8)


def test_a_file_that_is_no_configuration_is_refused(tmp_path):
    for text in ("", "[]", "{}", "not json", '{"format_version": "5"}'):
        (tmp_path / "config.json").write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match="not the configuration of a translator"):
            Config.load(tmp_path / "config.json")


def test_differences_leave_out_the_length_of_training():
    config = Config()
    assert config.differences(dataclasses.replace(config, minutes=90.0, steps=7)) == []
    other = dataclasses.replace(config, seed=7)
    assert config.differences(other) == ["seed: 0 -> 7"]
