import pytest

from keras_attn.translation.presets import for_corpus

SMALL, LARGE = 5_000, 200_000  # pairs


def test_small_corpus_gets_smaller_sizes_and_fewer_minutes():
    large, small = for_corpus(LARGE), for_corpus(SMALL)
    for name in ("num_hiddens", "vocab_size", "minutes"):
        assert getattr(small, name) < getattr(large, name), name


def test_a_value_that_is_given_stays():
    wide = {"num_hiddens": 256, "num_heads": 4}
    for name, value, others in (
        *(("num_hiddens", 512, {}), ("minutes", 1.0, {}), ("warmup_steps", 7, {})),
        ("num_encoder_layers", 6, {"minutes": 10}),
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
    short, *_, long = chosen = [for_corpus(LARGE, minutes=minutes) for minutes in (10, 30, 45, 600)]
    numbers = [config.num_encoder_layers for config in chosen]
    assert numbers == sorted(set(numbers))
    assert short.num_decoder_layers < long.num_decoder_layers
    assert for_corpus(LARGE, steps=100).num_encoder_layers == short.num_encoder_layers
    assert for_corpus(LARGE, steps=9_999).num_encoder_layers == long.num_encoder_layers
    given = for_corpus(LARGE, minutes=10, num_encoder_layers=6)
    assert given.num_decoder_layers == short.num_decoder_layers
    assert short.adam_lr_ratio > long.adam_lr_ratio
    assert for_corpus(SMALL, minutes=600).adam_lr_ratio == short.adam_lr_ratio


def test_what_a_large_corpus_shows_often_is_cut_anew_each_time_where_there_is_time_for_it():
    short, long = (for_corpus(LARGE, minutes=minutes) for minutes in (20, 90))
    assert short.subword_alpha == 0 < long.subword_alpha
    for config in (
        for_corpus(LARGE, minutes=90, tokenizer="bpe"),
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
    names = ("float32", "bfloat16")  # a faster type sees pairs more often
    slow, fast = (for_corpus(LARGE, minutes=40, precision=name) for name in names)
    assert slow.dropout < fast.dropout


@pytest.mark.parametrize("num_pairs", [SMALL, LARGE])
def test_the_rate_rises_over_as_large_a_part_of_a_long_training_as_of_a_short_one(num_pairs):
    for steps in (1, 60, 6_000, 600_000):
        warmup_steps = for_corpus(num_pairs, steps=steps).warmup_steps
        assert warmup_steps == pytest.approx(max(1, steps / 12), abs=0.5)
    hour, day = (for_corpus(num_pairs, minutes=60 * hours) for hours in (1, 24))
    assert day.warmup_steps == pytest.approx(24 * hour.warmup_steps, abs=12)
    # A large model has time for few steps.
    small, large = (for_corpus(2_000, minutes=1, num_hiddens=width) for width in (128, 256))
    assert 0 < large.warmup_steps < small.warmup_steps / 2


def test_accelerators_get_a_wider_model_and_a_batch_for_each():
    processor, one, four = (for_corpus(LARGE, number) for number in (0, 1, 4))
    assert processor.num_hiddens < one.num_hiddens == four.num_hiddens
    assert four.batch_tokens == 4 * one.batch_tokens > processor.batch_tokens
    assert one.num_hiddens % one.num_heads == 0
    assert for_corpus(1_000, 1).num_hiddens == for_corpus(1_000).num_hiddens
