"""Sentences of a row: both languages with the words and the mood filled in."""

import re
import unicodedata

from keras_attn_data.everyday import clauses, english, japanese, moods, templates
from keras_attn_data.everyday.english import I, Person
from keras_attn_data.everyday.japanese import Word
from keras_attn_data.everyday.lexicon import Doing, Draw, Scene, When
from keras_attn_data.everyday.moods import Mood
from keras_attn_data.everyday.templates import Part, Predicate, Slot

_VOWEL = re.compile(r"\b([Aa]) (?=(?!uni|use|usual|one|eu)[aeiou]|hour|honest|8|11\b|18\b)")
_ENDS = ("。", "?", "!", "」", "…")


def japanese_sentence(text: str, scene: Scene, draw: Draw) -> str:
    """Japanese sentence with its mark."""
    parts = templates.parse(text, False)
    said = "".join(_japanese_part(part, scene) for part in parts).strip()
    if scene.mood.level == "casual":
        said = moods.spoken(said)
        if said.count("を") == 1 and len(said.partition("を")[2]) < 9 and draw.chance(0.3):
            said = said.replace("を", "")
    return unicodedata.normalize("NFKC", said if said.endswith(_ENDS) else said + "。")


def _japanese_part(part: Part, scene: Scene) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Slot):
        return scene.filler(part.name).ja(part.forms, scene)
    word = _word(part, scene)
    forms = part.forms
    last = part.parts[-1]
    if forms[:1] == ("られる",) and isinstance(last, Slot) and not last.forms:
        filler = scene.words[last.name]
        if isinstance(filler, Doing):
            prefix = word.text[: len(word.text) - len(filler.whole.text)]
            word, forms = filler.possible.after(prefix), forms[1:]
    return moods.inflect(word, forms, scene.mood, part.negated, part.ends)


def _word(predicate: Predicate, scene: Scene) -> Word:
    """Dictionary form of a predicate; the kind of a word of the tables is known."""
    *before, last = predicate.parts
    prefix = "".join(_japanese_part(part, scene) for part in before)
    if isinstance(last, Slot):
        return scene.filler(last.name).word(last.forms, scene).after(prefix)
    return japanese.word(prefix + last)


def english_sentence(text: str, scene: Scene) -> str:
    """English sentence with capital letter and mark."""
    parts = templates.parse(text, True)
    future = any(isinstance(w, When) and "future" in w.tags for w in scene.words.values())
    about_speaker = False
    owner: Person | None = None
    pieces = []
    for part in parts:
        if isinstance(part, Predicate) and part.subject:
            main = not part.forms and not (part.negated and scene.mood.question)
            who = _subject(part.subject, scene)
            about_speaker |= main and (who == I or who.text.startswith("my "))
            if owner is None or main:
                owner = english.YOU if main and scene.mood.question and who == I else who
            pieces.append(_clause(part, who, scene, future, main))
        elif isinstance(part, Predicate):
            pieces.append(_inflected(part, scene))
        else:
            pieces.append(_english_part(part, scene))
    said = "".join(pieces).replace("{own}", (owner or I).own)
    if scene.mood.question and about_speaker:
        said = clauses.asked(said)
    said = _VOWEL.sub(r"\1n ", re.sub(r" (?=[,.?!])", "", " ".join(said.split())))
    said = re.sub(r'(?<=, ")[a-z]', lambda match: match[0].upper(), said)
    mark = "" if said.endswith(("?", "!", '"')) else "?" if scene.mood.question else "."
    return unicodedata.normalize("NFKC", english.sentence(said, mark))


def _subject(parts: tuple[str | Slot, ...], scene: Scene) -> Person:
    if len(parts) == 1 and isinstance(parts[0], Slot):
        return scene.filler(parts[0].name).person(parts[0].forms, scene)
    return clauses.person("".join(_english_part(part, scene) for part in parts))


def _clause(part: Predicate, who: Person, scene: Scene, future: bool, main: bool) -> str:
    mood, asking = scene.mood, main and scene.mood.question
    owner = english.YOU if asking and who == I else who
    text = "".join(_english_part(p, scene) for p in part.parts).replace("{own}", owner.own)
    tense = clauses.tense_of(part.forms[0] if part.forms else "", mood, future)
    negative = part.negated != (main and mood.negative)
    return clauses.clause(who, text, tense, negative, asking)


def _inflected(part: Predicate, scene: Scene) -> str:
    """Verb phrase without a subject in a form: "eating lunch"."""
    verb, _, rest = "".join(_english_part(p, scene) for p in part.parts).partition(" ")
    rule = Doing.RULES.get(part.forms[0])
    return english.join(rule(verb) if rule else verb, rest)


def _english_part(part: str | Slot, scene: Scene) -> str:
    return part if isinstance(part, str) else scene.filler(part.name).en(part.forms, scene)


def moods_of(forms: frozenset[str], scene_words: dict, draw: Draw, number: int) -> list[Mood]:
    """Distinct moods that a row can have with its words."""
    if "-" in forms:
        return [Mood("polite")]
    levels = [level for level in moods.LEVELS if level in forms] or list(moods.LEVELS)
    weighted = [*levels, *(level for level in levels if level == "polite")]
    tags = [word.tags for word in scene_words.values() if isinstance(word, When)]
    own = any(getattr(word, "is_own", False) for word in scene_words.values())
    found: list[Mood] = []
    for _ in range(0 if "question!" in forms and own else 2 * number):
        past = "past!" in forms or ("past" in forms and draw.chance(0.35))
        if tags and not forms & {"past!", "present!"}:
            past = any("past" in of_time for of_time in tags)
        question = "question!" in forms or ("question" in forms and draw.chance(0.25) and not own)
        negative = "negative!" in forms or (
            "negative" in forms and draw.chance(0.25) and not (question and draw.chance(0.8))
        )
        level = draw.choose(weighted)
        particle = "よ" if level == "casual" and draw.chance(0.4) and not question else ""
        mood = Mood(level, past, negative, question, particle)
        found += [mood] if mood not in found else []
    return found[:number]
