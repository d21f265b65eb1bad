"""Generation of all pairs of the corpus: each pattern is sampled until it reaches its share."""

import random
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from keras_attn_data.everyday import (
    drawing,
    english,
    filling,
    functions,
    lexicon,
    phrases,
    rendering,
    templates,
)
from keras_attn_data.everyday.slots import Draw, Scene
from keras_attn_data.everyday.templates import Row, Slot

SEED = 20240401
SHARE = 570  # maximum number of pairs of a pattern
# A pattern is exhausted after this many samples in a row without a new sentence.
_PATIENCE = 300
_MOODS = (1, 2, 2, 3)  # number of forms of a sentence that are drawn for the same words
_TYPED = 0.15  # share of sentences without 。, as people type

# How often training shows a pair of these files of patterns, in place of once: they are the first
# sentences that people type.
WEIGHTS = {"introductions": 3.0, "service": 3.0, "talk": 3.0}
# Nothing about a set phrase can be learnt from another.
_SET_PHRASES = 12.0


class Sentence(NamedTuple):
    """Sentence pair with its combination and weight.

    Args:
        ja: Japanese sentence.
        en: English sentence.
        combination: Pattern and content words, joined by "|". Equal for pairs that differ only in
            tense, politeness, negation, question, a synonym or a time word.
        weight: How often training shows the pair, relative to others.
    """

    ja: str
    en: str
    combination: str
    weight: float


def examples() -> Iterator[tuple[int, dict[str, Any]]]:
    """All pairs as examples of TensorFlow Datasets, with their keys."""
    for key, sentence in enumerate(pairs()):
        yield key, sentence._asdict()


def pairs() -> Iterator[Sentence]:
    """All pairs, pattern by pattern, in a fixed order; a Japanese sentence has one English."""
    seen: dict[str, str] = {}
    japanese_seen: set[str] = set()
    for sentence in drawn():
        if sentence.ja in japanese_seen:
            continue
        if seen.setdefault(spoken(sentence.ja), spoken(sentence.en)) != spoken(sentence.en):
            continue
        japanese_seen.add(sentence.ja)
        yield sentence


def spoken(text: str) -> str:
    """Text without marks that change nothing about the translation."""
    return re.sub(r"[。、!., ]", "", text.replace("か。", "か?")).casefold()


def drawn() -> Iterator[Sentence]:
    """All pairs as they are drawn: a sentence may occur again, or with another translation."""
    for kind in phrases.kinds():
        for ja, en in phrases.pairs(kind):
            yield Sentence(ja, en, kind, _SET_PHRASES)
    for name, rows in patterns().items():
        yield from sentences(name, rows)
    for name, function in functions.PATTERNS.items():
        if name not in patterns() and name not in phrases.kinds():
            yield from _by_function(name, function)


def _by_function(name: str, function: functions.Pattern) -> Iterator[Sentence]:
    draw = drawing.Draw(random.Random(f"{SEED} {name}"))
    seen: set[str] = set()
    idle = 0
    while len(seen) < SHARE and idle < 1000:
        drawn = function(draw)
        fresh = [pair for pair in drawn.pairs if pair.ja not in seen]
        idle = 0 if fresh else idle + 1
        for ja, en in fresh:
            seen.add(ja)
            ja, en = (unicodedata.normalize("NFKC", text) for text in (ja, en))
            if english.UNKNOWN_GENDER not in en:
                key = "|".join((name, *drawn.words))
                yield Sentence(ja, en, key, functions.WEIGHTS.get(name, 1.0))


@cache
def patterns() -> dict[str, tuple[str, list[Row]]]:
    """Rows of all patterns by name, with the name of their file."""
    found: dict[str, tuple[str, list[Row]]] = {}
    for file, table in lexicon.tables("patterns"):
        for line in table:
            row = templates.row(line["name"], line["ja"], line["en"], line["forms"])
            found.setdefault(row.name, (file, []))[1].append(row)
    return found


@cache
def lists() -> dict[str, list[dict[str, str]]]:
    """Rows of all lists by name."""
    found: dict[str, list[dict[str, str]]] = {}
    for _, table in lexicon.tables("lists"):
        for line in table:
            found.setdefault(line["list"], []).append(line)
    return found


@cache
def clause_pairs(tags: str) -> list[dict[str, str]]:
    """Rows of the tables of clauses that have a tag."""
    lines = [line for _, table in lexicon.tables("clauses") for line in table]
    return [line for line in lines if tags in line["tags"].split()]


def sentences(name: str, pattern: tuple[str, list[Row]]) -> Iterator[Sentence]:
    """Pairs of a pattern, up to its share, each Japanese sentence once."""
    file, rows = pattern
    draw = Draw(random.Random(f"{SEED} {name}"))
    seen: set[str] = set()
    idle = 0
    while len(seen) < SHARE and idle < _PATIENCE:
        fresh = [s for s in sample(draw.choose(rows), draw, WEIGHTS.get(file, 1.0))]
        fresh = [s for s in fresh if s.ja not in seen]
        idle = 0 if fresh else idle + 1
        for sentence in fresh:
            if sentence.ja not in seen:
                seen.add(sentence.ja)
                yield sentence


def sample(row: Row, draw: Draw, weight: float = 1.0) -> list[Sentence]:
    """Pairs of a row with the same words in several forms; none if the words do not fit."""
    texts, wanted = _with_lists(row, draw)
    try:
        words = filling.fill(draw, wanted)
    except filling.Unfit:
        return []
    found = []
    for mood in rendering.moods_of(row.forms, words, draw, draw.choose(_MOODS)):
        scene = Scene(words, mood)
        scene.used.update(texts.used)
        ja, en = templates.choose_alternatives(row.ja, row.en, mood.level, draw.choose)
        ja, en = texts.put_into(ja, en)
        ja, en = templates.choose_alternatives(ja, en, mood.level, draw.choose)
        ja = rendering.japanese_sentence(ja, scene, draw)
        en = rendering.english_sentence(en, scene)
        if english.UNKNOWN_GENDER in en:
            continue
        if ja.endswith("。") and draw.chance(_TYPED):
            ja = ja[:-1] + ("?" if ja.endswith("か。") and draw.chance(0.5) else "")
        key = "|".join((row.name, *(scene.used.values() or (row.ja,))))
        found.append(Sentence(ja, en, key, weight))
    return found


class _Lists:
    """Entries of lists that take the place of their slots in a row."""

    def __init__(self) -> None:
        self.entries: dict[str, tuple[str, str]] = {}
        self.used: dict[str, str] = {}

    def put_into(self, ja: str, en: str) -> tuple[str, str]:
        def put(text: str, side: int) -> str:
            return _LIST.sub(
                lambda m: self.entries[m[1]][side] if m[1] in self.entries else m[0], text
            )

        return put(ja, 0), put(en, 1)


_LIST = re.compile(r"\{([a-z_]+\d*)\??(?::[^{}]*)?\}")


def _with_lists(row: Row, draw: Draw) -> tuple[_Lists, dict[str, Slot]]:
    """Entries of the lists in a row, and the slots that remain to be filled."""
    chosen, wanted = _Lists(), dict(row.slots)
    texts = ""
    for name, slot in row.slots.items():
        if slot.table in ("first", "then"):
            if slot.table == "then":
                continue
            line = draw.choose(clause_pairs(slot.tags))
            both = {"first": ("first_ja", "first_en"), "then": ("then_ja", "then_en")}
            for side, (ja, en) in both.items():
                chosen.entries[side + name[5:]] = line[ja], line[en]
            chosen.used[name] = f"{line['first_ja']}、{line['then_ja']}"
        elif slot.table in lists():
            entries = lists()[slot.table]
            if slot.tags:
                entries = [e for e in entries if slot.tags in (e["tags"] or "").split()]
            line = draw.choose(entries)
            while (line["ja"], line["en"]) in chosen.entries.values() and len(entries) > 2:
                line = draw.choose(entries)
            chosen.entries[name] = line["ja"], line["en"]
            chosen.used[name] = line["ja"]
    for name, (ja, en) in chosen.entries.items():
        wanted.pop(name, None)
        texts += ja + en
    return chosen, {**wanted, **templates.slots_of(texts)}
