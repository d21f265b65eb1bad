import re
import subprocess
import sys

import pytest
import tensorflow as tf

from keras_attn.translation import versions
from keras_attn.translation.training import run_folder
from keras_attn.translation.versions import CONFIG, EXTRA, newest_version

DATA = "variables/variables.data-00000-of-00001"
NEEDED = ("saved_model.pb", "variables/variables.index", DATA, f"{EXTRA}/{CONFIG}")


def make_version(folder, has_sizes=True):
    for name in NEEDED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}")
    if has_sizes:
        versions.write_sizes(folder)


@pytest.mark.parametrize("has_sizes", [True, False])
@pytest.mark.parametrize("name", NEEDED)
def test_a_folder_that_is_not_whole_hides_no_good_version(tmp_path, name, has_sizes):
    for number in (2, 10, 11):
        make_version(tmp_path / str(number), has_sizes)
    (tmp_path / "12").mkdir()
    (tmp_path / "13").touch()
    (tmp_path / "11" / name).rename(tmp_path / "elsewhere")
    with pytest.warns(UserWarning, match="`.*10` is used, because newer .*12.*11` ") as told:
        assert newest_version(tmp_path) == tmp_path / "10"
    assert "12` (saved_model.pb is missing), `" in str(told[0].message)
    assert f"11` ({name.split('-')[0]}" in str(told[0].message)
    assert versions.version_before(tmp_path / "12") == tmp_path / "10"
    with pytest.raises(ValueError, match="holds no exported translator|no exported model"):
        newest_version(tmp_path / "11")


def test_a_copy_that_was_cut_off_hides_no_good_version(tmp_path):
    make_version(tmp_path / "1")
    for name, reason in (
        (DATA, f"{DATA} has 1 bytes of 2"),
        ("saved_model.pb", "saved_model.pb has 1 bytes of 2"),
        (f"{EXTRA}/{CONFIG}", "config.json is cut off"),
        (f"{EXTRA}/sizes.json", "sizes.json is cut off"),
    ):
        make_version(tmp_path / "2")
        path = tmp_path / "2" / name
        path.write_bytes(path.read_bytes()[:1])
        with pytest.warns(UserWarning, match=reason):
            assert newest_version(tmp_path) == tmp_path / "1"
        with pytest.raises(ValueError, match=f"only a part .*{reason}.*Copy the whole folder"):
            newest_version(tmp_path / "2")
    (tmp_path / "2" / EXTRA / "sizes.json").write_text("null")
    with pytest.raises(ValueError, match="sizes.json is cut off"):
        newest_version(tmp_path / "2")


def test_places_without_a_model_are_refused(tmp_path):
    with pytest.raises(ValueError, match="must be a folder that `keras-attn train` wrote"):
        newest_version(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="There is no exported model in the folder"):
        newest_version(tmp_path)
    (tmp_path / "3").mkdir()
    with pytest.raises(ValueError, match="holds no exported translator"):
        newest_version(tmp_path)


def test_versions_are_numbers_and_what_lies_beside_them_is_none(tmp_path):
    assert versions.next_version(tmp_path) == tmp_path / "1"
    for name in ("0", "9", "10", ".export-11", "training", "011", "１２"):
        make_version(tmp_path / name)
    (tmp_path / "12").touch()
    assert newest_version(tmp_path) == tmp_path / "10"
    assert newest_version(tmp_path / "9") == tmp_path / "9"
    assert versions.next_version(tmp_path) == tmp_path / "13"  # no export can replace the file 12
    assert versions.version_before(tmp_path / "10") == tmp_path / "9"
    assert versions.version_before(tmp_path / "9") == tmp_path / "0"
    assert versions.version_before(tmp_path / "0") is None


def test_folders_of_killed_exports_are_removed_and_others_are_kept(tmp_path):
    code = (
        "import os, sys; from pathlib import Path; from keras_attn.translation import versions\n"
        "with versions.temporary_folder(Path(sys.argv[1])): os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path])
    (killed,) = tmp_path.iterdir()
    with versions.temporary_folder(tmp_path) as first:
        assert not killed.exists()
        with versions.temporary_folder(tmp_path) as second:
            assert {*tmp_path.iterdir()} == {first, second}
        first.rename(tmp_path / "1")
    assert [path.name for path in tmp_path.iterdir()] == ["1"]


def test_a_path_that_tensorflow_would_read_as_a_pattern_is_refused(tmp_path):
    for name in ("a[b", "a\\b"):
        folder = tmp_path / name / "ja-en"
        for use in (newest_version, run_folder.check_writable):
            with pytest.raises(
                ValueError, match=re.escape(f"must not have the character {name[1]}:")
            ):
                use(folder)
        assert not folder.parent.exists()


def test_a_model_that_cannot_be_used_is_refused_in_one_sentence(tmp_path):
    module = tf.Module()
    module.answer = tf.function(lambda: {"number": tf.constant(1)}, input_signature=[])
    tf.saved_model.save(module, str(tmp_path), signatures={"answer": module.answer})
    assert set(versions.load(tmp_path, ["answer"]).signatures) == {"answer"}
    with pytest.raises(ValueError, match="has no signature nbest, score.: train a new model, or"):
        versions.load(tmp_path, ["score", "answer", "nbest"])
    (tmp_path / "saved_model.pb").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="damaged or was exported by an older version") as error:
        versions.load(tmp_path, [])
    assert "\n" not in str(error.value)
