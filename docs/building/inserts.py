"""Parts that the hooks put into a page: live pieces, drawings, languages and sizes of pictures."""

from __future__ import annotations

import functools
import io
import json
import re
from pathlib import Path

import numpy as np
from PIL import Image

from keras_attn.plots import show_attention

# `<!-- live: softmax -->` in Markdown: a piece of `docs/assets/live.js`, in any language.
# `<!-- show: translation -->`: the recorded attention of the translator.
MARK = re.compile(r"<!-- (live|show): (\w+) -->")
# In place of a live piece until the script runs.
WITHOUT_SCRIPT = {
    "en": "With JavaScript, a drawing with sliders is here.",
    "ja": "JavaScript を有効にすると、ここで操作できる図が表示されます。",
    "ko": "JavaScript를 켜면 여기에서 조작할 수 있는 그림이 나타납니다.",
}
RECORDED = Path(__file__).parents[2] / "keras_attn" / "plots" / "translator.json"
# Characters of a line's end and of the next line's beginning between which Japanese has no space.
JAPANESE = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
LABEL = re.compile(r'<span class="md-ellipsis">\s*(?=([^<]*))')


def language_of(path: str) -> str:
    """Language of a page by its path in `docs`."""
    found = re.match(r"tutorials/(ja|ko)/", path)
    return found[1] if found else "en"


def inserted(html: str, language: str) -> str:
    """HTML with the parts in place of their marks."""

    def part(mark):
        kind, name = mark.groups()
        if kind == "live":
            return f'<div data-live="{name}"><p>{WITHOUT_SCRIPT[language]}</p></div>'
        return SHOWN[name]()

    return MARK.sub(part, html)


@functools.cache
def translation() -> str:
    """Attention of the recorded translation."""
    stored = json.loads(RECORDED.read_text(encoding="utf-8"))["attention"]
    pieces = stored["target_pieces"], stored["source_pieces"]
    shown = show_attention(np.array(stored["weights"])[0], *pieces, mask=np.array([True]))
    return shown._repr_html_()


SHOWN = {"translation": translation}


def joined(markdown: str) -> str:
    """Markdown in which lines of a Japanese sentence are one: a line break would be a space."""
    lines: list[str] = []
    is_code = False
    for line in markdown.split("\n"):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        before = lines[-1].rstrip("*_") if lines else ""
        after = line.lstrip().lstrip("*_")
        is_one = JAPANESE.match(before[-1:]) and JAPANESE.match(after[:1])
        if is_one and not is_code and not before.lstrip().startswith("#"):
            lines[-1] += line.lstrip()
        else:
            lines.append(line)
    return "\n".join(lines)


def size(picture: bytes) -> str:
    """Attributes for the size of a picture on paper, so that a sharp one is not a large one."""
    with Image.open(io.BytesIO(picture)) as image:
        scale = 96 / max(96, *image.info.get("dpi", (96,)))  # pixels of CSS
        width, height = (round(scale * pixels) for pixels in image.size)
    return f'width="{width}" height="{height}"'


def named_languages(html: str) -> str:
    """Labels of the navigation in Japanese and Korean, marked as such for voices and fonts."""

    def label(found):
        for language, letters in (("ja", "[\u3040-\u30ff\u65e5]"), ("ko", "[\uac00-\ud7a3]")):
            if re.search(letters, found[1]):
                return f'<span class="md-ellipsis" lang="{language}">'
        return '<span class="md-ellipsis" lang="en">'

    return LABEL.sub(label, html)
