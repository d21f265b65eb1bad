import dataclasses

from keras_attn.translation.batching.grouped import MAX_GROWTH, Grouped
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.cleaning import Pair
from keras_attn.translation.corpus.slices import Part
from keras_attn.translation.tokenization.tokenizer import Tokenizers


class Characters:
    """Tokenizer of one piece a character."""

    def encode(self, texts):
        return [list(map(ord, text)) for text in texts]


CHARACTERS = Tokenizers(Characters(), Characters())
CONFIG = Config(batch_tokens=400, max_length=40, concat_ratio=0.2, noise=0.5)
PART = Part(
    [Pair(f"私は{'とても' * (n % 4)}{'あ' * (n % 3)}。", f"{n}.") for n in range(300)], [1.0] * 300
)


def group(part=PART, number=0, **options):
    return Grouped(part, number, CHARACTERS, dataclasses.replace(CONFIG, **options))


def test_ids_of_noisy_sources_are_those_of_the_text_and_fit_in_the_batch():
    grouped = group()
    noised = [(p.shape, one) for p in grouped.order(0) for one in p.noised]
    assert 0.4 < len(noised) / 360 < 0.6
    for (source_length, target_length), one in noised:
        assert one.text != grouped.pairs[one.pair].source
        assert one.ids == CHARACTERS.source.encode([one.text])[0]
        assert len(one.ids) < source_length <= CONFIG.max_length
        assert grouped.lengths[one.pair, 1] <= target_length


def test_batches_with_noise_are_not_empty_and_grow_by_a_tenth_at_most():
    for planned in group(noise=1).order(0):
        size = len(planned.clean) + len(planned.noised)
        assert 0 < size * sum(planned.shape) <= MAX_GROWTH * CONFIG.batch_tokens


def test_the_only_batch_is_padded_more_for_longer_sources_or_they_stay_clean():
    part = Part([Pair("私は、" * 3, "1")] * 20, [1.0] * 20)
    (planned,) = group(part, noise=1, concat_ratio=0).order(0)
    longest = max(len(one.ids) for one in planned.noised)
    assert planned.shape[0] == longest + 1 > 10
    (planned,) = group(part, noise=1, max_length=10, concat_ratio=0).order(0)
    assert planned.shape == (10, 2)
    assert len(planned.clean) > 0
    assert all(len(one.ids) <= 9 for one in planned.noised)


def test_each_part_is_joined_in_another_way_and_always_in_the_same():
    first, again, second = group(), group(), group(number=1)
    assert first.pairs[:300] == second.pairs[:300] == PART.pairs
    assert first.pairs == again.pairs != second.pairs
