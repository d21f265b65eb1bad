"""The page behind a proxy that offers the server under a path."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2 as httpx
import pytest

from tests.serving.browser import Page

pytestmark = pytest.mark.slow

PREFIX = "/tools/translate"
TEXT = "友達と映画を見ました。"


@contextmanager
def proxied(server):
    """Address of the server behind a proxy that removes `PREFIX`; other paths are not found."""

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self):
            self.forward("GET")

        def do_POST(self):
            self.forward("POST")

        def forward(self, method):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if not self.path.startswith(f"{PREFIX}/"):
                self.send_error(404)
                return
            path = self.path.removeprefix(PREFIX)
            answer = httpx.request(method, server + path, content=body, timeout=60)
            self.send_response(answer.status_code)
            self.send_header("Content-Type", answer.headers["content-type"])
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{proxy.server_port}{PREFIX}/"
        proxy.shutdown()


def test_the_page_works_under_any_path(driver, server):
    with proxied(server) as url:
        page = Page(driver, url, 1280, "light")
        page.write(TEXT)
        assert page.translated() == f"1: {TEXT}"
        assert [entry for entry in driver.get_log("browser") if "/page/" in entry["message"]] == []
