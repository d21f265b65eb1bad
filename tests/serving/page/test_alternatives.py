"""Probabilities of pieces and alternatives to them, on the page."""

import pytest
from selenium.webdriver import ActionChains, Keys

pytestmark = pytest.mark.slow

ALL = """(signature, text) => signature === "nbest" ? nbest("x y")
    : signature === "attend" ? attendAll(["▁x", "▁y", "</s>"])
    : attendAll([...text.prefix_pieces.filter((one) => one !== "</s>"), "▁z", "</s>"])"""


@pytest.fixture
def attended(page, fake_server):
    """The page with the attention of a model that tells everything."""
    fake_server(ALL)
    page.write("猫")
    page.attended()
    return page


def names(page, selector):
    return [button.accessible_name for button in page.all(selector)]


PIECES, OTHERS = "#alternatives .shown > .shares button", "#instead button"


def test_each_piece_has_its_probability_and_others_that_could_have_come(attended):
    assert names(attended, PIECES) == ["x 50%", "y 44%", "the end 38%"]
    assert names(attended, OTHERS) == []
    attended.all(PIECES)[1].click()
    assert attended.text("instead").splitlines()[0] == "Instead of y, the model could have written"
    assert names(attended, OTHERS) == [
        "y 44%",
        "b 25%",
        "c 13%",
        "byte E3 <1%",
        "the end <1%",
    ]
    assert attended.all(OTHERS)[0].get_attribute("aria-current") == "true"
    assert [one.get_attribute("aria-expanded") for one in attended.all(PIECES)] == [
        "false",
        "true",
        "false",
    ]
    attended.all(PIECES)[1].click()
    assert names(attended, OTHERS) == []


def test_a_chosen_piece_gives_another_translation_from_which_one_can_go_on_and_back(attended):
    page = attended
    page.all(PIECES)[1].click()
    page.all(OTHERS)[1].click()
    page.wait("return !document.getElementById('alternative').hidden")
    assert page.run("return texts.at(-1)") == {"text": "猫", "prefix_pieces": ["▁x", "▁b"]}
    assert page.all("#alternative p")[0].text == "Another translation from b on: x b z"
    assert names(page, PIECES) == ["x 50%", "b 44%", "z 38%", "the end 31%"]
    page.focused("b 44%")
    assert page.text("translation") == "x y"
    assert not page.one("other-translation").is_displayed()
    page.wait("return document.getElementById('announcement').textContent.endsWith(': x b z')")

    page.all(PIECES)[0].click()
    page.all(OTHERS)[2].click()
    page.wait("return document.querySelector('#alternative p').textContent.includes('c z')")
    assert page.run("return texts.at(-1)") == {"text": "猫", "prefix_pieces": ["▁c"]}

    page.all("#alternative button")[0].click()
    assert not page.one("alternative").is_displayed()
    assert names(page, PIECES) == ["x 50%", "y 44%", "the end 38%"]
    page.focused("x 50%")
    assert page.run("return asked") == ["nbest", "attend", "continue", "continue"]


def test_the_end_and_nothing_can_be_chosen_too(page, fake_server):
    fake_server(
        """(signature, text) => signature === "nbest" ? nbest("x y")
            : attendAll(signature === "attend" ? ["▁x", "</s>"] : ["</s>"])"""
    )
    page.write("猫")
    page.attended()
    page.all(PIECES)[0].click()
    page.all(OTHERS)[-1].click()
    page.wait("return !document.getElementById('alternative').hidden")
    assert page.run("return texts.at(-1).prefix_pieces") == ["</s>"]
    said = "The model has no translation that begins so."
    assert page.all("#alternative p")[0].text == said


def test_a_new_text_ends_the_other_translation(attended):
    attended.all(PIECES)[1].click()
    attended.all(OTHERS)[1].click()
    attended.wait("return !document.getElementById('alternative').hidden")
    attended.write("が")
    attended.wait("return document.getElementById('alternative').hidden")
    attended.attended()
    assert names(attended, PIECES) == ["x 50%", "y 44%", "the end 38%"]


def test_keys_choose_a_piece_and_what_comes_instead(attended):
    page = attended
    page.run("arguments[0].focus()", page.all(PIECES)[0])

    def press(*keys):
        ActionChains(page.driver).send_keys(*keys).perform()

    press(Keys.ARROW_RIGHT, Keys.ENTER)
    page.focused("y 44%")
    press(Keys.TAB)
    page.focused("b 25%")
    press(Keys.ESCAPE)
    page.focused("y 44%")
    assert names(page, OTHERS) == []
    press(Keys.ENTER)
    press(Keys.TAB, Keys.ARROW_DOWN)
    page.focused("c 13%")
    press(Keys.ENTER)
    page.wait("return !document.getElementById('alternative').hidden")
    page.focused("c 44%")


def test_what_went_wrong_is_shown_and_tried_again(page, fake_server):
    fake_server(
        f"""(signature, text, n) => n === 3 ? {{ status: 504, body: {{ error: "Too slow." }} }}
            : ({ALL})(signature, text)"""
    )
    page.write("猫")
    page.attended()
    page.all(PIECES)[1].click()
    page.all(OTHERS)[1].click()
    page.wait("return document.getElementById('attention-problem').textContent")
    assert "Too slow." in page.text("attention-problem")
    page.all("#attention-problem button")[0].click()
    page.wait("return !document.getElementById('alternative').hidden")
    assert page.text("attention-problem") == ""
    assert page.run("return texts.at(-1).prefix_pieces") == ["▁x", "▁b"]
