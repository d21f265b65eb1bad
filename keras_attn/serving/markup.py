"""Text in HTML, which is translated between its tags.

Tags of blocks, comments, and the content of scripts and the like are kept, and each block is a line
of the text that is translated. Tags within a line, such as `<b>`, are part of its text, and come to
the translations of their words (`keras_attn.translation.export.tags`).
"""

import html
import re
from typing import NamedTuple

_ATTRIBUTES = r"""(?:[^<>"']|"[^"]*"|'[^']*')*+"""
_TAG = rf"</?[A-Za-z]{_ATTRIBUTES}>"
_WITHIN = (
    "a|abbr|b|bdi|bdo|cite|code|data|del|dfn|em|font|i|img|ins|kbd|label|mark|q|rp|rt|ruby|s|samp|small"
    "|span|strong|sub|sup|time|u|var|wbr"
)
# What is not closed goes on to the end. So no pattern is tried again and again on a long text.
_BLOCK = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<[!?][^<>]*>"
    rf"|<(script|style|pre|textarea|template)\b{_ATTRIBUTES}>.*?(?:</\1\s*>|\Z)"
    rf"|(?!</?(?:{_WITHIN})\b){_TAG}",
    re.DOTALL | re.IGNORECASE,
)
_SPLIT = re.compile(rf"({_TAG})")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});", re.IGNORECASE)
_SPECIAL = {*"<>&\"'"}


class Markup(NamedTuple):
    """A text in HTML."""

    text: str  # to translate, one line for each block with text
    around: list[str]  # what is kept before each line and after the last

    def filled(self, translation: str) -> str:
        """The HTML with a translation of the text, of as many lines, in place of the text."""
        lines = translation.split("\n") if self.text else []
        parts = zip(self.around, [*lines, ""], strict=True)
        return "".join(kept + line for kept, line in parts)


def parse(content: str) -> Markup:
    """Separate text from markup.

    Example:

    >>> parsed = parse("<ul><li>猫が<b>好き</b>です。</li> <li>A &amp; B</li></ul>")
    >>> parsed.text
    '猫が<b>好き</b>です。\\nA &amp; B'
    >>> parsed.filled("I <b>like</b> cats.\\nA &amp; B")
    '<ul><li>I <b>like</b> cats.</li> <li>A &amp; B</li></ul>'
    """
    lines: list[str] = []
    around: list[list[str]] = [[]]
    start = 0
    for block in (*_BLOCK.finditer(content), None):
        before, line, after = _line(content[start : block.start() if block else None])
        around[-1].append(before)
        if line:
            lines.append(line)
            around.append([])
        around[-1].append(after)
        if block:
            around[-1].append(block[0])
            start = block.end()
    return Markup("\n".join(lines), ["".join(parts) for parts in around])


def _line(content: str) -> tuple[str, str, str]:
    """Space before the text of a block, the text, and space after it; so are tags around all."""
    tokens = _SPLIT.split(content)  # text, tag, text, ...
    texts = [i for i in range(0, len(tokens), 2) if tokens[i].strip()]
    if not texts:
        return content, "", ""
    if len(texts) > 1:
        tokens, texts = [content], [0]
    first, last = tokens[texts[0]], tokens[texts[-1]]
    before = "".join(tokens[: texts[0]]) + first[: len(first) - len(first.lstrip())]
    after = last[len(last.rstrip()) :] + "".join(tokens[texts[-1] + 1 :])
    text = _ENTITY.sub(_character, content[len(before) : len(content) - len(after)])
    return before, re.sub(r"\s+", " ", text).strip(), after


def _character(entity: re.Match) -> str:
    """Character of an entity; one with a meaning in HTML stays an entity."""
    found = html.unescape(entity[0])
    return entity[0] if _SPECIAL & {*found} else found
