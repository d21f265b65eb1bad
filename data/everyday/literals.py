"""Text that is copied: addresses, file names, placeholders, tags, hashtags and mentions.

The text is drawn at random and is the same in both languages: a model has to copy it.
"""

import re
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


class Copied(Filler):
    """Text that is copied; .end is the tag that closes an opening tag."""

    def __init__(self, text: str):
        super().__init__(text, text)

    def en(self, forms: Forms, scene: Scene) -> str:
        return f"</{self.text_en[1:-1].split()[0]}>" if forms == ("end",) else self.text_en

    ja = en
