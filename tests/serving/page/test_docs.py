"""The page of the OpenAPI document: it shows each operation, and sends requests."""

import json

import httpx2 as httpx
import pytest
from selenium.webdriver.support.wait import WebDriverWait

from tests.serving.browser import Page

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_operation_is_shown_and_a_request_is_answered(watched, server, scheme):
    ready = "return document.querySelector('.operation')"
    docs = Page(watched, f"{server}/docs", 390, scheme, ready)
    wait = WebDriverWait(watched, 30)
    operations = docs.all(".operation")
    shown = [one.find_element("css selector", "code").text for one in operations]
    assert sorted(shown) == sorted(httpx.get(f"{server}/openapi.json").json()["paths"])
    predict = operations[shown.index("/v1/models/{model}:predict")]
    predict.find_element("css selector", "summary").click()
    # The form is made when the browser tells that the operation is open.
    wait.until(lambda _: predict.find_elements("css selector", "button"))
    predict.find_element("css selector", "button").click()
    answer = predict.find_element("css selector", "form > pre")
    wait.until(lambda _: answer.text.startswith("200"))
    said = {"predictions": ["1: 猫が窓のそばで寝ている。"]}
    assert json.loads(answer.text.partition("\n")[2]) == said
    choice = predict.find_elements("css selector", "option")
    choice[[option.text for option in choice].index("glossary")].click()
    assert '"glossary"' in predict.find_element("css selector", "textarea").get_attribute("value")
    watched.execute_script("arguments[0].textContent = ''", answer)
    predict.find_element("css selector", "button").click()
    wait.until(lambda _: answer.text.startswith("200"))
    assert docs.barriers() == []
    assert not docs.scrolls_sideways()
