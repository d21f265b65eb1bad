"""All layers and heads at once, and the kinds of attention."""

import numpy as np
import pytest
from selenium.webdriver import ActionChains, Keys

from tests.serving.page.test_attention import TEXT, numbers

pytestmark = pytest.mark.slow

ALL = "(signature, text) => signature === 'nbest' ? nbest('x y') : attendAll(['▁x', '▁y', '</s>'])"


def pressed(page):
    return [button.accessible_name for button in page.all("#multiples [aria-pressed=true]")]


def test_there_is_a_picture_of_each_head_and_a_click_shows_it_large(page, ask):
    page.write(TEXT)
    page.attended()
    weights = np.array(ask("attend", TEXT)["weights"])  # (2, 3, T, S)
    page.choose("drawing", "heat-map")
    buttons = page.all("#multiples button")
    names = [button.accessible_name for button in buttons]
    assert names == [f"Layer {i}, head {j}" for i in (1, 2) for j in (1, 2, 3)]
    assert pressed(page) == []
    buttons[4].click()
    assert pressed(page) == ["Layer 2, head 2"]
    np.testing.assert_allclose(numbers(page), weights[1, 1], atol=0.00501)
    assert page.one("layer").get_property("value") == page.one("head").get_property("value") == "1"
    page.choose("head", "2")
    assert pressed(page) == ["Layer 2, head 3"]
    buttons[5].click()
    assert pressed(page) == []
    np.testing.assert_allclose(numbers(page), weights.mean(axis=(0, 1)), atol=0.00501)


@pytest.mark.parametrize("screen", [(1280, "light"), (1280, "dark")])
def test_a_picture_has_a_cell_for_each_weight_in_the_colour_of_the_scheme(page, ask, screen):
    page.write(TEXT)
    page.attended()
    weights = np.array(ask("attend", TEXT)["weights"])
    found = page.run(
        """return [...document.querySelectorAll("#multiples canvas")].map((one) => [one.width,
            [...one.getContext("2d").getImageData(0, 0, one.width, one.height).data]])"""
    )
    stroke = {"light": (0xC9, 0x48, 0x1F), "dark": (0xF0, 0x85, 0x5F)}[screen[1]]
    for (width, data), expected in zip(found, weights.reshape(6, *weights.shape[2:]), strict=True):
        cells = np.array(data).reshape(-1, width, 4)
        np.testing.assert_allclose(cells[..., 3] / 255, expected / expected.max(), atol=0.005)
        np.testing.assert_array_equal(cells[cells[..., 3] == 255][0, :3], stroke)


def test_the_pictures_follow_the_colour_scheme(page, fake_server):
    fake_server(ALL)
    page.write("猫")
    page.attended()
    corner = """const { data } = document.querySelector("#multiples canvas").getContext("2d")
        .getImageData(0, 0, 1, 1); return [...data]"""
    assert page.run(corner) == [0xC9, 0x48, 0x1F, 255]
    page.prefer({"prefers-color-scheme": "dark"})
    page.wait(f"return (() => {{ {corner} }})()[0] === 0xf0")


def test_keys_go_through_the_heads_and_choose_one(page, fake_server):
    fake_server(ALL)
    page.write("猫")
    page.attended()
    buttons = page.all("#multiples button")
    assert [button.get_property("tabIndex") for button in buttons] == [0, -1, -1, -1, -1, -1]
    page.run("arguments[0].focus()", buttons[0])
    ActionChains(page.driver).send_keys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ENTER).perform()
    page.focused("Layer 2, head 2")
    assert pressed(page) == ["Layer 2, head 2"]
    # Which stays chosen when the text changes.
    page.write("が")
    page.wait("return texts.length === 4")
    page.attended()
    assert pressed(page) == ["Layer 2, head 2"]


def test_each_kind_of_attention_has_its_own_pieces(page, fake_server):
    fake_server(ALL)
    page.write("猫")
    page.attended()

    def lists():
        return [
            (one.accessible_name, [item.text for item in one.find_elements("css selector", "li")])
            for one in page.all("#figure [role=listbox]")
        ]

    source, target = ["␣", "猫", "end"], ["x", "y", "end"]
    assert lists() == [("Japanese pieces", source), ("English pieces", target)]
    options = page.all("#kind option")
    assert [option.text for option in options] == [
        "cross-attention: English to Japanese",
        "encoder self-attention: Japanese to Japanese",
        "decoder self-attention: English to English",
    ]
    options[1].click()
    assert lists() == [
        ("Japanese pieces, attended to", source),
        ("Japanese pieces, attending", source),
    ]
    assert {one.get_attribute("lang") for one in page.all(".target .text")} == {"ja"}
    page.choose("layer", "0")
    page.choose("head", "1")
    page.choose("drawing", "heat-map")
    assert numbers(page).tolist() == [[1, 0, 0], [1, 0, 0], [0, 1, 0]]  # one to the left
    page.choose("drawing", "lines")
    page.all("#kind option")[2].click()
    assert lists() == [("English pieces before", ["start", "x", "y"]), ("English pieces", target)]
    page.all(".target li")[1].click()
    assert page.text("looked-at") == "y attended to the start 100%."


def test_an_older_model_has_cross_attention_alone(page, fake_server):
    fake_server()
    page.write("猫")
    page.attended()
    for name in ("kind", "multiples", "alternatives", "alternative"):
        assert not page.one(name).is_displayed(), name
