import dataclasses
import json

import pytest

from keras_attn.translation.config import Config


def test_saved_configuration_loads_equal(tmp_path):
    config = Config(data="自分の文.tsv", minutes=1.5, num_hiddens=128)
    config.save(tmp_path / "config.json")
    assert Config.load(tmp_path / "config.json") == config


def test_small_corpus_gets_smaller_sizes_unless_they_are_given():
    large, small = Config.for_corpus(200_000), Config.for_corpus(1_000)
    assert small.num_hiddens < large.num_hiddens
    assert small.vocab_size < large.vocab_size
    assert Config.for_corpus(1_000, num_hiddens=512).num_hiddens == 512


def test_short_training_of_a_large_corpus_gets_fewer_layers_unless_they_are_given():
    short, *_, long = chosen = [
        Config.for_corpus(200_000, minutes=minutes) for minutes in (10, 30, 45, 600)
    ]
    numbers = [config.num_encoder_layers for config in chosen]
    assert numbers == sorted(set(numbers))
    assert short.num_decoder_layers < long.num_decoder_layers
    assert Config.for_corpus(200_000, steps=100).num_encoder_layers == short.num_encoder_layers
    assert Config.for_corpus(200_000, steps=9_999).num_encoder_layers == long.num_encoder_layers
    given = Config.for_corpus(200_000, minutes=10, num_encoder_layers=6)
    assert (given.num_encoder_layers, given.num_decoder_layers) == (6, short.num_decoder_layers)


def test_a_long_training_of_a_large_corpus_has_smaller_steps_of_adam():
    short, long = (Config.for_corpus(200_000, minutes=minutes) for minutes in (10, 60))
    assert short.adam_lr_ratio > long.adam_lr_ratio
    assert Config.for_corpus(5_000, minutes=600).adam_lr_ratio == short.adam_lr_ratio
    assert Config.for_corpus(200_000, minutes=10, adam_lr_ratio=1.0).adam_lr_ratio == 1.0


def test_what_a_large_corpus_shows_often_is_cut_anew_each_time():
    short, long = (Config.for_corpus(200_000, minutes=minutes) for minutes in (20, 90))
    assert short.subword_alpha == 0 < long.subword_alpha
    assert Config.for_corpus(200_000, minutes=90, tokenizer="bpe").subword_alpha == 0
    assert Config.for_corpus(200_000, minutes=90, subword_alpha=0.0).subword_alpha == 0
    assert Config.for_corpus(5_000, minutes=90).subword_alpha == 0


@pytest.mark.parametrize("num_pairs", [5_000, 200_000])
def test_the_more_often_a_training_sees_each_pair_the_more_dropout_it_has(num_pairs):
    budgets = [{"steps": 1 << power} for power in range(18)]
    rates = [Config.for_corpus(num_pairs, **budget).dropout for budget in budgets]
    assert rates == sorted(rates)
    assert set(rates) == {0, 0.05, 0.1, 0.3}
    minutes = [Config.for_corpus(num_pairs, minutes=1 << power).dropout for power in range(15)]
    assert minutes == sorted(minutes)


def test_dropout_that_is_given_stays():
    for minutes in (10, 60, 6000):
        assert Config.for_corpus(200_000, minutes=minutes, dropout=0.2).dropout == 0.2


def test_a_faster_type_sees_pairs_more_often():
    slow, fast = (
        Config.for_corpus(200_000, minutes=40, precision=name) for name in ("float32", "bfloat16")
    )
    assert slow.dropout < fast.dropout


@pytest.mark.parametrize("num_pairs", [5_000, 200_000])
def test_the_rate_rises_over_as_large_a_part_of_a_long_training_as_of_a_short_one(num_pairs):
    for steps in (1, 60, 6_000, 600_000):
        warmup_steps = Config.for_corpus(num_pairs, steps=steps).warmup_steps
        assert warmup_steps == pytest.approx(max(1, steps / 12), abs=0.5)
    hour, day = (Config.for_corpus(num_pairs, minutes=60 * hours) for hours in (1, 24))
    assert day.warmup_steps == pytest.approx(24 * hour.warmup_steps, abs=12)
    assert Config.for_corpus(num_pairs, warmup_steps=7).warmup_steps == 7


def test_all_faults_are_named_at_once():
    config = Config(
        num_hiddens=30, num_heads=4, dropout=1.0, minutes=0, precision="int8", cool_down=0
    )
    with pytest.raises(ValueError) as error:
        config.validate()
    message = str(error.value)
    for name in (
        "num_hiddens=30, num_heads=4",
        "dropout=1.0",
        "minutes=0",
        "precision='int8'",
        "cool_down=0",
    ):
        assert f"Received: {name}" in message


@pytest.mark.parametrize(
    "fault",
    [
        {"vocab_size": 0},
        {"num_heads": 2.5},
        {"seed": -1},
        {"seed": 1.5},
        {"minutes": float("inf")},
        {"clip_norm": float("nan")},
        {"label_smoothing": 1.0},
        {"learning_rate": 0.0},
        {"adam_lr_ratio": 0.0},
        {"beam_size": 0},
        {"length_penalty": -1.0},
        {"min_length_ratio": 3.0},
        {"max_length_ratio": -0.1},
        {"no_repeat_ngram": 1.5},
        {"steps": -1},
        {"patience": -1},
        {"accumulate": 0},
        {"tokenizer": "words"},
        {"max_pieces": 64, "batch_tokens": 100},
    ],
)
def test_a_value_out_of_range_is_refused_by_name(fault):
    with pytest.raises(ValueError, match=next(iter(fault))):
        Config(**fault).validate()


def test_configuration_of_another_format_version_is_refused(tmp_path):
    path = tmp_path / "config.json"
    Config().save(path)
    record = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**record, "format_version": 99}), encoding="utf-8")
    with pytest.raises(ValueError, match="another version .* Received: format_version=99"):
        Config.load(path)


@pytest.mark.parametrize("text", ["", "[]", "{}", "not json"])
def test_a_file_that_is_no_configuration_is_refused(tmp_path, text):
    (tmp_path / "config.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="not the configuration of a translator"):
        Config.load(tmp_path / "config.json")


def test_unknown_and_missing_fields_are_named(tmp_path):
    path = tmp_path / "config.json"
    Config().save(path)
    record = json.loads(path.read_text(encoding="utf-8"))
    del record["seed"]
    path.write_text(json.dumps({**record, "width": 3}), encoding="utf-8")
    with pytest.raises(ValueError, match=r"missing=\['seed'\], unknown=\['width'\]"):
        Config.load(path)


def test_differences_leave_out_the_length_of_training():
    config = Config()
    assert config.differences(dataclasses.replace(config, minutes=90.0, steps=7)) == []
    other = dataclasses.replace(config, seed=7)
    assert config.differences(other) == ["seed: 0 -> 7"]
