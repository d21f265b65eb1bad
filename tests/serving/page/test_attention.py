import httpx2 as httpx
import numpy as np
import pytest
from selenium.webdriver import ActionChains, Keys

pytestmark = pytest.mark.slow

TEXT = "友達と映画を見ました。"


def numbers(page):
    """The weights `(T, S)` that the heat map shows."""
    rows = page.run(
        "return [...document.querySelectorAll('tbody tr')].map("
        "(row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent))"
    )
    return np.array(rows, float)


@pytest.mark.parametrize(
    ("layer", "head"), [("all", "all"), ("1", "all"), ("all", "0"), ("0", "1")]
)
def test_the_heat_map_shows_the_weights_of_the_chosen_layer_and_head(page, ask, layer, head):
    page.write(TEXT)
    page.attended()
    answer = ask("attend", TEXT)
    page.choose("drawing", "heat-map")
    page.choose("layer", layer)
    page.choose("head", head)
    weights = np.array(answer["weights"])  # (layers, H, T, S)
    layers = slice(None) if layer == "all" else slice(int(layer), int(layer) + 1)
    heads = slice(None) if head == "all" else slice(int(head), int(head) + 1)
    expected = weights[layers, heads].mean(axis=(0, 1))
    np.testing.assert_allclose(numbers(page), expected, atol=0.00501)
    others = weights.mean(axis=(0, 1)) if (layer, head) != ("all", "all") else weights[0, 0]
    assert not np.allclose(numbers(page), others, atol=0.01)


def test_the_pieces_are_those_of_the_model(page, ask):
    page.write(TEXT)
    page.attended()
    answer = ask("attend", TEXT)
    for side in ("source", "target"):
        pieces = [piece for piece in answer[f"{side}_pieces"] if piece]
        shown = [option.text for option in page.all(f".{side} li")]
        assert len(shown) == len(pieces)
        assert shown[-1] == ("end" if pieces[-1] == "</s>" else shown[-1])
        for text, piece in zip(shown, pieces, strict=True):
            assert text == piece.lstrip("▁") or text in ("␣", "end") or piece == f"<0x{text}>"


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_piece_under_the_pointer_or_in_focus_shows_what_it_looked_at(page, ask, side):
    page.write(TEXT)
    page.attended()
    weights = np.array(ask("attend", TEXT)["weights"]).mean(axis=(0, 1))
    weights = weights[1] if side == "target" else weights[:, 1]
    piece = page.all(f".{side} li")[1]
    lines_of_all = len(page.all("svg path"))

    ActionChains(page.driver).move_to_element(piece).perform()
    assert len(page.all("svg path")) == (weights >= 0.005).sum()
    first = piece.accessible_name + (" attended to" if side == "target" else " was attended to by")
    assert page.text("looked-at").startswith(first)
    assert f"{100 * weights.max():.0f}%" in page.text("looked-at")
    assert piece.get_attribute("aria-selected") == "true"
    while_pointed_at = page.text("looked-at")

    ActionChains(page.driver).move_to_element(page.one("title")).perform()
    assert page.text("looked-at") == ""
    assert len(page.all("svg path")) == lines_of_all

    page.run("arguments[0].focus()", piece)
    assert page.text("looked-at") == while_pointed_at
    piece.send_keys(Keys.ESCAPE)
    assert page.text("looked-at") == ""


@pytest.mark.parametrize("screen", [(390, "light")])
def test_the_pieces_stay_where_they_are_when_what_they_looked_at_takes_more_lines(
    page, fake_server
):
    fake_server(
        "(signature, text) => signature === 'nbest' ? nbest(text)"
        ": attend(text, ['x'], ['▁a', '▁' + 'b'.repeat(100)])"
    )
    page.write("猫")
    page.attended()
    page.run("scrollTo(0, document.body.scrollHeight)")
    piece, beside = page.all(".target li")[0], page.one("choices")
    place = "return arguments[0].getBoundingClientRect().y"
    before, height = page.run(place, piece), page.one("words").size["height"]
    for element in (piece, beside, piece):
        ActionChains(page.driver).move_to_element(element).perform()
        assert page.run(place, piece) == before
    assert page.one("words").size["height"] > height


def test_what_was_chosen_stays_when_the_text_changes(page, fake_server):
    fake_server(
        """(signature, text) => signature === "nbest" ? nbest(text) : attend(text, [...text])"""
    )
    page.write("abc")
    page.attended()
    page.choose("layer", "0")
    page.choose("head", "0")
    page.choose("drawing", "heat-map")
    assert numbers(page).shape == (3, 3)
    page.write("de")
    page.wait("return document.querySelectorAll('tbody tr').length === 5")
    assert page.one("layer").get_property("value") == "0"
    assert page.one("head").get_property("value") == "0"
    assert numbers(page).shape == (5, 3)


def test_the_page_says_when_attention_is_that_of_another_translation(page, fake_server):
    fake_server("(signature, text) => signature === 'nbest' ? nbest('a b') : attend('a')")
    page.write("猫")
    page.attended()
    assert page.text("other-translation").endswith("one sentence, translated alone: a")
    fake_server()
    page.write("犬")
    page.translated("猫犬")
    page.wait("return document.getElementById('other-translation').hidden")


def test_white_space_around_a_sentence_makes_it_no_other(page, fake_server):
    fake_server("(signature, text) => signature === 'nbest' ? nbest(text) : attend(text)")
    page.set_text("\n 猫 \n")
    page.attended()
    assert page.run("return texts") == ["\n 猫 \n", "猫"]
    assert not page.one("other-translation").is_displayed()
    assert not page.one("sentence").is_displayed()


def test_the_page_says_when_there_may_be_more_pieces_than_the_model_read(page, fake_server, server):
    limit = httpx.get(f"{server}/page/settings.json").json()["max_pieces"]
    fake_server(
        """(signature, text) => signature === "nbest" ? nbest(text)
            : attend(text, undefined, Array(Number(text)).fill("猫"))"""
    )
    page.set_text(str(limit))
    page.attended()
    said = f"at most {limit} pieces at once. This is the attention of the first {limit} alone"
    assert said in page.text("other-translation")
    page.set_text(str(limit - 1))
    page.translated(str(limit - 1))
    page.wait("return document.getElementById('other-translation').hidden")


SENTENCES = ["猫がいる。", "犬はどこ？", "「はい。」", "長さは3.5 cmです。"]


def test_each_sentence_of_a_text_has_attention_of_its_own(page, fake_server):
    fake_server(
        """(signature, text) => signature === "nbest" ? nbest("<" + text + ">")
            : attend("<" + text + ">", [...text, "</s>"])"""
    )
    text = f"{SENTENCES[0]}{SENTENCES[1]}\n\n{SENTENCES[2]}\n{SENTENCES[3]}\n"
    page.set_text(text)
    page.attended()
    assert page.run("return texts") == [text, SENTENCES[0]]
    options = page.all("#sentence option")
    assert [option.text for option in options] == [
        f"{number}: {sentence}" for number, sentence in enumerate(SENTENCES, 1)
    ]
    assert page.one("sentence").accessible_name == "Sentence"
    assert {option.get_attribute("lang") for option in options} == {"ja"}
    assert page.text("other-translation").endswith(f"translated alone: <{SENTENCES[0]}>")

    options[2].click()
    page.wait("return document.querySelector('.target li').textContent === '「'")
    page.attended()
    assert page.text("other-translation").endswith(f"<{SENTENCES[2]}>")
    assert page.translated() == f"<{text}>"
    assert page.run("return texts") == [text, SENTENCES[0], SENTENCES[2]]

    # It stays chosen while more is written after it.
    page.write("x")
    page.wait("return texts.length === 5")
    page.attended()
    assert page.one("sentence").get_property("value") == "2"
    assert page.run("return texts.at(-1)") == SENTENCES[2]

    page.set_text(SENTENCES[1])
    page.translated(f"<{SENTENCES[1]}>")
    page.wait("return document.getElementById('other-translation').hidden")
    assert not page.one("sentence").is_displayed()
    assert page.run("return texts.at(-1)") == SENTENCES[1]


def test_a_sentence_that_cannot_be_attended_to_can_be_tried_again(page, fake_server):
    fake_server(
        """(signature, text, n) => n === 3 ? { status: 504, body: { error: "Too slow." } }
            : echo(signature, text)"""
    )
    page.set_text("猫。犬。")
    page.attended()
    page.all("#sentence option")[1].click()
    page.wait("return document.getElementById('attention-problem').textContent")
    assert "Too slow." in page.text("attention-problem")
    page.all("#attention-problem button")[0].click()
    page.attended()
    assert page.text("attention-problem") == ""
    assert page.text("other-translation").endswith("犬。")


@pytest.mark.parametrize("screen", [(390, "light")])
def test_long_sentences_to_choose_from_fit_a_phone(page, fake_server):
    fake_server()
    page.set_text("。".join(["犬" * 200, "W" * 200, ""]))
    page.attended()
    assert len(page.all("#sentence option")) == 2
    assert len(page.all("#sentence option")[0].text) < 50
    wide = "return document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not page.run(wide)


def test_pieces_are_read_as_people_read_them(page):
    pieces = ["▁The", "y", "▁", "<0xE3>", "▁<0xE3>", "</s>", "<unk>", "", ""]
    read = page.run(
        "return import('/page/pieces.js').then((module) => module.readPieces(arguments[0]))", pieces
    )
    assert [(piece["kind"], piece["text"], piece["beginsWord"]) for piece in read] == [
        ("text", "The", True),
        ("text", "y", False),
        ("space", "␣", True),
        ("byte", "E3", False),
        ("text", "<0xE3>", True),
        ("end", "end", False),
        ("unknown", "?", False),
    ]
