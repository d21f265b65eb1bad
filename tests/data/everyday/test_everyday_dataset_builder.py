"""The builder writes the pairs of the grammar and reads them back."""

from itertools import islice

import tensorflow_datasets as tfds
from keras_attn_data.everyday import grammar
from keras_attn_data.everyday.everyday_dataset_builder import Builder


def test_the_builder_writes_all_pairs_and_reads_them_back(tmp_path, monkeypatch):
    few = list(islice(grammar.unique(grammar.drawn()), 389))
    monkeypatch.setattr(grammar, "pairs", lambda: iter(few))
    builder = Builder(data_dir=tmp_path)
    builder.download_and_prepare()
    assert list(builder.info.splits) == ["train"]
    assert str(builder.version) == "3.0.0"
    read = {
        (*(example[name].decode() for name in ("ja", "en", "combination")), example["weight"])
        for example in tfds.as_numpy(builder.as_dataset(split="train"))
    }
    assert read == {tuple(sentence) for sentence in few}
