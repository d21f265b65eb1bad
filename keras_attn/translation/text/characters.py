"""One form of each character, before tokenization.

The SentencePiece models normalise text by NFKC. They leave characters that no reader sees, which
come with text that is copied from web pages, PDF files and chats.
"""

import re

# Control characters, line and paragraph separators and zero-width spaces separate words.
SEPARATORS = "[\x00-\x1f\x7f-\x9f\u2028\u2029\u200b]"

# Soft hyphen, joiners, direction marks, word joiner, byte order mark, fillers, and variation
# selectors: those of emoji, of Mongolian and of kanji in names (ideographic variation sequences).
INVISIBLE = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200c-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)

# Patterns for Python and RE2 alike, each with its replacement.
Replacements = tuple[tuple[str, str], ...]

# Windows types U+FF5E for the wave dash; NFKC would make it "~".
REPLACEMENTS: Replacements = ((SEPARATORS, " "), (INVISIBLE, ""), ("\uff5e", "\u301c"))

# Most texts are of these characters, of which none is replaced.
_USUAL = re.compile("[ -~\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5d]*")


def unify(text: str) -> str:
    """Replace characters as `REPLACEMENTS` say.

    >>> unify("co\\u00adop\\ufeff 辻\\U000e0100～")
    'coop 辻〜'
    """
    return text if _USUAL.fullmatch(text) else replace(text, REPLACEMENTS)


def replace(text: str, replacements: Replacements) -> str:
    """Replace all matches of each pattern, one pattern after the other."""
    for pattern, replacement in replacements:
        text = re.sub(pattern, replacement, text)
    return text
