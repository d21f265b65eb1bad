import shlex
import shutil
import sys
from pathlib import Path

from keras_attn.translation import next_steps as module
from keras_attn.translation.next_steps import next_steps, program


def test_commands_can_be_pasted_whatever_the_names():
    version = Path("my models") / "ja-en" / "3"
    _, *commands = next_steps(version, "今日は'いい'天気だ").splitlines()
    translate, serve, report = map(shlex.split, commands)
    assert translate[-3:] == ["translate", "my models/ja-en", "今日は'いい'天気だ"]
    assert serve[-2:] == ["serve", "my models/ja-en"]
    assert report[-1] == "my models/ja-en/3/report.md"


def test_the_program_is_the_one_of_this_environment(monkeypatch, tmp_path):
    beside = Path(sys.executable).with_name("keras-attn")
    monkeypatch.setattr(shutil, "which", lambda name: str(beside))
    assert program() == "keras-attn"
    for found in (None, str(tmp_path / "keras-attn")):
        monkeypatch.setattr(module.shutil, "which", lambda name, found=found: found)
        assert program() == f"{sys.executable} -m keras_attn"
