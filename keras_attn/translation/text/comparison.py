"""One form of the ways to write a sentence, for comparison."""

import re
import unicodedata
from functools import lru_cache

_ACCENTS = "[\u0300-\u036f]"
JAPANESE = "぀-ヿ一-鿿々〆"
_CONTRACTIONS = (
    (r"\bwon't\b", "will not"),
    (r"\bcan(?:'t|not)\b", "can not"),
    (r"\bshan't\b", "shall not"),
    (r"n't\b", " not"),
    (r"'m\b", " am"),
    (r"'re\b", " are"),
    (r"'ve\b", " have"),
    (r"'ll\b", " will"),
    (r"'d\b", " would"),
    (r"\b(it|he|she|that|there|here|this|what|who|where|when|how)'s\b", r"\1 is"),
    (r"\blet's\b", "lets"),
)
_FIGURES = (
    (r"(?<=\d),(?=\d{3})", ""),  # 1,200
    (r"(?<![a-z\d.])[-−](?=\d)", " minus "),  # -10
    (r"(?<=\d):00(?!\d)", ""),  # 8:00
    (r"(?<=\d) ?([ap])\.?m\b\.?", r" \1.m."),  # 5pm
    (r"\b(?![ap]\.m\.)(?:[a-z]\.){2,}", lambda found: found[0].replace(".", "")),  # u.s.
)
_WORD = re.compile(
    rf"(?:\d+(?:[.:/]\d+)+|[ap]\.m\.|[{JAPANESE}]+|(?:(?![{JAPANESE}])[^\W_])+|[$¥€£%°])\*?"
)


@lru_cache(maxsize=8192)
def normalised(text: str) -> str:
    """Words in lower case with contractions and figures spelled out, without punctuation.

    >>> normalised("I can’t pay $1,200 by 5PM; it's Tom's.")
    'i can not pay $ 1200 by 5 p.m. it is tom s'
    """
    text = re.sub(_ACCENTS, "", unicodedata.normalize("NFD", text))
    text = unicodedata.normalize("NFKC", text).lower().replace("’", "'").replace("⁄", "/")
    for pattern, replacement in (*_CONTRACTIONS, *_FIGURES):
        text = re.sub(pattern, replacement, text)
    return " ".join(_WORD.findall(text))
