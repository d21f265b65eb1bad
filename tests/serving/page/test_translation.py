import numpy as np
import pytest
from selenium.webdriver import Keys

from tests.serving.browser import Page

pytestmark = pytest.mark.slow

TEXT = "友達と映画を見ました。"
LINES = "一行目。二文目。\n\n\t三行目、😀。\n  https://example.com/a?b=c"


def test_a_text_is_translated_as_it_is_typed_and_so_are_the_examples(page, ask, examples):
    page.write(TEXT)
    expected = ask("nbest", TEXT)
    assert page.translated() == expected["translations"][0]
    found = [
        (text or "(nothing)", f"{score:.2f}".replace("-", "−"))
        for text, score in zip(expected["translations"], expected["scores"], strict=True)
        if np.isfinite(score)
    ]
    assert len(found) > 1
    page.attended()  # what is below the translation is shown with the drawing
    page.open("more")
    shown = [item.find_elements("css selector", "span") for item in page.all("#hypotheses li")]
    assert [(parts[0].text, parts[1].text.split()[-1]) for parts in shown] == found
    buttons = page.all("#examples button")
    assert [button.text for button in buttons] == examples
    buttons[1].click()
    assert page.one("source").get_property("value") == examples[1]
    page.translated(f"1: {examples[1]}")


def test_an_older_model_shows_only_what_it_tells(driver, write_echo, tmp_path, start_server):
    with start_server(write_echo(tmp_path / "ja-en", 1, is_older=True).parent) as url:
        page = Page(driver, url)
        page.translate("犬?", "1: 犬?")
        page.attended()
        assert page.shown("examples", "remark", "kind", "alternatives", "follow") == []
        assert page.text("problem") == ""


def test_the_page_says_when_the_model_is_not_sure(page, fake_server):
    for text, says in (("犬", ""), ("犬?", "The model is not sure of this translation.")) * 2:
        page.translate(text, f"1: {text}")
        assert page.text("remark") == says
    page.set_text("")
    assert page.shown("remark") == []
    for value in ("false", "null", "'yes'"):  # only true is not sure
        fake_server(nbest=f"nbest(text, {{ is_uncertain: {value} }})")
        page.translate(value)
        assert page.shown("remark") == []


def test_a_text_in_another_language_is_said_to_be_returned_as_given(page, ask):
    assert ask("nbest", "~a?")["scores"] == [0, -np.inf, -np.inf]
    page.translate("犬", "1: 犬")
    page.set_text("~a。~b?")
    page.translated("1: ~a。~b?")
    page.wait_for("other-translation")
    assert page.text("remark") == "This text is not in Japanese; it is returned as given."
    assert page.text("other-translation").startswith("Nothing here is translated")
    assert page.one("translation").get_attribute("lang") == ""
    page.open("more")
    parts = ("hypotheses", "choices", "sentence", "words", "alternatives", "follow")
    assert page.shown(*parts) == page.all("#figure *") == page.barriers() == []
    page.wait("return announcement.textContent.endsWith('it is returned as given.')")
    page.translate("犬", "1: 犬")
    page.attended()
    assert page.shown("remark", "other-translation", *parts) == [
        *(part for part in parts if part != "sentence")
    ]
    assert page.all("#translation[lang=en]")


def test_a_sentence_that_is_returned_as_given_has_no_attention(page, fake_server):
    read = "attend(text, undefined, text.startsWith('犬') ? ['犬', '</s>'] : ['</s>'])"
    fake_server(
        nbest="{ body: { predictions: [{ translations: Array(2).fill(text), scores: [0, 0] }] } }",
        attend=read,
    )
    page.open("more")
    page.translate("犬。12。")
    assert page.shown("hypotheses", "sentence", "layer", "words") == ["sentence", "layer", "words"]
    first, second = page.all("#sentence option")
    second.click()
    page.wait_for("other-translation")
    assert page.shown("sentence", "layer", "words") == ["sentence"] and not page.all("#figure *")
    first.click()
    page.attended()
    assert page.shown("layer", "words") == ["layer", "words"]


def test_lines_and_blank_lines_are_shown_as_they_are(page, fake_server):
    fake_server()
    page.open("more")
    page.translate(LINES)
    for selector in ("#translation", "#hypotheses li span"):
        assert page.all(selector)[0].get_property("innerText") == LINES
    height = "return document.querySelector('#hypotheses li').offsetHeight"
    several = page.run(height)
    page.translate("一行目。")
    assert several > 3 * page.run(height)


def test_an_emptied_or_cleared_field_empties_the_page(page, fake_server):
    fake_server()
    assert not page.one("clear").is_enabled()
    page.attend("猫")
    page.one("source").send_keys(Keys.BACKSPACE)
    assert page.text("translation") == ""
    assert page.all("#figure *") == []
    assert page.shown("hypotheses") == []
    page.translate("猫")
    page.one("clear").click()
    assert page.one("source").get_property("value") == page.text("translation") == ""
    assert page.driver.switch_to.active_element == page.one("source")
    assert not page.one("clear").is_enabled()


@pytest.mark.parametrize("has_clipboard", [True, False])
def test_the_translation_or_a_link_is_copied(page, fake_server, server, has_clipboard):
    fake_server()
    grant = {"origin": server, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    page.driver.execute_cdp_cmd("Browser.grantPermissions", grant)
    page.run("window.read = navigator.clipboard.readText.bind(navigator.clipboard)")
    if not has_clipboard:  # as for a page of another machine, without https
        page.run("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    text = f"{has_clipboard} {LINES}"
    page.translate(text)
    copied = []
    for button in ("copy", "share"):
        page.one(button).click()
        page.wait(f"return document.getElementById('{button}').textContent === 'Copied'")
        copied.append(page.run("return read()"))
    assert copied[0] == text
    assert copied[1].startswith(f"{server}/#") and copied[1].isascii()
    page.driver.get("about:blank")
    page.driver.get(copied[1])
    page.wait("return document.getElementById('source').value === arguments[0]", text)
