"""The page of the OpenAPI document: it shows each operation, and sends requests."""

import json
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest
from selenium.webdriver.support.wait import WebDriverWait

from tests.serving.page.test_accessibility import AXE


@pytest.fixture(params=["light", "dark"])
def docs(driver, server, request):
    """The page, opened; afterwards there is no error and nothing was asked of another server."""
    driver.get_log("browser"), driver.get_log("performance")
    feature = {"name": "prefers-color-scheme", "value": request.param}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    size = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": True}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.get(f"{server}/docs")
    WebDriverWait(driver, 30).until(lambda _: driver.find_elements("css selector", ".operation"))
    yield driver
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    hosts = {urlsplit(request["request"]["url"]).netloc for request in asked}
    assert hosts == {urlsplit(server).netloc}


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
