import pytest

from keras_attn.translation.presets import for_corpus, summary


def test_small_corpus_gets_smaller_sizes_unless_they_are_given():
    large, small = for_corpus(200_000), for_corpus(1_000)
    assert small.num_hiddens < large.num_hiddens
    assert small.vocab_size < large.vocab_size
    assert for_corpus(1_000, num_hiddens=512).num_hiddens == 512


def test_a_large_corpus_gets_more_minutes_unless_they_are_given():
    assert for_corpus(200_000).minutes > for_corpus(1_000).minutes
    assert for_corpus(200_000, minutes=1.0).minutes == for_corpus(1_000, minutes=1.0).minutes == 1


def test_short_training_of_a_large_corpus_gets_fewer_layers_unless_they_are_given():
    short, *_, long = chosen = [
        for_corpus(200_000, minutes=minutes) for minutes in (10, 30, 45, 600)
    ]
    numbers = [config.num_encoder_layers for config in chosen]
    assert numbers == sorted(set(numbers))
    assert short.num_decoder_layers < long.num_decoder_layers
    assert for_corpus(200_000, steps=100).num_encoder_layers == short.num_encoder_layers
    assert for_corpus(200_000, steps=9_999).num_encoder_layers == long.num_encoder_layers
    given = for_corpus(200_000, minutes=10, num_encoder_layers=6)
    assert (given.num_encoder_layers, given.num_decoder_layers) == (6, short.num_decoder_layers)


def test_a_long_training_of_a_large_corpus_has_smaller_steps_of_adam():
    short, long = (for_corpus(200_000, minutes=minutes) for minutes in (10, 60))
    assert short.adam_lr_ratio > long.adam_lr_ratio
    assert for_corpus(5_000, minutes=600).adam_lr_ratio == short.adam_lr_ratio
    assert for_corpus(200_000, minutes=10, adam_lr_ratio=1.0).adam_lr_ratio == 1.0


def test_what_a_large_corpus_shows_often_is_cut_anew_each_time():
    short, long = (for_corpus(200_000, minutes=minutes) for minutes in (20, 90))
    assert short.subword_alpha == 0 < long.subword_alpha
    assert for_corpus(200_000, minutes=90, tokenizer="bpe").subword_alpha == 0
    assert for_corpus(200_000, minutes=90, subword_alpha=0.0).subword_alpha == 0
    assert for_corpus(5_000, minutes=90).subword_alpha == 0


@pytest.mark.parametrize("num_pairs", [5_000, 200_000])
def test_the_more_often_a_training_sees_each_pair_the_more_dropout_it_has(num_pairs):
    budgets = [{"steps": 1 << power} for power in range(18)]
    rates = [for_corpus(num_pairs, **budget).dropout for budget in budgets]
    assert rates == sorted(rates)
    assert set(rates) == {0, 0.05, 0.1, 0.3}
    minutes = [for_corpus(num_pairs, minutes=1 << power).dropout for power in range(15)]
    assert minutes == sorted(minutes)


def test_a_large_model_on_a_small_corpus_warms_up_in_the_few_steps_that_it_has_time_for():
    small, large = (for_corpus(2_000, minutes=1, num_hiddens=width) for width in (128, 256))
    assert 0 < large.warmup_steps < small.warmup_steps / 2


def test_dropout_that_is_given_stays():
    for minutes in (10, 60, 6000):
        assert for_corpus(200_000, minutes=minutes, dropout=0.2).dropout == 0.2


def test_a_faster_type_sees_pairs_more_often():
    slow, fast = (
        for_corpus(200_000, minutes=40, precision=name) for name in ("float32", "bfloat16")
    )
    assert slow.dropout < fast.dropout


@pytest.mark.parametrize("num_pairs", [5_000, 200_000])
def test_the_rate_rises_over_as_large_a_part_of_a_long_training_as_of_a_short_one(num_pairs):
    for steps in (1, 60, 6_000, 600_000):
        warmup_steps = for_corpus(num_pairs, steps=steps).warmup_steps
        assert warmup_steps == pytest.approx(max(1, steps / 12), abs=0.5)
    hour, day = (for_corpus(num_pairs, minutes=60 * hours) for hours in (1, 24))
    assert day.warmup_steps == pytest.approx(24 * hour.warmup_steps, abs=12)
    assert for_corpus(num_pairs, warmup_steps=7).warmup_steps == 7


def test_the_summary_marks_what_was_chosen():
    given = {"num_hiddens": 64, "steps": 500}
    text = summary(for_corpus(1_000, **given), given)
    assert "width 64, feed-forward 512*, 4 heads, vocabulary 3,000*" in text
    assert text.endswith(", 500 steps (* chosen)")


def test_accelerators_get_a_wider_model_and_a_batch_for_each():
    processor, one, four = (for_corpus(200_000, number) for number in (0, 1, 4))
    assert processor.num_hiddens < one.num_hiddens == four.num_hiddens
    assert four.batch_tokens == 4 * one.batch_tokens > processor.batch_tokens
    assert one.num_hiddens % one.num_heads == 0
    assert for_corpus(200_000, 1, num_hiddens=256, num_heads=4).num_hiddens == 256
    assert for_corpus(1_000, 1).num_hiddens == for_corpus(1_000).num_hiddens


def test_accelerators_do_not_wait_for_random_segmentations():
    assert for_corpus(200_000, 1, minutes=90).subword_alpha == 0
    assert for_corpus(200_000, 1, minutes=90, subword_alpha=0.3).subword_alpha == 0.3
