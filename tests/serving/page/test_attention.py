import httpx2 as httpx
import numpy as np
import pytest
from selenium.webdriver import Keys

pytestmark = pytest.mark.slow

TEXT = "友達と映画を見ました。"
SENTENCES = ["猫がいる。", "犬はどこ？", "「はい。」", "長さは3.5 cmです。"]


def numbers(page):
    """The weights `(T, S)` that the heat map shows."""
    return np.array([row.text.split()[1:] for row in page.all("tbody tr")], float)


def pressed(page):
    return page.names("#multiples [aria-pressed=true]")


def chosen(page):
    return [page.one(name).get_property("value") for name in ("layer", "head")]


def test_the_heat_map_shows_the_weights_of_the_chosen_layer_and_head(page, ask):
    page.attend(TEXT)
    answer = ask("attend", TEXT)
    for side in ("source", "target"):
        pieces = [piece.replace(" ", "␣") for piece in answer[f"{side}_pieces"]]
        assert [one.text for one in page.all(f".{side} li")] == [*pieces[:-1], "end"]
    weights = np.array(answer["weights"])  # (layers, H, T, S)
    page.choose("drawing", "heat-map")
    for layer, head in (("all", "all"), ("1", "all"), ("all", "0"), ("0", "1")):
        page.choose("layer", layer)
        page.choose("head", head)
        expected = weights if layer == "all" else weights[[int(layer)]]
        expected = expected if head == "all" else expected[:, [int(head)]]
        np.testing.assert_allclose(numbers(page), expected.mean(axis=(0, 1)), atol=0.00501)
    # What was chosen stays when the text changes.
    rows = len(numbers(page)) + 1
    page.set_text(f"猫{TEXT}")
    page.wait("return document.querySelectorAll('tbody tr').length === arguments[0]", rows)
    assert chosen(page) == ["0", "1"]


def test_a_piece_under_the_pointer_or_in_focus_shows_what_it_looked_at(page, ask):
    page.attend(TEXT)
    of_all = np.array(ask("attend", TEXT)["weights"]).mean(axis=(0, 1))
    lines_of_all = len(page.all("svg path"))
    for side, weights, verb in (
        ("target", of_all[1], "attended to"),
        ("source", of_all[:, 1], "was attended to by"),
    ):
        piece = page.all(f".{side} li")[1]
        page.point_at(piece)
        assert len(page.all("svg path")) == (weights >= 0.005).sum()
        assert page.text("looked-at").startswith(f"{piece.accessible_name} {verb}")
        assert f"{100 * weights.max():.0f}%" in page.text("looked-at")
        assert piece.get_attribute("aria-selected") == "true"
        while_pointed_at = page.text("looked-at")
        page.point_at(page.one("title"))
        assert page.text("looked-at") == ""
        assert len(page.all("svg path")) == lines_of_all
        page.run("arguments[0].focus()", piece)
        assert page.text("looked-at") == while_pointed_at
        piece.send_keys(Keys.ESCAPE)
        assert page.text("looked-at") == ""


@pytest.mark.parametrize("screen", [(390, "light")])
def test_pieces_stay_in_place_when_what_they_looked_at_takes_more_lines(page, fake_server):
    fake_server(attend="attend(text, ['x'], ['▁a', '▁' + 'b'.repeat(100)])")
    page.attend("猫")
    page.run("scrollTo(0, document.body.scrollHeight)")
    piece, beside = page.all(".target li")[0], page.one("choices")
    place = "return arguments[0].getBoundingClientRect().y"
    before, height = page.run(place, piece), page.one("words").size["height"]
    for element in (piece, beside, piece):
        page.point_at(element)
        assert page.run(place, piece) == before
    assert page.one("words").size["height"] > height


def test_attention_of_another_translation_or_a_part_is_said_to_be(page, fake_server, server):
    fake_server(nbest="nbest('a b')", attend="attend('a')")
    page.attend("猫")
    assert page.text("other-translation").endswith("one sentence, translated alone: a")
    limit = httpx.get(f"{server}/page/settings.json").json()["max_length"]
    fake_server(attend="attend(text, undefined, Array(Number(text)).fill('猫'))")
    page.set_text(str(limit))
    said = f"at most {limit} pieces at once. This is the attention of the first {limit} alone"
    has_said = "return document.getElementById('other-translation').textContent.includes"
    page.wait(f"{has_said}(arguments[0])", said)
    page.translate(str(limit - 1))
    page.wait("return document.getElementById('other-translation').hidden")
    # White space around a sentence makes it no other.
    fake_server()
    page.translate("\n 猫 \n")
    assert page.run("return texts") == ["\n 猫 \n", "猫"]
    assert page.shown("other-translation", "sentence", "multiples") == []


def test_each_sentence_of_a_text_has_attention_of_its_own(page, fake_server):
    attend = "attend(`<${text}>`, [...text, '</s>'])"
    fake_server(nbest="nbest(`<${text}>`)", attend=attend, fails_at=3)
    text = f"{SENTENCES[0]}{SENTENCES[1]}\n\n{SENTENCES[2]}\n{SENTENCES[3]}\n"
    page.set_text(text)
    page.attended()
    assert page.run("return texts") == [text, SENTENCES[0]]
    options = page.all("#sentence option")
    numbered = [f"{number}: {sentence}" for number, sentence in enumerate(SENTENCES, 1)]
    assert [option.text for option in options] == numbered
    assert page.one("sentence").accessible_name == "Sentence"
    assert {option.get_attribute("lang") for option in options} == {"ja"}
    assert page.text("other-translation").endswith(f"translated alone: <{SENTENCES[0]}>")

    # The attention of another one fails, and is tried again.
    options[2].click()
    page.wait_for("attention-problem")
    assert "It took too long." in page.text("attention-problem")
    page.all("#attention-problem button")[0].click()
    page.wait("return document.querySelector('.target li').textContent === '「'")
    page.attended()
    assert page.text("attention-problem") == ""
    assert page.text("other-translation").endswith(f"<{SENTENCES[2]}>")
    assert page.translated() == f"<{text}>"
    assert page.run("return texts") == [text, SENTENCES[0], SENTENCES[2], SENTENCES[2]]

    # It stays chosen while more is written after it.
    page.write("x")
    page.wait("return texts.length === 6")
    page.attended()
    assert page.one("sentence").get_property("value") == "2"
    assert page.run("return texts.at(-1)") == SENTENCES[2]

    page.translate(SENTENCES[1], f"<{SENTENCES[1]}>")
    page.wait("return document.getElementById('other-translation').hidden")
    assert page.shown("sentence") == []
    assert page.run("return texts.at(-1)") == SENTENCES[1]


def test_there_is_a_picture_of_each_head_and_a_click_shows_it_large(page, ask):
    page.attend(TEXT)
    weights = np.array(ask("attend", TEXT)["weights"])  # (2, 3, T, S)
    page.choose("drawing", "heat-map")
    buttons = page.all("#multiples button")
    names = [f"Layer {i}, head {j}" for i in (1, 2) for j in (1, 2, 3)]
    assert page.names("#multiples button") == names
    assert pressed(page) == []
    buttons[4].click()
    assert pressed(page) == ["Layer 2, head 2"]
    np.testing.assert_allclose(numbers(page), weights[1, 1], atol=0.00501)
    assert chosen(page) == ["1", "1"]
    page.choose("head", "2")
    assert pressed(page) == ["Layer 2, head 3"]
    buttons[5].click()
    assert pressed(page) == []
    np.testing.assert_allclose(numbers(page), weights.mean(axis=(0, 1)), atol=0.00501)

    # A cell for each weight in the colour of the scheme.
    pictures = """return [...document.querySelectorAll("#multiples canvas")].map((one) =>
        [one.width, [...one.getContext("2d").getImageData(0, 0, one.width, one.height).data]])"""
    before = page.run(pictures)
    for scheme, stroke in (("light", (0xC9, 0x48, 0x1F)), ("dark", (0xF0, 0x85, 0x5F))):
        page.prefer({"prefers-color-scheme": scheme})
        if scheme == "dark":
            page.wait(f"{pictures}.toString() !== arguments[0].toString()", before)
        found = zip(page.run(pictures), weights.reshape(6, *weights.shape[2:]), strict=True)
        for (width, data), expected in found:
            cells = np.array(data).reshape(-1, width, 4)
            np.testing.assert_allclose(cells[..., 3] / 255, expected / expected.max(), atol=0.005)
            np.testing.assert_array_equal(cells[cells[..., 3] == 255][0, :3], stroke)


def test_keys_go_through_the_heads_and_choose_one(page, told):
    buttons = page.all("#multiples button")
    assert [button.get_property("tabIndex") for button in buttons] == [0, -1, -1, -1, -1, -1]
    page.run("arguments[0].focus()", buttons[0])
    page.press(Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ENTER)
    page.focused("Layer 2, head 2")
    assert pressed(page) == ["Layer 2, head 2"]
    # Which stays chosen when the text changes.
    page.write("が")
    page.wait("return texts.length === 4")
    page.attended()
    assert pressed(page) == ["Layer 2, head 2"]


def test_each_kind_of_attention_has_its_own_pieces(page, told):
    def lists():
        return [
            (one.accessible_name, [item.text for item in one.find_elements("css selector", "li")])
            for one in page.all("#figure [role=listbox]")
        ]

    source, target = ["␣", "猫", "end"], ["x", "y", "end"]
    assert lists() == [("Japanese pieces", source), ("English pieces", target)]
    options = page.all("#kind option")
    cross, *selves = [option.text for option in options]
    assert cross == "cross-attention: English to Japanese"
    sides = {"encoder": "Japanese", "decoder": "English"}
    assert selves == [f"{part} self-attention: {one} to {one}" for part, one in sides.items()]
    options[1].click()
    kinds = ("Japanese pieces, attended to", "Japanese pieces, attending")
    assert lists() == [(kind, source) for kind in kinds]
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


def test_pieces_are_read_as_people_read_them(page):
    pieces = ["▁The", "y", "▁", "<0xE3>", "▁<0xE3>", "</s>", "<unk>", "", ""]
    script = "return import('/page/pieces.js').then((module) => module.readPieces(arguments[0]))"
    read = page.run(script, pieces)
    kinds, texts, begin = ([piece[key] for piece in read] for key in ("kind", "text", "beginsWord"))
    assert kinds == ["text", "text", "space", "byte", "text", "end", "unknown"]
    assert texts == ["The", "y", "␣", "E3", "<0xE3>", "end", "?"]
    assert begin == [True, False, True, False, True, False, False]
