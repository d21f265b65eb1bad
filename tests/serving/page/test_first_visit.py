"""The page in the default run: a first visit, hostile text and errors. The other files are slow."""

import pytest

from tests.serving.browser import WIDTHS


@pytest.mark.parametrize("screen", [(width, "light") for width in WIDTHS])
def test_a_first_visit_shows_attention_at_once_and_nothing_jumps(visited, examples):
    visited.translated(f"1: {examples[0]}")
    visited.attended()
    assert visited.one("source").get_property("value") == examples[0]
    height = visited.run("return innerHeight")
    for name in ("source", "translation", "figure"):
        assert visited.one(name).rect["y"] < 0.75 * height, name
    assert len(visited.all("#figure path")) > 1
    assert visited.layout_shift() <= 0.02
    assert visited.text("clear") == "Type your own"
    visited.one("clear").click()
    assert visited.one("source").get_property("value") == visited.text("translation") == ""
    assert visited.driver.switch_to.active_element == visited.one("source")
    visited.translate("猫が寝る。", "1: 猫が寝る。")  # by a script, so that every jump counts
    assert visited.layout_shift() <= 0.02


def test_type_see_choose_another_piece_and_open_the_facts(page, ask):
    page.write("猫が寝る。")
    assert page.translated() == "1: 猫が寝る。"
    page.attended()
    pieces = page.all("#alternatives .shown > .shares button")
    assert pieces[3].text == "猫 75%"
    pieces[3].click()
    assert page.names("#instead button") == ["猫 75%", "a 13%", "b 6%", "c 3%", "the end 3%"]
    page.all("#instead button")[2].click()
    page.wait_for("alternative")
    assert page.all("#alternative p")[0].text == "Another translation from b on: 1: b"
    instance = {"text": "猫が寝る。", "prefix_pieces": ["1", ":", " ", "b"]}
    assert ask("continue", instance)["translation"] == "1: b"
    page.all("#alternative button")[0].click()
    assert len(page.all(".target li")) == len("1: 猫が寝る。") + 1
    page.all("#about > summary")[0].click()
    assert "Search" in page.text("facts") and "beam of 4" in page.text("facts")
    assert (page.text("translation"), page.barriers()) == ("1: 猫が寝る。", [])


def test_markup_is_shown_as_text(page, fake_server):
    text = "<img src=x onerror='window.ran = 1'><script>window.ran = 1</script>&amp;"
    fake_server(attend="attend(text, [text])")
    page.write(text)
    assert page.translated() == text
    page.attended()
    assert page.all(".target li")[0].text == text
    page.all(".target li")[0].click()
    assert text in page.text("looked-at")
    assert page.all("img, main script") == []
    assert page.run("return window.ran") is None


def test_what_went_wrong_is_shown_and_can_be_tried_again(page, fake_server):
    fake_server(fails_at=3)
    page.write("猫")
    page.translated("猫")
    page.attended()
    page.write("犬")
    page.wait_for("problem")
    assert page.text("problem").splitlines()[-2:] == ["It took too long.", "Try again"]
    assert page.text("translation") == "猫"
    page.all("#problem button")[0].click()
    page.translated("猫犬")
    assert page.text("problem") == ""
