"""Page: text that a visitor writes is kept, and only finished text is sent."""

import pytest
from selenium.webdriver import ActionChains, Keys

pytestmark = pytest.mark.slow

READY = "return document.getElementById('model').textContent"
BAD_GATEWAY = "{ status: 502, html: '<h1>Bad Gateway</h1>' }"


def written(page, text=None):
    """Wait for this text in the field, or return it."""
    script = "return document.getElementById('source').value"
    return page.run(script) if text is None else page.wait(f"{script} === arguments[0]", text)


def undo(page):
    ActionChains(page.driver).key_down(Keys.CONTROL).send_keys("z").key_up(Keys.CONTROL).perform()


def test_a_text_survives_when_the_page_is_loaded_again_and_so_does_an_empty_one(page):
    page.translate("猫", "1: 猫")
    page.driver.refresh()
    page.wait(READY)
    written(page, "猫")
    page.translated("1: 猫")
    page.one("clear").click()
    page.driver.refresh()
    page.wait(READY)
    assert (written(page), page.text("translation")) == ("", "")


def test_back_leads_to_the_text_before_and_an_example_and_clear_can_be_undone(page, examples):
    page.translate("猫", "1: 猫")
    page.all("#examples button")[1].click()
    page.translated(f"1: {examples[1]}")
    page.one("clear").click()
    assert written(page) == ""
    undo(page)
    written(page, examples[1])
    undo(page)
    written(page, "猫")
    page.translated("1: 猫")
    for text in (examples[1], "猫"):
        page.driver.back()
        written(page, text)
    page.translated("1: 猫")
    page.driver.forward()
    page.translated(f"1: {examples[1]}")


def test_a_second_link_in_one_tab_is_followed_and_a_changed_text_leaves_the_link(page, server):
    for text in ("犬", "猫"):
        page.driver.get(f"{server}/#{text}")
        page.translated(f"1: {text}")
    page.set_text("猫が")
    page.translated("1: 猫が")
    assert page.driver.current_url == f"{server}/"
    page.driver.back()
    page.translated("1: 犬")


def test_half_composed_kana_are_not_sent(page, fake_server):
    fake_server()
    page.run("source.focus()")
    compose = {"selectionStart": 1, "selectionEnd": 1}
    page.driver.execute_cdp_cmd("Input.imeSetComposition", {"text": "ね", **compose})
    page.driver.execute_cdp_cmd("Input.imeSetComposition", {"text": "ねk", **compose})
    assert written(page) == "ねk"
    page.driver.execute_async_script("setTimeout(arguments[0], 600)")
    assert page.run("return asked") == []
    page.driver.execute_cdp_cmd("Input.insertText", {"text": "猫"})
    page.translated("猫")
    assert page.run("return texts[0]") == "猫"


def test_the_error_of_a_proxy_is_named_and_the_page_asks_again_by_itself(page, fake_server):
    fake_server(nbest=f"n < 3 ? {BAD_GATEWAY} : nbest(text)", attend="attend(text)")
    page.write("猫")
    page.wait_for("problem")
    said = "A proxy between this page and the server answered 502 (Bad Gateway)."
    assert said in page.text("problem")
    assert "Next try in" in page.text("progress")
    page.translated("猫")
    assert page.text("problem") == page.text("progress") == ""
    # What will not pass by itself is not tried again.
    fake_server(nbest="{ status: 413, html: 'Too large' }")
    page.write("が")
    page.wait_for("problem")
    assert "answered 413." in page.text("problem")
    assert page.run("return asked.length") == 1
