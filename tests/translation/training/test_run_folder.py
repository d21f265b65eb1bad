import dataclasses
import json

import pytest

from keras_attn.translation import presets
from keras_attn.translation.config import Config
from keras_attn.translation.training import run_folder
from keras_attn.translation.training.checkpoints import PREFIX

CONFIG = Config(num_encoder_layers=1, num_decoder_layers=1, minutes=0.25, seed=1)
OTHER = dataclasses.replace(CONFIG, seed=2)


def save_checkpoint(folder):
    (folder / f"{PREFIX}1.index").touch()


def test_what_a_training_chose_by_its_time_stays_when_it_is_given_more(tmp_path):
    assert run_folder.unfinished_settings(tmp_path) == {}
    short = dataclasses.replace(CONFIG, steps=1, dropout=0.05)
    run_folder.prepare_folder(short, tmp_path).close()
    assert run_folder.unfinished_settings(tmp_path) == {}  # nothing was learnt yet
    save_checkpoint(tmp_path)
    speeds = {"float32": 2e11}
    longer = presets.for_corpus(
        200_000, speeds, minutes=600, **run_folder.unfinished_settings(tmp_path)
    )
    sizes = (longer.num_encoder_layers, longer.num_decoder_layers)
    assert (sizes, longer.dropout, longer.precision) == ((1, 1), 0.05, "float32")
    assert longer.subword_alpha == 0


def test_a_folder_takes_another_configuration_until_a_checkpoint_is_finished(tmp_path):
    run_folder.prepare_folder(CONFIG, tmp_path).close()
    (tmp_path / "checkpoint-4_temp").mkdir()
    (tmp_path / "checkpoint-4_temp" / "part").touch()
    run_folder.prepare_folder(OTHER, tmp_path).close()
    assert Config.load(tmp_path / run_folder.CONFIG) == OTHER
    assert not (tmp_path / "checkpoint-4_temp").exists()
    save_checkpoint(tmp_path)
    run_folder.prepare_folder(dataclasses.replace(OTHER, minutes=99), tmp_path).close()
    with pytest.raises(ValueError, match="another configuration: seed: 2 -> 1"):
        run_folder.prepare_folder(CONFIG, tmp_path)


def test_a_training_of_an_older_version_goes_on_if_nothing_else_differs(tmp_path):
    run_folder.prepare_folder(CONFIG, tmp_path).close()
    save_checkpoint(tmp_path)
    path = tmp_path / run_folder.CONFIG
    record = json.loads(path.read_text(encoding="utf-8"))
    del record["sampled_softmax_fraction"]
    path.write_text(json.dumps(record), encoding="utf-8")
    other = dataclasses.replace(CONFIG, sampled_softmax_fraction=0.5)
    with pytest.raises(
        ValueError, match="another configuration: sampled_softmax_fraction: 0.25 -> 0.5"
    ):
        run_folder.prepare_folder(other, tmp_path)
    run_folder.prepare_folder(CONFIG, tmp_path).close()


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    run_folder.check_writable(tmp_path / "new" / "folder")
    assert not (tmp_path / "new").exists()
    run_folder.check_writable(tmp_path)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="`--out` must be a folder that can be written"):
        run_folder.check_writable(tmp_path / "file" / "folder")


def test_a_finished_training_leaves_nothing_or_a_warning(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "training"
    run_folder.remove(folder, run_folder.prepare_folder(CONFIG, folder))
    assert not folder.exists()

    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    lock = run_folder.prepare_folder(CONFIG, folder)
    monkeypatch.setattr(run_folder.shutil, "rmtree", refuse)
    run_folder.remove(folder, lock)
    warning = capsys.readouterr().err
    assert warning.startswith("warning: the folder of the finished training cannot be removed")
    assert str(folder) in warning and warning.count("\n") == 1


def test_second_training_in_a_folder_is_refused(tmp_path):
    lock = run_folder.prepare_folder(CONFIG, tmp_path)
    for config in (CONFIG, OTHER):
        with pytest.raises(ValueError, match="Another training is running in"):
            run_folder.prepare_folder(config, tmp_path)
    assert Config.load(tmp_path / run_folder.CONFIG) == CONFIG
    lock.close()
    run_folder.prepare_folder(OTHER, tmp_path).close()
