import numpy as np
import pytest
from selenium.webdriver import Keys

from tests.serving.browser import SCREENS, Page

pytestmark = pytest.mark.slow

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


def test_the_examples_are_those_of_the_model(page, examples):
    buttons = page.all("#examples button")
    assert [button.text for button in buttons] == examples
    buttons[1].click()
    assert page.one("source").get_property("value") == examples[1]
    page.translated(f"1: {examples[1]}")


def test_an_older_model_has_no_examples_and_no_hint(driver, write_echo, tmp_path, start_server):
    folder = tmp_path / "ja-en"
    write_echo(folder, 1, is_older=True)
    with start_server(folder) as url:
        page = Page(driver, url, 1280, "light")
        assert not page.one("examples").is_displayed()
        page.write("犬?")
        assert page.translated() == "1: 犬?"
        assert not page.one("unsure").is_displayed()
        assert page.text("problem") == ""


def test_the_page_says_when_the_model_is_not_sure(page):
    page.write("犬")
    page.translated("1: 犬")
    assert not page.one("unsure").is_displayed()
    page.write("?")
    page.translated("1: 犬?")
    assert page.text("unsure") == "The model is not sure of this translation."
    page.one("source").send_keys(Keys.BACKSPACE)
    page.translated("1: 犬")
    assert not page.one("unsure").is_displayed()
    page.write("?")
    page.translated("1: 犬?")
    page.one("source").send_keys(Keys.BACKSPACE, Keys.BACKSPACE)
    assert not page.one("unsure").is_displayed()


@pytest.mark.parametrize("value", ["false", "null", "'yes'"])
def test_only_true_is_not_sure(page, fake_server, value):
    fake_server(
        f"""(signature, text) => signature === "nbest"
            ? nbest(text, {{ is_uncertain: {value} }}) : attend(text)"""
    )
    page.write("猫")
    page.translated("猫")
    assert not page.one("unsure").is_displayed()


LINES = "一行目。二文目。\n\n\t三行目、😀。\n  https://example.com/a?b=c"


@pytest.mark.parametrize("screen", SCREENS)
def test_lines_and_blank_lines_are_shown_as_they_are(page, fake_server, screen):
    fake_server()
    page.set_text(LINES)
    page.translated(LINES)
    shown = page.run("return document.getElementById('translation').innerText")
    assert shown == LINES
    first = page.run("return document.querySelector('#hypotheses li span').innerText")
    assert first == LINES
    height = "return document.querySelector('#hypotheses li').offsetHeight"
    several = page.run(height)
    page.set_text("一行目。")
    page.translated("一行目。")
    assert several > 3 * page.run(height)


def test_an_emptied_field_empties_the_page(page, fake_server):
    fake_server()
    page.write("猫")
    page.attended()
    page.one("source").send_keys(Keys.BACKSPACE)
    assert page.text("translation") == ""
    assert page.all("#figure *") == []
    assert not page.one("hypotheses").is_displayed()


def test_a_text_is_cleared(page, fake_server):
    fake_server()
    assert not page.one("clear").is_enabled()
    page.write("猫")
    page.translated("猫")
    page.one("clear").click()
    assert page.one("source").get_property("value") == page.text("translation") == ""
    assert page.driver.switch_to.active_element == page.one("source")
    assert not page.one("clear").is_enabled()


@pytest.mark.parametrize("screen", [(390, "light")])
def test_on_a_phone_the_translation_comes_before_the_examples(page):
    places = [page.one(name).rect["y"] for name in ("source", "translation", "examples")]
    assert places == sorted(places)


@pytest.mark.parametrize("lines", ["猫", LINES])
@pytest.mark.parametrize("has_clipboard", [True, False])
@pytest.mark.parametrize("button", ["copy", "share"])
def test_the_translation_or_a_link_is_copied(
    page, fake_server, server, button, has_clipboard, lines
):
    fake_server()
    grant = {"origin": server, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    page.driver.execute_cdp_cmd("Browser.grantPermissions", grant)
    page.run("window.read = navigator.clipboard.readText.bind(navigator.clipboard)")
    if not has_clipboard:  # as for a page of another machine, without https
        page.run("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    text = f"{has_clipboard} {lines}"
    page.set_text(text)
    page.translated(text)
    page.one(button).click()
    page.wait(f"return document.getElementById('{button}').textContent === 'Copied'")
    copied = page.run("return read()")
    if button == "copy":
        assert copied == text
        return
    assert copied.startswith(f"{server}/#") and copied.isascii()
    page.driver.get("about:blank")
    page.driver.get(copied)
    page.wait("return document.getElementById('source').value === arguments[0]", text)
