import json
from pathlib import Path
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest

from tests.serving import browser

FAKE_SERVER = Path(__file__).with_name("fake_server.js").read_text("utf-8")
FAILED = "{ status: 504, body: { error: 'It took too long.' } }"


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    if browser.missing():
        pytest.skip(f"the page is tested in a browser; {browser.missing()}")
    with browser.chromium(tmp_path_factory.mktemp("chromium")) as driver:
        yield driver


@pytest.fixture
def screen():
    """Width and colour scheme, where they make no difference."""
    return 1280, "light"


@pytest.fixture
def watched(driver, server):
    """Afterwards there is no error on the console and nothing was asked of another server."""
    driver.get_log("browser"), driver.get_log("performance")  # of the test before
    yield driver
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    urls = [request["request"]["url"] for request in asked]
    # `chrome:` and `data:`, of which the browser makes its own first page, are not hosts.
    hosts = {urlsplit(url).netloc for url in urls if url.startswith(("http", "ws"))}
    assert hosts == {urlsplit(server).netloc}


@pytest.fixture
def visited(watched, server, screen):
    """The page of a first visit, with its example."""
    watched.get("about:blank")
    return browser.Page(watched, server, *screen)


@pytest.fixture
def page(visited):
    """The page, just opened, without a text."""
    visited.set_text("")
    return visited


@pytest.fixture
def ask(server):
    """`ask(signature, text)`: what the server answers without the page."""

    def ask(signature, text):
        body = {"signature_name": signature, "instances": [text]}
        response = httpx.post(f"{server}/v1/models/ja-en:predict", json=body, timeout=60)
        return response.json()["predictions"][0]

    return ask


@pytest.fixture
def fake_server(page):
    """`fake_server(nbest=..., attend=..., stream=..., fails_at=0)`: from now on, these answer.

    They are JavaScript, with `text`, `signature` and `n`, the number of the request; see
    fake_server.js. By default the translation is the text itself.
    """

    def fake_server(nbest="nbest(text)", attend="attend(text)", stream="null", fails_at=0):
        page.run(
            f"""const answer = (signature, text, n) =>
                n === {fails_at} ? {FAILED}
                : signature === "stream" ? {stream}
                : signature === "nbest" ? {nbest} : {attend};
            {FAKE_SERVER}"""
        )

    return fake_server


@pytest.fixture
def told(page, fake_server):
    """The page has the attention of a model that tells everything, and goes on with z."""
    fake_server(
        nbest='nbest("x y")',
        attend="""attendAll(signature === "attend" ? ["▁x", "▁y", "</s>"]
            : [...text.prefix_pieces.filter((one) => one !== "</s>"), "▁z", "</s>"])""",
    )
    page.attend("猫")
