"""Languages: a row each, and one rule to read a code.

A new language is a row of `LANGUAGES`. One without a row is translated too, but nothing about it is
checked or known.
"""

import re
from typing import NamedTuple

# First words of the Unicode names of letters, where they are not the name of the script.
_WORDS = {"Han": ("CJK", "IDEOGRAPHIC"), "Katakana": ("KATAKANA", "KATAKANA-HIRAGANA")}


class Language(NamedTuple):
    """A language, and what the translator knows of it.

    Attributes:
        name: English name.
        scripts: Unicode scripts of its letters; none if they are not known.
        also: Other codes that people write for it: of ISO 639-2, or of a country.
        joiner: String between two sentences, a space or nothing.
        bleu: Tokenizer of sacreBLEU: that of the WMT evaluations, or characters for a language
            without spaces between words.
        coverage: Share of the characters of a text that get a piece; rarer ones are encoded as
            bytes. Below 1 for thousands of characters of which many occur once or twice.
        numbers: `"myriads"` are written 1万, `"english"` ones have commas and ordinal endings, and
            stand in dates with names of months; `"digits"` are anything else.
        noise: Errors of typing: `"alphabetic"`, `"japanese"` or `"chinese"`.
    """

    name: str
    scripts: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    joiner: str = " "
    bleu: str = "13a"
    coverage: float = 1.0
    numbers: str = "digits"
    noise: str = "alphabetic"

    @property
    def letters(self) -> str:
        """Its letters inside a character class of RE2; without scripts, all letters and digits."""
        return "".join(rf"\p{{{script}}}" for script in self.scripts) or r"\p{L}\p{N}"

    @property
    def first_words(self) -> frozenset[str]:
        """First words of the Unicode names of its letters."""
        words = (_WORDS.get(script, (script.upper(),)) for script in self.scripts)
        return frozenset(word for of_script in words for word in of_script)

    @property
    def is_latin(self) -> bool:
        return self.scripts == _LATIN


_LATIN, _CYRILLIC = ("Latin",), ("Cyrillic",)
_WITHOUT_SPACES = Language("", joiner="", bleu="char", coverage=0.9995, numbers="myriads")
LANGUAGES = {
    "ar": Language("Arabic", ("Arabic",), ("ara",)),
    "bg": Language("Bulgarian", _CYRILLIC, ("bul",)),
    "cs": Language("Czech", _LATIN, ("ces", "cze", "cz")),
    "da": Language("Danish", _LATIN, ("dan", "dk")),
    "de": Language("German", _LATIN, ("deu", "ger")),
    "el": Language("Greek", ("Greek",), ("ell", "gre", "gr")),
    "en": Language("English", _LATIN, ("eng", "us"), numbers="english"),
    "es": Language("Spanish", _LATIN, ("spa",)),
    "fi": Language("Finnish", _LATIN, ("fin",)),
    "fr": Language("French", _LATIN, ("fra", "fre")),
    "he": Language("Hebrew", ("Hebrew",), ("heb", "iw")),
    "hi": Language("Hindi", ("Devanagari",), ("hin",)),
    "hu": Language("Hungarian", _LATIN, ("hun",)),
    "id": Language("Indonesian", _LATIN, ("ind",)),
    "it": Language("Italian", _LATIN, ("ita",)),
    "ja": _WITHOUT_SPACES._replace(
        name="Japanese",
        scripts=("Hiragana", "Katakana", "Han"),
        also=("jpn", "jp"),
        noise="japanese",
    ),
    "ko": Language("Korean", ("Hangul", "Han"), ("kor",)),
    "nl": Language("Dutch", _LATIN, ("nld", "dut")),
    "nb": Language("Norwegian Bokmål", _LATIN, ("nob",)),
    "nn": Language("Norwegian Nynorsk", _LATIN, ("nno",)),
    "no": Language("Norwegian", _LATIN, ("nor",)),
    "pl": Language("Polish", _LATIN, ("pol",)),
    "pt": Language("Portuguese", _LATIN, ("por",)),
    "ro": Language("Romanian", _LATIN, ("ron", "rum")),
    "ru": Language("Russian", _CYRILLIC, ("rus",)),
    "sv": Language("Swedish", _LATIN, ("swe",)),
    "th": Language("Thai", ("Thai",), ("tha",), joiner=""),
    "tr": Language("Turkish", _LATIN, ("tur",)),
    "uk": Language("Ukrainian", _CYRILLIC, ("ukr", "ua")),
    "vi": Language("Vietnamese", _LATIN, ("vie", "vn")),
    "zh": _WITHOUT_SPACES._replace(
        name="Chinese", scripts=("Han",), also=("zho", "chi", "cn"), noise="chinese"
    ),
}
_CODES = {other: code for code, row in LANGUAGES.items() for other in (code, *row.also)}


def code_of(code: str) -> str:
    """Return the code of a language in `LANGUAGES`, without region; another one as it is.

    Example:

    >>> [code_of(code) for code in ("ja", "JP", "jpn", "en-US", "zh_TW", "eo")]
    ['ja', 'ja', 'ja', 'en', 'zh', 'eo']
    """
    primary = re.split("[-_]", code.lower())[0]
    return _CODES.get(primary, primary)


def read_language(code: str) -> Language:
    """Return the row of a language, one without facts if there is none.

    Example:

    >>> [read_language(code).name for code in ("jpn", "en-US", "eo")]
    ['Japanese', 'English', 'eo']
    """
    return LANGUAGES.get(code_of(code), Language(code))
