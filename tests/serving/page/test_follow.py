"""Follow a number: from a line of the drawing to the queries, keys and values of its head."""

import numpy as np
import pytest

pytestmark = pytest.mark.slow

TEXT = "猫が寝る。"


def softmax(scores):
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum()


def row(page):
    """Scores and weights of the row, as the table shows them."""
    cells = page.run(
        "return [...document.querySelectorAll('#follow tbody tr')].map("
        "(row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent))"
    )
    numbers = [[x.rstrip("%").replace("−", "-") for x in line] for line in cells]
    scores, _, weights = np.array(numbers, float).T
    return scores, weights / 100


def followed(page):
    page.wait("return document.querySelector('#follow .strip')")
    return page.text("follow")


def test_a_weight_is_followed_to_its_score_softmax_and_sum(page, ask):
    page.attend(TEXT)
    weights = np.array(ask("attend", TEXT)["weights"])  # (layers, H, T, S)
    page.open("follow")
    followed(page)
    page.all(".target li")[3].click()
    target, heads = 3, weights[:, :, 3]
    source = heads.mean((0, 1)).argmax()
    layer, head = np.unravel_index(heads[:, :, source].argmax(), heads.shape[:2])
    page.wait("return document.querySelector('#follow p b').textContent === '猫'")
    said = followed(page)
    assert f"{100 * heads.mean((0, 1))[source]:.1f}%, the average of 6 heads" in said
    options = page.all("#followed option")
    assert options[0].text == f"layer 1, head 1: {100 * heads[0, 0, source]:.1f}%"
    scores, shown = row(page)
    score = -np.abs(np.arange(heads.shape[-1]) - target + 2 * head - layer)
    np.testing.assert_allclose(scores, score, atol=0.005)
    np.testing.assert_allclose(shown, weights[layer, head, target], atol=0.0006)
    assert f"√{len(scores)} = {scores[source]:.2f}".replace("-", "−") in said

    # Another head, another piece of the row, another temperature.
    options[-1].click()
    page.wait(
        "return document.querySelector('#follow .share').textContent === arguments[0]",
        f"{100 * weights[-1, -1, target, 0]:.1f}%",
    )
    _, shown = row(page)
    np.testing.assert_allclose(shown, weights[-1, -1, target], atol=0.0006)
    page.run("document.querySelector('#follow th button').click()")
    page.wait("return document.querySelector('#follow th button').ariaPressed === 'true'")
    page.run("temperature.value = 2; temperature.dispatchEvent(new InputEvent('input'));")
    scores, shown = row(page)
    np.testing.assert_allclose(shown, softmax(scores / 2), atol=0.0006)
    assert "2: flatter than the model" in followed(page)
    strips = page.names("#follow .strip")
    assert len(strips) == 3 + 4 + 1
    assert strips[-1] == f"{len(scores)} numbers from {shown.min():.2f} to {shown.max():.2f}"


def test_a_click_on_a_line_follows_its_pair_of_pieces(page, ask):
    page.attend(TEXT)
    page.open("follow")
    followed(page)
    page.run(
        "document.querySelector('#figure path').dispatchEvent("
        "new MouseEvent('click', { bubbles: true }))"
    )
    selected = page.all("#figure [aria-selected=true]")
    assert len(selected) == 2
    names = [one.accessible_name for one in selected]
    assert page.text("looked-at").startswith(f"{names[1]} attended to {names[0]} ")
    page.wait(
        "return [...document.querySelectorAll('#follow .steps > p b')].map((b) => b.textContent)"
        ".join() === arguments[0].join()",
        names[::-1],
    )


def test_a_model_without_the_signature_shows_no_computation_and_errors_are_tried_again(
    page, fake_server
):
    fake_server(attend="signature === 'head' ? ofHead() : attend(text)", fails_at=3)
    page.attend("猫")
    page.open("follow")
    page.wait("return document.querySelector('#follow .problem').textContent")
    assert "It took too long." in page.text("follow")
    page.all("#follow .problem button")[0].click()
    assert "0.50" in followed(page)
    assert page.run("return asked") == ["nbest", "attend", "head", "head"]
    # Self-attention has no such computation.
    fake_server(attend='attendAll(["▁x", "</s>"])')
    page.translate("犬")
    page.choose("kind", "encoder")
    assert page.shown("follow") == []
