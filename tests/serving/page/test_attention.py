import httpx2 as httpx
import numpy as np
import pytest
from selenium.webdriver import Keys

pytestmark = pytest.mark.slow

TEXT = "友達と映画を見ました。"
SENTENCES = ["猫がいる。", "犬はどこ？", "「はい。」", "長さは3.5 cmです。"]


def numbers(page):
    """The weights `(T, S)` that the pieces of the text show, for each piece of the translation."""
    return np.array(
        page.run(
            """
            const sources = [...document.querySelectorAll(".source li")];
            return [...document.querySelectorAll(".target li")].map((target) => {
                target.focus();
                return sources.map((one) => Number(one.style.getPropertyValue("--weight")));
            });
            """
        )
    )


def test_pieces_show_the_weights_of_the_chosen_layer_and_head(page, ask):
    page.attend(TEXT)
    answer = ask("attend", TEXT)
    for side in ("source", "target"):
        pieces = [piece.replace(" ", "␣") for piece in answer[f"{side}_pieces"]]
        assert [one.text for one in page.all(f".{side} li")] == [*pieces[:-1], "end"]
    weights = np.array(answer["weights"])  # (layers, H, T, S)
    for layer, head in (("all", "all"), ("1", "all"), ("all", "0"), ("0", "1")):
        page.choose("layer", layer)
        page.choose("head", head)
        expected = weights if layer == "all" else weights[[int(layer)]]
        expected = expected if head == "all" else expected[:, [int(head)]]
        np.testing.assert_allclose(numbers(page), expected.mean(axis=(0, 1)), atol=1e-6)
    # What was chosen stays when the text changes.
    num_pieces = len(numbers(page)) + 1
    page.set_text(f"猫{TEXT}")
    page.wait("return document.querySelectorAll('.target li').length === arguments[0]", num_pieces)
    assert [page.one(name).get_property("value") for name in ("layer", "head")] == ["0", "1"]


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
        shares = page.run(
            "return [...document.querySelectorAll('#figure li')].map((one) => one.dataset.share)"
        )
        expected = [f"{100 * weight:.0f}%" for weight in weights if weight >= 0.01]
        assert [share for share in shares if share] == expected
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
    page.run("words.scrollIntoView({ block: 'end' })")
    piece, elsewhere = page.all(".target li")[0], page.one("words")
    place = "return arguments[0].getBoundingClientRect().y"
    before, height = page.run(place, piece), page.one("words").size["height"]
    for element in (piece, elsewhere, piece):
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
    assert page.shown("other-translation", "sentence") == []


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


def test_each_kind_of_attention_has_its_own_pieces(page, told):
    def lists():
        return [
            (one.accessible_name, [item.text for item in one.find_elements("css selector", "li")])
            for one in page.all("#figure [role=listbox]")
        ]

    source, target = ["␣", "猫", "end"], ["x", "y", "end"]
    assert lists() == [("Japanese pieces", source), ("English pieces", target)]
    page.open("more")
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
    assert numbers(page).tolist() == [[1, 0, 0], [1, 0, 0], [0, 1, 0]]  # one to the left
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
