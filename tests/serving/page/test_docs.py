"""The page of the OpenAPI document: it shows each operation, and sends requests."""

import json

import httpx2 as httpx
import pytest
from selenium.webdriver.support.wait import WebDriverWait

from tests.serving.browser import AXE

pytestmark = pytest.mark.slow


@pytest.fixture(params=["light", "dark"])
def docs(watched, server, request):
    """The page, opened."""
    feature = {"name": "prefers-color-scheme", "value": request.param}
    watched.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    size = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": True}
    watched.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    watched.get(f"{server}/docs")
    WebDriverWait(watched, 30).until(lambda _: watched.find_elements("css selector", ".operation"))
    return watched


def test_each_operation_is_shown_and_a_request_is_answered(docs, server):
    paths = httpx.get(f"{server}/openapi.json").json()["paths"]
    operations = docs.find_elements("css selector", ".operation")
    shown = [one.find_element("css selector", "code").text for one in operations]
    assert sorted(shown) == sorted(paths)
    predict = operations[shown.index("/v1/models/{model}:predict")]
    predict.find_element("css selector", "summary").click()
    # The form is made when the browser tells that the operation is open.
    WebDriverWait(docs, 30).until(lambda _: predict.find_elements("css selector", "button"))
    predict.find_element("css selector", "button").click()
    answer = predict.find_element("css selector", "form > pre")
    WebDriverWait(docs, 30).until(lambda _: answer.text.startswith("200"))
    assert json.loads(answer.text.partition("\n")[2]) == {
        "predictions": ["1: 友達と映画を見ました。"]
    }
    choice = predict.find_elements("css selector", "option")
    choice[[option.text for option in choice].index("glossary")].click()
    predict.find_element("css selector", "button").click()
    WebDriverWait(docs, 30).until(lambda _: "1: Kimuraさんです。" in answer.text)
    docs.execute_script(AXE.read_text("utf-8"))
    violations = docs.execute_script("return axe.run()")["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in violations] == []
    assert docs.execute_script(
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
