"""Lexicon of the corpus, read from the TSV tables in this folder."""

import csv
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.english import Person, Phrase
from keras_attn_data.everyday.japanese import Word


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
    tags: frozenset[str]

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
        return self.with_article("-")

    @property
    def the(self) -> str:
        return self.with_article("the")

    def with_article(self, article: str) -> str:
        """Form with an article.

        Args:
            article: An article of `Noun`; "-" for the default article; "plural" for the generic
                form; "the0" for "the" before instruments, else the default article.
        """
        if article == "plural":
            return self.general
        if article == "the0":
            article = "the" if "instrument" in self.tags else "-"
        if article == "-":
            article = self.article
        if self.article == "n" or article in ("0", "p", "n"):
            return self.en
        if article == "s":
            return english.plural(self.en)
        if article == "the" and self.article == "s":
            return "the " + english.plural(self.en)
        if article == "a":
            return english.article(self.en)
        return ("{own} " if article == "own" else "the ") + self.en

    def described(self, adjective: str, article: str = "-") -> str:
        """Form with an adjective: "a red apple"."""
        if article == "-" and self.article == "the":
            article = "a"
        return self._replace(en=f"{adjective} {self.en}").with_article(article)

    def counted(self, number: int) -> str:
        """Form with a number: "three apples", "three cups of coffee"."""
        if self.unit:
            unit = self.unit if number == 1 else english.plural(self.unit)
            return f"{english.number(number)} {unit} of {self.en}"
        noun = self.en if number == 1 else english.plural(self.en)
        return f"{english.number(number)} {noun}"

    def pronoun(self, pronoun: str) -> str:
        """Demonstrative in the number of the noun: "this" or "these", "that" or "those"."""
        plurals = {"this": "these", "that": "those"}
        return plurals.get(pronoun, pronoun) if self.is_plural else pronoun

    def as_subject(self, determiner: str) -> Person:
        """Subject with this, that or the; "these shoes" for a noun that is always plural."""
        determiner = self.pronoun(determiner)
        return Person(f"{determiner} {self.en}", "3p" if self.is_plural else "3n")


class Action(NamedTuple):
    """Action of a person.

    Args:
        ja: Complete Japanese phrase, ending in the verb: コーヒーを飲む.
        en: English verb phrase.
        key: Content words.
        uses: Uses in patterns.
        places: Kinds of places where the action happens.
        general: English verb phrase with a generic object: "read books".
        noun: Object, or None. Defaults to None.
        verb: Japanese verb without the object.
        particle: Particle between object and verb.
    """

    ja: Word
    en: Phrase
    key: str
    uses: frozenset[str]
    places: frozenset[str]
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


class VerbFrame(NamedTuple):
    """Verb with the nouns that it can have as objects."""

    ja: Word
    en: Phrase
    particle: str
    objects: frozenset[str]
    article: str
    uses: frozenset[str]
    places: frozenset[str]

    @property
    def usual(self) -> Phrase:
        """Generic verb phrase: "draw pictures of" instead of "draw a picture of"."""
        return Phrase(self.en.verb, self.en.rest.replace("a picture of", "pictures of"))

    def with_noun(self, noun: Noun) -> Action:
        places = self.places
        if "shop*" in places:
            places = frozenset("shop-" + tag for tag in noun.tags)
        return Action(
            ja=self.ja.after(noun.ja + self.particle),
            en=self.en.plus(noun.with_article(self.article)),
            key=f"{noun.ja}|{self.ja.text}",
            uses=self.uses,
            places=places,
            general=self.usual.plus(self._in_general(noun)),
            noun=noun,
            verb=self.ja,
            particle=self.particle,
        )

    def _in_general(self, noun: Noun) -> str:
        if "instrument" in noun.tags:
            return noun.with_article(self.article)
        if self.article == "a":
            return noun.en if noun.article == "n" else english.plural(noun.en)
        if self.article == "-" or (self.article == "the" and noun.article in ("a", "s")):
            return noun.general
        return noun.with_article(self.article)


class Adjective(NamedTuple):
    """Adjective, with the tags of nouns that it can describe."""

    ja: Word
    en: str
    describes: frozenset[str]
    uses: frozenset[str]


class Place(NamedTuple):
    """Place; `at` is the English form with preposition: "at the library"."""

    ja: str
    en: str
    preposition: str
    activities: frozenset[str]
    kinds: frozenset[str]

    @property
    def at(self) -> str:
        return f"{self.preposition} {self.en}"


class Somebody(NamedTuple):
    """Person: relative, friend, name or pronoun."""

    ja: str
    en: Person
    kind: str


class Time(NamedTuple):
    """Time word; kinds include "past", "future", "habit", "freq", "rarely" and "now"."""

    ja: str
    en: str
    kinds: frozenset[str]


class Name(NamedTuple):
    """Name of a person; kinds are "surname", "given", "foreign" and "foreign-surname"."""

    ja: str
    kana: str
    en: str
    kind: str


class SetPhrase(NamedTuple):
    """Set phrase: Japanese wordings and the English of them all.

    Args:
        ja: Wordings, in kanji or kana, polite or plain, without punctuation.
        en: English, with its mark.
        ends: "." for a statement, "!" for what is often exclaimed, "?" for a question.
        kind: Subject, the name of a pattern.
    """

    ja: tuple[str, ...]
    en: str
    ends: str
    kind: str


class Lexicon(NamedTuple):
    """Words of all tables."""

    nouns: tuple[Noun, ...]
    actions: tuple[Action, ...]
    adjectives: tuple[Adjective, ...]
    places: tuple[Place, ...]
    people: tuple[Somebody, ...]
    times: tuple[Time, ...]
    names: tuple[Name, ...]
    set_phrases: tuple[SetPhrase, ...]
    words: frozenset[str]


def _table(name: str) -> list[dict[str, str]]:
    path = resources.files("keras_attn_data.everyday") / f"{name}.tsv"
    text = path.read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


def tables(folder: str) -> list[tuple[str, list[dict[str, str]]]]:
    """Tables of a folder by file name, in the order of the names; lines with # are comments."""
    found = []
    paths = (resources.files("keras_attn_data.everyday") / folder).iterdir()
    for path in sorted(paths, key=lambda path: path.name):
        if path.name.endswith(".tsv"):
            text = path.read_text(encoding="utf-8")
            lines = [line for line in text.splitlines() if line and not line.startswith("#")]
            rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE, restval="")
            found.append((path.name.removesuffix(".tsv"), list(rows)))
    return found


def _tags(text: str) -> frozenset[str]:
    return frozenset(text.split()) - {"-"}


def _phrase(text: str) -> Phrase:
    verb, _, rest = text.partition(" ")
    return Phrase(verb, rest)


def _verb_frames() -> list[VerbFrame]:
    return [
        VerbFrame(
            ja=Word(row["ja"], row["kind"]),
            en=_phrase(row["en"]),
            particle=row["particle"],
            objects=_tags(row["objects"]),
            article=row["article"],
            uses=_tags(row["uses"]),
            places=_tags(row["places"]),
        )
        for row in _table("verbs")
    ]


def _phrases() -> list[Action]:
    return [
        Action(
            ja=Word(row["ja"], row["kind"]),
            en=_phrase(row["en"]),
            key=row["ja"],
            uses=_tags(row["uses"]),
            places=_tags(row["places"]),
            general=_phrase(row["en"]),
        )
        for row in _table("phrases")
    ]


def _nouns() -> tuple[Noun, ...]:
    return tuple(
        Noun(
            row["ja"],
            row["en"],
            row["article"],
            row["counter"].replace("-", ""),
            row["unit"],
            _tags(row["tags"]),
        )
        for row in _table("nouns")
    )


@lru_cache(maxsize=1)
def load() -> Lexicon:
    """Read all tables; the result is cached."""
    nouns = _nouns()
    frames = _verb_frames()
    actions = [
        frame.with_noun(noun) for frame in frames for noun in nouns if frame.objects & noun.tags
    ]
    adjectives = tuple(
        Adjective(
            Word(row["ja"], row["kind"]), row["en"], _tags(row["describes"]), _tags(row["uses"])
        )
        for row in _table("adjectives")
    )
    places = tuple(
        Place(
            row["ja"], row["en"], row["preposition"], _tags(row["activities"]), _tags(row["kinds"])
        )
        for row in _table("places")
    )
    people = tuple(
        Somebody(row["ja"], Person(row["en"], row["person"], _object(row["en"])), row["kind"])
        for row in _table("people")
    )
    times = tuple(Time(row["ja"], row["en"], _tags(row["kind"])) for row in _table("times"))
    names = tuple(Name(**row) for row in _table("names"))
    set_phrases = tuple(
        SetPhrase(tuple(row["ja"].split("|")), row["en"], row["ends"], row["kind"])
        for row in _table("set_phrases")
    )
    tables = ("nouns", "verbs", "phrases", "adjectives", "places", "people", "times", "names")
    words = frozenset(row["ja"] for table in tables for row in _table(table))
    actions += _phrases()
    return Lexicon(
        nouns, tuple(actions), adjectives, places, people, times, names, set_phrases, words
    )


def _object(subject: str) -> str:
    return {"he": "him", "she": "her", "we": "us"}.get(subject, "")
