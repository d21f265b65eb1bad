from itertools import combinations

import pytest
from selenium.webdriver import ActionChains, Keys

from tests.serving.browser import AXE, SCREENS

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("screen", SCREENS)
def test_axe_finds_no_barrier(page, fake_server):
    page.run(AXE.read_text("utf-8"))
    fake_server()

    def violations():
        found = page.run("return axe.run()")["violations"]
        return [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found]

    assert violations() == []
    page.write("猫")
    page.attended()
    page.all(".target li")[0].click()
    assert violations() == []
    page.choose("drawing", "heat-map")
    page.run("document.querySelector('td.weight').focus()")
    assert violations() == []
    fake_server("() => ({ status: 500, body: { error: 'It broke.' } })")
    page.write("が")
    page.wait("return document.getElementById('problem').textContent")
    assert violations() == []


@pytest.mark.parametrize("screen", SCREENS)
def test_axe_finds_no_barrier_in_a_text_of_several_sentences(page, fake_server):
    page.run(AXE.read_text("utf-8"))
    fake_server(
        """(signature, text) => signature === "nbest"
            ? nbest(text, { is_uncertain: true }) : attend(text)"""
    )
    page.set_text("猫がいる。\n\n犬はどこ？")
    page.attended()
    assert page.one("sentence").is_displayed()
    assert page.one("unsure").is_displayed()
    for section in ("guide", "program", "about"):
        page.all(f"#{section} > summary")[0].click()
    assert page.run("return axe.run()")["violations"] == []


@pytest.mark.parametrize("screen", SCREENS)
def test_axe_finds_no_barrier_in_all_heads_and_in_what_could_have_been_said(page, fake_server):
    page.run(AXE.read_text("utf-8"))
    fake_server(
        """(signature, text) => signature === "nbest" ? nbest(text)
            : attendAll(text.prefix_pieces ?? ["▁x", "▁y", "</s>"])"""
    )
    page.write("猫")
    page.attended()
    page.all("#multiples button")[3].click()
    page.all("#alternatives .shares button")[1].click()
    assert page.run("return axe.run()")["violations"] == []
    page.all("#instead button")[1].click()
    page.wait("return !document.getElementById('alternative').hidden")
    for kind in page.all("#kind option")[1:]:
        kind.click()
        assert page.run("return axe.run()")["violations"] == []


@pytest.mark.parametrize("screen", SCREENS)
def test_many_heads_and_long_pieces_never_scroll_sideways(page, fake_server):
    fake_server(
        """(signature, text) => {
            if (signature === "nbest") return nbest(text);
            const targets = [...(text.prefix_pieces ?? []), ..."ab", "▁" + "W".repeat(200), "</s>"];
            const told = attendAll(targets, Array(40).fill("友達")).body.predictions[0];
            const heads = Array(12).fill(Array(16).fill(told.weights[0][0]));
            return { body: { predictions: [{ ...told, weights: heads }] } };
        }"""
    )
    page.write("猫")
    page.attended()
    assert len(page.all("#multiples button")) == 192
    page.all("#alternatives .shares button")[2].click()
    page.all("#instead button")[1].click()
    page.wait("return !document.getElementById('alternative').hidden")
    assert page.run(
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )


@pytest.mark.parametrize("screen", SCREENS)
def test_the_page_never_scrolls_sideways(page, fake_server):
    fake_server(
        """(signature, text) => signature === "nbest" ? nbest(text)
            : attend(text, Array(40).fill("▁friends"), Array(40).fill("友達"))"""
    )
    page.write("a" * 200)
    page.attended()
    for drawing in ("lines", "heat-map"):
        page.choose("drawing", drawing)
        assert page.run(
            "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        ), drawing
    box = page.all("#figure .scroll")[0]
    # So the table was wide, and scrolls in its own box.
    assert box.get_property("scrollWidth") > box.get_property("clientWidth")


@pytest.mark.parametrize("screen", SCREENS)
def test_japanese_is_drawn_in_shapes_of_its_own(page):
    def drawn(character):
        page.run(
            "document.getElementById('source').value = arguments[0]; document.activeElement.blur()",
            character,
        )
        return page.one("source").screenshot_as_base64

    pictures = [drawn(character) for character in ["昨", "友", "映", "を", "\ue000", ""]]
    assert all(one != other for one, other in combinations(pictures, 2))


def test_the_keyboard_alone_reaches_everything_and_shows_where_it_is(page, fake_server):
    fake_server()

    def press(*keys):
        ActionChains(page.driver).send_keys(*keys).perform()
        focused = page.driver.switch_to.active_element
        outlined = page.run(
            "return [arguments[0], arguments[0].closest('.pane')].some("
            "(one) => one && getComputedStyle(one).outlineStyle === 'solid')",
            focused,
        )
        assert outlined, focused.get_attribute("outerHTML")[:200]
        return focused

    def reach(selector):
        for _ in range(10):
            if press(Keys.TAB) in page.all(selector):
                return
        raise AssertionError(f"{selector} is not reached")

    reach("#source")
    press("猫")
    page.translated("猫")
    reach("#clear")
    reach("#share")
    reach("#copy")
    reach("#examples button")
    press(Keys.ENTER)
    page.translated(page.all("#examples button")[0].text)
    page.attended()
    reach("#attention > summary")
    press(Keys.ENTER)
    assert not page.one("figure").is_displayed()
    press(Keys.ENTER)
    reach("#guide summary")
    reach("#layer")
    press(Keys.ARROW_DOWN)
    assert page.one("layer").get_property("value") == "0"
    reach("#head")
    reach("[value=lines]")
    reach(".source li")
    first = page.text("looked-at")
    assert first
    press(Keys.ARROW_RIGHT)
    assert page.text("looked-at") != first
    press(Keys.HOME)
    assert page.text("looked-at") == first
    reach(".target li")
    end = press(Keys.END)
    assert end.accessible_name == "the end"
    back = ActionChains(page.driver).key_down(Keys.SHIFT).send_keys(Keys.TAB, Keys.TAB)
    back.key_up(Keys.SHIFT).perform()
    press(Keys.ARROW_RIGHT)
    page.attended()
    reach("table [tabindex='0']")
    cell = press(Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert cell == page.all("tbody tr:first-child td")[1]
    assert cell.text == "0.98"
    assert page.text("looked-at") == "x attended to 猫 98%."


def test_a_screen_reader_is_told_once_the_typing_has_stopped(page, fake_server):
    fake_server()
    page.run(
        """
        window.told = [];
        const region = document.getElementById("announcement");
        const hear = () => told.push(region.textContent);
        new MutationObserver(hear).observe(region, { childList: true });
        """
    )
    page.write("猫")
    page.translated("猫")
    page.write("が")
    page.translated("猫が")
    page.wait("return told.length")
    assert page.run("return told") == ["猫が"]
    assert page.all("#announcement [lang=en]")
    assert page.one("announcement").get_attribute("role") == "status"


def test_a_screen_reader_is_told_that_the_model_is_not_sure(page, fake_server):
    fake_server(
        """(signature, text) => signature === "nbest"
            ? nbest("a translation", { is_uncertain: text !== "猫" }) : attend("a translation")"""
    )
    told = "return document.getElementById('announcement').textContent === arguments[0]"
    page.write("猫")
    page.translated("a translation")
    page.wait(told, "a translation")
    page.write("x")  # the same translation, but not as sure
    page.wait(told, "a translation The model is not sure of this translation.")
    (said,) = page.all("#announcement [lang=en]")
    assert said.get_property("textContent") == "a translation"


def test_languages_are_marked(page, fake_server):
    fake_server()
    page.write("猫")
    page.attended()
    for selector in ("#source", "#examples button", ".source .text"):
        assert page.all(f"{selector}[lang=ja]"), selector
    for selector in ("#translation", "#hypotheses li span", ".target .text"):
        assert page.all(f"{selector}[lang=en]"), selector
    assert page.one("source").accessible_name == "Japanese"
    assert [heading.text for heading in page.all("h1, h2")][1:] == [
        "Japanese",
        "English",
        "Attention",
        "From a program",
        "Model",
    ]


@pytest.mark.parametrize(("preference", "moves"), [("reduce", False), ("no-preference", True)])
def test_nothing_moves_for_those_who_ask_for_it(page, preference, moves):
    feature = {"name": "prefers-reduced-motion", "value": preference}
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    style = "return getComputedStyle(document.getElementById('copy')).transitionDuration"
    assert (page.run(style) != "0s") == moves
