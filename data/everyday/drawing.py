"""Random sampling of words for a pattern, and parts of sentences that all patterns share."""

import random
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, TypeVar

from keras_attn_data.everyday import english, japanese, lexicon
from keras_attn_data.everyday.english import Person, Phrase
from keras_attn_data.everyday.japanese import Word
from keras_attn_data.everyday.lexicon import Action, Adjective, Name, Noun, Place, Somebody, Time

T = TypeVar("T")


class Pair(NamedTuple):
    """Japanese sentence with its English translation."""

    ja: str
    en: str


class Drawn(NamedTuple):
    """Sentence pairs with the same content words.

    Args:
        words: Content words.
        pairs: Pairs that differ only in tense, politeness, negation, question or a time word.
    """

    words: tuple[str, ...]
    pairs: list[Pair]


class Mood(NamedTuple):
    """Politeness, negation and question of a sentence."""

    polite: bool
    negative: bool = False
    question: bool = False

    def end(self, word: Word, past: bool = False) -> str:
        """Inflected predicate with punctuation: 飲みましたか。"""
        if self.question and not self.polite and word.kind in ("na", "noun"):
            if not past and not self.negative:
                return word.text + "?"
        text = japanese.finish(word, self.polite, past, self.negative)
        if self.question:
            return text + ("か。" if self.polite else "?")
        return text + "。"


class Who(NamedTuple):
    """Subject of a sentence; `ja` is empty for the speaker and the listener."""

    ja: str
    en: Person
    kind: str = ""

    @property
    def topic(self) -> str:
        return self.ja + "は" if self.ja else ""

    @property
    def subject(self) -> str:
        return self.ja + "が" if self.ja else ""

    def asked(self, question: bool) -> Person:
        """English subject; "you" for a question without a Japanese subject."""
        return english.YOU if question and not self.ja else self.en


SPEAKER = Who("", english.I)


def lead(time: str) -> str:
    """Time word at the beginning of a clause; a comma separates it from a following kanji."""
    if not time:
        return ""
    return time + "、" if "一" <= time[-1] <= "鿿" or time == "おととい" else time


def tell(person: Person, phrase: Phrase, tense: str, mood: Mood, adverb: str = "") -> str:
    """English statement or question."""
    if mood.question:
        text = english.ask(person, phrase, tense, mood.negative, adverb)
        return english.sentence(text, "?")
    return english.sentence(english.say(person, phrase, tense, mood.negative, adverb))


class Draw:
    """Random choice of words from the lexicon.

    Args:
        rng: Random generator; the same state gives the same sentences.
    """

    def __init__(self, rng: random.Random):
        self.rng = rng
        self.lexicon = lexicon.load()

    def choose(self, items: Sequence[T]) -> T:
        return items[int(self.rng.random() * len(items))]

    def sample(self, items: Sequence[T], number: int) -> list[T]:
        return self.rng.sample(items, min(number, len(items)))

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def noun(self, *tags: str) -> Noun:
        return self.choose(_nouns(frozenset(tags)))

    def two_nouns(self, *tags: str) -> list[Noun]:
        return self.sample(_nouns(frozenset(tags)), 2)

    def action(self, use: str) -> Action:
        """Action for a use; the verb is sampled first, so that no verb dominates."""
        return self.choose(self.choose(_actions(use)))

    def adjective(self, use: str) -> Adjective:
        return self.choose(_adjectives(use))

    def described(self, *uses: str) -> tuple[Adjective, Noun]:
        """Adjective, and a noun that it can describe."""
        adjective = self.adjective(self.choose(uses))
        nouns = _nouns(adjective.describes)
        return (adjective, self.choose(nouns)) if nouns else self.described(*uses)

    def place(self, kind: str) -> Place:
        return self.choose(_places(kind))

    def places(self, kind: str) -> list[Place]:
        return _places(kind)

    def place_for(self, action: Action) -> Place | None:
        """Place that suits an action, or None."""
        places = _places_for(action.places)
        return self.choose(places) if places else None

    def time(self, kind: str) -> Time:
        return self.choose(_times(kind))

    def times(self, kind: str, number: int, timeless: float = 0.0) -> list[Time]:
        """Distinct times; a past time is often left out, any other with chance `timeless`."""
        return [self._perhaps(time, timeless) for time in self.sample(_times(kind), number)]

    def _perhaps(self, time: Time, timeless: float) -> Time:
        if self.chance(_TIMELESS if "past" in time.kinds else timeless):
            return time._replace(ja="", en="")
        return time

    def somebody(self, *kinds: str) -> Somebody:
        return self.choose(_people(kinds or ("family", "friend", "name")))

    def two_people(self, *kinds: str) -> list[Somebody]:
        return self.sample(_people(kinds or ("family", "friend", "name")), 2)

    def typed(self, pairs: list[Pair], share: float = 0.3) -> list[Pair]:
        """Pairs, some of them with the Japanese as people type it: no 。 at the end, か? or か."""
        result = []
        for pair in pairs:
            bare = pair.ja.removesuffix("。")
            if bare == pair.ja or not self.chance(share):
                result.append(pair)
                continue
            mark = "?" if bare.endswith("か") and self.chance(0.5) else ""
            result.append(Pair(bare + mark, pair.en))
        return result

    def names(self, *kinds: str) -> list[Name]:
        return [name for name in self.lexicon.names if name.kind in kinds]

    def other(self, who: Who) -> Somebody:
        """Second person of a sentence about `who`.

        父 and 友達 are the speaker's father and friend only in a sentence about the speaker; beside
        another subject they would be that person's. Relatives of the speaker also go together.
        """
        if not who.ja or who.ja == "私たち":
            kinds: tuple[str, ...] = ("family", "friend", "name")
        else:
            kinds = ("family", "name") if who.ja in _BLOOD else ("name",)
        other = self.somebody(*kinds)
        while other.ja == who.ja or (who.ja and other.kind == "family" and other.ja not in _BLOOD):
            other = self.somebody(*kinds)
        return other

    def times_for(
        self, action: Action, kind: str, number: int, timeless: float = 0.0
    ) -> list[Time]:
        """Times that suit an action: whole days for meals, years only for long actions."""
        times = _times(kind)
        if "long-only" in action.uses:
            times = [time for time in times if "long" in time.kinds]
        elif "whole-days" in action.uses:
            times = [time for time in times if time.kinds & {"neutral", "plainhabit"}]
        elif "long-times" not in action.uses:
            times = [time for time in times if "long" not in time.kinds]
        return [self._perhaps(time, timeless) for time in self.sample(times, number)]

    def who(self, speaker: float = 0.4, other: str = "") -> Who:
        """The speaker, with probability `speaker`, or a random person other than `other`."""
        if self.chance(speaker):
            return SPEAKER
        person = self.somebody(*(("pronoun",) if self.chance(0.15) else ()))
        if person.ja == other:
            return self.who(speaker, other)
        return Who(person.ja, person.en, person.kind)

    def stranger(self, speaker: float = 0.4) -> Who:
        """Subject that a question may be about: not a relative or friend of the speaker."""
        who = self.who(speaker)
        return self.stranger(speaker) if _is_own(who) else who

    def moods(
        self,
        number: int,
        about: Sequence[Who | Somebody] = (),
        negatives: bool = True,
        questions: bool = True,
    ) -> list[Mood]:
        """Distinct moods, statements more often; no questions about relatives or friends."""
        pool = [Mood(True), Mood(True), Mood(False)]
        if negatives:
            pool += [Mood(True, negative=True), Mood(False, negative=True)]
        if questions and not any(_is_own(person) for person in about):
            pool += [Mood(True, question=True), Mood(False, question=True)]
        self.rng.shuffle(pool)
        return list(dict.fromkeys(pool))[:number]


# Relatives of the speaker that a sentence may have in pairs.
_BLOOD = frozenset("父 母 兄 姉 弟 妹 祖父 祖母 おじ おば".split())
_TIMELESS = 0.2  # share of past times that are left out


def _is_own(person: Who | Somebody) -> bool:
    return person.kind in ("family", "friend") or person.ja == "私たち"


@cache
def _nouns(tags: frozenset[str]) -> list[Noun]:
    return [noun for noun in lexicon.load().nouns if noun.tags & tags]


@cache
def _actions(use: str) -> list[list[Action]]:
    """Actions of one use, grouped by verb; the group of a verb with many objects is repeated."""
    groups: dict[str, list[Action]] = {}
    for action in lexicon.load().actions:
        if use in action.uses:
            group = f"{action.verb.text}|{action.en.verb}" if action.noun else action.key
            groups.setdefault(group, []).append(action)
    drawn = []
    for members in groups.values():
        drawn += [members] * (1 + len(members) // 6)
    return drawn


@cache
def _adjectives(use: str) -> list[Adjective]:
    return [adjective for adjective in lexicon.load().adjectives if use in adjective.uses]


@cache
def _places(kind: str) -> list[Place]:
    return [p for p in lexicon.load().places if kind in p.kinds or kind in p.activities]


@cache
def _places_for(activities: frozenset[str]) -> list[Place]:
    return [place for place in lexicon.load().places if place.activities & activities]


@cache
def _times(kinds: str) -> list[Time]:
    """Times that have all the given kinds, for example "past neutral"."""
    return [time for time in lexicon.load().times if time.kinds.issuperset(kinds.split())]


@cache
def _people(kinds: tuple[str, ...]) -> list[Somebody]:
    return [person for person in lexicon.load().people if person.kind in kinds]
