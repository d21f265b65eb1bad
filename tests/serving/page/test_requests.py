import json

import httpx2 as httpx
import pytest

from keras_attn.serving.apis.streaming import split

pytestmark = pytest.mark.slow


def test_an_older_slow_answer_does_not_replace_a_newer_one(page, fake_server):
    fake_server(nbest="{ ...nbest(text), seconds: text === 'old' ? 1 : 0 }")
    page.write("old")
    page.wait("return asked.length === 1")
    page.translate("new")
    assert page.run("return signals[0].aborted")
    page.wait("return ended.includes('old')")
    assert page.translated() == "new"
    assert page.run("return asked") == ["nbest", "nbest", "attend"]
    assert page.run("return texts") == ["old", "new", "new"]


def test_nothing_is_asked_during_typing(page, fake_server):
    fake_server()
    page.set_text("猫", "猫が", "猫がいる", "猫がいる。")
    page.translated("猫がいる。")
    page.attended()
    assert page.run("return asked") == ["nbest", "attend"]


def echoed(text):
    """The translation of a long text, which the server translates sentence by sentence."""
    sentences, around = split(text, "en")
    parts = zip(sentences, around[1:], strict=True)
    return around[0] + "".join(f"1: {sentence}{between}" for sentence, between in parts)


def test_the_longest_text_is_translated_and_a_longer_one_is_said_to_be_too_long(page, server):
    limit = httpx.get(f"{server}/page/settings.json").json()["max_characters"]
    page.translate("猫", "1: 猫")
    page.set_text("𠮷" * limit)  # a character of two units of UTF-16
    assert page.text("problem") == ""
    page.set_text("𠮷" * (limit + 1))
    assert f"too long: {limit:,} characters" in page.text("problem")
    assert page.text("count") == f"{limit + 1:,} / {limit:,}"
    assert page.one("source").get_attribute("aria-invalid") == "true"
    assert page.text("translation") == "1: 猫"
    page.translate("犬", "1: 犬")
    assert page.one("source").get_attribute("aria-invalid") == "false"

    line = "20行の文章です。\t😀 https://example.com/a?b=c&d=%20\r\n\r\n"
    text = (line * limit).replace("\r\n", "\n")[:limit]
    page.translate(text, echoed(text))
    page.open("more")
    assert page.shown("hypotheses") == []
    # The field has lines as the page of a browser has them.
    page.translate(line * 20, echoed((line * 20).replace("\r\n", "\n")))
    assert page.text("problem") == page.text("attention-problem") == ""


def test_half_a_character_is_no_problem_and_a_server_that_cannot_be_reached_is_one(page):
    page.run("source.value = '猫\\ud83d'; source.dispatchEvent(new InputEvent('input'));")
    page.translated("1: 猫\ufffd")
    assert page.text("problem") == ""
    page.run(
        "window.reached = fetch;"
        "window.fetch = () => Promise.reject(new TypeError('Failed to fetch'))"
    )
    page.write("猫")
    page.wait_for("problem")
    assert "The server cannot be reached." in page.text("problem")
    page.run("window.fetch = reached")
    page.translated("1: 猫\ufffd猫")
    assert page.text("problem") == ""


def test_a_busy_server_is_asked_again_when_it_says(page, fake_server):
    busy = "{ status: 503, headers: { 'Retry-After': '1' }, body: { error: 'Busy.' } }"
    fake_server(nbest=f"n === 1 ? {busy} : nbest(text)")
    page.write("猫")
    page.wait("return document.getElementById('progress').textContent.includes('busy')")
    assert "in 1 s" in page.text("progress")
    assert page.run("return asked") == ["nbest"]
    page.translated("猫")
    assert page.text("progress") == page.text("problem") == ""


def test_numbers_that_json_does_not_know_are_read(page):
    def read(text):
        return page.run(
            "return import('/page/server.js').then((server) => server.readJson(arguments[0]))", text
        )

    numbers = [None, None, None, -0.5, 1e-7]
    assert read('{"a": [-Infinity, Infinity, NaN, -0.5, 1e-7]}') == {"a": numbers}
    strings = ["-Infinity", 'NaN" NaN', "\\", '\\\\" Infinity', "猫\n"]
    assert read(json.dumps([strings, float("-inf")])) == [strings, None]
    assert read(json.dumps(["\\" * 100_000 + '"' * 100_000, float("nan")]))[1] is None
