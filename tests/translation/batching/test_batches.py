import collections

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.batching import slots
from keras_attn.translation.batching.batches import Batches
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.cleaning import Pair
from keras_attn.translation.corpus.slices import Part
from keras_attn.translation.machine.processes import Shard
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID
from keras_attn.translation.tokenization import tokenizer
from keras_attn.translation.tokenization.tokenizer import Tokenizers

CUT = 99_999  # what follows an id that sampling cut


@pytest.fixture(autouse=True)
def without_slots(monkeypatch):
    """Numbers stay in the texts: these tests recognise pairs by them."""
    monkeypatch.setattr(slots, "in_part", lambda part, *_: part)


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
    return Part(pairs, weights or [1.0] * len(pairs))


# Pairs as they are, so that each can be recognised.
PLAIN = {"batch_tokens": 512, "max_pieces": 64, "noise": 0, "joined_share": 0}


def batches_of(*parts, shard=None, **options):
    reading = [lambda one=one: one for one in parts]
    return Batches(reading, Tokenizers(Spelt(), Spelt()), Config(**{**PLAIN, **options}), shard)


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


def make(num_pairs=997, batch_tokens=512, seed=0, max_pieces=64):
    return batches_of(
        part(*sentences(num_pairs)), batch_tokens=batch_tokens, max_pieces=max_pieces, seed=seed
    )


def epoch(batches, start=0):
    stream = batches.stream(start)
    return [next(stream) for _ in range(batches.steps_per_epoch)]


def strip(row):
    return [int(i) for i in row if i != PAD_ID]


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
    real = padded = 0
    occurring = set()
    for batch in epoch(batches):
        occurring.add((batch.source.shape[1], batch.target_in.shape[1]))
        for ids in (batch.source, batch.target_out):
            real += int((ids != PAD_ID).sum())
            padded += ids.size
    assert 1 - real / padded <= Config.max_padding
    assert batches.padding == pytest.approx(1 - real / padded)
    assert occurring == set(batches.shapes) and len(occurring) <= 80


def test_no_batch_is_over_the_budget():
    for batch in epoch(make(batch_tokens=300)):
        assert batch.source.size + batch.target_in.size <= 300


def test_longer_pairs_are_left_out_and_counted():
    batches = batches_of(part([[5] * 3, [5] * 9], [[6] * 2, [6] * 2]), max_pieces=8)
    assert batches.num_too_long == 1
    assert [batch.source.tolist() for batch in epoch(batches)] == [[[5, 5, 5, EOS_ID]]]
    with pytest.raises(ValueError, match="max_pieces=4 and 1 pairs"):
        batches_of(part([[5] * 9], [[6]]), max_pieces=4)


def test_same_seed_same_stream_from_any_step_and_another_seed_or_epoch_another_order():
    batches, again, other = make(seed=1), make(seed=1), make(seed=2)
    steps = batches.steps_per_epoch
    for one, two in zip(epoch(batches), epoch(again), strict=True):
        np.testing.assert_array_equal(one.source, two.source)
    whole, later = batches.stream(), again.stream(steps + 2)
    for _ in range(steps + 2):
        next(whole)
    for _ in range(3):
        np.testing.assert_array_equal(next(whole).target_out, next(later).target_out)
    firsts = [
        [batch.source[0, 0] for batch in found]
        for found in (epoch(batches), epoch(batches, steps), epoch(other))
    ]
    assert firsts[0] != firsts[1] and firsts[0] != firsts[2]


def test_num_tokens_counts_what_is_not_padding():
    batches = make()
    for step, batch in enumerate(epoch(batches)):
        real = (batch.source != PAD_ID).sum() + (batch.target_out != PAD_ID).sum()
        assert batches.num_tokens(step) == real


def test_dataset_gives_the_stream_and_is_traced_once():
    batches = make(200)
    traces = []

    @tf.function
    def count(source, target_in, target_out):
        traces.append(None)  # runs while tracing only
        return tf.size(source)

    dataset = batches.dataset().take(batches.steps_per_epoch)
    signature = dataset.element_spec
    compiled = count.get_concrete_function(*signature[0], signature[1])
    for ((source, target_in), target_out), batch in zip(dataset, epoch(batches), strict=True):
        compiled(source, target_in, target_out)
        np.testing.assert_array_equal(source, batch.source)
        np.testing.assert_array_equal(target_out, batch.target_out)
    assert len(traces) == 1


def times_seen(batches, number=0):
    """Number of times each pair appears in an epoch, by the first id of the source."""
    start = number * batches.steps_per_epoch
    return collections.Counter(int(row[0]) for b in epoch(batches, start) for row in b.source)


def test_weights_say_how_often_a_pair_comes():
    sources, targets = sentences(900)
    weights = [3.0] * 100 + [1.0] * 400 + [0.25] * 400
    batches = batches_of(part(sources, targets, weights))
    first, second = times_seen(batches, 0), times_seen(batches, 1)
    for seen in (first, second):
        counts = [seen[4 + i] for i in range(900)]
        assert set(counts[:100]) <= {2, 3, 4} and 290 <= sum(counts[:100]) <= 310
        assert set(counts[100:500]) <= {0, 1, 2} and 380 <= sum(counts[100:500]) <= 420
        assert set(counts[500:]) == {0, 1} and 85 <= sum(counts[500:]) <= 115
    assert first != second


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


def test_parts_follow_each_other_an_epoch_each_of_as_many_batches():
    sources, targets = sentences(1000)
    parts = [part(sources[i::3], targets[i::3]) for i in range(3)]
    batches = batches_of(*parts, batch_tokens=256)
    for number in range(4):
        ours = {4 + i for i in range(number % 3, 1000, 3)}
        seen = set(times_seen(batches, number))
        assert seen <= ours
        assert len(seen) > 0.8 * len(ours)  # the last batches may be left out
    assert set(times_seen(batches, 0)) == set(times_seen(batches, 3))


def test_only_parts_in_use_are_read_again_and_a_later_start_gives_the_same():
    sources, targets = sentences(600)
    read = []

    def reading(number):
        read.append(number)
        return part(sources[number::3], targets[number::3])

    def streamed():
        parts = [lambda number=number: reading(number) for number in range(3)]
        config = Config(**{**PLAIN, "batch_tokens": 256})
        return Batches(parts, Tokenizers(Spelt(), Spelt()), config)

    batches = streamed()
    steps = batches.steps_per_epoch
    whole = [b.source for b in epoch(batches) + epoch(batches, steps) + epoch(batches, 2 * steps)]
    assert read == [0, 1, 2]
    later = next(streamed().stream(2 * steps + 1)).source
    np.testing.assert_array_equal(later, whole[2 * steps + 1])
    assert read == [0, 1, 2, 0, 2]


def test_sampling_cuts_anew_each_time_and_alike_from_any_step():
    sources, targets = sentences(300)
    batches = batches_of(part(sources, targets), batch_tokens=256, subword_alpha=0.3)
    again = batches_of(part(sources, targets), batch_tokens=256, subword_alpha=0.3)
    plain = batches_of(part(sources, targets), batch_tokens=256)
    start = batches.steps_per_epoch // 2
    for one, other in zip(epoch(batches)[start:], epoch(again, start), strict=False):
        for ids, same in zip(one, other, strict=True):
            np.testing.assert_array_equal(ids, same)
    for one, other in zip(epoch(batches), epoch(plain), strict=True):
        assert [[i for i in strip(row) if i != CUT] for row in one.source] == [
            strip(row) for row in other.source
        ]
    first = {row[0]: strip(row) for b in epoch(batches) for row in b.source}
    second = {
        row[0]: strip(row) for b in epoch(batches, batches.steps_per_epoch) for row in b.source
    }
    assert sum(first[key] != second[key] for key in first) > 100


def test_sampling_never_makes_a_side_longer_than_the_limit():
    ids = [[5] * 7] * 40
    batches = batches_of(part(ids, ids), max_pieces=8, subword_alpha=0.5)
    for batch in epoch(batches):
        assert batch.source.shape[1] <= 8 and batch.target_in.shape[1] <= 8


def test_real_tokenizers_sample_what_decodes_to_the_same_text():
    texts = [f"the cat sat on {n} mats and {n} hats" for n in range(60)]
    cut = tokenizer.train(texts, vocab_size=320, character_coverage=1.0)
    pairs = Part([Pair(text, text) for text in texts], [1.0] * 60)
    config = Config(**PLAIN, seed=1, subword_alpha=0.1)
    batches = Batches([lambda: pairs], Tokenizers(cut, cut), config)
    said = [cut.decode([strip(row)])[0] for batch in epoch(batches) for row in batch.source]
    assert sorted(said) == sorted(texts)


TEXTS = [
    (f"私は{place}で{thing}を{number}個買いました。", f"I bought {number} {word} at {name}.")
    for place, name in (("東京", "Tokyo"), ("駅", "the station"), ("あの店", "that shop"))
    for thing, word in (("りんご", "apples"), ("コーヒーカップ", "coffee cups"))
    for number in range(2, 40)
]


@pytest.fixture(scope="module")
def trained():
    return Tokenizers(
        *(
            tokenizer.train(side, vocab_size=400, character_coverage=1.0)
            for side in zip(*TEXTS, strict=True)
        )
    )


def real(trained, shard=None, **options):
    pairs = Part([Pair(*texts) for texts in TEXTS], [1.0] * len(TEXTS))
    return Batches([lambda: pairs], trained, Config(**{**PLAIN, **options}), shard)


def texts_of(trained, batches, start=0):
    """Source and target of each row of an epoch, as text."""
    rows = [row for b in epoch(batches, start) for row in zip(b.source, b.target_out, strict=True)]
    sides = (
        cut.decode([strip(ids) for ids in side])
        for cut, side in zip(trained, zip(*rows, strict=True), strict=True)
    )
    return list(zip(*sides, strict=True))


def test_noise_changes_some_sources_and_no_target(trained):
    batches = real(trained, noise=0.3, batch_tokens=4096)
    source_of = {target: source for source, target in TEXTS}
    seen = texts_of(trained, batches)
    assert sorted(target for _, target in seen) == sorted(source_of)
    changed = [source for source, target in seen if source != source_of[target]]
    assert 0.2 * len(TEXTS) < len(changed) < 0.4 * len(TEXTS)
    again = texts_of(trained, batches, batches.steps_per_epoch)
    assert sorted(again) != sorted(seen)


def test_noise_leaves_the_number_of_batches_and_about_their_sizes(trained):
    batches, plain = real(trained, noise=1.0), real(trained)
    assert batches.steps_per_epoch == plain.steps_per_epoch
    for step, batch in enumerate(epoch(batches)):
        assert 0 < batch.source.size + batch.target_in.size <= 1.1 * 512
        tokens = (batch.source != PAD_ID).sum() + (batch.target_out != PAD_ID).sum()
        assert batches.num_tokens(step) == tokens


def test_noisy_sources_are_sampled_too(trained):
    options = {"noise": 0.5, "batch_tokens": 1024}
    sampled = texts_of(trained, real(trained, subword_alpha=0.1, **options))
    assert sampled == texts_of(trained, real(trained, **options))
    assert sampled != texts_of(trained, real(trained, batch_tokens=1024))


def test_joined_pairs_come_in_addition_and_are_tokenized_as_one_text(trained):
    batches = real(trained, joined_share=0.25, max_pieces=128)
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
    real_tokens = sum(map(batches.num_tokens, range(batches.steps_per_epoch)))
    padded = sum(b.source.size + b.target_out.size for b in epoch(batches))
    assert batches.padding == pytest.approx(1 - real_tokens / padded, abs=0.01)


def test_too_long_counts_no_joined_pair(trained):
    sides = zip(*TEXTS, strict=True)
    longest = max(
        len(ids) for cut, side in zip(trained, sides, strict=True) for ids in cut.encode(side)
    )
    batches = real(trained, joined_share=1.0, max_pieces=longest + 1)
    assert batches.num_too_long == 0
    assert sorted(texts_of(trained, batches)) == sorted(TEXTS)


def test_noise_and_joined_pairs_are_the_same_from_any_step(trained):
    options = {"noise": 0.3, "joined_share": 0.3, "subword_alpha": 0.2}
    steps = real(trained, **options).steps_per_epoch
    start = steps + steps // 2
    whole = real(trained, **options).stream()
    for _ in range(start):
        next(whole)
    later = real(trained, **options).stream(start)
    for _ in range(steps):
        for ids, same in zip(next(whole), next(later), strict=True):
            np.testing.assert_array_equal(ids, same)
    other = next(real(trained, **options, seed=5).stream(start))
    same = next(real(trained, **options).stream(start))
    assert other.source.shape != same.source.shape or (other.source != same.source).any()


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
