"""Lexicon of the corpus, read from the TSV tables in this folder."""

import csv
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.english import Person, Phrase
from keras_attn_data.everyday.japanese import Word

Tags = frozenset[str]


class Noun(NamedTuple):
    """Noun.

    Args:
        ja: Japanese noun.
        en: English noun.
        article: "a" countable; "s" countable, usually plural; "0" mass; "p" always plural; "the"
            usually definite; "own" usually possessed; "n" proper name.
        counter: Japanese counter, or an empty string.
        unit: English unit for counting, for a mass noun ("cup") or a pair; or an empty string.
        tags: Uses in patterns, and properties that adjectives can describe.
    """

    ja: str
    en: str
    article: str
    counter: str
    unit: str
    tags: Tags

    @property
    def is_plural(self) -> bool:
        return self.article == "p"

    @property
    def general(self) -> str:
        """Generic form: "apples", "coffee"."""
        return english.plural(self.en) if self.article in ("a", "s") else self.bare

    @property
    def bare(self) -> str:
        """Form with the default article: "an apple", "coffee", "the piano"."""
        return self.with_article(self.article)

    @property
    def the(self) -> str:
        return self.with_article("the")

    def with_article(self, article: str) -> str:
        """Form with an article of `Noun`."""
        if self.article == "n" or article in ("0", "p", "n"):
            return self.en
        if article == "s":
            return english.plural(self.en)
        if article == "the" and self.article == "s":
            return "the " + english.plural(self.en)
        if article == "a":
            return english.article(self.en)
        return ("{own} " if article == "own" else "the ") + self.en

    def described(self, adjective: str) -> str:
        """Form with an adjective: "a red apple"."""
        article = "a" if self.article == "the" else self.article
        return self._replace(en=f"{adjective} {self.en}").with_article(article)

    def counted(self, number: int) -> str:
        """Form with a number: "three apples", "three cups of coffee"."""
        noun = self.unit or self.en
        noun = noun if number == 1 else english.plural(noun)
        return english.number(number) + " " + noun + (f" of {self.en}" if self.unit else "")

    def pronoun(self, pronoun: str) -> str:
        """Demonstrative in the number of the noun: "this" or "these", "that" or "those"."""
        plurals = {"this": "these", "that": "those"}
        return plurals.get(pronoun, pronoun) if self.is_plural else pronoun


class Action(NamedTuple):
    """Action of a person.

    Args:
        ja: Complete Japanese phrase, ending in the verb: コーヒーを飲む.
        en: English verb phrase.
        key: Content words.
        tags: Uses in patterns, the English verb, and whether there is an object.
        places: Kinds of places where the action happens.
        general: English verb phrase with a generic object: "read books".
        noun: Object, or None. Defaults to None.
        verb: Japanese verb without the object.
        particle: Particle between object and verb.
    """

    ja: Word
    en: Phrase
    key: str
    tags: Tags
    places: Tags
    general: Phrase
    noun: Noun | None = None
    verb: Word = Word("", "noun")
    particle: str = ""

    @property
    def possible(self) -> Word:
        """Potential form ("can do"); the particle を of the object becomes が."""
        if self.noun is None:
            return japanese.potential(self.ja)
        objects = self.noun.ja + self.particle.replace("を", "が")
        return japanese.potential(self.verb).after(objects)


class Adjective(NamedTuple):
    """Adjective; the tags are its uses and those of the nouns that it describes."""

    ja: Word
    en: str
    tags: Tags
    describes: Tags


class Place(NamedTuple):
    """Place; `at` is the English form with preposition, the tags are kinds and activities."""

    ja: str
    en: str
    at: str
    tags: Tags
    activities: Tags


class Somebody(NamedTuple):
    """Person; the tags are the kind (family, friend, name, pronoun) and the code of the person."""

    ja: str
    en: Person
    kind: str
    tags: Tags


class Time(NamedTuple):
    """Time word; tags include "past", "future", "habit", "freq" and "long"."""

    ja: str
    en: str
    tags: Tags


class Name(NamedTuple):
    """Name; tags are "surname", "given", "foreign" or "foreign-surname", and "f" or "m"."""

    ja: str
    kana: str
    en: str
    tags: Tags


class SetPhrase(NamedTuple):
    """Set phrase: Japanese wordings without punctuation, and the English of them all.

    `ends` is "." for a statement, "!" for what is often exclaimed, "?" for a question. `kind` is
    the subject, the name of a pattern.
    """

    ja: tuple[str, ...]
    en: str
    ends: str
    kind: str


def _rows(path: Any) -> list[dict[str, str]]:
    text = path.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE, restval=""))


def tables(folder: str) -> list[tuple[str, list[dict[str, str]]]]:
    """Tables of a folder by file name, in the order of the names; lines with # are comments."""
    paths = (resources.files("keras_attn_data.everyday") / folder).iterdir()
    tsv = sorted((path.name, path) for path in paths if path.name.endswith(".tsv"))
    return [(name.removesuffix(".tsv"), _rows(path)) for name, path in tsv]


def _set(*texts: str) -> Tags:
    return frozenset(" ".join(texts).split()) - {"-"}


def _noun(row: dict[str, str]) -> Noun:
    ja, en, article, counter = row["ja"], row["en"], row["article"], row["counter"].strip("-")
    tags = _set(row["tags"], f"is-{article}", "counted" if counter else "mass")
    return Noun(ja, en, article, counter, row["unit"], tags)


def _actions(row: dict[str, str]) -> list[Action]:
    """Action of a row without objects, or one with each noun that can be the object."""
    ja, (verb, _, rest) = Word(row["ja"], row["kind"]), row["en"].partition(" ")
    en = Phrase(verb, rest)
    uses, places = _set(row["uses"], f"verb-{verb}"), _set(row["places"])
    if "objects" not in row:
        return [Action(ja, en, ja.text, uses | {"simple"}, places, en)]
    usual = Phrase(verb, rest.replace("a picture of", "pictures of"))
    found = []
    for noun in fitting("nouns", "|".join(row["objects"].split())):
        article = row["article"]
        if article in ("-", "the0"):
            article = "the" if article == "the0" and "instrument" in noun.tags else noun.article
        plural = article == "plural"
        shops = frozenset("shop-" + tag for tag in noun.tags) if "shop*" in places else places
        found.append(
            Action(
                ja=ja.after(noun.ja + row["particle"]),
                en=en.plus(noun.general if plural else noun.with_article(article)),
                key=f"{noun.ja}|{ja.text}",
                tags=uses | {"object"},
                places=shops,
                general=usual.plus(_general(noun, row["article"], article)),
                noun=noun,
                verb=ja,
                particle=row["particle"],
            )
        )
    return found


def _general(noun: Noun, given: str, article: str) -> str:
    """Generic object; `article` is the one of the noun if the verb has `given` none."""
    if "instrument" in noun.tags:
        return noun.general if article == "plural" else noun.with_article(article)
    if given == "a":
        return noun.en if noun.article == "n" else english.plural(noun.en)
    if given in ("-", "plural") or (given == "the" and noun.article in ("a", "s")):
        return noun.general
    return noun.with_article(article)


def _somebody(row: dict[str, str]) -> Somebody:
    objects = {"he": "him", "she": "her", "we": "us"}
    person = Person(row["en"], row["person"], objects.get(row["en"], ""))
    return Somebody(row["ja"], person, row["kind"], _set(row["kind"], row["person"]))


def _adjective(row: dict[str, str]) -> Adjective:
    tags, describes = _set(row["uses"], row["describes"]), _set(row["describes"])
    return Adjective(Word(row["ja"], row["kind"]), row["en"], tags, describes)


def _place(row: dict[str, str]) -> Place:
    tags, activities = _set(row["kinds"], row["activities"]), _set(row["activities"])
    return Place(row["ja"], row["en"], f"{row['preposition']} {row['en']}", tags, activities)


_MAKERS: dict[str, Any] = {
    "nouns": _noun,
    "adjectives": _adjective,
    "places": _place,
    "people": _somebody,
    "times": lambda row: Time(row["ja"], row["en"], _set(row["kind"])),
    "names": lambda row: Name(row["ja"], row["kana"], row["en"], _set(row["kind"])),
    "set_phrases": lambda row: SetPhrase(
        tuple(row["ja"].split("|")), row["en"], row["ends"], row["kind"]
    ),
}


@cache
def load(table: str) -> tuple[Any, ...]:
    """Words of a table: nouns, actions, adjectives, places, people, times, names, set_phrases."""
    folder = resources.files("keras_attn_data.everyday")
    if table == "actions":
        rows = [row for name in ("verbs", "phrases") for row in _rows(folder / f"{name}.tsv")]
        return tuple(action for row in rows for action in _actions(row))
    return tuple(_MAKERS[table](row) for row in _rows(folder / f"{table}.tsv"))


@cache
def fitting(table: str, wanted: str) -> tuple[Any, ...]:
    """Words of a table that have the wanted tags: "a&!b|c"."""
    return tuple(word for word in load(table) if fits(word.tags, wanted))


def fits(tags: Iterable[str], wanted: str) -> bool:
    """Whether tags meet a condition: "a&!b|c" is a without b, or c."""
    own = frozenset(tags)
    return any(
        all((tag[1:] not in own) if tag[0] == "!" else tag in own for tag in choice.split("&"))
        for choice in wanted.split("|")
    )
