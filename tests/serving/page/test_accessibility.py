import pytest
from selenium.webdriver import Keys

from tests.serving.browser import SCREENS

pytestmark = pytest.mark.slow

ATTEND = """signature === "head" ? ofHead() : attend(text)"""


@pytest.mark.parametrize("screen", SCREENS)
def test_axe_finds_no_barrier(page, fake_server, screen):
    if screen[0] < 600:  # on a phone the translation comes before the examples
        places = [page.one(name).rect["y"] for name in ("source", "translation", "examples")]
        assert places == sorted(places)
    fake_server(attend=ATTEND)
    assert page.barriers() == []
    page.attend("猫")
    page.all(".target li")[0].click()
    assert page.barriers() == []
    for part in ("follow", "more"):
        page.open(part)
    page.wait("return document.querySelector('#follow .strip')")
    assert page.barriers() == []
    fake_server(fails_at=1)
    page.write("が")
    page.wait_for("problem")
    assert page.barriers() == []

    # A text of several sentences, and all that can be opened.
    fake_server(nbest="nbest(text, { is_uncertain: true })")
    page.translate("猫がいる。\n\n犬はどこ？")
    assert page.shown("sentence", "remark") == ["sentence", "remark"]
    for section in ("program", "about"):
        page.open(section)
    assert page.barriers() == []

    # What could have been said.
    fake_server(attend='attendAll(text.prefix_pieces ?? ["▁x", "▁y", "</s>"])')
    page.translate("猫")
    page.all("#alternatives .shares button")[1].click()
    assert page.barriers() == []
    page.all("#instead button")[1].click()
    page.wait_for("alternative")
    for kind in page.all("#kind option")[1:]:
        kind.click()
        assert page.barriers() == []


@pytest.mark.parametrize("screen", SCREENS)
def test_the_page_never_scrolls_sideways(page, fake_server, screen):
    fake_server(attend="attend(text, Array(40).fill('▁friends'), Array(40).fill('友達'))")
    page.attend("a" * 200)
    assert not page.scrolls_sideways()
    box = page.all("#figure .scroll")[0]
    # So the drawing was wide, and scrolls in its own box.
    is_wide = box.get_property("scrollWidth") > box.get_property("clientWidth")
    assert is_wide == (screen[0] >= 600)

    # Many heads and long pieces.
    fake_server(
        attend="""(() => {
            const targets = [...(text.prefix_pieces ?? []), ..."ab", "▁" + "W".repeat(200), "</s>"];
            const told = attendAll(targets, Array(40).fill("友達")).body.predictions[0];
            const heads = Array(12).fill(Array(16).fill(told.weights[0][0]));
            return { body: { predictions: [{ ...told, weights: heads }] } };
        })()"""
    )
    page.set_text("猫")
    page.wait("return document.querySelectorAll('#head option').length === 17")
    page.attended()
    page.all("#alternatives .shares button")[2].click()
    page.all("#instead button")[1].click()
    page.wait_for("alternative")
    assert not page.scrolls_sideways()

    # Long sentences to choose from.
    fake_server()
    page.set_text("。".join(["犬" * 200, "W" * 200, ""]))
    page.wait("return document.querySelectorAll('#sentence option').length === 2")
    page.attended()
    assert len(page.all("#sentence option")[0].text) < 50
    assert not page.scrolls_sideways()


def test_the_keyboard_alone_reaches_everything_and_shows_where_it_is(page, fake_server):
    fake_server()

    def press(*keys):
        page.press(*keys)
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
    page.attended()
    for selector in ("#share", "#clear", "#copy", ".source li"):
        reach(selector)
    first = page.text("looked-at")
    assert first
    press(Keys.ARROW_RIGHT)
    assert page.text("looked-at") != first
    press(Keys.HOME)
    assert page.text("looked-at") == first
    reach(".target li")
    assert press(Keys.END).accessible_name == "the end"
    assert page.text("looked-at").startswith("the end attended to the end 98%")
    reach("#follow summary")
    press(Keys.ENTER)
    assert page.one("follow").get_property("open")
    reach("#more summary")
    press(Keys.ENTER)
    reach("#layer")
    press(Keys.ARROW_DOWN)
    assert page.one("layer").get_property("value") == "0"
    for selector in ("#head", "#examples button"):
        reach(selector)
    press(Keys.ENTER)
    page.translated(page.all("#examples button")[0].text)
    page.attended()


def test_a_screen_reader_is_told_after_the_typing_and_how_sure_the_model_is(page, fake_server):
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

    fake_server(nbest="nbest('a dog', { is_uncertain: text !== '犬' })", attend="attend('a dog')")
    told = "return document.getElementById('announcement').textContent === arguments[0]"
    page.set_text("犬")
    page.wait(told, "a dog")
    page.write("x")  # the same translation, but not as sure
    page.wait(told, "a dog The model is not sure of this translation.")
    (said,) = page.all("#announcement [lang=en]")
    assert said.get_property("textContent") == "a dog"


def test_languages_are_marked_and_nothing_moves_for_those_who_ask_for_it(page, fake_server):
    fake_server()
    page.attend("猫")
    for selector in ("#source", "#examples button", ".source .text"):
        assert page.all(f"{selector}[lang=ja]"), selector
    for selector in ("#translation", "#hypotheses li span", ".target .text"):
        assert page.all(f"{selector}[lang=en]"), selector
    assert page.one("source").accessible_name == "Japanese"
    headings = [heading.text for heading in page.all("h1, h2")][1:]
    expected = ["Japanese", "English", "Attention", "Other sentences", "From a program", "Model"]
    assert headings == expected
    style = "return getComputedStyle(document.getElementById('copy')).transitionDuration"
    for preference, moves in (("reduce", False), ("no-preference", True)):
        page.prefer({"prefers-reduced-motion": preference})
        assert (page.run(style) != "0s") == moves
