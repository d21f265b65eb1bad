"""A text of many sentences is translated sentence by sentence, and the page shows what is there."""

import pytest

pytestmark = pytest.mark.slow

LONG = "犬だ。猫だ。\n" + "鳥だ。" * 8
DONE = '["done", { translatedText: "a b c" }]'


def answering(events, seconds=0):
    """JavaScript that answers a stream with these events."""
    stream = f"{{ events: [{events}], seconds: {seconds} }}"
    return f"(signature, text) => signature === 'stream' ? {stream} : echo(signature, text)"


def test_the_translation_is_that_of_the_server(page):
    page.write(LONG)
    assert page.translated() == "1: 犬だ。 1: 猫だ。\n" + " ".join(["1: 鳥だ。"] * 8)
    page.attended()
    assert not page.one("hypotheses").is_displayed()
    assert page.text("problem") == page.text("attention-problem") == ""


def test_each_sentence_is_shown_when_it_is_there(page, fake_server):
    fake_server(answering(f"...sentencesOf(['a', 'b', 'c']), {DONE}", seconds=0.5))
    page.set_text(LONG)
    for begun in ("a", "a b", "a b c"):
        page.wait("return translation.textContent === arguments[0]", begun)
        assert page.one("translation").get_attribute("aria-busy") == "true"
    assert page.translated() == "a b c"
    page.attended()
    assert page.run("return asked") == ["stream", "attend"]
    assert not page.one("unsure").is_displayed()


def test_a_sentence_of_which_the_model_is_unsure_makes_the_text_unsure(page, fake_server):
    fake_server(
        answering(
            "...sentencesOf(['a'], { isUncertain: true }),"
            f"...sentencesOf(['b', 'c'], {{ isUncertain: false }}), {DONE}"
        )
    )
    page.set_text(LONG)
    page.translated("a b c")
    page.attended()
    assert page.one("unsure").is_displayed()


def test_a_text_of_few_sentences_has_hypotheses(page, fake_server):
    fake_server()
    page.set_text(LONG[:-3])
    page.translated()
    page.attended()
    assert page.run("return asked") == ["nbest", "attend"]


def test_a_newer_text_ends_the_stream(page, fake_server):
    fake_server(answering(f"...sentencesOf(['a', 'b', 'c']), {DONE}", seconds=0.5))
    page.set_text(LONG)
    page.wait("return translation.textContent === 'a'")
    page.set_text("犬だ。")
    page.translated("犬だ。")
    page.attended()
    assert page.run("return signals[0].aborted")
    page.wait("window.begun ??= Date.now(); return Date.now() > begun + 1000")
    assert page.text("translation") == "犬だ。"
    assert page.text("problem") == ""


def test_an_error_in_the_middle_is_shown_and_can_be_tried_again(page, fake_server):
    for end, message in (
        ('["error", { error: "The server is busy." }]', "The server is busy."),
        ("...sentencesOf(['b'])", "The server stopped before the end of the text."),
    ):
        fake_server(
            "(signature, text, n) => signature === 'stream' ? { events: n === 1 ?"
            f" [...sentencesOf(['a']), {end}] : [...sentencesOf(['a']), {DONE}] }} :"
            " echo(signature, text)"
        )
        page.set_text("")
        page.set_text(LONG)
        page.wait("return problem.textContent")
        assert page.text("problem").startswith(message)
        assert page.text("translation").startswith("a")
        page.one("problem").find_element("tag name", "button").click()
        page.translated("a b c")
        page.attended()
        assert page.text("problem") == ""
