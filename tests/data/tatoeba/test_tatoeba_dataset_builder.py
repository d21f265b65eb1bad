import pytest
import tensorflow_datasets as tfds
from keras_attn_data.tatoeba import tatoeba_dataset_builder

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


def test_pairs_with_both_sides_come_out_unchanged(make_archive, tmp_path):
    make_archive(SENTENCES)
    builder, examples = read(tmp_path / "prepared")
    found = {int(e["id"]): (e["ja"].decode(), e["en"].decode()) for e in examples}
    assert found == {7: ("赤い屋根", "red roofs"), 17: ("白い 屋根-", "white - roofs ")}
    assert list(builder.info.splits) == ["train"]


def test_the_data_set_names_its_origin_and_licence(make_archive, tmp_path):
    make_archive(SENTENCES)
    info = tatoeba_dataset_builder.Builder(data_dir=tmp_path / "prepared").info
    assert "Tatoeba project" in info.description
    assert "CC BY 2.0 FR" in info.description
    assert info.homepage == "https://tatoeba.org"
    assert "tatoeba" in info.citation


def test_what_is_prepared_is_read_again_without_the_archive(make_archive, tmp_path):
    path = make_archive(SENTENCES)
    read(tmp_path / "prepared")
    path.unlink()
    _, examples = read(tmp_path / "prepared")
    assert len(examples) == 2


def test_an_error_of_the_archive_arrives_as_it_is(make_archive, tmp_path):
    make_archive(SENTENCES).write_bytes(b"spoilt")
    with pytest.raises(ValueError, match="Delete the file"):
        read(tmp_path / "prepared")
