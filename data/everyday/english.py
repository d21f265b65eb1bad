"""English grammar: agreement, tenses, negation, questions, articles, numbers."""

import re
from importlib import resources
from typing import NamedTuple


def _table(name: str) -> dict[str, list[str]]:
    path = resources.files("keras_attn_data.everyday") / f"{name}.tsv"
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    return {word: forms for word, *forms in rows}


_IRREGULAR_VERBS, _IRREGULAR_PLURALS = _table("irregular_verbs"), _table("irregular_plurals")
# Verbs of one syllable that end in one vowel and one consonant, and these, double the consonant.
_DOUBLED = frozenset(
    "admit begin commit compel control equip expel forget occur omit overlap permit prefer quit "
    "rebel refer regret squat submit transfer upset".split()
)
_SHORT_VERB = re.compile(r"[^aeiou]*[aeiou][bdgklmnprt]")
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_VOWEL_SOUND = re.compile(r"(?!uni|use|usual|one|eu)[aeiou]|hour|honest|8|11\b|18\b", re.IGNORECASE)
_CONSONANT_Y = re.compile(r"[^aeiou]y$")


def article(noun: str) -> str:
    """Noun with the indefinite article: "a book", "an apple"."""
    return ("an " if _VOWEL_SOUND.match(noun) else "a ") + noun


def plural(noun: str) -> str:
    return _IRREGULAR_PLURALS[noun][0] if noun in _IRREGULAR_PLURALS else _with_s(noun)


def _with_s(word: str) -> str:
    if _CONSONANT_Y.search(word):
        return word[:-1] + "ies"
    return word + ("es" if re.search(r"(s|x|z|ch|sh)$", word) else "s")


def number(value: int) -> str:
    """Number as a word up to twelve, else in digits with commas."""
    return _NUMBERS[value] if value <= 12 else f"{value:,}"


def ordinal(value: int) -> str:
    return _ORDINALS[value - 1] if 0 < value <= len(_ORDINALS) else f"{value}th"


def third_person(verb: str) -> str:
    irregular = {"be": "is", "have": "has", "go": "goes", "do": "does"}
    return irregular.get(verb) or _with_s(verb)


def past(verb: str) -> str:
    if verb in _IRREGULAR_VERBS:
        return _IRREGULAR_VERBS[verb][0]
    if _doubles(verb):
        return verb + verb[-1] + "ed"
    if _CONSONANT_Y.search(verb):
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ed")


def _doubles(verb: str) -> bool:
    return verb in _DOUBLED or _SHORT_VERB.fullmatch(verb) is not None


def participle(verb: str) -> str:
    return _IRREGULAR_VERBS[verb][1] if verb in _IRREGULAR_VERBS else past(verb)


def ing(verb: str) -> str:
    if _doubles(verb):
        return verb + verb[-1] + "ing"
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "ye", "oe")) and verb != "be":
        return verb[:-1] + "ing"
    return verb + "ing"


class Person(NamedTuple):
    """Subject of a clause, and its object form, which is `text` if empty.

    `code` is person, number and gender: "1s", "2", "3m", "3f", "3n", "3u", "1p" or "3p"; "3u" for a
    person whose gender the Japanese does not tell.
    """

    text: str
    code: str
    obj: str = ""

    @property
    def object(self) -> str:
        return self.obj or self.text

    @property
    def is_third(self) -> bool:
        return self.code.startswith("3") and self.code != "3p"

    @property
    def own(self) -> str:
        return _OWN[self.code]

    @property
    def pronoun(self) -> str:
        return _PRONOUNS[self.code]


# Stands for he, she, his and her of a person whose gender is not known. A sentence that holds it is
# not generated.
UNKNOWN_GENDER = "{gender}"
_CODES = "1s 2 3m 3f 3n 3u 1p 3p".split()
_OWN = dict(zip(_CODES, f"my your his her its {UNKNOWN_GENDER} our their".split(), strict=True))
_PRONOUNS = dict(zip(_CODES, f"I you he she it {UNKNOWN_GENDER} we they".split(), strict=True))
I = Person("I", "1s", "me")  # noqa: E741
YOU = Person("you", "2")
WE = Person("we", "1p", "us")
IT = Person("it", "3n")
_PLURAL_LIKE = frozenset({"2", "1p", "3p"})
MODALS = frozenset({"will", "would", "can", "could", "must", "should", "may", "might"})


class Phrase(NamedTuple):
    """Verb in the base form and its rest, where "{own}" is the possessive of the subject."""

    verb: str
    rest: str = ""

    def tail(self, person: Person) -> str:
        return self.rest.replace("{own}", person.own)

    def base(self, person: Person) -> str:
        return join(self.verb, self.tail(person))

    def plus(self, *more: str) -> "Phrase":
        return Phrase(self.verb, join(self.rest, *more))


def join(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _be(person: Person, tense: str) -> str:
    many = person.code in _PLURAL_LIKE
    if tense == "past":
        return "were" if many else "was"
    return "are" if many else "am" if person.code == "1s" else "is"


def _auxiliary(person: Person, verb: str, tense: str) -> tuple[str, str]:
    """Auxiliary and main verb; the auxiliary is empty if the tense has none but do."""
    have = "has" if person.is_third else "have"
    if tense in MODALS or tense in ("have", "had"):
        return (have if tense == "have" else tense), verb
    if tense in ("progressive", "past progressive"):
        return _be(person, tense.split()[0]), ing(verb)
    if tense in ("perfect", "perfect progressive"):
        return have, participle(verb) if tense == "perfect" else "been " + ing(verb)
    if tense not in ("present", "past"):
        raise ValueError(f"`tense` must be a tense of this grammar. Received: {tense=}")
    return (_be(person, tense), "") if verb == "be" else ("", verb)


def _do(person: Person, tense: str) -> str:
    return "did" if tense == "past" else "does" if person.is_third else "do"


_SHORT = {"am": "'m", "is": "'s", "are": "'re", "will": "'ll", "have": "'ve", "has": "'s"}
_CONTRACTING = frozenset("I you he she it we they that".split())


def _negated(auxiliary: str) -> str:
    """Negative auxiliary: "doesn't", "won't", "can't"."""
    irregular = {"will": "won't", "can": "can't"}
    ending = " not" if auxiliary in ("am", "must", "may", "might") else "n't"
    return irregular.get(auxiliary, auxiliary + ending)


def say(
    person: Person, phrase: Phrase, tense: str, negative: bool = False, adverb: str = ""
) -> str:
    """Statement without capital letter and full stop: "he doesn't read the book"."""
    auxiliary, main = _auxiliary(person, phrase.verb, tense)
    if negative:
        no = _negated(auxiliary or _do(person, tense))
        start = f"{person.text}'m not" if auxiliary == "am" else join(person.text, no)
    else:
        if not auxiliary:
            third = third_person(main) if person.is_third else main
            main = past(main) if tense == "past" else third
        contracted = person.text in _CONTRACTING and auxiliary in _SHORT
        start = join(person.text, auxiliary)
        start = person.text + _SHORT[auxiliary] if contracted else start
    return join(start, adverb, main, phrase.tail(person))


def question(
    person: Person, phrase: Phrase, tense: str, negative: bool = False, adverb: str = ""
) -> str:
    """A question without capital letter and question mark: "does he read the book"."""
    auxiliary, main = _auxiliary(person, phrase.verb, tense)
    auxiliary = auxiliary or _do(person, tense)
    auxiliary = _negated(auxiliary) if negative else auxiliary
    return join(auxiliary, person.text, adverb, main, phrase.tail(person))


def sentence(text: str, mark: str = ".") -> str:
    """Sentence with a capital letter, single spaces and a mark at the end."""
    text = " ".join(text.split())
    mark = "" if text.endswith(".") and mark == "." else mark
    return text[0].upper() + text[1:] + mark


_IRREGULAR_DEGREES = {"good": ("better", "best"), "bad": ("worse", "worst")}
_SHORT_WITH_Y = re.compile(r"^[a-z]{1,6}y$")
_LONG = frozenset({"famous", "honest", "polite", "serious", "useful", "careful", "boring"})


def comparative(adjective: str) -> str:
    return _degree(adjective, 0)


def superlative(adjective: str) -> str:
    return _degree(adjective, 1)


def _degree(adjective: str, which: int) -> str:
    if adjective in _IRREGULAR_DEGREES:
        return _IRREGULAR_DEGREES[adjective][which]
    ending = ("er", "est")[which]
    if _SHORT_WITH_Y.match(adjective) and _CONSONANT_Y.search(adjective):
        return adjective[:-1] + "i" + ending
    long = len(re.findall(r"[aeiouy]+", adjective.rstrip("e"))) > 1 or adjective in _LONG
    if long and adjective not in ("simple", "gentle", "narrow"):
        return ("more ", "most ")[which] + adjective
    doubled = adjective[-1] if re.search(r"[^aeiou][aeiou][bdgmnpt]$", adjective) else ""
    return adjective + (ending[1:] if adjective.endswith("e") else doubled + ending)


WEEKDAYS = tuple("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())
_MONTHS = "January February March April May June July August September October November December"
MONTHS = tuple(_MONTHS.split())


def date(month: int, day: int) -> str:
    return f"{MONTHS[month - 1]} {day}"


def possessive(owner: str) -> str:
    """Possessive form: "my father's", "Tanaka's"."""
    return {"he": "his", "she": "her", "we": "our", "I": "my"}.get(owner, owner + "'s")
