"""Page of the site of a stored notebook."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any

# Summaries of folded code, by tag and language.
FOLDED = {
    "plot": {"en": "Code of the picture", "ja": "図のコード", "ko": "그림의 코드"},
    "answer": {"en": "Answer in code", "ja": "コードによる解答", "ko": "코드로 쓴 답"},
}


def page(
    notebook: Mapping[str, Any], name: str, images: str, language: str = "en"
) -> tuple[str, dict[str, bytes]]:
    """Markdown of a page, and the pictures by file name.

    Code has the class `input`, printed text the class `output`. Code with the tag `plot` is folded,
    code with the tag `answer` with its outputs.

    Args:
        notebook: Executed notebook.
        name: Name of the tutorial, the first part of the names of its pictures.
        images: Path of the folder of the pictures, relative to the page.
        language: Language of the words that are added. Defaults to "en".
    """
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    caption = ""
    for cell in notebook["cells"]:
        source = cell["source"].strip()
        tags = cell.get("metadata", {}).get("tags", ())
        if cell["cell_type"] == "markdown":
            parts.append(_of_site(source))
            caption = heading(source) or caption
        elif "install" not in tags:  # has no result and is of use in a notebook only
            code = f"```{{.python .input}}\n{source}\n```"
            shown = []
            for output in cell["outputs"]:
                file = f"{name}_{len(pictures) + 1}"
                shown.append(_shown(output, file, images, caption, pictures))
            if "answer" in tags:
                code = "\n\n".join([code, *shown])
                shown = []
            for tag in FOLDED.keys() & tags:
                code = folded(FOLDED[tag][language], code, tag)
            parts += [code, *shown]
    return "\n\n".join(parts) + "\n", pictures


def folded(summary: str, content: str, kind: str) -> str:
    """Markdown that opens with a click."""
    start = f'<details class="{kind}" markdown="1"><summary>{summary}</summary>'
    return f"{start}\n\n{content}\n\n</details>"


def heading(markdown: str) -> str:
    """Last heading of a Markdown cell without marks, the text in place of a picture under it."""
    found = re.findall(r"^#+ (.+)$", markdown, flags=re.MULTILINE)
    return re.sub(r"[`$\[\]]|\{.*\}", "", found[-1]).strip() if found else ""


def _of_site(markdown: str) -> str:
    """Words with links to pages in place of notebooks, and Markdown inside folded answers."""
    linked = re.sub(r"\]\(((?![a-z]+:)[^)\s]*)\.ipynb([)#])", r"](\1.md\2", markdown)
    return linked.replace("<details>", '<details class="answer" markdown="1">')


def _shown(
    output: Mapping[str, Any], file: str, images: str, caption: str, pictures: dict[str, bytes]
) -> str:
    """Markdown of an output; a picture is added to `pictures`."""
    data = output.get("data", {})
    if "text/html" in data:
        return f"<div>\n{data['text/html']}\n</div>"
    for kind, ending in (("image/png", ".png"), ("image/svg+xml", ".svg")):
        if kind in data:
            content = data[kind]
            is_png = ending == ".png"
            pictures[file + ending] = base64.b64decode(content) if is_png else content.encode()
            return f"![{caption}]({images}/{file}{ending})"
    text = data.get("text/plain") or output["text"]
    return f"```{{.text .output}}\n{text.rstrip()}\n```"
