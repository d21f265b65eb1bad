import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.batching.buckets import plan_buckets


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=80),
    st.floats(0.0, 0.5),
)
def test_groups_partition_the_pairs_within_the_padding(pairs, max_padding):
    lengths = np.array(pairs)
    groups = plan_buckets(lengths, max_padding)
    assert sorted(np.concatenate(groups).tolist()) == list(range(len(lengths)))
    padded = sum(len(g) * lengths[g].max(axis=0).sum() for g in groups)
    assert padded - lengths.sum() <= max_padding * padded + 1e-9
