import hashlib
import shutil
from types import SimpleNamespace

import pytest
from keras_attn_data import download

CONTENT = bytes(range(256)) * 1000
OTHER = CONTENT[::-1]


@pytest.fixture(autouse=True)
def path(site, monkeypatch):
    """Path of the file in the cache; the server has `CONTENT` at /file."""
    monkeypatch.setattr(download, "PAUSE", 0)
    site.files["/file"] = "application/gzip", CONTENT
    return site.cache / "file.tar.gz"


def interrupt(site, path, bytes_sent=1000):
    site.cuts = [bytes_sent, 0, 0, 0]
    with pytest.raises(download.DownloadError, match="ended early.*Run again to go on") as caught:
        download.fetch(f"{site.url}/file", path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)
    site.cuts, site.asked[:] = [], []


@pytest.mark.parametrize("headers", [{}, {"ETag": '"1"'}, {"Last-Modified": "yesterday"}])
def test_an_interrupted_download_is_resumed(site, path, headers):
    site.headers = headers | {"Content-Encoding": "x-gzip"}  # of the archive, not of the transfer
    if "Last-Modified" in headers:
        site.headers["ETag"] = 'W/"1"'  # too weak for a range
    interrupt(site, path)
    download.fetch(f"{site.url}/file", path)
    assert path.read_bytes() == CONTENT
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    if "Last-Modified" not in headers:
        assert site.asked == [("/file", "bytes=1000-")]
    download.fetch("http://127.0.0.1:9/file", path)  # which is there already
    path.unlink()
    interrupt(site, path)
    site.files["/other"] = "", OTHER[:500]  # another address, and shorter
    download.fetch(f"{site.url}/other", path)
    assert path.read_bytes() == OTHER[:500]


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("etag", ['"2"', ""])
def test_two_versions_of_a_file_are_not_joined(site, path, ranges, etag):
    site.headers = {"ETag": '"1"'} if etag else {}
    interrupt(site, path)
    site.headers, site.ranges = {"ETag": etag} if etag else {}, ranges
    site.files["/file"] = "", OTHER + b"longer"
    download.fetch(f"{site.url}/file", path)
    assert path.read_bytes() == OTHER + b"longer"


def test_a_published_hash_decides_on_a_part_that_nothing_is_known_of(site, path):
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    for content in (CONTENT, OTHER):
        path.parent.mkdir(exist_ok=True)
        path.with_name(f"{path.name}.part").write_bytes(content[:500])
        download.fetch(f"{site.url}/file", path, sha256)
        assert download.verify(path, sha256).read_bytes() == CONTENT
        path.unlink()
    assert [asked for _, asked in site.asked] == ["bytes=500-", "bytes=500-", None]


def test_one_sentence_names_the_reason_and_leaves_nothing_behind(site, path, monkeypatch):
    def refuse(match, url=f"{site.url}/file"):
        with pytest.raises(download.DownloadError, match=match) as caught:
            download.fetch(url, path)
        assert "\n" not in str(caught.value)
        assert not list(path.parent.iterdir())

    refuse("127.0.0.1.*: the server answered 404 Not Found. Run again", f"{site.url}/gone")
    refuse(
        "127.0.0.1:9: Connection refused .perhaps there is no network", "http://127.0.0.1:9/file"
    )
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=len(CONTENT) - 1))
    refuse("is full: file.tar.gz is not complete.*KERAS_ATTN_CACHE")
