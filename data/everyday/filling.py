"""Drawing of the words for the slots of a row, so that they fit together."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from keras_attn_data.everyday import figures, literals, slots
from keras_attn_data.everyday.english import I
from keras_attn_data.everyday.lexicon import Action, Somebody, Tags, Time, fitting, load
from keras_attn_data.everyday.slots import Doing, Draw, Filler, Human, Quality, Thing, When, Where
from keras_attn_data.everyday.templates import Slot

Words = dict[str, Filler]

_SPEAKER = Somebody("", I, "speaker", frozenset())
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
    if slot.table in literals.MAKERS:
        return literals.Copied(literals.MAKERS[slot.table](draw))
    if slot.table not in _TABLES:
        known = sorted({*_TABLES, *figures.MAKERS, *literals.MAKERS})
        raise ValueError(
            f"A slot must be a list of lists/*.tsv or one of {known}. Received: {{{slot.name}}}."
        )
    return _TABLES[slot.table](draw, slot, words)


def _other(draw: Draw, items: Sequence[Any], kind: type[Filler], words: Words) -> Any:
    """Item whose Japanese no other word of the kind has."""
    taken = [word.text_ja for word in words.values() if isinstance(word, kind)]
    for _ in range(_TRIES if items else 0):
        item = draw.choose(items)
        if getattr(item.ja, "text", item.ja) not in taken:
            return item
    raise Unfit


def _thing(draw: Draw, slot: Slot, words: Words) -> Filler:
    source, _, more = slot.tags.partition("&")
    adjective = words.get(source)
    if isinstance(adjective, Quality):
        found = _sharing("nouns", adjective.adjective.describes, more)
    else:
        found = fitting("nouns", slot.tags)
    return Thing(_other(draw, found, Thing, words))


def _place(draw: Draw, slot: Slot, words: Words) -> Filler:
    source, _, more = slot.tags.partition("&")
    doing = words.get(source)
    if isinstance(doing, Doing):
        found = _sharing("places", doing.action.places, more)
    else:
        found = fitting("places", slot.tags)
    return Where(_other(draw, found, Where, words))


@cache
def _sharing(table: str, tags: Tags, more: str) -> list[Any]:
    """Words of a table that share a tag, and have `more` tags."""
    return [word for word in (fitting(table, more) if more else load(table)) if word.tags & tags]


def _who(draw: Draw, slot: Slot, words: Words) -> Filler:
    tags = slot.tags or "speaker|" + ("pronoun" if draw.chance(0.15) else _EVERYBODY)
    if tags == "speaker" or (tags.startswith("speaker|") and draw.chance(0.4)):
        return Human(_SPEAKER)
    return Human(_other(draw, fitting("people", tags), Human, words))


def _person(draw: Draw, slot: Slot, words: Words) -> Filler:
    """Anybody but the speaker."""
    return Human(_other(draw, fitting("people", slot.tags or _EVERYBODY), Human, words))


def _other_person(draw: Draw, slot: Slot, words: Words) -> Filler:
    """Second person of a sentence about {who}.

    父 and 友達 are the speaker's father and friend only in a sentence about the speaker; beside
    another subject they would be that person's. Relatives of the speaker also go together.
    """
    who = words["who"].text_ja if "who" in words else ""
    kinds = _EVERYBODY if who in ("", "私たち") else "family|name" if who in _BLOOD else "name"
    for _ in range(_TRIES):
        somebody = _other(draw, fitting("people", kinds), Human, words)
        if not who or somebody.kind != "family" or somebody.ja in _BLOOD:
            return Human(somebody)
    raise Unfit


def _do(draw: Draw, slot: Slot, words: Words) -> Filler:
    groups = _verbs(slot.tags)
    if not groups:
        raise ValueError(f"No action has the tags of {{{slot.name}:{slot.tags}}}.")
    return Doing(_other(draw, draw.choose(groups), Doing, words))


@cache
def _verbs(tags: str) -> list[list[Action]]:
    """Actions, grouped by verb; the group of a verb with many objects is repeated."""
    groups: dict[str, list[Action]] = {}
    for action in fitting("actions", tags):
        group = f"{action.verb.text}|{action.en.verb}" if action.noun else action.key
        groups.setdefault(group, []).append(action)
    return [group for group in groups.values() for _ in range(1 + len(group) // 6)]


def _time(draw: Draw, slot: Slot, words: Words) -> Filler:
    times = fitting("times", slot.tags)
    doing = next((word for word in words.values() if isinstance(word, Doing)), None)
    if doing is not None and slot.tags != "freq":
        times = _suitable(times, doing.action.tags)
    return When(_other(draw, times, When, words), slot.optional and draw.chance(_OMITTED))


@cache
def _suitable(times: tuple[Time, ...], uses: Tags) -> tuple[Time, ...]:
    """Times that suit an action: whole days for meals, years only for long actions."""
    if "long-only" in uses:
        return tuple(time for time in times if "long" in time.tags)
    if "whole-days" in uses:
        return tuple(time for time in times if time.tags & {"neutral", "plainhabit", "freq"})
    if "long-times" in uses:
        return times
    return tuple(time for time in times if "long" not in time.tags)


def _name(draw: Draw, slot: Slot, words: Words) -> Filler:
    name = draw.choose(fitting("names", slot.tags))
    return Filler(name.kana if name.kana and draw.chance(0.1) else name.ja, name.en, name.ja)


_TABLES: dict[str, Callable[[Draw, Slot, Words], Filler]] = {
    "thing": _thing,
    "place": _place,
    "who": _who,
    "person": _person,
    "other": _other_person,
    "do": _do,
    "adj": lambda draw, slot, words: Quality(draw.choose(fitting("adjectives", slot.tags))),
    "time": _time,
    "name": _name,
    "me": lambda draw, slot, words: slots.Speaker(draw),
    "own": lambda draw, slot, words: Filler("", "{own}", ""),
}
# Tables whose words depend on those of other tables in the row.
_AFTER = {"time": ("do",), "other": ("who",), "yen": ("thing",)}
