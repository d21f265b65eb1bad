"""The folder of a training: other configurations, full disks and other processes are refused."""

import subprocess

import pytest
from train_command import TINY, command, write_corpus


@pytest.fixture(scope="module")
def corpus_file(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus") / "文.tsv")


def test_unfinished_training_of_another_configuration_is_refused(tmp_path):
    from keras_attn.translation.config import Config
    from keras_attn.translation.training.checkpoints import PREFIX
    from keras_attn.translation.training.run_folder import prepare_folder

    prepare_folder(Config(seed=1), tmp_path)
    prepare_folder(Config(seed=2), tmp_path)  # nothing was learnt yet
    (tmp_path / f"{PREFIX}7.index").touch()
    prepare_folder(Config(seed=2, minutes=99), tmp_path)
    with pytest.raises(ValueError, match="another configuration: seed: 2 -> 3"):
        prepare_folder(Config(seed=3), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("size", ["400k", "1200k", "4m"])  # for tokenizers, checkpoint, model
def test_full_disk_ends_in_one_sentence(size, corpus_file, tmp_path):
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", tmp_path]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk needs the right to mount one")
    try:
        arguments = command("--data", corpus_file, "--out", tmp_path / "out", *TINY)
        result = subprocess.run(arguments, capture_output=True, text=True, timeout=300)
        left = [path.name for path in (tmp_path / "out").iterdir()]
    finally:
        subprocess.run(["umount", tmp_path], check=True)
    assert result.returncode == 2, result.stderr
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1 and "Traceback" not in result.stderr
    assert left == ["training"]


def test_second_training_in_a_folder_is_refused(tmp_path):
    from keras_attn.translation.config import Config
    from keras_attn.translation.training.run_folder import prepare_folder

    lock = prepare_folder(Config(seed=1), tmp_path)
    for seed in (1, 2):
        with pytest.raises(ValueError, match="Another training is running in"):
            prepare_folder(Config(seed=seed), tmp_path)
    assert Config.load(tmp_path / "config.json").seed == 1
    lock.close()
    prepare_folder(Config(seed=2), tmp_path)
    assert Config.load(tmp_path / "config.json").seed == 2
