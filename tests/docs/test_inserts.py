"""Parts that the hooks of the site put into a page."""

import io
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
ASSETS = DOCS / "assets"


@pytest.fixture(scope="module")
def inserts(building):
    pytest.importorskip("matplotlib")
    import inserts

    return inserts


@pytest.mark.parametrize(
    "before, after",
    [
        ("節に\n対応します。\n次の行", "節に対応します。次の行"),
        ("**太字**\nは強い", "**太字**は強い"),
        ("- 項目の\n  続き\n- 次", "- 項目の続き\n- 次"),
        ("`x` を\n`y` に\nkey と", None),  # Latin letters keep their spaces
        ("# 見出し\n本文\n\n段落", None),
        ("```\n一\n二\n```", None),
        ("셀프\n어텐션", None),
    ],
)
def test_only_lines_of_a_japanese_sentence_are_joined(inserts, before, after):
    assert inserts.joined(before) == (after or before)


def test_marks_become_parts_with_a_text_for_readers_without_javascript(inserts):
    html = inserts.inserted("<p>a</p><!-- live: mask --><!-- show: translation -->", "ja")
    assert '<div data-live="mask"><p>JavaScript を' in html and "data-attention" in html
    assert inserts.language_of("tutorials/ko/1.md") == "ko" and inserts.language_of("a.md") == "en"


def test_labels_of_the_navigation_have_their_language(inserts):
    labels = {"1 Heads": "en", "日本語": "ja", "3 位置エンコーディング": "ja", "한국어": "ko"}
    html = "".join(f'<span class="md-ellipsis">\n  {label}\n</span>' for label in labels)
    found = re.findall(r'lang="(\w+)">(.*?)\s*</', inserts.named_languages(html))
    assert {label: language for language, label in found} == labels


def test_a_sharp_picture_is_shown_in_its_size_on_paper(inserts):
    from PIL import Image

    for dpi, expected in ((192, 'width="100" height="50"'), (72, 'width="200" height="100"')):
        file = io.BytesIO()
        Image.new("RGB", (200, 100)).save(file, "png", dpi=(dpi, dpi))
        assert inserts.size(file.getvalue()) == expected


def test_every_live_piece_of_a_page_exists_and_has_words_in_each_language():
    script = (ASSETS / "live.js").read_text("utf-8")
    pieces = set(re.findall(r"^    (\w+)\(box, say\)", script, re.MULTILINE))
    texts = [path.read_text("utf-8") for path in [*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")]]
    assert {name for text in texts for name in re.findall("<!-- live: (.*?) -->", text)} == pieces
    words = (ASSETS / "live_words.js").read_text("utf-8")
    english, *others = (
        set(re.findall(r"(\w+):(?= [\"(])", part)) for part in words.split(": {")[1:]
    )
    assert english > pieces and others == [english, english]
