"""Drawing of the words for the slots of a row, so that they fit together."""

from collections.abc import Callable, Sequence
from functools import cache

from keras_attn_data.everyday import figures, lexicon, literals, slots
from keras_attn_data.everyday.english import I
from keras_attn_data.everyday.lexicon import Noun, Somebody, Time
from keras_attn_data.everyday.slots import Doing, Draw, Filler, Human, Quality, Thing, When, Where
from keras_attn_data.everyday.templates import Slot

Words = dict[str, Filler]

SPEAKER = Somebody("", I, "speaker")
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
        for tag in slot.tags.replace("|", "&").split("&"):
            if tag in pending:
                need(tag)
        if slot.table in _AFTER:
            for other in [other for other in pending if pending[other].table in _AFTER[slot.table]]:
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
        raise ValueError(
            f"A slot must be a list of lists/*.tsv or one of {sorted(tables())}. "
            f"Received: {{{slot.name}}}."
        )
    return _TABLES[slot.table](draw, slot, words)


def _other(draw: Draw, items: Sequence, taken: Sequence[str]):
    """Item whose Japanese is not taken yet."""
    for _ in range(_TRIES if items else 0):
        item = draw.choose(items)
        if getattr(item, "ja", None) not in taken:
            return item
    raise Unfit


def _taken(kind: type[Filler], words: Words) -> list[str]:
    return [word.text_ja for word in words.values() if isinstance(word, kind)]


def _thing(draw: Draw, slot: Slot, words: Words) -> Filler:
    source = words.get(slot.tags.partition("&")[0])
    if not isinstance(source, Quality):
        return Thing(_other(draw, slots.nouns(slot.tags), _taken(Thing, words)))
    more = slot.tags.partition("&")[2]
    return Thing(_other(draw, _described(source.adjective.describes, more), _taken(Thing, words)))


@cache
def _described(tags: frozenset[str], more: str) -> list[Noun]:
    nouns = slots.nouns(more) if more else lexicon.load().nouns
    return [noun for noun in nouns if noun.tags & tags]


def _who(draw: Draw, slot: Slot, words: Words) -> Filler:
    if not slot.tags:
        if draw.chance(0.4):
            return Human(SPEAKER)
        kinds = "pronoun" if draw.chance(0.15) else _EVERYBODY
        return Human(_other(draw, slots.people(kinds), _taken(Human, words)))
    if slot.tags == "speaker" or (slot.tags.startswith("speaker|") and draw.chance(0.45)):
        return Human(SPEAKER)
    return Human(_other(draw, slots.people(slot.tags), _taken(Human, words)))


def _person(draw: Draw, slot: Slot, words: Words) -> Filler:
    """Anybody but the speaker."""
    return Human(_other(draw, slots.people(slot.tags or _EVERYBODY), _taken(Human, words)))


def _other_person(draw: Draw, slot: Slot, words: Words) -> Filler:
    """Second person of a sentence about {who}.

    父 and 友達 are the speaker's father and friend only in a sentence about the speaker; beside
    another subject they would be that person's. Relatives of the speaker also go together.
    """
    who = words.get("who")
    name = who.text_ja if who else ""
    kinds = _EVERYBODY if name in ("", "私たち") else "family|name" if name in _BLOOD else "name"
    for _ in range(_TRIES):
        somebody = _other(draw, slots.people(kinds), [name])
        if not name or somebody.kind != "family" or somebody.ja in _BLOOD:
            return Human(somebody)
    raise Unfit


def _place(draw: Draw, slot: Slot, words: Words) -> Filler:
    name, _, more = slot.tags.partition("&")
    source = words.get(name)
    if not isinstance(source, Doing):
        return Where(_other(draw, slots.places(slot.tags), _taken(Where, words)))
    return Where(_other(draw, _places_of(source.action.places, more), _taken(Where, words)))


@cache
def _places_of(activities: frozenset[str], more: str) -> list[lexicon.Place]:
    places = slots.places(more) if more else lexicon.load().places
    return [place for place in places if place.activities & activities]


def _do(draw: Draw, slot: Slot, words: Words) -> Filler:
    groups = slots.actions(slot.tags)
    if not groups:
        raise ValueError(f"No action has the tags of {{{slot.name}:{slot.tags}}}.")
    taken = _taken(Doing, words)
    for _ in range(_TRIES):
        action = draw.choose(draw.choose(groups))
        if action.ja.text not in taken:
            return Doing(action)
    raise Unfit


def _adjective(draw: Draw, slot: Slot, words: Words) -> Filler:
    return Quality(draw.choose(slots.adjectives(slot.tags)))


def _time(draw: Draw, slot: Slot, words: Words) -> Filler:
    """Time that suits the action: whole days for meals, years only for long actions."""
    times = slots.times(slot.tags)
    doing = next((word for word in words.values() if isinstance(word, Doing)), None)
    if doing is not None and slot.tags != "freq":
        times = _suitable(times, doing.action.uses)
    return When(_other(draw, times, _taken(When, words)), slot.optional and draw.chance(_OMITTED))


def _suitable(times: list[Time], uses: frozenset[str]) -> list[Time]:
    if "long-only" in uses:
        return [time for time in times if "long" in time.kinds]
    if "whole-days" in uses:
        return [time for time in times if time.kinds & {"neutral", "plainhabit", "freq"}]
    if "long-times" in uses:
        return times
    return [time for time in times if "long" not in time.kinds]


def _name(draw: Draw, slot: Slot, words: Words) -> Filler:
    names = [name for name in lexicon.load().names if slots.tags(slot.tags).fit(name.kind.split())]
    name = draw.choose(names)
    return Filler(name.kana if name.kana and draw.chance(0.1) else name.ja, name.en, name.ja)


def _me(draw: Draw, slot: Slot, words: Words) -> Filler:
    return slots.Speaker(draw.between(0, 5), draw.between(0, 6))


_TABLES: dict[str, Callable[[Draw, Slot, Words], Filler]] = {
    "thing": _thing,
    "who": _who,
    "person": _person,
    "other": _other_person,
    "place": _place,
    "do": _do,
    "adj": _adjective,
    "time": _time,
    "name": _name,
    "me": _me,
    "own": lambda draw, slot, words: Filler("", "{own}", ""),
}
# Tables whose words depend on those of other tables in the row.
_AFTER = {"time": ("do",), "other": ("who",), "yen": ("thing",)}


def tables() -> set[str]:
    """Names of the slots that are no lists."""
    return {*_TABLES, *figures.MAKERS, *literals.MAKERS}
