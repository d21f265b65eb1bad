import collections

import pytest
import tensorflow_datasets as tfds

from keras_attn.translation import corpus, parts
from keras_attn.translation.splits import normalise

NUM_PAIRS, NUM_PARTS = 1200, 5


class MadeUpLargeSet(tfds.core.GeneratorBasedBuilder):
    """A set that is larger than memory, if memory holds 250 pairs; some sentences come often."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return self.dataset_info_from_configs(
            features=tfds.features.Translation(languages=("ja", "en"))
        )

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        for i in range(NUM_PAIRS):
            yield i, {"ja": f"箱{i % 900}を開ける。", "en": f"I open box {i % 700}."}


@pytest.fixture
def load(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_ATTN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(parts, "PART_PAIRS", 250)
    return corpus.load


def test_a_large_set_is_read_in_parts_that_share_no_held_out_sentence(load):
    found = load("tfds:made_up_large_set")
    assert found.counts["parts"] == len(found.parts) == NUM_PARTS
    assert found.counts["read"] == NUM_PAIRS // NUM_PARTS
    read = [part().pairs for part in found.parts]
    assert read[0] == found.train
    assert found.num_train == pytest.approx(sum(map(len, read)), rel=0.1)
    train = [pair for part in read for pair in part]
    held_out = found.validation + found.test
    sources = {normalise(example.source) for example in held_out}
    targets = {normalise(text) for example in held_out for text in example.references}
    assert len(sources) >= 2
    assert not sources & {normalise(pair.source) for pair in train}
    assert not targets & {normalise(pair.target) for pair in train}
    # Nothing else is missing: what shares no sentence with them is there.
    everything = {(f"箱{i % 900}を開ける。", f"I open box {i % 700}.") for i in range(NUM_PAIRS)}
    missing = everything - set(train)
    assert all(normalise(s) in sources or normalise(t) in targets for s, t in missing)


def test_a_small_corpus_beside_a_large_set_is_dealt_out_to_its_parts(load, tmp_path):
    own = tmp_path / "own.tsv"
    own.write_text("".join(f"鍵{i}を回す。\tI turn key {i}.\n" for i in range(100)))
    found = load(f"tfds:made_up_large_set + {own}=2")
    weights = collections.Counter()
    for part in found.parts:
        pairs = part()
        ours = [w for pair, w in zip(*pairs, strict=True) if pair.source.startswith("鍵")]
        assert 10 <= len(ours) <= 30 and set(ours) == {2.0}
        weights.update(pair for pair, w in zip(*pairs, strict=True) if w == 2.0)
    assert set(weights.values()) == {1} and len(weights) > 90
