"""Generation of all pairs of the corpus: each pattern is sampled until it reaches its share."""

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

from keras_attn_data.everyday import english, filling, lexicon, literals, rendering, templates
from keras_attn_data.everyday.entries import Entries
from keras_attn_data.everyday.lexicon import Draw, Scene
from keras_attn_data.everyday.templates import Row

SEED = 20240401
SHARE = 570  # maximum number of pairs of a pattern; with few rows it gets fewer
_SHARE_OF_ANY, _SHARE_OF_A_ROW = 150, 42
# Files of patterns that get twice that: the first sentences that people type.
_FIRST = ("answers", "introductions", "places", "self", "service", "talk")
# A row is exhausted after this many samples in succession without a new sentence.
_PATIENCE = 40
_MOODS = (1, 2, 2, 3)  # number of forms of a sentence that are drawn for the same words
_TYPED = 0.15  # share of sentences without 。, as people type
_TAGGED = 0.04  # share of sentences with a noun between tags, where they have one

# How often training shows a pair of these files of patterns, in place of once.
WEIGHTS = {"introductions": 3.0, "service": 3.0, "talk": 3.0}
# Nothing about a set phrase can be learnt from another. All of a subject are one combination, so
# that no split holds out a part of them. Each is given with the marks that people put after it.
_SET_PHRASES = 12.0
_ENDS = {".": ("。", ""), "!": ("。", "", "!"), "?": ("。", "", "?"), "-": ("",)}


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
    """All pairs, pattern by pattern, in a fixed order; made once in a process."""
    return iter(_made(SHARE))


@lru_cache(maxsize=1)
def _made(share: int) -> tuple[Sentence, ...]:
    return tuple(unique(drawn()))


def unique(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """Each Japanese sentence once, with the English with which it comes first."""
    english_of: dict[str, str] = {}
    seen: set[str] = set()
    for sentence in sentences:
        en = spoken(sentence.en)
        if sentence.ja not in seen and english_of.setdefault(spoken(sentence.ja), en) == en:
            seen.add(sentence.ja)
            yield sentence


def spoken(text: str) -> str:
    """Text without marks that change nothing about the translation."""
    return re.sub(r"[。、!., ]", "", text.replace("か。", "か?")).casefold()


def drawn() -> Iterator[Sentence]:
    """All pairs as they are drawn: a sentence may occur again, or with another translation."""
    for line in lexicon.rows("set_phrases"):
        yield from set_phrases(line)
    for name, rows in patterns().items():
        yield from sentences(name, rows)


def set_phrases(line: dict[str, str]) -> Iterator[Sentence]:
    """Every wording of a set phrase with one or all of its marks."""
    for i, ja in enumerate(line["ja"].split("|")):
        ends = _ENDS[line["ends"]]
        if line["ends"] == "?" and not ja.endswith(("か", "の")):
            ends = ("?",)  # only the mark shows that it is a question
        for end in ends if i < 2 else ends[i % len(ends) :][:1]:
            en = line["en"].rstrip(".!") + "!" if end == "!" else line["en"]
            yield Sentence(ja + end, en, line["kind"], _SET_PHRASES)


@cache
def patterns() -> dict[str, tuple[str, list[Row]]]:
    """Rows of all patterns by name, with the name of their file."""
    found: dict[str, tuple[str, list[Row]]] = {}
    for file, table in lexicon.tables("patterns"):
        for line in table:
            row = templates.row(line["name"], line["ja"], line["en"], line["forms"])
            found.setdefault(row.name, (file, []))[1].append(row)
    return found


def sentences(name: str, pattern: tuple[str, list[Row]]) -> Iterator[Sentence]:
    """Pairs of a pattern, up to its share, each Japanese sentence once."""
    file, rows = pattern
    draw = Draw(f"{SEED} {name}")
    seen: set[str] = set()
    idle = dict.fromkeys(rows, 0)
    share = min(SHARE, _SHARE_OF_ANY + _SHARE_OF_A_ROW * len(rows)) * (1 + (file in _FIRST))
    while len(seen) < share and idle:
        row = draw.choose(list(idle))
        given = len(seen)
        yield from sample(row, draw, WEIGHTS.get(file, 1.0), seen)
        idle[row] = 0 if len(seen) > given else idle[row] + 1
        if idle[row] == _PATIENCE:
            del idle[row]


def sample(row: Row, draw: Draw, weight: float, seen: set[str]) -> list[Sentence]:
    """Pairs of a row with the same words in several forms; none if the words do not fit.

    `seen` holds the Japanese sentences that are not new; those of the pairs are added.

    Raises:
        ValueError: If the row asks for words or forms that do not exist.
    """
    try:
        return _sample(row, draw, weight, seen)
    except filling.Unfit:
        return []
    except (ValueError, KeyError, IndexError) as error:
        raise ValueError(f"Row {row.name!r}, {row.ja!r}, {row.en!r}: {error!r}") from error


def _sample(row: Row, draw: Draw, weight: float, seen: set[str]) -> list[Sentence]:
    entries = Entries(draw, templates.slots_of(row.ja + row.en))
    words = filling.fill(draw, templates.slots_of("".join(entries.put_into(row.ja, row.en))))
    found = []
    for mood in rendering.moods_of(row.forms, words, draw, draw.choose(_MOODS)):
        scene = Scene(words, mood, entries.english())
        ja, en = templates.choose_alternatives(row.ja, row.en, mood.level, draw.choose)
        ja, en = entries.put_into(ja, en)
        ja, en = templates.choose_alternatives(ja, en, mood.level, draw.choose)
        ja = rendering.japanese_sentence(ja, scene, draw)
        if ja.endswith("。") and draw.chance(_TYPED):
            ja = ja[:-1] + ("?" if ja.endswith("か。") and draw.chance(0.5) else "")
        if ja in seen:
            continue
        en = rendering.english_sentence(en, scene)
        if english.UNKNOWN_GENDER not in en:
            seen.add(ja)
            if draw.chance(_TAGGED):
                nouns = [word for word in words.values() if isinstance(word, lexicon.Noun)]
                ja, en = literals.between_tags(draw, ja, en, nouns)
            words_used = [*entries.keys().values(), *scene.used.values()] or [row.ja]
            found.append(Sentence(ja, en, "|".join((row.name, *words_used)), weight))
    return found
