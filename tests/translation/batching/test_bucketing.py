import dataclasses

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.batching.bucketing import MAX_GROWTH, BucketedCorpus, plan_buckets
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.pairs import Pair, WeightedPairs
from keras_attn.translation.text.kana import Kana
from keras_attn.translation.tokenization.tokenizer import Tokenizers


class Characters:
    """Tokenizer of one piece a character."""

    def encode(self, texts):
        return [list(map(ord, text)) for text in texts]


CHARACTERS = Tokenizers(Characters(), Characters())
CONFIG = Config(batch_tokens=400, max_length=40, concat_ratio=0.2, noise=0.5)
PART = WeightedPairs(
    [Pair(f"私は{'とても' * (n % 4)}{'あ' * (n % 3)}。", f"{n}.") for n in range(300)], [1.0] * 300
)


def bucketed(part=PART, number=0, **options):
    return BucketedCorpus(part, number, CHARACTERS, dataclasses.replace(CONFIG, **options))


def test_ids_of_noisy_sources_are_those_of_the_text_and_fit_in_the_batch():
    corpus = bucketed()
    noised = [(p.shape, one) for p in corpus.plans(0) for one in p.noised]
    assert 0.4 < len(noised) / 360 < 0.6
    for (source_length, target_length), one in noised:
        assert one.text != corpus.pairs[one.pair].source
        assert one.ids == CHARACTERS.source.encode([one.text])[0]
        assert len(one.ids) < source_length <= CONFIG.max_length
        assert corpus.lengths[one.pair, 1] <= target_length


def test_batches_with_noise_are_not_empty_and_grow_by_a_tenth_at_most():
    for plan in bucketed(noise=1).plans(0):
        size = len(plan.clean) + len(plan.noised)
        assert 0 < size * sum(plan.shape) <= MAX_GROWTH * CONFIG.batch_tokens


def test_some_sources_are_written_with_the_given_kana():
    part = WeightedPairs([Pair(f"薔薇{n}本", "1") for n in range(200)], [1.0] * 200)
    corpus = BucketedCorpus(part, 0, CHARACTERS, CONFIG, kana=Kana({"薔薇": "ばら"}))
    assert any("ばら" in one.text for plan in corpus.plans(0) for one in plan.noised)
    assert not any("ばら" in one.text for plan in bucketed(part).plans(0) for one in plan.noised)


def test_the_only_batch_is_padded_more_for_longer_sources_or_they_stay_clean():
    part = WeightedPairs([Pair("私は、" * 3, "1")] * 20, [1.0] * 20)
    (plan,) = bucketed(part, noise=1, concat_ratio=0).plans(0)
    longest = max(len(one.ids) for one in plan.noised)
    assert plan.shape[0] == longest + 1 > 10
    (plan,) = bucketed(part, noise=1, max_length=10, concat_ratio=0).plans(0)
    assert plan.shape == (10, 2)
    assert len(plan.clean) > 0
    assert all(len(one.ids) <= 9 for one in plan.noised)


def test_each_part_is_joined_in_another_way_and_always_in_the_same():
    first, again, second = bucketed(), bucketed(), bucketed(number=1)
    assert first.pairs[:300] == second.pairs[:300] == PART.pairs
    assert first.pairs == again.pairs != second.pairs


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=80),
    st.floats(0.0, 0.5),
)
def test_buckets_partition_the_pairs_within_the_padding(pairs, max_padding):
    lengths = np.array(pairs)
    buckets = plan_buckets(lengths, max_padding)
    assert sorted(np.concatenate(buckets).tolist()) == list(range(len(lengths)))
    padded = sum(len(b) * lengths[b].max(axis=0).sum() for b in buckets)
    assert padded - lengths.sum() <= max_padding * padded + 1e-9
