import collections

import pytest

from keras_attn.translation.corpus import slices
from keras_attn.translation.corpus.load import load_corpus
from keras_attn.translation.corpus.splits import normalise

NUM_PAIRS, NUM_PARTS = 1200, 5


# A set that is larger than memory, if memory holds 250 pairs; some sentences come often.
PAIRS = [(f"箱{i % 900}を開ける。", f"I open box {i % 700}.") for i in range(NUM_PAIRS)]


@pytest.fixture
def large_set(translation_set, monkeypatch):
    monkeypatch.setattr(slices, "PART_PAIRS", 250)
    return f"tfds:{translation_set(PAIRS)}"


def test_a_large_set_is_read_in_parts_that_share_no_held_out_sentence(large_set, write):
    held = [f"{ja}\t-" for ja, _ in PAIRS[::200]] + [f"-\t{en}" for _, en in PAIRS[7::200]]
    found = load_corpus(large_set, hold_out=write(held))  # by source and by target
    assert found.counts["parts"] == len(found.parts) == NUM_PARTS
    assert found.counts["read"] == NUM_PAIRS // NUM_PARTS
    read = [part().pairs for part in found.parts]
    assert read[0] == found.train
    assert found.num_train == pytest.approx(sum(map(len, read)), rel=0.1)
    train = [pair for part in read for pair in part]
    held_out = found.validation + found.test + found.held_out[0].examples
    sources = {normalise(example.source) for example in held_out}
    targets = {normalise(text) for example in held_out for text in example.references}
    assert len(sources) >= 2
    assert not sources & {normalise(pair.source) for pair in train}
    assert not targets & {normalise(pair.target) for pair in train}
    # Nothing else is missing: what shares no sentence with them is there.
    missing = set(PAIRS) - set(train)
    assert all(normalise(s) in sources or normalise(t) in targets for s, t in missing)


def test_a_small_corpus_beside_a_large_set_is_dealt_out_to_its_parts(large_set, write):
    own = write([f"鍵{i}を回す。\tI turn key {i}." for i in range(100)])
    found = load_corpus(f"{large_set} + {own}=2")
    weights = collections.Counter()
    for part in found.parts:
        pairs = part()
        ours = [w for pair, w in zip(*pairs, strict=True) if pair.source.startswith("鍵")]
        assert 10 <= len(ours) <= 30 and set(ours) == {2.0}
        weights.update(pair for pair, w in zip(*pairs, strict=True) if w == 2.0)
    assert set(weights.values()) == {1} and len(weights) > 90
