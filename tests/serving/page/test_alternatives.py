"""Probabilities of pieces and alternatives to them, on the page."""

import pytest
from selenium.webdriver import Keys

pytestmark = pytest.mark.slow

PIECES, OTHERS = "#alternatives .shown > .shares button", "#instead button"


def choose(page, piece, other):
    """Another one instead of a piece."""
    page.all(PIECES)[piece].click()
    page.all(OTHERS)[other].click()


def test_a_piece_has_others_that_could_have_come_and_give_another_translation(page, told):
    assert page.names(PIECES) == ["x 50%", "y 44%", "the end 38%"]
    assert page.names(OTHERS) == []
    page.all(PIECES)[1].click()
    assert page.text("instead").splitlines()[0] == "Instead of y, the model could have written"
    assert page.names(OTHERS) == ["y 44%", "b 25%", "c 13%", "byte E3 <1%", "the end <1%"]
    assert page.all(OTHERS)[0].get_attribute("aria-current") == "true"
    are_open = [one.get_attribute("aria-expanded") for one in page.all(PIECES)]
    assert are_open == ["false", "true", "false"]
    page.all(PIECES)[1].click()
    assert page.names(OTHERS) == []
    choose(page, 1, 1)
    page.wait_for("alternative")
    assert page.run("return texts.at(-1)") == {"text": "猫", "prefix_pieces": ["▁x", "▁b"]}
    assert page.all("#alternative p")[0].text == "Another translation from b on: x b z"
    assert page.names(PIECES) == ["x 50%", "b 44%", "z 38%", "the end 31%"]
    page.focused("b 44%")
    assert page.text("translation") == "x y"
    assert page.shown("other-translation") == []
    page.wait("return document.getElementById('announcement').textContent.endsWith(': x b z')")

    # From there one can go on, and back.
    choose(page, 0, 2)
    page.wait("return document.querySelector('#alternative p').textContent.includes('c z')")
    assert page.run("return texts.at(-1)") == {"text": "猫", "prefix_pieces": ["▁c"]}

    page.all("#alternative button")[0].click()
    assert page.shown("alternative") == []
    assert page.names(PIECES) == ["x 50%", "y 44%", "the end 38%"]
    page.focused("x 50%")
    assert page.run("return asked") == ["nbest", "attend", "continue", "continue"]

    # A new text ends the other translation.
    choose(page, 1, 1)
    page.wait_for("alternative")
    page.write("が")
    page.wait("return document.getElementById('alternative').hidden")
    page.attended()
    assert page.names(PIECES) == ["x 50%", "y 44%", "the end 38%"]


def test_the_end_and_nothing_can_be_chosen_and_what_went_wrong_is_tried_again(page, fake_server):
    fake_server(
        nbest="nbest('x y')",
        attend='attendAll(signature === "attend" ? ["▁x", "</s>"] : ["</s>"])',
        fails_at=3,
    )
    page.attend("猫")
    choose(page, 0, -1)
    page.wait_for("attention-problem")
    assert "It took too long." in page.text("attention-problem")
    page.all("#attention-problem button")[0].click()
    page.wait_for("alternative")
    assert page.text("attention-problem") == ""
    assert page.run("return texts.at(-1).prefix_pieces") == ["</s>"]
    said = "The model has no translation that begins so."
    assert page.all("#alternative p")[0].text == said


def test_keys_choose_a_piece_and_what_comes_instead(page, told):
    page.run("arguments[0].focus()", page.all(PIECES)[0])
    page.press(Keys.ARROW_RIGHT, Keys.ENTER)
    page.focused("y 44%")
    page.press(Keys.TAB)
    page.focused("b 25%")
    page.press(Keys.ESCAPE)
    page.focused("y 44%")
    assert page.names(OTHERS) == []
    page.press(Keys.ENTER)
    page.press(Keys.TAB, Keys.ARROW_DOWN)
    page.focused("c 13%")
    page.press(Keys.ENTER)
    page.wait_for("alternative")
    page.focused("c 44%")
