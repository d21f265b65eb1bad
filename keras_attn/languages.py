"""Languages: a row each, and one rule to read a code.

A new language is a row of `LANGUAGES`. One without a row is translated too, but nothing about it is
checked or known.
"""

import re
from typing import NamedTuple

# Letters of each script, inside a character class of Python and RE2 alike, those of full and of
# half width included.
SCRIPTS = {
    "Latin": "A-Za-zªº\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u1e00-\u1effＡ-Ｚａ-ｚ",
    "Greek": "\u0370-\u0373\u0376-\u037d\u037f\u0386-\u03ff\u1f00-\u1ffc",
    "Cyrillic": "\u0400-\u0481\u048a-\u052f",
    "Armenian": "\u0531-\u0556\u0559-\u0588",
    "Hebrew": "\u05d0-\u05f2",
    "Arabic": "\u0620-\u064a\u066e-\u06d5\u06e5-\u06ff\u0750-\u077f",
    "Devanagari": "\u0900-\u0965\u0970-\u097f",
    "Bengali": "\u0980-\u09e3\u09f0-\u09fe",
    "Tamil": "\u0b82-\u0bd7",
    "Thai": "\u0e01-\u0e3a\u0e40-\u0e4e",
    "Georgian": "\u10a0-\u10ff",
    "Hangul": "\uac00-\ud7a3\u3131-\u318e\u1100-\u11ff",
    "Hiragana": "ぁ-ゖゝ-ゟ",
    "Katakana": "ァ-ヺー-ヿ\u31f0-\u31ff\uff66-\uff9f",
    "Han": "々-〇\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufad9",
}


class Language(NamedTuple):
    """A language, and what the translator knows of it.

    Attributes:
        name: English name.
        scripts: Names in `SCRIPTS` of its scripts; none if they are not known.
        also: Other codes that people write for it: of ISO 639-2, or of a country.
        joiner: String between two sentences, a space or nothing.
        bleu: Tokenizer of sacreBLEU: that of the WMT evaluations, or characters for a language
            without spaces between words.
        coverage: Share of the characters of a text that get a piece; rarer ones are encoded as
            bytes. Below 1 for thousands of characters of which many occur once or twice.
        numbers: `"myriads"` are written 1万, `"english"` ones have commas and ordinal endings, and
            stand in dates with names of months; `"digits"` are anything else.
        noise: Errors of typing: `"alphabetic"`, `"japanese"` or `"chinese"`.
        foreign: RE2 pattern of words or characters that are frequent in other languages of its
            scripts, and not in this one; empty if none are known.
        own: RE2 pattern of what is frequent in this language. A text that has something `foreign`
            and nothing of this is in another language.
    """

    name: str
    scripts: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    joiner: str = " "
    bleu: str = "13a"
    coverage: float = 1.0
    numbers: str = "digits"
    noise: str = "alphabetic"
    foreign: str = ""
    own: str = ""

    @property
    def letters(self) -> str:
        """Its letters, inside a character class; none if its scripts are not known."""
        return "".join(map(SCRIPTS.__getitem__, self.scripts))

    @property
    def other_letters(self) -> str:
        """Letters of all other scripts, as `letters`; none if its scripts are not known."""
        others = [letters for name, letters in SCRIPTS.items() if name not in self.scripts]
        return "".join(others) if self.scripts else ""

    @property
    def is_latin(self) -> bool:
        return self.scripts == _LATIN


_LATIN, _CYRILLIC = ("Latin",), ("Cyrillic",)
_KANA = "[" + SCRIPTS["Hiragana"] + SCRIPTS["Katakana"] + "]"


def _words(listed: str) -> str:
    """RE2 pattern of any of the words, as a whole word, in small letters or capitals."""
    return rf"(?:^|[^\p{{L}}'’])(?i:{'|'.join(listed.split())})(?:[^\p{{L}}'’]|$)"


_WITHOUT_SPACES = Language("", joiner="", bleu="char", coverage=0.9995, numbers="myriads")
LANGUAGES = {
    "ar": Language("Arabic", ("Arabic",), ("ara",)),
    "bg": Language("Bulgarian", _CYRILLIC, ("bul",)),
    "cs": Language("Czech", _LATIN, ("ces", "cze", "cz")),
    "da": Language("Danish", _LATIN, ("dan", "dk")),
    "de": Language("German", _LATIN, ("deu", "ger")),
    "el": Language("Greek", ("Greek",), ("ell", "gre", "gr")),
    "en": Language(
        "English",
        _LATIN,
        ("eng", "us"),
        numbers="english",
        foreign=_words(
            "je ne nous vous ils elles une avec dans mais merci bonjour très où sont ich ist nicht "
            "und wir für danke bitte guten sehr gibt está estoy dónde muy gracias hola qué cómo "
            "tengo quiero não obrigado obrigada você onde uma muito sono grazie scusi quanto della "
            "questo buongiorno het niet een ik hoe jest nie bardzo proszę gdzie bir için nasıl "
            "değil terima kasih saya tidak yang tack jag inte och är"
        )
        + "|[ąćęłńśźżěřůőűğşțșđơư\u1ea0-\u1ef9¿¡]",
        own=_words(
            "the and you she they my your his her this that with what where when why who how not "
            "are have has had will would can could should please want need like know think say "
            "said says means mean word for from at but there here our their its it's let's don't "
            "i'm"
        ),
    ),
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
        foreign="[你您们們她它很哪呢吧啊吗嗎么怎还过给这说对见语东车马长门问间关买卖书话飞鱼鸟龙"
        "钱银铁错难题欢爱让谁请谢认识时动务华发变听团园围图场坏备头妈师应总护报样开张]",
        own=_KANA,
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
    if code in LANGUAGES:  # fast: each sentence of a corpus asks
        return code
    primary = re.split("[-_]", code.lower())[0]
    return _CODES.get(primary, primary)


def read_language(code: str) -> Language:
    """Return the row of a language, one without facts if there is none.

    Example:

    >>> [read_language(code).name for code in ("jpn", "en-US", "eo")]
    ['Japanese', 'English', 'eo']
    """
    return LANGUAGES.get(code_of(code)) or Language(code)
