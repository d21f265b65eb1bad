import dataclasses

import numpy as np
import pytest

from keras_attn.translation import presets
from keras_attn.translation.config import Config
from keras_attn.translation.presets import operations_of_a_token, seconds_of_a_token

# Operations per second of two cores with AVX-512 and bfloat16.
SPEEDS = {"float32": 2.1e11, "bfloat16": 3.8e11}
SMALL, LARGE = 5_000, 200_000  # pairs


def for_corpus(num_pairs, num_accelerators=0, speeds=SPEEDS, **given):
    return presets.for_corpus(num_pairs, speeds, num_accelerators, **given)


def test_small_corpus_gets_smaller_sizes_and_fewer_minutes():
    large, small = for_corpus(LARGE), for_corpus(SMALL)
    for name in ("num_hiddens", "vocab_size", "minutes"):
        assert getattr(small, name) < getattr(large, name), name


def test_a_value_that_is_given_stays():
    wide = {"num_hiddens": 256, "num_heads": 4}
    for name, value, others in (
        *(("num_hiddens", 512, {}), ("minutes", 1.0, {}), ("warmup_steps", 7, {})),
        ("num_encoder_layers", 6, {"minutes": 5}),
        ("adam_lr_ratio", 1.0, {"minutes": 10}),
        ("subword_alpha", 0.0, {"minutes": 90}),
        ("subword_alpha", 0.3, {"minutes": 90, "num_accelerators": 1}),
        ("num_hiddens", 256, {**wide, "num_accelerators": 1}),
        *(("dropout", 0.2, {"minutes": minutes}) for minutes in (10, 60, 6000)),
    ):
        for num_pairs in (SMALL, LARGE):
            config = for_corpus(num_pairs, **{**others, name: value})
            assert getattr(config, name) == value, (name, others)


def test_short_training_of_a_large_corpus_gets_fewer_layers_and_larger_steps_of_adam():
    short, *_, long = chosen = [for_corpus(LARGE, minutes=minutes) for minutes in (5, 15, 30, 600)]
    numbers = [config.num_encoder_layers for config in chosen]
    assert numbers == sorted(set(numbers))
    assert short.num_decoder_layers < long.num_decoder_layers
    assert for_corpus(LARGE, steps=100).num_encoder_layers == short.num_encoder_layers
    assert for_corpus(LARGE, steps=9_999).num_encoder_layers == long.num_encoder_layers
    given = for_corpus(LARGE, minutes=5, num_encoder_layers=6)
    assert given.num_decoder_layers == short.num_decoder_layers
    assert short.adam_lr_ratio > long.adam_lr_ratio
    assert for_corpus(SMALL, minutes=600).adam_lr_ratio == short.adam_lr_ratio


def test_what_a_large_corpus_shows_often_is_segmented_again_each_time_where_there_is_time_for_it():
    short, long = (for_corpus(LARGE, minutes=minutes) for minutes in (20, 90))
    assert short.subword_alpha == 0 < long.subword_alpha
    for config in (
        for_corpus(SMALL, minutes=90),
        for_corpus(LARGE, 1, minutes=90),  # an accelerator would wait for it
    ):
        assert config.subword_alpha == 0


@pytest.mark.parametrize("num_pairs", [SMALL, LARGE])
def test_the_more_often_a_training_sees_each_pair_the_more_dropout_it_has(num_pairs):
    rates = [for_corpus(num_pairs, steps=1 << power).dropout for power in range(18)]
    assert rates == sorted(rates)
    assert set(rates) == {0, 0.05, 0.1, 0.3}
    minutes = [for_corpus(num_pairs, minutes=1 << power).dropout for power in range(15)]
    assert minutes == sorted(minutes)


def test_a_machine_of_half_the_speed_gets_what_another_gets_in_half_the_time():
    slow = {name: speed / 2 for name, speed in SPEEDS.items()}
    chosen = []
    for minutes in (2, 8, 15, 30, 60, 200):
        chosen.append(for_corpus(LARGE, minutes=minutes))
        same = for_corpus(LARGE, speeds=slow, minutes=2 * minutes)
        assert dataclasses.replace(same, minutes=minutes) == chosen[-1]
    sizes = [(one.num_encoder_layers, one.num_decoder_layers) for one in chosen]
    assert sizes == sorted(sizes) and set(sizes) == {(1, 1), (2, 1), (3, 1), (4, 2)}
    (faster,) = {for_corpus(LARGE, minutes=30, precision=name).dropout for name in SPEEDS} - {0.0}
    assert faster == 0.05


def test_the_estimated_speed_is_that_which_was_measured():
    # Real tokens a second of one core of an EPYC with 1.06e11 and 1.95e11 operations a second.
    speeds = {"float32": 1.06e11, "bfloat16": 1.95e11}
    small = {"num_hiddens": 128, "ffn_num_hiddens": 512, "vocab_size": 3000}
    for encoder, decoder, options, *measured in (
        (1, 1, {}, 10_174, 13_545),
        (2, 1, {}, 7_611, 11_030),
        (4, 2, {}, 4_193, 6_397),
        (2, 2, small, 15_390, 17_204),
    ):
        for precision, expected in zip(speeds, measured, strict=True):
            config = Config(
                num_encoder_layers=encoder,
                num_decoder_layers=decoder,
                precision=precision,
                **options,
            )
            speed = 1 / seconds_of_a_token(config, speeds)
            assert speed == pytest.approx(expected, rel=0.2), (encoder, decoder, precision)
    assert operations_of_a_token(Config()) == pytest.approx(17.3e6, rel=0.01)


def test_accelerators_get_a_wider_model_and_a_batch_for_each():
    processor, one, four = (for_corpus(LARGE, number) for number in (0, 1, 4))
    assert processor.num_hiddens < one.num_hiddens == four.num_hiddens
    assert four.batch_tokens == 4 * one.batch_tokens > processor.batch_tokens
    assert one.num_hiddens % one.num_heads == 0
    assert for_corpus(1_000, 1).num_hiddens == for_corpus(1_000).num_hiddens


def test_the_limit_of_the_length_holds_for_nearly_all_training_pairs():
    source = np.full(2000, 10)
    target = np.array([10] * 1996 + [36, 36, 36, 200])
    lengths = np.stack([source, target], axis=1)
    config = Config(max_length_extra=5)
    # 36 - 1 tokens are 3 * 10 + 5; one target in 2,000 is longer.
    assert presets.with_length_limit(config, lengths, ()).max_length_ratio == 3.0
    short = presets.with_length_limit(config, np.array([[10, 3]]), ())
    assert short.max_length_ratio == 1.0
    given = presets.with_length_limit(config, lengths, {"max_length_ratio"})
    assert given.max_length_ratio == config.max_length_ratio
