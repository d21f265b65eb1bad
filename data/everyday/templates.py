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
_MOODS = {
    *LEVELS,
    "past",
    "negative",
    "question",
    "past!",
    "present!",
    "negative!",
    "question!",
    "-",
}


class Row(NamedTuple):
    """Row of a table of patterns.

    Args:
        name: Name of the pattern.
        ja: Japanese template.
        en: English template.
        forms: Forms that the sentence can have.
    """

    name: str
    ja: str
    en: str
    forms: frozenset[str]


class Slot(NamedTuple):
    """Word that is drawn.

    Args:
        name: Table, with a digit if the row has several words of the table.
        optional: Whether the word is often left out.
        tags: Tags of the words to draw from.
        forms: Forms of the word.
    """

    name: str
    optional: bool
    tags: str
    forms: tuple[str, ...]

    @property
    def table(self) -> str:
        return self.name.rstrip("0123456789")


class Predicate(NamedTuple):
    """Part in brackets.

    Args:
        parts: Texts and slots, without the subject.
        forms: Japanese forms, or an English tense.
        negated: Whether the predicate is negated in any mood.
        subject: English subject. Defaults to none.
        ends: Whether the predicate ends the sentence. Defaults to False.
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
    if unknown := wanted - _MOODS:
        raise ValueError(
            f"`forms` of a pattern must be of {sorted(_MOODS)}. Received: {sorted(unknown)} in "
            f"the row {name!r}, {ja!r}."
        )
    paired = [
        sorted(len(_SLASH.findall(group)) for group in _GROUP.findall(text) if "/" in group)
        for text in (ja, en)
    ]
    if paired[0] != paired[1]:
        raise ValueError(
            "Groups with / must come in pairs with as many alternatives in both languages. "
            f"Received: {ja!r} and {en!r}."
        )
    if any("/" not in group for group in _GROUP.findall(en)):
        raise ValueError(
            "English must have no alternatives with | or ~: one Japanese sentence has one English. "
            f"Received: {en!r}."
        )
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


def _slot(inside: str) -> Slot:
    match = _SLOT.fullmatch(inside)
    if match is None:
        raise ValueError(
            "A slot must be written {name}, {name:tags} or {name.form}. "
            f"Received: {{{inside}}}."
        )
    forms = tuple(match[4].split(".")[1:])
    return Slot(match[1], bool(match[2]), match[3] or "", forms)


def _texts_and_slots(text: str) -> tuple[str | Slot, ...]:
    pieces = re.split(r"\{([^{}]+)\}", text)
    made = [_slot(piece) if i % 2 else piece for i, piece in enumerate(pieces)]
    return tuple(piece for piece in made if piece != "")


def _predicate(inside: str, ends: bool) -> Predicate:
    pieces = re.split(r":(?![^{]*\})", inside)
    forms = tuple(pieces[1:])
    known = {*FIXED, *TENSED, *DERIVED}
    if unknown := [form for form in forms if form not in known]:
        raise ValueError(
            f"A Japanese predicate must have forms of {sorted(known)}. "
            f"Received: {unknown} in [{inside}]."
        )
    text = pieces[0]
    return Predicate(_texts_and_slots(text.removeprefix("!")), forms, text[:1] == "!", (), ends)


def _clause(inside: str) -> Predicate:
    forms: tuple[str, ...] = ()
    negated = False
    if match := _ENGLISH_FORM.search(inside):
        inside, forms, negated = inside[: match.start()], (match[1],), bool(match[2])
    if forms and forms[0] in ("ing", "done", "base"):
        return Predicate(_texts_and_slots(inside.replace("*", "")), forms, negated)
    if "*" in inside:
        subject, _, rest = inside.partition("*")
    else:
        match = re.match(r"(\{[^{}]*\}|\S+)\s+", inside)
        if match is None:
            raise ValueError(
                "An English clause must be [subject verb ...], a long subject with * before the "
                f"verb. Received: [{inside}]."
            )
        subject, rest = match[1], inside[match.end() :]
    return Predicate(_texts_and_slots(rest), forms, negated, _texts_and_slots(subject.strip()))
