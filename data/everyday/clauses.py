"""English clauses of the pattern tables in the tense, negation and question of a sentence."""

import re

from keras_attn_data.everyday import english
from keras_attn_data.everyday.english import I, Person, Phrase
from keras_attn_data.everyday.moods import Mood

_PRONOUNS = {
    **{who.text.lower(): who for who in (I, english.YOU, english.WE, english.IT)},
    "he": Person("he", "3m", "him"),
    "she": Person("she", "3f", "her"),
    **{text: Person(text, "3p") for text in ("they", "there")},
}
_ADVERBS = frozenset(
    "always often usually sometimes occasionally rarely never ever already still just also really "
    "probably finally almost only".split()
)
_AUXILIARIES = {**{modal: modal for modal in english.MODALS}, "'ve": "have", "'d": "had"}
# Verbs that stay in the present with a time in the future: "I want to go tomorrow".
_NOW = frozenset("want intend plan need hope think like know wish".split())
_ASKING = frozenset("who what which whose".split())
# What follows the noun of a subject, and subjects that are singular for their beginning.
_AFTER_HEAD = re.compile(r" (?:in|of|at|for|from|on|with|that|who|to|over|near) ")
_SINGULAR = re.compile(r"(this|that|every|each) |\w+ing ")
_SINGULAR_S = re.compile(r"(ss|us|is|news|'s)$")
_PLURALS = frozenset("people children men women these those sheep goldfish they".split())
# The speaker in a question is the listener.
_ASKED = {"I": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself"}
_ASKED |= {"I'm": "you're", "I'll": "you'll", "I've": "you've", "I'd": "you'd"}
_ASKED |= {"I was": "you were", "I am": "you are", "I wasn't": "you weren't"}
_SPEAKER = re.compile(r"\b(I was|I am|I wasn't|I'm|I'll|I've|I'd|I|me|my|mine|myself)\b")


def person(text: str) -> Person:
    """Subject that is written out; a plural noun or two nouns with "and" are plural."""
    if text.lower() in _PRONOUNS:
        return _PRONOUNS[text.lower()]
    head = _AFTER_HEAD.split(text)[0]
    last = head.split()[-1]
    singular = _SINGULAR.match(head) or _SINGULAR_S.search(last)
    many = " and " in head or last in _PLURALS or (last.endswith("s") and not singular)
    return Person(text, "3p" if many else "3n")


def clause(who: Person, predicate: str, tense: str, negative: bool, question: bool) -> str:
    """Clause without capital letter and mark.

    The predicate is auxiliary, "not", adverb, verb in the base form and the rest, of which the
    first three may be missing: "will not often eat out". The tense is one of `english.say`, or
    "auto": the auxiliary of the predicate, or the present.
    """
    words = predicate.split()
    auxiliary = _AUXILIARIES[words.pop(0)] if words[0] in _AUXILIARIES else ""
    if words[0] == "not":
        negative = not negative
        words.pop(0)
    adverb = ""
    if words[0] in _ADVERBS or (words[0] == "a" and auxiliary):
        adverb = words.pop(0)
    verb, rest = words[0], " ".join(words[1:])
    tense = _tense(tense, auxiliary, verb, rest)
    if negative:
        rest = re.sub(r", too\b", ", either", re.sub(r"^some\b", "any", rest))
    phrase = Phrase(verb, rest)
    if not question or who.text in _ASKING:
        return english.say(who, phrase, tense, negative, adverb)
    return english.question(english.YOU if who == I else who, phrase, tense, negative, adverb)


def _tense(tense: str, auxiliary: str, verb: str, rest: str) -> str:
    if tense == "past":
        known = {"will": "past", "can": "could", "have": "had", "may": "past"}
        return known.get(auxiliary, auxiliary or tense)
    if tense == "will":
        stays = verb in _NOW or (verb == "have" and rest.startswith("to "))
        stays = stays or (verb == "be" and re.match(r"(\w+ing|going)\b", rest) is not None)
        return auxiliary or ("present" if stays else "will")
    if tense in ("present", "auto"):
        return auxiliary or "present"
    return tense


def asked(sentence: str) -> str:
    """Sentence about the listener: "I" becomes "you", "my" becomes "your"."""
    return _SPEAKER.sub(lambda match: _ASKED[match[1]], sentence)


def tense_of(form: str, mood: Mood, future: bool) -> str:
    """Tense of `clause` for a form of a template; without a form, that of the sentence."""
    if form in ("", "tense"):
        return "past" if mood.past else "will" if future else "auto"
    return form
