import pytest
import tensorflow_datasets as tfds
from keras_attn_data.tatoeba import archive, tatoeba_dataset_builder

SENTENCES = (
    "7\t赤い屋根\tred roofs\t-\t-\n"
    "11\t青い屋根\t-\tblauwe daken\t-\n"
    "13\t-\tgreen roofs\t-\t-\n"
    "17\t白い 屋根-\twhite - roofs \t-\tsomeone (CC0)\n"
)


def read(folder):
    builder = tatoeba_dataset_builder.Builder(data_dir=folder)
    builder.download_and_prepare()
    return builder, list(tfds.as_numpy(builder.as_dataset(split="train")))


def test_pairs_with_both_sides_come_out_unchanged_and_are_kept(make_archive, tmp_path):
    path = make_archive(archive.MEMBER, SENTENCES)
    builder, examples = read(tmp_path / "prepared")
    found = {int(e["id"]): (e["ja"].decode(), e["en"].decode()) for e in examples}
    assert found == {7: ("赤い屋根", "red roofs"), 17: ("白い 屋根-", "white - roofs ")}
    assert list(builder.info.splits) == ["train"]
    path.unlink()
    _, examples = read(tmp_path / "prepared")
    assert len(examples) == 2
    # The origin and the licence are named.
    assert "Tatoeba project" in builder.info.description
    assert "CC BY 2.0 FR" in builder.info.description
    assert builder.info.homepage == "https://tatoeba.org"
    assert "tatoeba" in builder.info.citation


def test_an_error_of_the_archive_arrives_as_it_is(make_archive, tmp_path):
    make_archive(archive.MEMBER, SENTENCES).write_bytes(b"spoilt")
    with pytest.raises(ValueError, match="Delete the file"):
        read(tmp_path / "prepared")
