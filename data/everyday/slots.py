"""Words that fill the slots of a pattern, with the forms that a template can ask for."""

import random
from collections.abc import Sequence
from typing import TypeVar

from keras_attn_data.everyday import clauses, english, japanese
from keras_attn_data.everyday.english import Person, Phrase
from keras_attn_data.everyday.japanese import Word
from keras_attn_data.everyday.lexicon import Action, Adjective, Noun, Place, Somebody, Time
from keras_attn_data.everyday.moods import Mood

T = TypeVar("T")
Forms = tuple[str, ...]


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
    """Word of a slot.

    Args:
        ja: Japanese text.
        en: English text.
        key: Content word for `combination`. Defaults to the Japanese text; "" for none.
        forms: English forms by name. Defaults to none.
    """

    def __init__(self, ja: str, en: str, key: str | None = None, **forms: str):
        self.text_ja, self.text_en = ja, en
        self.key = ja if key is None else key
        self.forms = forms

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


_ONE, _MANY = ("it", "it", "is", "isn't"), ("they", "them", "are", "aren't")


class Thing(Filler):
    """Noun; its forms are in the README."""

    def __init__(self, noun: Noun):
        many = noun.is_plural
        plural = english.plural(noun.en) if noun.article == "the" else noun.general
        countable = noun.article in ("the", "s", "own")
        forms = dict(zip("it them be isnt".split(), _MANY if many else _ONE, strict=True))
        forms |= {"one": noun.en, "plural": plural, "the": noun.the}
        forms |= {"this1": noun.pronoun("this"), "that1": noun.pronoun("that")}
        forms["these1"] = "these" if many or noun.article == "s" else "this"
        forms["a"] = noun.with_article("a") if countable else noun.bare
        super().__init__(noun.ja, noun.bare, **forms)
        self.noun = noun

    def ja(self, forms: Forms, scene: Scene) -> str:
        return self.noun.counter or "つ" if forms == ("counter",) else super().ja(forms, scene)

    def en(self, forms: Forms, scene: Scene) -> str:
        if not forms or forms[0] in self.forms:
            return super().en(forms, scene)
        if forms[0] in ("this", "that", "my", "your", "his", "her", "which"):
            return f"{self.noun.pronoun(forms[0])} {self.noun.en}"
        if forms[0] in scene.entries:
            return self.noun.described(scene.entries[forms[0]])
        other = scene.filler(forms[0])
        if isinstance(other, Number):
            return self.noun.counted(other.value)
        return self.noun.described(other.en(forms[1:], scene))

    def person(self, forms: Forms, scene: Scene) -> Person:
        text, article = self.en(forms, scene), self.noun.article
        if forms in ((), ("plural",)):
            one = article in (("0", "n", "own") if forms else ("a", "0", "n", "own", "the"))
            return Person(text, "3n" if one else "3p")
        many = article == "p" or (article == "s" and forms in (("the",), ("these1",)))
        if isinstance(scene.words.get(forms[0]), Number):
            many = not text.startswith("one ")
        return Person(text, "3p" if many else "3n")


class Human(Filler):
    """Person; in Japanese with a particle that the speaker does without."""

    def __init__(self, somebody: Somebody):
        someone = somebody.en
        forms = {"he": someone.pronoun, "him": someone.object, "own": someone.own}
        super().__init__(somebody.ja, someone.text, his=english.possessive(someone.text), **forms)
        self.somebody = somebody
        # A listener cannot be asked about them.
        self.is_own = somebody.kind in ("family", "friend") or somebody.ja == "私たち"

    def ja(self, forms: Forms, scene: Scene) -> str:
        return self.text_ja + "".join(forms) if self.text_ja else ""

    def person(self, forms: Forms, scene: Scene) -> Person:
        if forms == ("his",):
            return Person(self.forms["his"], "3n")
        return self.somebody.en._replace(text=self.en(forms, scene))


class Doing(Filler):
    """Action; "{own}" in its English is replaced where the subject is known."""

    OWNERS = ("my", "your", "our", "their")
    RULES = {"ing": english.ing, "done": english.participle, "past": english.past}

    def __init__(self, action: Action):
        super().__init__(action.ja.text, "", action.key)
        self.action = action
        self.thing = Thing(action.noun) if action.noun else None

    def word(self, forms: Forms, scene: Scene) -> Word:
        return self.action.verb if forms == ("verb",) else self.action.ja

    def ja(self, forms: Forms, scene: Scene) -> str:
        if forms == ("thing",) and self.thing:
            return self.thing.text_ja
        return self.word(forms, scene).text

    def en(self, forms: Forms, scene: Scene) -> str:
        if forms[:1] == ("thing",) and self.thing:
            return self.thing.en(forms[1:], scene)
        phrase, owner = self.action.en, ""
        verb = phrase.verb
        for form in forms:
            if form in self.RULES:
                verb = self.RULES[form](verb)
            elif form in ("general", "verb"):
                phrase = self.action.general if form == "general" else Phrase(verb)
            else:
                human = form not in self.OWNERS
                owner = scene.words[form].en(("own",), scene) if human else form
        text = english.join(verb, phrase.rest)
        return text.replace("{own}", owner) if owner else text

    def person(self, forms: Forms, scene: Scene) -> Person:
        if forms[:1] == ("thing",) and self.thing:
            return self.thing.person(forms[1:], scene)
        return super().person(forms, scene)


class Quality(Filler):
    """Adjective; as a predicate or, with .な, before a noun in Japanese."""

    def __init__(self, adjective: Adjective):
        more, most = english.comparative(adjective.en), english.superlative(adjective.en)
        super().__init__(adjective.ja.text, adjective.en, er=more, est=most)
        self.adjective = adjective

    def word(self, forms: Forms, scene: Scene) -> Word:
        return self.adjective.ja

    def ja(self, forms: Forms, scene: Scene) -> str:
        return japanese.attributive(self.adjective.ja) if forms == ("な",) else self.text_ja


class Where(Filler):
    """Place."""

    def __init__(self, place: Place):
        one = place.en.removeprefix("the ")
        to = "home" if place.en == "home" else f"to {place.en}"
        some = one if one == place.en else english.article(one)
        super().__init__(place.ja, place.en, one=one, at=place.at, to=to, a=some)


class When(Filler):
    """Time; leads a clause in Japanese, with a comma after a kanji."""

    def __init__(self, time: Time, omitted: bool):
        super().__init__("" if omitted else time.ja, "" if omitted else time.en, "")
        self.time = time

    def ja(self, forms: Forms, scene: Scene) -> str:
        text = self.text_ja
        if forms == ("at",):
            return text + "に" if text.endswith("曜日") else text
        comma = not forms and text and ("一" <= text[-1] <= "鿿" or text == "おととい")
        return text + "、" if comma else text


class Number(Filler):
    """Number; an unknown form is a noun that is counted: "three nights"."""

    ORDINALS = (
        "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
    ).split()

    def __init__(self, value: int, ja: str):
        ordinal = self.ORDINALS[value] if value <= 12 else f"{value}th"
        forms = {"digits": f"{value:,}", "label": str(value), "ordinal": ordinal}
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

    POLITE = ("", "", "", "私は", "わたしは", "僕は")
    CASUAL = ("", "", "", "私、", "僕、", "俺、", "私は")

    def __init__(self, draw: Draw):
        super().__init__("", "", "")
        self.polite, self.casual = draw.choose(self.POLITE), draw.choose(self.CASUAL)

    def ja(self, forms: Forms, scene: Scene) -> str:
        said = self.casual if scene.mood.level == "casual" else self.polite
        return "" if scene.mood.question else said
