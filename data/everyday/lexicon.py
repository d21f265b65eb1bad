"""Words that fill the slots of a pattern, with their forms, read from the TSV tables here."""

import csv
import random
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from typing import Any, TypeVar

from keras_attn_data.everyday import clauses, english, japanese
from keras_attn_data.everyday.english import Person, Phrase
from keras_attn_data.everyday.japanese import Word
from keras_attn_data.everyday.moods import Mood

T = TypeVar("T")
Forms = tuple[str, ...]
Row = dict[str, str]
Tags = frozenset[str]


class Draw:
    """Random choice; of the generator only `random` is called, the same in every version."""

    def __init__(self, seed: str):
        self.rng = random.Random(seed)

    def choose(self, items: Sequence[T]) -> T:
        return items[int(self.rng.random() * len(items))]

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def between(self, low: int, high: int) -> int:
        return low + int(self.rng.random() * (high - low + 1))


class Scene:
    """Words of one row by the name of their slot, and the form in which they are said.

    `entries` holds the English of the entries of lists.
    """

    def __init__(self, words: dict[str, "Filler"], mood: Mood, entries: dict[str, str]):
        self.words, self.mood, self.entries = words, mood, entries
        self.used: dict[str, str] = {}

    def filler(self, name: str) -> "Filler":
        found = self.words[name]
        if found.key:
            self.used[name] = found.key
        return found


class Filler:
    """Word of a slot, with English forms by name.

    `key` is the content word for `combination`: by default the Japanese text, "" for none.
    """

    tags: Tags = frozenset()

    def __init__(self, ja: str, en: str, key: str | None = None, **forms: str):
        self.text_ja, self.text_en, self.forms = ja, en, forms
        self.key = ja if key is None else key

    def ja(self, forms: Forms, scene: Scene) -> str:
        if forms:
            raise ValueError(f"Expected no Japanese form. Received: {forms}")
        return self.text_ja

    def word(self, forms: Forms, scene: Scene) -> Word:
        """Predicate in the dictionary form."""
        return japanese.word(self.ja(forms, scene))

    def en(self, forms: Forms, scene: Scene) -> str:
        if forms and forms[0] not in self.forms:
            raise ValueError(f"Expected a form of {sorted(self.forms)}. Received: {forms}")
        return self.forms[forms[0]] if forms else self.text_en

    def person(self, forms: Forms, scene: Scene) -> Person:
        """Subject of a clause."""
        return clauses.person(self.en(forms, scene))


class Noun(Filler):
    """Noun; its article is "a" for what is counted, "s" if usually in the plural, "0" for a mass,
    "p" always in the plural, "the" or "own" if usually definite or possessed, "n" for a name."""

    ONE = {"it": "it", "them": "it", "be": "is", "isnt": "isn't", "this1": "this", "that1": "that"}
    MANY = {"it": "they", "them": "them", "be": "are", "isnt": "aren't"}
    MANY |= {"this1": "these", "that1": "those"}

    def __init__(self, row: Row):
        self.article, self.unit = row["article"], row["unit"]
        self.counter = row["counter"].strip("-")
        counted = "counted" if self.counter else "mass"
        self.tags = tag_set(row["tags"], f"is-{self.article}", counted)
        en, article = row["en"], self.article
        forms = dict(self.MANY if article == "p" else self.ONE, one=en)
        forms["a"] = with_article(en, article, "a" if article in ("the", "s", "own") else article)
        forms["the"] = with_article(en, article, "the")
        forms["these1"] = "these" if article in ("p", "s") else "this"
        bare = with_article(en, article, article)
        forms["plural"] = english.plural(en) if article in ("a", "s", "the") else bare
        self.general = bare if article == "the" else forms["plural"]
        super().__init__(row["ja"], bare, **forms)

    def described(self, adjective: str) -> str:
        """Form with an adjective: "a red apple"."""
        article = "a" if self.article == "the" else self.article
        return with_article(f"{adjective} {self.forms['one']}", self.article, article)

    def counted(self, number: int) -> str:
        """Form with a number: "three apples", "three cups of coffee"."""
        noun = self.unit or self.forms["one"]
        noun = noun if number == 1 else english.plural(noun)
        return f"{english.number(number)} {noun}" + (f" of {self.text_en}" if self.unit else "")

    def ja(self, forms: Forms, scene: Scene) -> str:
        return self.counter or "つ" if forms == ("counter",) else super().ja(forms, scene)

    def en(self, forms: Forms, scene: Scene) -> str:
        if not forms or forms[0] in self.forms:
            return super().en(forms, scene)
        if forms[0] in ("this", "that", "my", "your", "his", "her", "which"):
            return f"{self.forms.get(forms[0] + '1', forms[0])} {self.forms['one']}"
        if forms[0] in scene.entries:
            return self.described(scene.entries[forms[0]])
        other = scene.filler(forms[0])
        if isinstance(other, Number):
            return self.counted(other.value)
        return self.described(other.en(forms[1:], scene))

    def person(self, forms: Forms, scene: Scene) -> Person:
        text, article = self.en(forms, scene), self.article
        if forms in ((), ("plural",)):
            one = article in (("0", "n", "own") if forms else ("a", "0", "n", "own", "the"))
            return Person(text, "3n" if one else "3p")
        many = article == "p" or (article == "s" and forms in (("the",), ("these1",)))
        if isinstance(scene.words.get(forms[0]), Number):
            many = not text.startswith("one ")
        return Person(text, "3p" if many else "3n")


def with_article(noun: str, kind: str, article: str) -> str:
    """English noun whose own article is `kind`, with an article."""
    if kind == "n" or article in ("0", "p", "n"):
        return noun
    if article == "s" or (article == "the" and kind == "s"):
        return ("the " if article == "the" else "") + english.plural(noun)
    if article == "a":
        return english.article(noun)
    return ("{own} " if article == "own" else "the ") + noun


class Human(Filler):
    """Person; in Japanese with a particle that the speaker does without."""

    def __init__(self, row: Row):
        objects = {"I": "me", "he": "him", "she": "her", "we": "us"}
        self.someone = Person(row["en"], row["person"], objects.get(row["en"], ""))
        self.tags = tag_set(row["kind"], row["person"])
        # A listener cannot be asked about them.
        self.is_own = row["kind"] in ("family", "friend") or row["ja"] == "私たち"
        forms = {"he": self.someone.pronoun, "him": self.someone.object, "own": self.someone.own}
        super().__init__(row["ja"], row["en"], his=english.possessive(row["en"]), **forms)

    def ja(self, forms: Forms, scene: Scene) -> str:
        return self.text_ja + "".join(forms) if self.text_ja else ""

    def person(self, forms: Forms, scene: Scene) -> Person:
        if forms == ("his",):
            return Person(self.forms["his"], "3n")
        return self.someone._replace(text=self.en(forms, scene))


class Doing(Filler):
    """Action of a row of `verbs.tsv`, with an object, or of `phrases.tsv`, without.

    "{own}" in the English is replaced where the subject is known.
    """

    OWNERS = ("my", "your", "our", "their")
    RULES = {"ing": english.ing, "done": english.participle, "past": english.past}

    def __init__(self, row: Row, noun: Noun | None = None):
        verb, _, rest = row["en"].partition(" ")
        self.noun, self.verb = noun, Word(row["ja"], row["kind"])
        self.phrase = self.general = Phrase(verb, rest)
        self.tags = tag_set(row["uses"], f"verb-{verb}", "object" if noun else "simple")
        self.places = tag_set(row["places"])
        self.whole, self.possible = self.verb, japanese.potential(self.verb)
        key = row["ja"]
        if noun is not None:
            particle = row["particle"]
            self.whole = self.verb.after(noun.text_ja + particle)
            self.possible = self.possible.after(noun.text_ja + particle.replace("を", "が"))
            thing, general = _objects(noun, row["article"])
            self.phrase, usual = self.phrase.plus(thing), rest.replace("a picture", "pictures")
            self.general = Phrase(verb, usual).plus(general)
            if "shop*" in self.places:
                self.places = frozenset("shop-" + tag for tag in noun.tags)
            key = f"{noun.text_ja}|{row['ja']}"
        super().__init__(self.whole.text, "", key)

    def word(self, forms: Forms, scene: Scene) -> Word:
        return self.verb if forms == ("verb",) else self.whole

    def ja(self, forms: Forms, scene: Scene) -> str:
        if forms == ("thing",) and self.noun:
            return self.noun.text_ja
        return self.word(forms, scene).text

    def en(self, forms: Forms, scene: Scene) -> str:
        if forms[:1] == ("thing",) and self.noun:
            return self.noun.en(forms[1:], scene)
        phrase, owner, verb = self.phrase, "", self.phrase.verb
        for form in forms:
            if form in self.RULES:
                verb = self.RULES[form](verb)
            elif form in ("general", "verb"):
                phrase = self.general if form == "general" else Phrase(verb)
            else:
                human = form not in self.OWNERS
                owner = scene.words[form].en(("own",), scene) if human else form
        text = english.join(verb, phrase.rest)
        return text.replace("{own}", owner) if owner else text

    def person(self, forms: Forms, scene: Scene) -> Person:
        if forms[:1] == ("thing",) and self.noun:
            return self.noun.person(forms[1:], scene)
        return super().person(forms, scene)


def _objects(noun: Noun, article: str) -> tuple[str, str]:
    """Object of a verb that demands an article, and the generic object."""
    kind, is_instrument = noun.article, "instrument" in noun.tags
    usual = "the" if article == "the0" and is_instrument else kind
    given = usual if article in ("-", "the0") else article
    one = noun.forms["one"]
    thing = noun.general if article == "plural" else with_article(one, kind, given)
    if is_instrument:
        return thing, thing
    if article == "a":
        return thing, one if kind == "n" else english.plural(one)
    generic = article in ("-", "plural") or (article == "the" and kind in ("a", "s"))
    return thing, noun.general if generic else thing


class Quality(Filler):
    """Adjective; as a predicate or, with .な, before a noun in Japanese."""

    def __init__(self, row: Row):
        more, most = english.comparative(row["en"]), english.superlative(row["en"])
        super().__init__(row["ja"], row["en"], er=more, est=most)
        self.predicate = Word(row["ja"], row["kind"])
        self.describes = tag_set(row["describes"])
        self.tags = self.describes | tag_set(row["uses"])

    def word(self, forms: Forms, scene: Scene) -> Word:
        return self.predicate

    def ja(self, forms: Forms, scene: Scene) -> str:
        return japanese.attributive(self.predicate) if forms == ("な",) else self.text_ja


class Where(Filler):
    """Place; the tags are its kinds and what is done there."""

    def __init__(self, row: Row):
        en, one = row["en"], row["en"].removeprefix("the ")
        to, some = "home" if en == "home" else f"to {en}", english.article(one)
        forms = {"one": one, "at": f"{row['preposition']} {en}", "to": to}
        super().__init__(row["ja"], en, a=one if one == en else some, **forms)
        self.tags = tag_set(row["kinds"], row["activities"])


class When(Filler):
    """Time; leads a clause in Japanese, with a comma after a kanji."""

    def __init__(self, row: Row):
        super().__init__(row["ja"], row["en"], "")
        self.tags = tag_set(row["kind"])

    def ja(self, forms: Forms, scene: Scene) -> str:
        text = self.text_ja
        if forms == ("at",):
            return text + "に" if text.endswith("曜日") else text
        comma = not forms and text and ("一" <= text[-1] <= "鿿" or text == "おととい")
        return text + "、" if comma else text


class Number(Filler):
    """Number; an unknown form is a noun that is counted: "three nights"."""

    def __init__(self, value: int, ja: str):
        forms = {"digits": f"{value:,}", "label": str(value), "ordinal": english.ordinal(value)}
        super().__init__(ja, english.number(value), str(value), **forms)
        self.value = value

    def en(self, forms: Forms, scene: Scene) -> str:
        if not forms or forms[0] in self.forms:
            return super().en(forms, scene)
        noun = scene.entries.get(forms[0], forms[0])
        return self.en(forms[1:], scene) + " " + (noun if self.value == 1 else english.plural(noun))

    def person(self, forms: Forms, scene: Scene) -> Person:
        return Person(self.en(forms, scene), "3n" if self.value == 1 else "3p")


class Speaker(Filler):
    """「私は」 or nothing; nothing in a question and in English."""

    POLITE, CASUAL = "   私は わたしは 僕は".split(" "), "   私、 僕、 俺、 私は".split(" ")

    def __init__(self, draw: Draw):
        super().__init__("", "", "")
        self.polite, self.casual = draw.choose(self.POLITE), draw.choose(self.CASUAL)

    def ja(self, forms: Forms, scene: Scene) -> str:
        said = self.casual if scene.mood.level == "casual" else self.polite
        return "" if scene.mood.question else said


@cache
def rows(table: str) -> list[Row]:
    """Rows of a table, for example "nouns"; empty lines and lines with # are skipped."""
    path = resources.files("keras_attn_data.everyday") / f"{table}.tsv"
    text = path.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE, restval=""))


def tables(folder: str) -> list[tuple[str, list[Row]]]:
    """Rows of all tables of a folder by file name, in the order of the names."""
    paths = (resources.files("keras_attn_data.everyday") / folder).iterdir()
    names = sorted(path.name[:-4] for path in paths if path.name.endswith(".tsv"))
    return [(name, rows(f"{folder}/{name}")) for name in names]


def tag_set(*texts: str) -> Tags:
    return frozenset(" ".join(texts).split()) - {"-"}


_MAKERS: dict[str, type[Filler]] = {"nouns": Noun, "adjectives": Quality, "places": Where}
_MAKERS |= {"people": Human, "times": When}


@cache
def load(table: str) -> tuple[Any, ...]:
    """Words of a table: nouns, actions, adjectives, places, people, times."""
    if table != "actions":
        return tuple(_MAKERS[table](row) for row in rows(table))  # type: ignore[arg-type, call-arg]
    verbs = [(row, fitting("nouns", row["objects"].replace(" ", "|"))) for row in rows("verbs")]
    found = [Doing(row, noun) for row, nouns in verbs for noun in nouns]
    return (*found, *(Doing(row) for row in rows("phrases")))


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
