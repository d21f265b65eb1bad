"""Hooks of `mkdocs build`: pages made from files outside `docs/`, and parts put into pages."""

from __future__ import annotations

import posixpath
import re

import inserts
import latex2mathml.converter
import pages
import tutorials
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = tutorials.ROOT
# Pages of the site whose source stays where it is read on its own.
COPIED = {
    "CHANGELOG.md": "changelog.md",
    "keras_attn/serving/CONFORMANCE.md": "how_to/conformance.md",
    "data/everyday/README.md": "how_to/everyday.md",
    "data/jmdict/README.md": "how_to/jmdict.md",
    "data/situations/README.md": "how_to/situations.md",
    "data/tatoeba/README.md": "how_to/tatoeba.md",
}
# Words of the link from a page to its notebook.
NOTEBOOK = {
    "en": "This page as a notebook",
    "ja": "このページのノートブック",
    "ko": "이 페이지의 노트북",
}
PICTURES = (*ROOT.glob("benchmarks/results/*.png"), *ROOT.glob("keras_attn/serving/pictures/*.png"))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the tutorials, of the measurements and of other documents."""

    def add(path: str, content: str | bytes) -> None:
        included = InclusionLevel.INCLUDED
        files.append(File.generated(config, path, content=content, inclusion=included))

    for source, page in COPIED.items():
        add(page, (ROOT / source).read_text(encoding="utf-8"))
    for result in sorted(ROOT.glob("benchmarks/results/*.md")):
        add(f"benchmarks/{result.name}", result.read_text(encoding="utf-8"))
    for picture in PICTURES:
        folder = "benchmarks" if "benchmarks" in picture.parts else "pictures"
        add(f"{folder}/{picture.name}", picture.read_bytes())
    for name in tutorials.names():
        _add_tutorial(name, add)
    return files


def _add_tutorial(name, add):
    """Page of each stored notebook; MkDocs copies the notebooks themselves."""
    for language in tutorials.read_source(name)[0].words:
        path = tutorials.path_of(name, language)
        if not path.exists():
            raise PluginError(
                f"The notebook {path} must be made first. Run `python docs/building/tutorials.py`."
            )
        images = "images" if language == "en" else "../images"
        content, pictures = pages.page(tutorials.read_notebook(path), name, images, language)
        page = path.relative_to(tutorials.FOLDER).with_suffix(".md")
        add(f"tutorials/{page}", f"{content}\n[{NOTEBOOK[language]}]({name}.ipynb)\n")
        if language == "en":  # the same in all languages
            for file, picture in pictures.items():
                add(f"tutorials/images/{file}", picture)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Join the lines of Japanese sentences."""
    return inserts.joined(markdown)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Formulas as MathML, which browsers show without a script; live pieces; sizes of pictures."""

    def convert(match):
        display = "block" if match["open"] == "[" else "inline"
        latex = match["latex"].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
        return latex2mathml.converter.convert(latex, display=display)

    def sized(match):
        path = posixpath.join(posixpath.dirname(page.file.src_uri), match[1])
        picture = files.get_file_from_path(posixpath.normpath(path))
        return f"{match[0]} {inserts.size(picture.content_bytes)}" if picture else match[0]

    html = re.sub(
        r'<(?P<tag>span|div) class="arithmatex">\\(?P<open>[(\[])(?P<latex>.*?)\\[)\]]</(?P=tag)>',
        convert,
        html,
        flags=re.DOTALL,
    )
    html = re.sub(r'<img alt="[^"]*" src="([^":]*\.png)"', sized, html)
    return inserts.inserted(html, inserts.language_of(page.file.src_uri))


def on_page_context(context: dict, page: Page, config: MkDocsConfig, nav: object) -> None:
    """Words of the theme in the language of the page, which also becomes that of its HTML."""
    config.theme["language"] = inserts.language_of(page.file.src_uri)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Languages of the labels of the navigation."""
    return inserts.named_languages(output)
