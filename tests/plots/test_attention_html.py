import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from selenium.webdriver import Keys
from serving import browser

from keras_attn.plots import show_attention

T, S = 3, 4
WEIGHTS = np.array([[0.5, 0.25, 0.25, 0], [0.125, 0.875, 0, 0], [0.1, 0.2, 0.3, 0.4]])
EVIL = ["</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "\u2028"]
KEYS = ["▁猫", "が", "寝る", "</s>"]
SHADOW = "return document.querySelector('[data-attention]').shadowRoot"


class Tags(HTMLParser):
    """Tags of a page, by whether they open or close, and the texts of its scripts."""

    def __init__(self, page):
        super().__init__()
        self.opened, self.closed, self.attributes, self.scripts = [], [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.opened.append(tag)
        self.attributes += [name for name, _ in attributes]

    def handle_endtag(self, tag):
        self.closed.append(tag)

    def handle_data(self, data):
        if self.opened[-1:] == ["script"] and data.strip():
            self.scripts.append(data)


def data_of(shown):
    (script,) = Tags(shown._repr_html_()).scripts
    return json.loads(re.search(r"(\{\"layers\".*\})\);\n\}\)\(\);", script)[1])


def test_html_holds_numbers_and_tokens_as_data(tmp_path):
    shown = show_attention(WEIGHTS, EVIL, KEYS)
    assert data_of(shown) == {
        "layers": [{"name": "", "heads": [np.where(WEIGHTS, WEIGHTS, None).tolist()]}],
        "queries": EVIL,
        "keys": KEYS,
    }
    shown.save(tmp_path / "page.html")
    page = Tags((tmp_path / "page.html").read_text("utf-8"))
    assert set(page.opened) - set(page.closed) == {"meta"}
    assert page.opened.count("script") == 1 and "img" not in page.opened
    assert not {"src", "href", "onerror"} & set(page.attributes)


@pytest.mark.parametrize(
    "shape, options, expected",
    [
        ((T, S), {}, [("", 1, 0)]),
        ((2, T, S), {}, [("", 2, 0)]),
        ((3, 2, T, S), {}, [("layer 0", 2, 0), ("layer 1", 2, 1), ("layer 2", 2, 2)]),
        ((3, 2, T, S), {"example": 1}, [("", 2, 1)]),
        ((3, 2, T, S), {"in_dict": True}, [("a", 2, 0), ("b", 1, 0)]),
    ],
)
def test_heads_layers_and_examples_are_told_apart(shape, options, expected):
    weights = np.zeros((*shape[:-2], T, S))
    if len(shape) == 4:
        weights += np.arange(3)[:, None, None, None] / 4
    if options.pop("in_dict", False):
        weights = {"a": weights, "b": WEIGHTS * 0}
    layers = data_of(show_attention(weights, **options))["layers"]
    found = [(one["name"], len(one["heads"]), one["heads"][0][0][0] or 0) for one in layers]
    assert found == [(name, heads, number / 4) for name, heads, number in expected]


def test_only_masked_cells_are_null():
    rounded = [[0.9, 0.1], [1.0, 0.0]]
    for mask, expected in [
        (None, [[0.9, 0.1], [1.0, None]]),
        (np.ones((1, 2), bool), rounded),
        ([[True, True], [True, False]], [[0.9, 0.1], [1.0, None]]),
    ]:
        assert data_of(show_attention(rounded, mask=mask))["layers"][0]["heads"] == [expected]
    layers = show_attention(np.array([[rounded]] * 2), mask=np.ones((2, 1, 1, 2), bool))
    assert [one["heads"] for one in data_of(layers)["layers"]] == [[rounded]] * 2


def test_wrong_arguments_are_refused():
    for arguments, message in [
        ({"weights": np.zeros((300, 300))}, r"at most 65,536 pairs.*T=300, S=300"),
        ({"weights": np.zeros((2, 1, 1, T, S))}, "`weights` must have shape"),
        ({"query_tokens": KEYS}, "`query_tokens` must be as many"),
        ({"mask": np.ones((T, S))}, r"`mask` must be boolean.*type float64"),
        ({"mask": np.ones((2, S), bool)}, r"broadcasts to `weights`, \(3, 4\)"),
        ({"mask": np.zeros((T, S), bool)}, "mask=False at 9 weights of `weights` above 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            show_attention(**{"weights": WEIGHTS, **arguments})


@pytest.mark.slow
@pytest.mark.skipif(bool(browser.missing()), reason=browser.missing())
def test_drawing_is_used_by_keyboard_and_says_its_numbers(tmp_path):
    layers = {"first": np.stack([WEIGHTS, WEIGHTS[:, ::-1]]), "second": WEIGHTS[:2]}
    show_attention(layers).save(tmp_path / "layers.html")
    show_attention(WEIGHTS, EVIL, KEYS).save(tmp_path / "tokens.html")
    with browser.chromium(tmp_path) as driver:

        def part(selector):
            return driver.execute_script(f"{SHADOW}.querySelector({selector!r})")

        for width, scheme in [(1280, "light"), (390, "dark")]:
            page = browser.Page(driver, (tmp_path / "tokens.html").as_uri(), width, scheme, SHADOW)
            assert part(".target li").text == EVIL[0] and not part(".heads").is_displayed()
            page.press(Keys.TAB, Keys.TAB, Keys.ARROW_RIGHT)  # to the lists, to the second key
            said = f"が was attended to by {EVIL[1]} 88%, {EVIL[0]} 25%, a space 20%."
            assert part(".words").text == said
            assert page.barriers() == [] and not page.scrolls_sideways()

            page = browser.Page(driver, (tmp_path / "layers.html").as_uri(), width, scheme, SHADOW)
            page.wait(f"{SHADOW}.querySelectorAll('path').length >= 9")
            page.press(Keys.TAB, "h")
            assert part("th[scope=row] + .weight").text == "0.25"  # of both heads
            page.press(Keys.TAB, Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
            assert part(".words").text == "0 attended to 0 25%."
            page.press(Keys.TAB, Keys.ARROW_RIGHT, Keys.ENTER)
            assert part("[aria-pressed=true]").text.split() == ["first", "head", "0"]
            assert part("th[scope=row] + .weight").text == "0.50"
            assert page.barriers() == [] and not page.scrolls_sideways()
        log = driver.get_log("performance")
        assert not any('"url":"http' in entry["message"] for entry in log)
        assert [e["message"] for e in driver.get_log("browser") if e["level"] == "SEVERE"] == []
