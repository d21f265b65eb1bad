import numpy as np
import pytest
from selenium.webdriver import Keys

from tests.serving.browser import SCREENS

TEXT = "友達と映画を見ました。"


@pytest.mark.parametrize("screen", SCREENS)
def test_a_text_is_translated_as_it_is_typed(page, ask):
    page.write(TEXT)
    expected = ask("nbest", TEXT)
    assert page.translated() == (expected["translations"][0] or "(nothing)")
    found = [
        (text or "(nothing)", f"{score:.2f}".replace("-", "−"))
        for text, score in zip(expected["translations"], expected["scores"], strict=True)
        if np.isfinite(score)
    ]
    assert len(found) > 1
    shown = [item.find_elements("css selector", "span") for item in page.all("#hypotheses li")]
    assert [(parts[0].text, parts[1].text.split()[-1]) for parts in shown] == found


def test_markup_is_shown_as_text(page, fake_server):
    text = "<img src=x onerror='window.ran = 1'><script>window.ran = 1</script>&amp;"
    fake_server("(signature, text) => signature === 'nbest' ? nbest(text) : attend(text, [text])")
    page.write(text)
    assert page.translated() == text
    page.attended()
    assert page.all(".target li")[0].text == text
    page.all(".target li")[0].click()
    page.choose("drawing", "heat-map")
    assert text in page.text("looked-at")
    assert page.all("img, main script") == []
    assert page.run("return window.ran") is None


def test_an_emptied_field_empties_the_page(page, fake_server):
    fake_server()
    page.write("猫")
    page.attended()
    page.one("source").send_keys(Keys.BACKSPACE)
    assert page.text("translation") == ""
    assert page.all("#figure *") == []
    assert not page.one("hypotheses").is_displayed()


@pytest.mark.parametrize("has_clipboard", [True, False])
def test_the_translation_is_copied(page, fake_server, server, has_clipboard):
    fake_server()
    grant = {"origin": server, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    page.driver.execute_cdp_cmd("Browser.grantPermissions", grant)
    page.run("window.read = navigator.clipboard.readText.bind(navigator.clipboard)")
    if not has_clipboard:  # as for a page of another machine, without https
        page.run("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    text = f"猫 {has_clipboard}"
    page.write(text)
    page.translated(text)
    page.one("copy").click()
    page.wait("return document.getElementById('copy').textContent === 'Copied'")
    assert page.run("return read()") == text
