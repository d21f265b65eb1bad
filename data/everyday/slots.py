"""Words that fill the slots of a pattern: how each table is drawn, and the forms of its words."""

import random
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple, TypeVar

from keras_attn_data.everyday import clauses, english, japanese, lexicon
from keras_attn_data.everyday.english import Person
from keras_attn_data.everyday.japanese import Word
from keras_attn_data.everyday.lexicon import Action, Adjective, Noun, Place, Somebody, Time
from keras_attn_data.everyday.moods import Mood

T = TypeVar("T")


class Draw:
    """Random choice.

    Args:
        rng: Random generator; only its `random` is called, which is the same in every version.
    """

    def __init__(self, rng: random.Random):
        self.rng = rng

    def choose(self, items: Sequence[T]) -> T:
        return items[int(self.rng.random() * len(items))]

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def between(self, low: int, high: int) -> int:
        return low + int(self.rng.random() * (high - low + 1))


class Scene:
    """Words of one row, and the form in which they are said.

    Args:
        words: Words by the name of their slot.
        mood: Form of the sentence.
        entries: English of the entries of lists by the name of their slot.
    """

    def __init__(self, words: dict[str, "Filler"], mood: Mood, entries: dict[str, str]):
        self.words = words
        self.mood = mood
        self.entries = entries
        self.used: dict[str, str] = {}

    def filler(self, name: str) -> "Filler":
        found = self.words[name]
        if found.key:
            self.used[name] = found.key
        return found


class Filler:
    """Word of a slot: text in both languages that knows no other forms.

    Args:
        ja: Japanese text.
        en: English text.
        key: Content word for `combination`. Defaults to the Japanese text; "" for none.
    """

    def __init__(self, ja: str, en: str, key: str | None = None):
        self.text_ja, self.text_en = ja, en
        self.key = ja if key is None else key

    def ja(self, forms: tuple[str, ...], scene: Scene) -> str:
        del scene
        _no_forms(self, forms)
        return self.text_ja

    def word(self, forms: tuple[str, ...], scene: Scene) -> Word:
        return japanese.word(self.ja(forms, scene))

    def en(self, forms: tuple[str, ...], scene: Scene) -> str:
        del scene
        _no_forms(self, forms)
        return self.text_en

    def person(self, forms: tuple[str, ...], scene: Scene) -> Person:
        return clauses.person(self.en(forms, scene))


def _no_forms(filler: Filler, forms: tuple[str, ...]) -> None:
    if forms:
        raise ValueError(f"A {type(filler).__name__} has no form {'.'.join(forms)!r}.")


class Thing(Filler):
    """Noun: {thing} "an apple", .the, .a, .plural, .one "apple", .this, .that, .it, .them, .be,
    .SLOT with an adjective or number of another slot."""

    def __init__(self, noun: Noun):
        super().__init__(noun.ja, noun.en)
        self.noun = noun

    def ja(self, forms: tuple[str, ...], scene: Scene) -> str:
        return self.noun.counter or "つ" if forms == ("counter",) else super().ja(forms, scene)

    def en(self, forms: tuple[str, ...], scene: Scene) -> str:
        noun, many = self.noun, self.noun.is_plural
        if not forms:
            return noun.bare
        form, more = forms[0], forms[1:]
        fixed = {
            "one": noun.en,
            "plural": noun.general if noun.article != "the" else english.plural(noun.en),
            "the": noun.the,
            "a": noun.with_article("a") if noun.article in ("the", "s", "own") else noun.bare,
            "it": "they" if many else "it",
            "them": "them" if many else "it",
            "be": "are" if many else "is",
            "isnt": "aren't" if many else "isn't",
        }
        if form in fixed:
            return fixed[form]
        if form in ("this1", "that1"):
            return noun.pronoun(form[:-1])
        if form == "these1":
            return "these" if many or noun.article == "s" else "this"
        if form in ("this", "that", "my", "your", "his", "her", "which"):
            return f"{noun.pronoun(form)} {noun.en}"
        if form in scene.entries:
            return noun.described(scene.entries[form])
        other = scene.filler(form)
        if isinstance(other, Number):
            return noun.counted(other.value)
        return noun.described(other.en(more, scene))

    def person(self, forms: tuple[str, ...], scene: Scene) -> Person:
        text = self.en(forms, scene)
        if forms in (("plural",), ()):
            one = ("0", "n", "own") if forms else ("a", "0", "n", "own", "the")
            return Person(text, "3n" if self.noun.article in one else "3p")
        is_pair = self.noun.article == "s" and forms in (("the",), ("these1",))
        many = self.noun.is_plural or is_pair
        if forms and forms[0] in scene.words and isinstance(scene.words[forms[0]], Number):
            many = not text.startswith("one ")
        return Person(text, "3p" if many else "3n")


class Human(Filler):
    """Person: {who} "my father"; .he, .him, .his; .は and .が in Japanese."""

    def __init__(self, somebody: Somebody):
        super().__init__(somebody.ja, somebody.en.text)
        self.somebody = somebody

    @property
    def is_own(self) -> bool:
        """Whether a listener cannot be asked about the person."""
        return self.somebody.kind in ("family", "friend") or self.somebody.ja == "私たち"

    def ja(self, forms: tuple[str, ...], scene: Scene) -> str:
        return self.text_ja + "".join(forms) if self.text_ja else ""

    def en(self, forms: tuple[str, ...], scene: Scene) -> str:
        someone = self.somebody.en
        named = {
            (): someone.text,
            ("he",): someone.pronoun,
            ("him",): someone.object,
            ("his",): english.possessive(someone.text),
            ("own",): someone.own,
        }
        if forms not in named:
            _no_forms(self, forms)
        return named[forms]

    def person(self, forms: tuple[str, ...], scene: Scene) -> Person:
        someone = self.somebody.en
        if forms == ("his",):
            return Person(english.possessive(someone.text), "3n")
        return Person(someone.pronoun, someone.code, someone.obj) if forms == ("he",) else someone


class Doing(Filler):
    """Action: {do} "read a book"; .general "read books", .ing, .done, .past; .verb, .thing;
    .your, .our, .his for the owner of what is done."""

    OWNERS = {"your": english.YOU, "our": english.WE, "my": english.I, "their": Person("", "3p")}

    def __init__(self, action: Action):
        super().__init__(action.ja.text, "", action.key)
        self.action = action

    def word(self, forms: tuple[str, ...], scene: Scene) -> Word:
        return self.action.verb if forms == ("verb",) else self.action.ja

    def ja(self, forms: tuple[str, ...], scene: Scene) -> str:
        if forms == ("thing",) and self.action.noun is not None:
            return self.action.noun.ja
        return self.word(forms, scene).text

    def en(self, forms: tuple[str, ...], scene: Scene) -> str:
        """Verb phrase; "{own}" is replaced where the subject is known."""
        phrase = self.action.en
        if forms[:1] == ("thing",) and self.action.noun is not None:
            return Thing(self.action.noun).en(forms[1:], scene)
        owner, inflected = "", phrase.verb
        for form in forms:
            if form == "general":
                phrase = self.action.general
            elif form == "verb":
                phrase = english.Phrase(phrase.verb)
            elif form in self.OWNERS:
                owner = self.OWNERS[form].own
            elif form in ("ing", "done", "past"):
                rule = {"ing": english.ing, "done": english.participle, "past": english.past}
                inflected = rule[form](phrase.verb)
            else:
                human = scene.words[form]
                owner = human.en(("own",), scene)
        text = english.join(inflected, phrase.rest)
        return text.replace("{own}", owner) if owner else text

    def person(self, forms: tuple[str, ...], scene: Scene) -> Person:
        if forms[:1] == ("thing",) and self.action.noun is not None:
            return Thing(self.action.noun).person(forms[1:], scene)
        return super().person(forms, scene)


class Quality(Filler):
    """Adjective: {adj} "big"; .er, .est; as a predicate in Japanese."""

    def __init__(self, adjective: Adjective):
        super().__init__(adjective.ja.text, adjective.en)
        self.adjective = adjective

    def word(self, forms: tuple[str, ...], scene: Scene) -> Word:
        return self.adjective.ja

    def ja(self, forms: tuple[str, ...], scene: Scene) -> str:
        return japanese.attributive(self.adjective.ja) if forms == ("な",) else self.text_ja

    def en(self, forms: tuple[str, ...], scene: Scene) -> str:
        if forms == ("er",):
            return english.comparative(self.text_en)
        return english.superlative(self.text_en) if forms == ("est",) else self.text_en


class Where(Filler):
    """Place: {place} "the library"; .at "at the library", .to, .a "a library", .one."""

    def __init__(self, place: Place):
        super().__init__(place.ja, place.en)
        self.place = place

    def en(self, forms: tuple[str, ...], scene: Scene) -> str:
        one = self.text_en.removeprefix("the ")
        proper = one == self.text_en
        named = {
            (): self.text_en,
            ("at",): self.place.at,
            ("to",): "home" if self.text_en == "home" else f"to {self.text_en}",
            ("one",): one,
            ("a",): one if proper else english.article(one),
        }
        if forms not in named:
            _no_forms(self, forms)
        return named[forms]


class When(Filler):
    """Time: {time} leads a clause, with a comma after a kanji; .bare; .at "日曜日に"."""

    def __init__(self, time: Time, omitted: bool):
        super().__init__("" if omitted else time.ja, "" if omitted else time.en, "")
        self.time = time

    def ja(self, forms: tuple[str, ...], scene: Scene) -> str:
        text = self.text_ja
        if forms == ("bare",) or not text:
            return text
        if forms == ("at",):
            return text + "に" if text.endswith("曜日") else text
        return text + "、" if "一" <= text[-1] <= "鿿" or text == "おととい" else text


class Number(Filler):
    """Number: {n} "three"; .digits "3"; .NOUN "three nights"; .ordinal "third"."""

    ORDINALS = (
        "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
    ).split()

    def __init__(self, value: int, ja: str):
        super().__init__(ja, english.number(value), str(value))
        self.value = value

    def en(self, forms: tuple[str, ...], scene: Scene) -> str:
        if not forms:
            return self.text_en
        if forms == ("digits",):
            return f"{self.value:,}"
        if forms == ("label",):
            return str(self.value)
        if forms == ("ordinal",):
            return self.ORDINALS[self.value] if self.value <= 12 else f"{self.value}th"
        noun = scene.entries.get(forms[0], forms[0])
        noun = noun if self.value == 1 else english.plural(noun)
        if forms[1:] == ("digits",):
            return f"{self.value:,} {noun}"
        return f"{self.text_en} {noun}"

    def person(self, forms: tuple[str, ...], scene: Scene) -> Person:
        return Person(self.en(forms, scene), "3n" if self.value == 1 else "3p")


class Speaker(Filler):
    """「私は」 or nothing; nothing in a question and in English."""

    POLITE, CASUAL = (
        ("", "", "", "私は", "わたしは", "僕は"),
        ("", "", "", "私、", "僕、", "俺、", "私は"),
    )

    def __init__(self, polite: int, casual: int):
        super().__init__("", "", "")
        self.polite, self.casual = self.POLITE[polite], self.CASUAL[casual]

    def ja(self, forms: tuple[str, ...], scene: Scene) -> str:
        if scene.mood.question:
            return ""
        return self.casual if scene.mood.level == "casual" else self.polite


class Tags(NamedTuple):
    """Condition on tags: one of several sets of tags, "a&!b|c"."""

    wanted: tuple[tuple[frozenset[str], frozenset[str]], ...]

    def fit(self, tags: Iterable[str]) -> bool:
        own = frozenset(tags)
        return any(need <= own and not (own & without) for need, without in self.wanted)


@cache
def tags(text: str) -> Tags:
    wanted = []
    for choice in text.split("|"):
        parts = [part.strip() for part in choice.split("&")]
        need = frozenset(part for part in parts if not part.startswith("!"))
        wanted.append((need, frozenset(part[1:] for part in parts if part.startswith("!"))))
    return Tags(tuple(wanted))


@cache
def nouns(text: str) -> list[Noun]:
    wanted = tags(text)
    return [
        noun
        for noun in lexicon.load().nouns
        if wanted.fit(noun.tags | {f"is-{noun.article}", "counted" if noun.counter else "mass"})
    ]


@cache
def adjectives(text: str) -> list[Adjective]:
    return [a for a in lexicon.load().adjectives if tags(text).fit(a.uses | a.describes)]


@cache
def places(text: str) -> list[Place]:
    wanted = tags(text)
    return [p for p in lexicon.load().places if wanted.fit(p.kinds | p.activities)]


@cache
def times(text: str) -> list[Time]:
    return [time for time in lexicon.load().times if tags(text).fit(time.kinds)]


@cache
def people(text: str) -> list[Somebody]:
    return [p for p in lexicon.load().people if tags(text).fit((p.kind, p.en.code))]


@cache
def actions(text: str) -> list[list[Action]]:
    """Actions, grouped by verb; the group of a verb with many objects is repeated."""
    groups: dict[str, list[Action]] = {}
    for action in lexicon.load().actions:
        own = action.uses | {"object" if action.noun else "simple"}
        if tags(text).fit(own | {f"verb-{action.en.verb}"}):
            group = f"{action.verb.text}|{action.en.verb}" if action.noun else action.key
            groups.setdefault(group, []).append(action)
    drawn = []
    for members in groups.values():
        drawn += [members] * (1 + len(members) // 6)
    return drawn
