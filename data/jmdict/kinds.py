"""Kind of each word: which frames make a sense and a grammatical sentence with it."""

import re
from collections import defaultdict
from collections.abc import Sequence
from importlib import resources
from typing import NamedTuple

from keras_attn_data.everyday import japanese
from keras_attn_data.everyday.english import Phrase
from keras_attn_data.jmdict.words import Word

# Inflection classes of `japanese.Word`. Classes that are not here have word pairs only.
_VERB_CLASSES = {"v1": "ichidan", "v5k-s": "iku", "vk": "kuru"} | {
    f"v5{row}": "godan" for row in "ukgsntbmr"
}
_ADJECTIVE_CLASSES = {"adj-i": "i", "adj-ix": "ii", "adj-na": "na", "adj-no": "noun"}
_NOUN_KINDS = tuple(
    f"noun, {kind}" for kind in ("family", "person", "place", "animal", "thing", "event", "mass")
)
_VERB_KINDS = ("verb, person", "verb, thing")
_PREPOSITION = re.compile(
    r" (of|for|in|to|with|from|on|at|by|without|between|against|under|"
    r"after|before|during|when|who|that|left) "
)
_PREPOSITIONS = frozenset("of for in to with from on at by into about as than upon over".split())
_SEPARABLE = frozenset("up out off down away back together apart aside".split())
_WITH_OBJECT = frozenset("for at to with about from of into onto upon after against".split())
_ALONE = _SEPARABLE | frozenset("over in on through around along by forward about".split())
_STATES = frozenset(("be", "become", "get", "grow"))
# Endings of words that are not singular countable nouns, or that are an adjective.
_PLURAL = re.compile(r"[^suio]s$|^(criteria|data|media|people|police|children|feet|teeth)$|men$")
_MASS = re.compile(r"(ness|ism|ics|logy|graphy|hood|cy|phobia|itis|ium|ization)$")
_DOING = re.compile(r"[a-z]{2}ing$")
_ADJECTIVAL = re.compile(
    r"([^i]ous|ful|less|able|ible|[^aeo]ed|ish|ward|-type|-like|free|al|ive|ary|[^s]ic)$"
)
_NOMINAL = re.compile(
    r"(ness|ity|tion|sion|ment|ence|ance|cy|ism|ship|dom|ing|hood|ics|ude|th|ery|[es]ty|inty|ice)$"
)
_ADVERBIAL = re.compile(r"ly$")
_PERSONAL = re.compile(r"-(hearted|minded|tempered|natured|willed|spirited)$")
# Nouns of actions and their verbs: endings that are cut, and what takes their place.
_ENDINGS = (
    ("", ""), ("ization", "ize"), ("isation", "ize"), ("ification", "ify"), ("ication", "icate"),
    ("ation", "ate"), ("ation", "e"), ("ation", ""), ("ition", "e"), ("tion", "te"), ("ion", ""),
    ("ction", "ct"), ("ption", "pt"), ("duction", "duce"), ("scription", "scribe"),
    ("ision", "ide"), ("usion", "ude"), ("sion", "d"), ("sion", "se"), ("ission", "it"),
    ("version", "vert"), ("ment", ""), ("val", "ve"), ("sal", "se"), ("ing", ""), ("ing", "e"),
    ("ance", ""), ("ance", "e"), ("ence", ""), ("ence", "e"), ("ysis", "yze"), ("ure", "e"),
    ("age", ""), ("y", ""), ("ery", "er"), ("th", ""), ("planation", "plain"), ("f", "ve"),
    ("sale", "sell"), ("thought", "think"), ("choice", "choose"), ("speech", "speak"),
    ("resolution", "resolve"), ("solution", "solve"), ("ception", "ceive"), ("uction", "oy"),
)  # fmt: skip


class Use(NamedTuple):
    """Word in a kind of frame.

    Args:
        kind: Kind of the frames, as in `frames.tsv`.
        ja: Japanese word with its inflection class.
        en: English words; for verbs the verb with what follows it, "it" and "him" included.
        object: Japanese object of a verb with "it" or "him", with を, or empty.
    """

    kind: str
    ja: japanese.Word
    en: Phrase
    object: str = ""


class Kinds:
    """Rules and lists that tell the kinds of words; nothing else knows what a word means."""

    def __init__(self, words: Sequence[Word]):
        self._words = _lists()
        self._verbs: dict[str, set[str]] = {"vt": set(), "vi": set()}
        self._adjectives = set(self._words["adjective, person"])
        self._nouns: set[str] = set()
        for word in words:
            is_noun, is_adjective = "n" in word.tags, word.tags[0] in ("adj-i", "adj-na")
            if is_noun and not any(tag.startswith("adj") for tag in word.tags):
                self._nouns.add(word.en)
            if word.is_verb and " " not in word.en:
                for tag in {"vt", "vi"} & set(word.tags):
                    self._verbs[tag].add(word.en)
            if is_adjective and not is_noun and not _NOMINAL.search(word.en):
                self._adjectives.add(word.en)

    def uses(self, word: Word) -> list[Use]:
        """Kinds of frames for a word: none, one, or two for a noun of an action."""
        if re.search(r"[A-Z.!?0-9]", word.en):  # names and exclamations
            return []
        if word.is_verb:
            return self._verb(word)
        if word.tags[0] in _ADJECTIVE_CLASSES:
            return self._adjective(word)
        if word.tags[0] == "n" and "adj-na" not in word.tags and "adv" not in word.tags:
            return self._action(word) or self._noun(word)
        return []

    def _noun(self, word: Word) -> list[Use]:
        words = word.en.split()
        head, last = _PREPOSITION.split(f"{word.en} ")[0].split()[-1], words[-1]
        without = self._words["no frame after"]
        if words[0] in without or {"and", "or", "be"} & set(words) or last in _PREPOSITIONS:
            return []
        if "'" in word.en or (_PLURAL.search(head) and not _MASS.search(head)):
            return []
        if self._is_adjective(head) or self._is_adjective(last):
            return []
        kind = self._noun_kind(words, head)
        return [Use(kind, japanese.Word(word.ja, "noun"), Phrase(word.en))] if kind else []

    def _noun_kind(self, words: list[str], head: str) -> str:
        """Kind of the frames of a noun, or nothing."""
        is_doing = _DOING.search(words[0]) and words[0] not in self._words["no activity"]
        if is_doing and len(words) > 1 and words[1] in self._words["doing before"]:
            return "noun, doing"
        listed = next((kind for kind in _NOUN_KINDS if head in self._words[kind]), "")
        if listed:  # not "boiling water": 試食 is "sampling food"
            return "" if is_doing and listed == "noun, mass" else listed
        if _DOING.search(head) and head not in self._words["no activity"]:
            return "noun, doing"
        if is_doing:  # "hunting ground", "taking responsibility"
            return ""
        is_mass = _MASS.search(head) and head not in self._words["no activity"]
        return "noun, mass" if is_mass else "noun"

    def _is_adjective(self, word: str) -> bool:
        if word in self._words["no adjective"]:
            return False
        endings = (_ADJECTIVAL, _ADVERBIAL)
        return word in self._adjectives or any(ending.search(word) for ending in endings)

    def _adjective(self, word: Word) -> list[Use]:
        words = word.en.split()
        last = words[-1]
        is_noun = _NOMINAL.search(last) or ("n" in word.tags and last in self._nouns)
        is_noun = is_noun and last not in self._adjectives
        if len(words) > 2 or is_noun or words[0] in self._words["adjective, no frame"]:
            return []
        if words[0] in self._words["no frame after"] or (
            word.tags[0] == "adj-no" and "n" in word.tags
        ):
            return []
        form = _ADJECTIVE_CLASSES[word.tags[0]]
        form = "ii" if form == "i" and word.ja.endswith("いい") else form
        if form in ("i", "ii") and not word.ja.endswith("い"):
            return []
        is_personal = last in self._words["adjective, person"] or _PERSONAL.search(last)
        kind = "adjective, person" if is_personal else "adjective"
        return [Use(kind, japanese.Word(word.ja, form), Phrase(word.en))]

    def _verb(self, word: Word) -> list[Use]:
        form = next((_VERB_CLASSES[tag] for tag in word.tags if tag in _VERB_CLASSES), "")
        if not form:
            return []
        inflected = japanese.Word(word.ja, form)
        return (
            self._transitive(word.en, inflected)
            if "vt" in word.tags
            else (self._intransitive(word.en, inflected) if "vi" in word.tags else [])
        )

    def _transitive(self, gloss: str, inflected: japanese.Word) -> list[Use]:
        """Verb with "it", or with "him", where the gloss has a place for it."""
        verb, *rest = gloss.split()
        if verb in _STATES or verb.endswith("ly"):
            return []
        if not rest and verb in self._words["verb, no object"]:
            return []
        pronoun = "him" if verb in self._words["verb, him"] else "it"
        if not rest or (len(rest) == 1 and rest[0] in _SEPARABLE):
            rest = [pronoun, *rest]
        elif rest[-1] in _WITH_OBJECT and "one's" not in rest:
            rest = [*rest, pronoun]
        else:
            return []
        said = "彼を" if pronoun == "him" else "それを"
        return [Use("verb, person", inflected, Phrase(verb, " ".join(rest)), said)]

    def _intransitive(self, gloss: str, inflected: japanese.Word) -> list[Use]:
        verb, *rest = gloss.split()
        phrase = Phrase(verb, " ".join(rest))
        if verb in _STATES and len(rest) == 1:
            if rest[0] in _ALONE:
                return []
            is_personal = rest[0] in self._words["adjective, person"]
            return [Use("verb, feeling" if is_personal else "verb, thing", inflected, phrase)]
        if rest and (len(rest) > 1 or rest[0] not in _SEPARABLE):
            return []
        for kind in _VERB_KINDS:
            if verb in self._words[kind]:
                return [Use(kind, inflected, phrase)]
        return []

    def _action(self, word: Word) -> list[Use]:
        """Verb that する makes of a noun whose gloss is a noun made of a verb."""
        if "vs" not in word.tags or " " in word.en:
            return []
        for ending, verbal in _ENDINGS:
            verb = word.en.removesuffix(ending) + verbal
            if not word.en.endswith(ending) or verb not in self._verbs["vt"] | self._verbs["vi"]:
                continue
            inflected = japanese.Word(word.ja + "する", "suru")
            kinds = [kind for kind in _VERB_KINDS if verb in self._words[kind]]
            if verb in self._words["verb, him"]:
                return []  # 挑戦する is not with を
            if not kinds and verb in self._verbs["vt"]:
                return self._transitive(verb, inflected)
            if kinds and verb not in self._verbs["vt"]:
                return self._intransitive(verb, inflected)
            return []  # whether the noun is an action on something is not known
        return []


def _lists() -> dict[str, frozenset[str]]:
    """Words of `kinds.tsv`, by kind."""
    words: dict[str, set[str]] = defaultdict(set)
    with (resources.files("keras_attn_data.jmdict") / "kinds.tsv").open(encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            kind, listed = line.rstrip("\n").split("\t")
            words[kind].update(listed.split())
    return {kind: frozenset(listed) for kind, listed in words.items()}
