"""Syntax of the pattern tables: alternatives, slots and predicates in a row of two languages."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from keras_attn_data.everyday.moods import DERIVED, FIXED, LEVELS, TENSED

Choose = Callable[[list[str]], str]

_GROUP = re.compile(r"\(([^()]*[|/~][^()]*)\)")
# Marks that separate alternatives; those inside a slot separate its tags.
_BAR, _SLASH, _TILDE = (re.compile(mark + r"(?![^{}]*\})") for mark in (r"\|", "/", "~"))
_PARTS = re.compile(r"\{([^{}]+)\}|\[([^\[\]]+)\]")
_SLOT = re.compile(r"([a-z_]+\d*)(\??)(?::([^.]+))?((?:\.[^.]+)*)")
_TENSES = "present past will would could can tense ing done base"
_ENGLISH_FORM = re.compile(rf":({'|'.join(_TENSES.split())})( not)?$")
_MOODS = {*LEVELS, *"past negative question past! present! negative! question! -".split()}
_BRACKETS = re.compile(r"(\{[^{}]*\}|\S+)\s+")


class Row(NamedTuple):
    """Row of a table of patterns: its name, the templates, and forms that it can have."""

    name: str
    ja: str
    en: str
    forms: frozenset[str]


class Slot(NamedTuple):
    """Word that is drawn; an optional one is often left out.

    `name` is the table, with a digit if the row has several words of the table.
    """

    name: str
    optional: bool
    tags: str
    forms: tuple[str, ...]

    @property
    def table(self) -> str:
        return self.name.rstrip("0123456789")


class Predicate(NamedTuple):
    """Part in brackets, without the subject.

    `forms` are Japanese forms or an English tense. `negated` holds in any mood. `ends` tells
    whether the Japanese sentence ends here.
    """

    parts: tuple["str | Slot", ...]
    forms: tuple[str, ...]
    negated: bool
    subject: tuple["str | Slot", ...] = ()
    ends: bool = False


Part = str | Slot | Predicate


def row(name: str, ja: str, en: str, forms: str) -> Row:
    """Check and build a row."""
    wanted = frozenset(forms.split())
    groups = [_GROUP.findall(text) for text in (ja, en)]
    paired = [sorted(len(_SLASH.findall(g)) for g in found if "/" in g) for found in groups]
    faults = {
        f"`forms` must be of {sorted(_MOODS)}": bool(wanted - _MOODS),
        "groups with / must have as many alternatives in both languages": paired[0] != paired[1],
        "English has no alternatives with | or ~": any("/" not in group for group in groups[1]),
    }
    if found := [fault for fault, is_there in faults.items() if is_there]:
        raise ValueError(f"Row {name!r}: {'; '.join(found)}. Received: {ja!r}, {en!r}, {forms!r}.")
    return Row(name, ja, en, wanted)


@lru_cache(maxsize=20_000)
def slots_of(text: str) -> dict[str, Slot]:
    """Slots of a text by name; the first with tags stands for all of its name."""
    found: dict[str, Slot] = {}
    for inside in re.findall(r"\{([^{}]+)\}", text):
        slot = _slot(inside)
        if slot.name not in found or (slot.tags and not found[slot.name].tags):
            found[slot.name] = slot
    return found


def choose_alternatives(ja: str, en: str, level: str, choose: Choose) -> tuple[str, str]:
    """Texts without groups: (a|b) at random, (a/b) alike in both languages, (a~b) by level."""
    picks: dict[tuple[str, int], int] = {}

    def pick(match: re.Match[str]) -> str:
        inside = match[1]
        if "/" in inside:
            label, options = _label(inside)
            order = counted[label, len(options)] = counted.get((label, len(options)), -1) + 1
            key = (label or f"#{order}", len(options))
            if key not in picks:
                picks[key] = int(choose([str(i) for i in range(len(options))]))
            return options[picks[key]]
        if "~" in inside:
            options = _TILDE.split(inside)
            return choose(_BAR.split(options[min(LEVELS.index(level), len(options) - 1)]))
        return choose(_BAR.split(inside))

    if "(" not in ja:
        return ja, en
    texts = []
    for text in (ja, en):
        counted: dict[tuple[str, int], int] = {}
        texts.append(_GROUP.sub(pick, text))
    return texts[0], texts[1]


def _label(inside: str) -> tuple[str, list[str]]:
    label, mark, rest = inside.partition("=")
    if mark and label.isalnum() and label.isascii() and len(label) == 1:
        return label, _SLASH.split(rest)
    return "", _SLASH.split(inside)


@lru_cache(maxsize=20_000)
def parse(text: str, english: bool) -> tuple[Part, ...]:
    """Texts, slots and predicates of a template without alternatives."""
    parts: list[Part] = []
    end = 0
    for match in _PARTS.finditer(text):
        if match.start() > end:
            parts.append(text[end : match.start()])
        end = match.end()
        if match[1]:
            parts.append(_slot(match[1]))
        elif english:
            parts.append(_clause(match[2]))
        else:
            parts.append(_predicate(match[2], ends=text[end : end + 1] in ("", "。", "?", "!")))
    if end < len(text):
        parts.append(text[end:])
    return tuple(parts)


def _required(match: re.Match[str] | None, expected: str, text: str) -> re.Match[str]:
    if match is None:
        raise ValueError(f"Expected {expected}. Received: {text!r}.")
    return match


def _slot(inside: str) -> Slot:
    match = _required(_SLOT.fullmatch(inside), "{name}, {name:tags} or {name.form}", inside)
    return Slot(match[1], bool(match[2]), match[3] or "", tuple(match[4].split(".")[1:]))


def _texts_and_slots(text: str) -> tuple[str | Slot, ...]:
    pieces = re.split(r"\{([^{}]+)\}", text)
    made = [_slot(piece) if i % 2 else piece for i, piece in enumerate(pieces)]
    return tuple(piece for piece in made if piece != "")


def _predicate(inside: str, ends: bool) -> Predicate:
    text, *forms = re.split(r":(?![^{]*\})", inside)
    known = {*FIXED, *TENSED, *DERIVED}
    if not known.issuperset(forms):
        raise ValueError(f"Expected forms of {sorted(known)}. Received: {forms} in [{inside}].")
    parts = _texts_and_slots(text.removeprefix("!"))
    return Predicate(parts, tuple(forms), text.startswith("!"), (), ends)


def _clause(inside: str) -> Predicate:
    forms: tuple[str, ...] = ()
    negated = False
    if match := _ENGLISH_FORM.search(inside):
        inside, forms, negated = inside[: match.start()], (match[1],), bool(match[2])
    if forms and forms[0] in ("ing", "done", "base"):
        return Predicate(_texts_and_slots(inside.replace("*", "")), forms, negated)
    subject, star, rest = inside.partition("*")
    if not star:
        match = _required(_BRACKETS.match(inside), "[subject verb ...] or [subject *verb]", inside)
        subject, rest = match[1], inside[match.end() :]
    return Predicate(_texts_and_slots(rest), forms, negated, _texts_and_slots(subject.strip()))
