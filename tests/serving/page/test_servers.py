"""The page of several models, behind a proxy, and its programs."""

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2 as httpx
import pytest
from processes import run

from keras_attn.serving import website
from tests.serving.browser import Page

pytestmark = pytest.mark.slow

PREFIX = "/tools/translate"
TEXTS = ["猫がいる。", 'It\'s "quoted", $HOME `pwd` \\n\n二行目']


def test_links_lead_to_each_model_and_to_the_project(
    driver, write_echo, tmp_path, start_server, monkeypatch
):
    monkeypatch.setattr(website, "metadata", lambda name: {"Home-page": "https://example.org/k"})
    for name in ("ja-en", "other"):
        write_echo(tmp_path / name, 1)
    with start_server(tmp_path) as url:
        page = Page(driver, url)
        links = page.all("#models a")
        assert [link.text for link in links] == ["ja-en", "other"]
        assert links[0].get_attribute("aria-current") == "page"
        more = [link.get_attribute("href") for link in page.all("#links a")]
        assert more[:2] == ["https://example.org/k", "https://example.org/k#learn"]
        links[1].click()
        page.wait("return document.getElementById('model').textContent === 'other, version 1'")
        page.translate("猫", "1: 猫")


def test_the_page_works_behind_a_proxy_that_offers_the_server_under_a_path(driver, server):
    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if not self.path.startswith(f"{PREFIX}/"):
                self.send_error(404)
                return
            url = server + self.path.removeprefix(PREFIX)
            answer = httpx.request(self.command, url, content=body, timeout=60)
            self.send_response(answer.status_code)
            self.send_header("Content-Type", answer.headers["content-type"])
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        page = Page(driver, f"http://127.0.0.1:{proxy.server_port}{PREFIX}/")
        page.translate(TEXTS[0], f"1: {TEXTS[0]}")
        assert [entry for entry in driver.get_log("browser") if "/page/" in entry["message"]] == []
        proxy.shutdown()


def test_the_programs_that_the_page_shows_get_the_translation(page, ask):
    assert page.shown("models") == []  # one model needs no links
    page.one("program").click()
    for text in TEXTS:
        page.set_text(text)
        shown = {name: page.one(name).get_property("textContent") for name in ("curl", "python")}
        expected = ask("serving_default", text)
        assert run([sys.executable, "-c", shown["python"]]).stdout == f"{expected}\n"
        # The shell reads the command as one program and its words.
        command = shown["curl"].replace("curl", "printf '%s\\0'", 1)
        words = run(["sh", "-c", command]).stdout.split("\0")
        assert words[0] == "-d" and words[2].endswith("/v1/models/ja-en:predict")
        assert page.run("return JSON.parse(arguments[0]).instances[0]", words[1]) == text
