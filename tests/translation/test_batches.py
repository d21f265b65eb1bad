import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.batches import MAX_PADDING, Batches, plan_shapes
from keras_attn.translation.tokenizer import BOS_ID, EOS_ID, PAD_ID


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
    return Batches(*sentences(num_pairs), batch_tokens, max_pieces, seed)


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


def test_padding_is_at_most_a_tenth_counted_on_the_batches_themselves():
    batches = make(20_000, batch_tokens=4096)
    real = padded = 0
    for batch in epoch(batches):
        for ids in (batch.source, batch.target_out):
            real += int((ids != PAD_ID).sum())
            padded += ids.size
    assert 1 - real / padded <= MAX_PADDING
    assert batches.padding == pytest.approx(1 - real / padded)


def test_shapes_are_few():
    batches = make(20_000, batch_tokens=4096)
    occurring = {(b.source.shape[1], b.target_in.shape[1]) for b in epoch(batches)}
    assert occurring == set(batches.shapes)
    assert len(occurring) <= 40


def test_no_batch_is_over_the_budget():
    for batch in epoch(make(batch_tokens=300)):
        assert batch.source.size + batch.target_in.size <= 300


def test_longer_pairs_are_left_out_and_counted():
    batches = Batches([[5] * 3, [5] * 9], [[6] * 2, [6] * 2], 64, max_pieces=8, seed=0)
    assert batches.num_too_long == 1
    assert [batch.source.tolist() for batch in epoch(batches)] == [[[5, 5, 5, EOS_ID]]]


def test_no_pair_short_enough_is_an_error():
    with pytest.raises(ValueError, match="max_pieces=4 and 1 pairs"):
        Batches([[5] * 9], [[6]], 64, max_pieces=4, seed=0)


def test_same_seed_same_stream_and_another_seed_another_order():
    first, again, other = epoch(make(seed=1)), epoch(make(seed=1)), epoch(make(seed=2))
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.source, two.source)
    assert any(
        one.source.shape != two.source.shape or (one.source != two.source).any()
        for one, two in zip(first, other, strict=True)
    )


def test_epochs_differ_in_order():
    batches = make()
    second = epoch(batches, start=batches.steps_per_epoch)
    first = epoch(batches)
    assert [b.source[0, 0] for b in first] != [b.source[0, 0] for b in second]


def test_stream_from_a_step_goes_on_where_the_whole_stream_is():
    batches = make()
    start = batches.steps_per_epoch + 2
    whole = batches.stream()
    for _ in range(start):
        next(whole)
    later = make().stream(start)
    for _ in range(3):
        np.testing.assert_array_equal(next(whole).target_out, next(later).target_out)


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


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=80),
    st.floats(0.0, 0.5),
)
def test_groups_partition_the_pairs_within_the_padding(pairs, max_padding):
    lengths = np.array(pairs)
    groups = plan_shapes(lengths, max_padding)
    assert sorted(np.concatenate(groups).tolist()) == list(range(len(lengths)))
    padded = sum(len(g) * lengths[g].max(axis=0).sum() for g in groups)
    assert padded - lengths.sum() <= max_padding * padded + 1e-9
