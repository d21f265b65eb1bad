"""A text of many sentences is translated sentence by sentence, and the page shows what is there."""

import pytest

pytestmark = pytest.mark.slow

LONG = "犬だ。猫だ。\n" + "鳥だ。" * 8
DONE = '["done", { translatedText: "a b c" }]'
ALL = f"...sentencesOf(['a', 'b', 'c']), {DONE}"
NOT_SURE = "The model is not sure of this translation."
RETURNED = "This text is not in Japanese; it is returned as given."


def test_each_sentence_is_shown_when_it_is_there_and_may_make_the_text_unsure(page, fake_server):
    fake_server(stream=f"{{ events: [{ALL}], seconds: 0.5 }}")
    page.set_text(LONG)
    for begun in ("a", "a b", "a b c"):
        page.wait("return translation.textContent === arguments[0]", begun)
        assert page.one("translation").get_attribute("aria-busy") == "true"
    assert page.translated() == "a b c"
    page.attended()
    assert page.run("return asked") == ["stream", "attend"]
    assert page.shown("remark") == []

    for flag, of_others, remark in (
        ("isUncertain", "false", NOT_SURE),
        ("isOtherLanguage", "false", ""),
        ("isOtherLanguage", "true", RETURNED),
    ):
        first = f"...sentencesOf(['a'], {{ {flag}: true }})"
        others = f"...sentencesOf(['b', 'c'], {{ {flag}: {of_others} }})"
        fake_server(stream=f"{{ events: [{first}, {others}, {DONE}] }}")
        page.set_text("")
        page.set_text(LONG)
        page.translated("a b c")
        assert page.text("remark") == remark

    # A text of few sentences has hypotheses.
    fake_server()
    page.translate(LONG[:-3])
    assert page.run("return asked") == ["nbest", "attend"]


def test_a_newer_text_ends_the_stream(page, fake_server):
    fake_server(stream=f"{{ events: [{ALL}], seconds: 0.5 }}")
    page.set_text(LONG)
    page.wait("return translation.textContent === 'a'")
    page.translate("犬だ。")
    assert page.run("return signals[0].aborted")
    page.wait("return ended.includes(arguments[0])", LONG)
    assert page.text("translation") == "犬だ。"
    assert page.text("problem") == ""


def test_an_error_in_the_middle_is_shown_and_can_be_tried_again(page, fake_server):
    for end, message in (
        ('["error", { error: "The server is busy." }]', "The server is busy."),
        ("...sentencesOf(['b'])", "The server stopped before the end of the text."),
    ):
        first, second = f"[...sentencesOf(['a']), {end}]", f"[...sentencesOf(['a']), {DONE}]"
        fake_server(stream=f"{{ events: n === 1 ? {first} : {second} }}")
        page.set_text("")
        page.set_text(LONG)
        page.wait_for("problem")
        assert page.text("problem").startswith(message)
        assert page.text("translation").startswith("a")
        page.all("#problem button")[0].click()
        page.translated("a b c")
        page.attended()
        assert page.text("problem") == ""
