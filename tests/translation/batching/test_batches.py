import collections.abc

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.batching.batches import Batches, Shard
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.pairs import Pair, WeightedPairs
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID
from keras_attn.translation.tokenization import tokenizer
from keras_attn.translation.tokenization.tokenizer import Tokenizers

CUT = 99_999  # what follows an id that sampling cut


class Spelt:
    """A tokenizer of texts that are their ids; sampling cuts an id in two by chance."""

    def encode(self, texts):
        return [[int(i) for i in text.split()] for text in texts]

    def sample(self, texts, alpha, seed):
        random = np.random.default_rng(seed)
        twice = [
            [(i, CUT) if random.random() < alpha else (i,) for i in t] for t in self.encode(texts)
        ]
        return [[i for piece in text for i in piece] for text in twice]


def part(sources, targets, weights=None):
    spelt = [[" ".join(map(str, ids)) for ids in side] for side in (sources, targets)]
    pairs = [Pair(*sides) for sides in zip(*spelt, strict=True)]
    return WeightedPairs(pairs, weights or [1.0] * len(pairs))


# Pairs as they are, so that each can be recognised.
PLAIN = {"batch_tokens": 512, "max_length": 64, "noise": 0, "concat_ratio": 0}


def batches_of(one, shard=None, **options):
    spelt = Tokenizers(Spelt(), Spelt())
    return Batches([one], spelt, Config(**{**PLAIN, **options}), shard)


def sentences(num_pairs, seed=3):
    """Ids whose lengths are spread as those of short real sentences are."""
    random = np.random.default_rng(seed)
    source_lengths = np.clip(random.lognormal(2.2, 0.45, num_pairs), 1, 60).astype(int)
    ratio = random.normal(1.05, 0.2, num_pairs)
    target_lengths = np.clip(source_lengths * ratio, 1, 60).astype(int)
    # Every sentence is a different one, so that pairs can be recognised again.
    sources = [[4 + i, *[4] * (n - 1)] for i, n in enumerate(source_lengths)]
    targets = [[4 + i, *[5] * (n - 1)] for i, n in enumerate(target_lengths)]
    return sources, targets


def make(num_pairs=997, batch_tokens=512, seed=0):
    return batches_of(part(*sentences(num_pairs)), batch_tokens=batch_tokens, seed=seed)


def epoch(batches, start=0):
    stream = batches.stream(start)
    return [next(stream) for _ in range(batches.steps_per_epoch)]


def strip(row):
    return [int(i) for i in row if i != PAD_ID]


def num_real(batch):
    return (batch.source != PAD_ID).sum() + (batch.target_out != PAD_ID).sum()


def test_an_epoch_holds_every_pair_once_with_its_marks():
    sources, targets = sentences(997)
    seen = [
        (strip(source), strip(target_in), strip(target_out))
        for batch in epoch(make())
        for source, target_in, target_out in zip(*batch, strict=True)
    ]
    expected = [
        ([*s, EOS_ID], [BOS_ID, *t], [*t, EOS_ID]) for s, t in zip(sources, targets, strict=True)
    ]
    assert sorted(seen) == sorted(expected)


def test_shapes_are_few_and_padding_is_at_most_a_few_percent_counted_on_the_batches():
    batches = make(20_000, batch_tokens=4096)
    found = epoch(batches)
    sizes = [batch.source.size + batch.target_in.size for batch in found]
    tokens = [num_real(batch) for batch in found]
    assert max(sizes) <= 4096
    assert tokens == [batches.num_tokens(step) for step in range(len(found))]
    padding = 1 - sum(tokens) / sum(sizes)
    assert batches.padding == pytest.approx(padding) and padding <= Config.max_padding
    occurring = {(batch.source.shape[1], batch.target_in.shape[1]) for batch in found}
    assert occurring == set(batches.shapes) and len(occurring) <= 80


def test_longer_pairs_are_left_out_and_counted():
    batches = batches_of(part([[5] * 3, [5] * 9], [[6] * 2, [6] * 2]), max_length=8)
    assert batches.num_too_long == 1
    assert [batch.source.tolist() for batch in epoch(batches)] == [[[5, 5, 5, EOS_ID]]]
    sampled = batches_of(part([[5] * 7] * 40, [[5] * 7] * 40), max_length=8, subword_alpha=0.5)
    for batch in epoch(sampled):
        assert batch.source.shape[1] <= 8 and batch.target_in.shape[1] <= 8
    with pytest.raises(ValueError, match="max_length=4 and 1 pairs"):
        batches_of(part([[5] * 9], [[6]]), max_length=4)


def assert_equal(batches, others):
    for batch, other in zip(batches, others, strict=True):
        for ids, same in zip(batch, other, strict=True):
            np.testing.assert_array_equal(ids, same)


def test_same_seed_same_stream_from_any_step_and_another_seed_or_epoch_another_order():
    batches, again, other = make(seed=1), make(seed=1), make(seed=2)
    steps = batches.steps_per_epoch
    two_epochs = epoch(batches) + epoch(batches, steps)
    assert_equal(two_epochs[steps + 2 :], epoch(again, steps + 2)[: steps - 2])
    firsts = [
        [batch.source[0, 0] for batch in found]
        for found in (epoch(batches), epoch(batches, steps), epoch(other))
    ]
    assert firsts[0] != firsts[1] and firsts[0] != firsts[2]


def test_dataset_gives_the_stream_in_any_shape():
    batches = make(200)
    dataset = batches.dataset().take(batches.steps_per_epoch)
    ids = tf.TensorSpec((None, None), tf.int32)
    assert dataset.element_spec == ((ids, ids), ids)
    assert_equal([(*inputs, target_out) for inputs, target_out in dataset], epoch(batches))


def times_seen(batches, number=0):
    """Number of times each pair appears in an epoch, by the first id of the source."""
    start = number * batches.steps_per_epoch
    return collections.Counter(int(row[0]) for b in epoch(batches, start) for row in b.source)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(0.01, 5.0), min_size=1, max_size=60), st.integers(0, 9))
def test_an_epoch_is_as_long_as_the_weights_together_and_fair(weights, seed):
    sources = [[4 + i, 4] for i in range(len(weights))]  # all of one shape
    batches = batches_of(part(sources, sources, weights), seed=seed)
    seen = times_seen(batches)
    assert sum(seen.values()) == max(1, round(sum(weights)))
    stretch = sum(seen.values()) / sum(weights)
    for i, weight in enumerate(weights):
        assert abs(seen[4 + i] - weight * stretch) < 1 + 1e-6


def test_a_pair_of_a_small_weight_comes_in_some_epochs():
    batches = batches_of(part(*sentences(900), [0.25] * 900))
    first, second = times_seen(batches, 0), times_seen(batches, 1)
    assert 200 < len(first) < 250 and set(first.values()) == {1} and first != second


def test_parts_follow_each_other_an_epoch_each_and_only_those_in_use_are_read_again():
    sources, targets = sentences(1000)
    read = []

    class Parts(collections.abc.Sequence):
        def __len__(self):
            return 3

        def __getitem__(self, number):
            read.append(number)
            return part(sources[number::3], targets[number::3])

    def streamed():
        config = Config(**{**PLAIN, "batch_tokens": 256})
        return Batches(Parts(), Tokenizers(Spelt(), Spelt()), config)

    batches = streamed()
    steps = batches.steps_per_epoch
    for number in range(3):
        ours = {4 + i for i in range(number, 1000, 3)}
        seen = set(times_seen(batches, number))
        assert seen <= ours
        assert len(seen) > 0.8 * len(ours)  # the last batches may be left out
    assert read == [0, 1, 2]
    assert_equal(epoch(streamed(), 2 * steps), epoch(batches, 2 * steps))
    assert read == [0, 1, 2, 0, 2]
    assert set(times_seen(batches, 3)) == set(times_seen(batches, 0))


def test_sampling_cuts_anew_each_time():
    sampled, plain = (
        batches_of(part(*sentences(300)), batch_tokens=256, subword_alpha=alpha)
        for alpha in (0.3, 0.0)
    )
    for one, other in zip(epoch(sampled), epoch(plain), strict=True):
        uncut = [[i for i in strip(row) if i != CUT] for row in one.source]
        assert uncut == [strip(row) for row in other.source]
    first, second = (
        {row[0]: strip(row) for batch in epoch(sampled, start) for row in batch.source}
        for start in (0, sampled.steps_per_epoch)
    )
    assert sum(first[key] != second[key] for key in first) > 100


TEXTS = [
    (f"私は{place}で{thing}を{number}個買いました。", f"I bought {number} {word} at {name}.")
    for place, name in (("東京", "Tokyo"), ("駅", "the station"), ("あの店", "that shop"))
    for thing, word in (("りんご", "apples"), ("コーヒーカップ", "coffee cups"))
    for number in range(2, 40)
]


@pytest.fixture(scope="module")
def trained():
    sides = zip(*TEXTS, strict=True)
    return Tokenizers(*(tokenizer.train(side, 400, character_coverage=1.0) for side in sides))


def real(trained, shard=None, **options):
    pairs = WeightedPairs([Pair(*texts) for texts in TEXTS], [1.0] * len(TEXTS))
    return Batches([pairs], trained, Config(**{**PLAIN, **options}), shard)


def texts_of(trained, batches, start=0):
    """Source and target of each row of an epoch, as text."""
    rows = [row for b in epoch(batches, start) for row in zip(b.source, b.target_out, strict=True)]
    sides = (
        cut.decode([strip(ids) for ids in side])
        for cut, side in zip(trained, zip(*rows, strict=True), strict=True)
    )
    return list(zip(*sides, strict=True))


def test_noise_changes_some_sources_and_no_target_and_leaves_the_number_of_batches(trained):
    options = {"noise": 0.3, "batch_tokens": 1024}
    batches, plain = real(trained, **options), real(trained, batch_tokens=1024)
    assert batches.steps_per_epoch == plain.steps_per_epoch
    source_of = {target: source for source, target in TEXTS}
    seen = texts_of(trained, batches)
    assert sorted(target for _, target in seen) == sorted(source_of)
    changed = [source for source, target in seen if source != source_of[target]]
    assert 0.1 * len(TEXTS) < len(changed) < 0.4 * len(TEXTS)
    again = texts_of(trained, batches, batches.steps_per_epoch)
    assert sorted(again) != sorted(seen)
    assert [num_real(b) for b in epoch(batches)] == [
        batches.num_tokens(step) for step in range(batches.steps_per_epoch)
    ]
    # Noisy sources are sampled too.
    sampled = real(trained, **options, subword_alpha=0.1)
    assert texts_of(trained, sampled) == seen
    assert sum(map(num_real, epoch(sampled))) > sum(map(num_real, epoch(batches)))


def test_joined_pairs_come_in_addition_and_are_tokenized_as_one_text(trained):
    batches = real(trained, concat_ratio=0.25, max_length=128)
    seen = texts_of(trained, batches)
    assert sorted(set(seen) & set(TEXTS)) == sorted(TEXTS)
    joined = [pair for pair in seen if pair not in TEXTS]
    assert len(joined) == pytest.approx(0.25 * len(TEXTS), abs=1)  # each bucket is rounded
    source_of = {target: source for source, target in TEXTS}
    for source, target in joined:
        sentences = [f"{sentence}." for sentence in target.rstrip(".").split(". ")]
        assert len(sentences) in (2, 3)
        assert source == "".join(source_of[sentence] for sentence in sentences)
    rows = {strip(row)[0]: strip(row) for b in epoch(batches) for row in b.source}
    for row in rows.values():
        (text,) = trained.source.decode([row])
        assert row == [*trained.source.encode([text])[0], EOS_ID]
    # Joined pairs that are too long are not counted.
    sides = zip(trained, zip(*TEXTS, strict=True), strict=True)
    longest = max(len(ids) for cut, side in sides for ids in cut.encode(side))
    batches = real(trained, concat_ratio=1.0, max_length=longest + 1)
    assert batches.num_too_long == 0
    assert sorted(texts_of(trained, batches)) == sorted(TEXTS)


def test_noise_and_joined_pairs_are_the_same_from_any_step(trained):
    options = {"noise": 0.3, "concat_ratio": 0.3, "subword_alpha": 0.2}
    one, again, other = (real(trained, **options, seed=seed) for seed in (0, 0, 5))
    steps = one.steps_per_epoch
    start = steps // 2
    two_epochs = epoch(one) + epoch(one, steps)
    assert_equal(two_epochs[steps + start :], epoch(again, steps + start)[:-start])
    found, others = next(again.stream(start)), next(other.stream(start))
    assert others.source.shape != found.source.shape or (others.source != found.source).any()


def test_batches_of_fixed_shapes_are_the_same_pairs_with_rows_of_padding():
    free, fixed = (
        batches_of(part(*sentences(300)), max_padding=0.2, shard=shard)
        for shard in (None, Shard(0, 1, num_devices=4))
    )
    for one, other in zip(epoch(free), epoch(fixed), strict=True):
        for ids, filled in zip(one, other, strict=True):
            np.testing.assert_array_equal(filled[: len(ids)], ids)
            assert (filled[len(ids) :] == PAD_ID).all()
            assert len(filled) % 4 == 0
    seen = dict.fromkeys((*one.source.shape, one.target_in.shape[1]) for one in epoch(fixed))
    assert len(seen) == len(fixed.shapes)
    assert fixed.fixed_shapes() == list(seen)
    with pytest.raises(ValueError, match="Without a shard"):
        free.fixed_shapes()


def test_the_shares_of_all_processes_are_the_batch():
    one, *two = (
        batches_of(part(*sentences(300)), shard=Shard(process, count, num_devices=2))
        for process, count in ((0, 1), (0, 2), (1, 2))
    )
    for whole, *shares in zip(*map(epoch, (one, *two)), strict=True):
        for ids, *blocks in zip(whole, *shares, strict=True):
            assert len(blocks[0]) == len(blocks[1])
            np.testing.assert_array_equal(np.concatenate(blocks), ids)


def test_neither_noise_nor_sampling_changes_fixed_shapes(trained):
    batches = real(trained, Shard(0, 1, 1), noise=1.0, subword_alpha=0.9, max_padding=0.2)
    shapes = {(*batch.source.shape, batch.target_in.shape[1]) for batch in epoch(batches)}
    assert {shape[1:] for shape in shapes} <= set(batches.shapes)
    assert len(shapes) <= len(batches.shapes)
