import asyncio

import pytest

from keras_attn.serving.metrics import Metrics
from keras_attn.serving.observed import Observed


def ask(app, path, metrics):
    """The messages of the answer."""
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path}
    asyncio.run(Observed(app, metrics)(scope, None, send))
    return sent


async def teapot(scope, receive, send):
    await send({"type": "http.response.start", "status": 418, "headers": []})
    await send({"type": "http.response.body", "body": b"short"})


async def broken(scope, receive, send):
    raise RuntimeError("secret")


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/", "/"), ("/v1/models/a", "/v1/"), ("/page/page.js", "/page/"), ("/.env", "other")],
)
def test_requests_are_counted_by_few_kinds(path, kind):
    metrics = Metrics()
    start, _ = ask(teapot, path, metrics)
    assert (b"x-content-type-options", b"nosniff") in start["headers"]
    counted = f'keras_attn_requests_total{{kind="{kind}",status="418"}} 1.0'
    assert counted in metrics.page().decode()


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/metrics"])
def test_probes_are_no_news(path, caplog):
    with caplog.at_level("INFO"):
        ask(teapot, path, Metrics())
        ask(teapot, "/v1/models/a", Metrics())
    assert [record.path for record in caplog.records] == ["/v1/models/a"]


def test_a_failure_is_counted_and_logged_and_goes_no_further(caplog):
    metrics = Metrics()
    assert ask(broken, "/v1/models/a", metrics) == []
    assert 'status="500"} 1.0' in metrics.page().decode()
    assert "RuntimeError: secret" in caplog.text
