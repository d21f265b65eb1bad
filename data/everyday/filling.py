"""Drawing of the words for the slots of a row, so that they fit together."""

import copy
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from keras_attn_data.everyday import figures, lexicon, literals
from keras_attn_data.everyday.lexicon import Doing, Draw, Filler, Human, Quality, Tags, When
from keras_attn_data.everyday.templates import Slot

Words = dict[str, Filler]

_SPEAKER = Human({"ja": "", "en": "I", "person": "1s", "kind": "speaker"})
_EVERYBODY = "family|friend|name"
# Relatives of the speaker that a sentence may have in pairs.
_BLOOD = frozenset("父 母 兄 姉 弟 妹 祖父 祖母 おじ おば".split())
_TRIES = 30
_OMITTED = 0.6  # share of times with ? that are left out


class Unfit(Exception):
    """No word fits the slot, given the other words that were drawn."""


def fill(draw: Draw, wanted: dict[str, Slot]) -> Words:
    """Words of all slots; a slot whose tags name another slot is drawn after it.

    Raises:
        Unfit: If the words drawn first leave none for another slot.
    """
    words: Words = {}
    pending = dict(wanted)

    def need(name: str) -> None:
        slot = pending.pop(name)
        after = [other for other in pending if pending[other].table in _AFTER.get(slot.table, ())]
        for other in (*slot.tags.replace("|", "&").split("&"), *after):
            if other in pending:
                need(other)
        words[name] = _draw(draw, slot, words)

    while pending:
        need(next(iter(pending)))
    return words


def _draw(draw: Draw, slot: Slot, words: Words) -> Filler:
    if slot.table in figures.MAKERS:
        return figures.MAKERS[slot.table](draw, slot.tags, words)
    if slot.table in _TABLES:
        return _TABLES[slot.table](draw, slot, words)
    if slot.table in literals.rules():
        return literals.Copied(literals.draw_text(draw, slot.table))
    known = sorted({*_TABLES, *figures.MAKERS, *literals.rules()})
    raise ValueError(
        f"A slot must be a list of lists/*.tsv or one of {known}. Received: {{{slot.name}}}."
    )


def _other(draw: Draw, items: Sequence[Any], words: Words) -> Any:
    """Word whose Japanese no other word of its kind has."""
    kind = type(items[0]) if items else Filler
    taken = [word.text_ja for word in words.values() if isinstance(word, kind)]
    for _ in range(_TRIES if items else 0):
        item = draw.choose(items)
        if item.text_ja not in taken:
            return item
    raise Unfit


def _thing_or_place(draw: Draw, slot: Slot, words: Words) -> Filler:
    """Noun or place with the tags, or one that fits the adjective or action that they name."""
    name, _, more = slot.tags.partition("&")
    source, table = words.get(name), "nouns" if slot.table == "thing" else "places"
    if isinstance(source, Quality | Doing):
        wanted = source.describes if isinstance(source, Quality) else source.places
        return _other(draw, _sharing(table, wanted, more), words)
    return _other(draw, lexicon.fitting(table, slot.tags), words)


@cache
def _sharing(table: str, tags: Tags, more: str) -> list[Any]:
    """Words of a table that share a tag, and have `more` tags."""
    return [
        word
        for word in (lexicon.fitting(table, more) if more else lexicon.load(table))
        if word.tags & tags
    ]


def _who(draw: Draw, slot: Slot, words: Words) -> Filler:
    tags = slot.tags or "speaker|" + ("pronoun" if draw.chance(0.15) else _EVERYBODY)
    if tags == "speaker" or (tags.startswith("speaker|") and draw.chance(0.4)):
        return _SPEAKER
    return _other(draw, lexicon.fitting("people", tags), words)


def _other_person(draw: Draw, slot: Slot, words: Words) -> Filler:
    """Second person of a sentence about {who}.

    父 and 友達 are the speaker's father and friend only in a sentence about the speaker; next to
    another subject they would be that person's. Relatives of the speaker also go together.
    """
    who = words["who"].text_ja if "who" in words else ""
    kinds = _EVERYBODY if who in ("", "私たち") else "family|name" if who in _BLOOD else "name"
    for _ in range(_TRIES):
        somebody = _other(draw, lexicon.fitting("people", kinds), words)
        if not who or "family" not in somebody.tags or somebody.text_ja in _BLOOD:
            return somebody
    raise Unfit


def _do(draw: Draw, slot: Slot, words: Words) -> Filler:
    groups = _verbs(slot.tags)
    if not groups:
        raise ValueError(f"No action has the tags of {{{slot.name}:{slot.tags}}}.")
    return _other(draw, draw.choose(groups), words)


@cache
def _verbs(tags: str) -> list[list[Doing]]:
    """Actions, grouped by verb; the group of a verb with many objects is repeated."""
    groups: dict[str, list[Doing]] = {}
    for action in lexicon.fitting("actions", tags):
        group = f"{action.verb.text}|{action.phrase.verb}" if action.noun else action.key
        groups.setdefault(group, []).append(action)
    return [group for group in groups.values() for _ in range(1 + len(group) // 6)]


def _time(draw: Draw, slot: Slot, words: Words) -> Filler:
    times = lexicon.fitting("times", slot.tags)
    doing = next((word for word in words.values() if isinstance(word, Doing)), None)
    if doing is not None and slot.tags != "freq":
        times = _suitable(times, doing.tags)
    found = _other(draw, times, words)
    if slot.optional and draw.chance(_OMITTED):
        found = copy.copy(found)
        found.text_ja = found.text_en = ""
    return found


@cache
def _suitable(times: tuple[When, ...], uses: Tags) -> tuple[When, ...]:
    """Times that suit an action: whole days for meals, years only for long actions."""
    if "long-only" in uses:
        return tuple(time for time in times if "long" in time.tags)
    if "whole-days" in uses:
        return tuple(time for time in times if time.tags & {"neutral", "plainhabit", "freq"})
    if "long-times" in uses:
        return times
    return tuple(time for time in times if "long" not in time.tags)


@cache
def _names(tags: str) -> list[dict[str, str]]:
    return [row for row in lexicon.rows("names") if lexicon.fits(row["kind"].split(), tags)]


def _name(draw: Draw, slot: Slot, words: Words) -> Filler:
    name = draw.choose(_names(slot.tags))
    kana = name["kana"] and draw.chance(0.1)
    return Filler(name["kana"] if kana else name["ja"], name["en"], name["ja"])


def _of(table: str, default: str = "") -> Callable[[Draw, Slot, Words], Filler]:
    return lambda draw, slot, words: _other(
        draw, lexicon.fitting(table, slot.tags or default), words
    )


_TABLES: dict[str, Callable[[Draw, Slot, Words], Filler]] = {
    **{"thing": _thing_or_place, "place": _thing_or_place, "who": _who, "other": _other_person},
    **{"person": _of("people", _EVERYBODY), "do": _do, "adj": _of("adjectives"), "time": _time},
    **{"name": _name, "me": lambda draw, slot, words: lexicon.Speaker(draw)},
    "own": lambda draw, slot, words: Filler("", "{own}", ""),
}
# Tables whose words depend on those of other tables in the row.
_AFTER = {"time": ("do",), "other": ("who",), "yen": ("thing",)}
