"""Entries of the tables of lists and clauses, which take the place of their slots in a row."""

import re
from functools import cache

from keras_attn_data.everyday import lexicon, templates
from keras_attn_data.everyday.lexicon import Draw

Line = dict[str, str]

# Subject without a verb.
_NOUN_PHRASE = re.compile(r"(the|a|an|my|our|his|her|this|that) [^*]+")
_CLAUSES = {"first": ("first_ja", "first_en"), "then": ("then_ja", "then_en")}


@cache
def lists() -> dict[str, list[Line]]:
    """Rows of all lists by name. All rows of a list are in one file."""
    found: dict[str, list[Line]] = {}
    for file, table in lexicon.tables("lists"):
        names = {line["list"] for line in table}
        if twice := sorted(names & found.keys()):
            raise ValueError(f"A list must be in one file. Received: {twice} again in {file}.tsv.")
        for line in table:
            found.setdefault(line["list"], []).append(line)
    return found


@cache
def _slots() -> re.Pattern[str]:
    """Slots of lists and clauses, with tags and column."""
    names = "|".join([*lists(), *_CLAUSES])
    return re.compile(rf"\{{((?:{names})\d*)(?::([^{{}}.]*))?(?:\.([a-z_]+\d?))?\}}")


@cache
def _tagged(table: str, tags: str) -> list[Line]:
    pairs_of_clauses = [line for _, lines in lexicon.tables("clauses") for line in lines]
    lines = lists().get(table, pairs_of_clauses)
    found = [line for line in lines if not tags or tags in (line["tags"] or "").split()]
    if not found:
        raise ValueError(f"No entry of the list or clauses {table!r} has the tag {tags!r}.")
    return found


class Entries:
    """Entries drawn for one row, each when its slot is first met; `slots` tell the tags."""

    def __init__(self, draw: Draw, slots: dict[str, templates.Slot]):
        self.draw, self.slots = draw, slots
        self.lines: dict[str, Line] = {}

    def put_into(self, ja: str, en: str) -> tuple[str, str]:
        """Texts with entries in place of their slots; an entry may hold further slots of lists."""
        for _ in range(3):
            given = ja, en
            ja, en = self._put(ja, "ja"), self._put(en, "en")
            if (ja, en) == given:
                break
        return ja, en

    def _put(self, text: str, side: str) -> str:
        if "{" not in text:
            return text

        def entry(match: re.Match[str]) -> str:
            name, tags, column = match[1], match[2], match[3]
            line = self._line(name, name.rstrip("0123456789"), tags or "")
            found = line[column or side]
            # An entry that begins a clause may be a subject of several words.
            rest = text[match.end() :].partition("]")[0]
            begins = text[: match.start()].endswith("[") and rest.startswith(" ")
            named = begins and "*" not in rest and _NOUN_PHRASE.fullmatch(found)
            return found + " *" if named else found

        return _slots().sub(entry, text)

    def _line(self, name: str, table: str, tags: str) -> Line:
        if name not in self.lines:
            if not tags and name in self.slots:
                tags = self.slots[name].tags
            if table in _CLAUSES:  # the slot of the first clause tells the tags of both
                first = "first" + name.removeprefix(table)
                tags = self.slots[first].tags if first in self.slots else tags
            found = _tagged(table, tags)
            line = self.draw.choose(found)
            while len(found) > 2 and line in self.lines.values():
                line = self.draw.choose(found)
            self.lines[name] = line
            for part, (ja, en) in _CLAUSES.items() if table in _CLAUSES else ():
                digit = name.removeprefix(table)
                self.lines[part + digit] = {"ja": line[ja], "en": line[en]}
        return self.lines[name]

    def english(self) -> dict[str, str]:
        """English of the entries by the name of their slots."""
        return {name: line["en"] for name, line in self.lines.items()}

    def keys(self) -> dict[str, str]:
        """Content words by the name of their slots."""
        return {name: line["ja"] for name, line in self.lines.items()}
