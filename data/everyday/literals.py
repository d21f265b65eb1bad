"""Text that is copied: addresses, file names, placeholders, tags, hashtags and mentions.

The text is drawn at random and is the same in both languages: a model has to copy it.
"""

import re
from collections.abc import Iterable
from functools import cache

from keras_attn_data.everyday import lexicon
from keras_attn_data.everyday.lexicon import Draw, Filler, Forms, Scene

_SYMBOL = re.compile("«([a-z]+)»")


@cache
def rules() -> dict[str, list[str]]:
    """Choices of each symbol of `literals.tsv`."""
    return {row["symbol"]: row["choices"].split("|") for row in lexicon.rows("literals")}


def draw_text(draw: Draw, symbol: str) -> str:
    """Random text of a symbol."""
    return _SYMBOL.sub(lambda match: draw_text(draw, match[1]), draw.choose(rules()[symbol]))


def between_tags(draw: Draw, ja: str, en: str, words: Iterable[Filler]) -> tuple[str, str]:
    """Sentences with a pair of tags around the same noun, if one stands once in both languages."""
    places = []
    for word in words:
        in_ja = [match.span() for match in re.finditer(re.escape(word.text_ja), ja)]
        forms = "|".join(re.escape(word.forms[name]) for name in ("plural", "one") if word.forms)
        in_en = [match.span() for match in re.finditer(rf"\b(?:{forms})\b", en)] if forms else []
        if len(in_ja) == len(in_en) == 1:
            places.append((in_ja[0], in_en[0]))
    if not places:
        return ja, en
    opening = draw_text(draw, "opening")
    spans = draw.choose(places)
    (ja, en) = (
        f"{text[:begin]}{opening}{text[begin:end]}{closing(opening)}{text[end:]}"
        for text, (begin, end) in zip((ja, en), spans, strict=True)
    )
    return ja, en


def closing(opening: str) -> str:
    """Tag that closes an opening tag."""
    return f"</{opening[1:-1].split()[0]}>"


class Copied(Filler):
    """Text that is copied; .end is the tag that closes an opening tag."""

    def __init__(self, text: str):
        super().__init__(text, text)

    def en(self, forms: Forms, scene: Scene) -> str:
        return closing(self.text_en) if forms == ("end",) else self.text_en

    ja = en
