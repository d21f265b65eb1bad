"""Patterns of relative clauses: "the book that I bought yesterday"."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Pair, lead, tell
from keras_attn_data.everyday.english import Person, Phrase
from keras_attn_data.everyday.japanese import Word
from keras_attn_data.everyday.lexicon import Action, Noun, Time

# Judgements about a thing after an action on it.
_VERDICTS = {
    "食べる": "おいしい 甘い 辛い",
    "飲む": "おいしい 冷たい 熱い",
    "作る": "おいしい 辛い",
    "読む": "面白い つまらない 長い 短い 難しい やさしい",
    "見る": "面白い つまらない 長い 短い",
    "買う": "高い 安い 便利 重い 軽い 丈夫 すてき かわいい 赤い 青い 白い 黒い おいしい 甘い",
    "借りる": "面白い 便利 難しい 古い 軽い",
    "着る": "すてき 青い 白い 黒い 暖かい 赤い",
    "はく": "すてき 青い 白い 黒い",
    "かぶる": "すてき 青い 白い 黒い",
    "編む": "暖かい すてき かわいい",
    "書く": "長い 短い",
}
# Judgements in the past tense; all others are in the present.
_AT_THE_TIME = frozenset(
    "おいしい 甘い 辛い まずい 冷たい 熱い 面白い つまらない 高い 安い 長い 短い".split()
)


def _with_noun(draw: Draw) -> tuple[Action, Noun]:
    action = draw.action("result")
    return (action, action.noun) if action.noun is not None else _with_noun(draw)


def _when(time: Time) -> str:
    """Time word before a verb; weekdays get the particle に."""
    return time.ja + "に" if time.ja.endswith("曜日") else time.ja


def _that(noun: Noun, clause: str, time: str) -> Person:
    """Noun with a relative clause about an action of a person."""
    many = noun.is_plural or noun.article == "s"
    return Person(f"{noun.the} that {clause} {time}", "3p" if many else "3n")


def thing_somebody_did(draw: Draw) -> Drawn:
    """昨日母が作ったケーキはおいしかったです。"""
    (action, noun), who = _with_noun(draw), draw.who(0.4)
    verdicts = _VERDICTS.get(action.verb.text, "").split()
    suitable = [
        adjective
        for adjective in draw.lexicon.adjectives
        if adjective.ja.text in verdicts and adjective.describes & noun.tags
    ]
    if not suitable:
        return thing_somebody_did(draw)
    adjective = draw.choose(suitable)
    past = adjective.ja.text in _AT_THE_TIME
    pairs = []
    times, moods = draw.times_for(action, "past", 2), draw.moods(2, [who])
    for time, mood in zip(times, moods, strict=True):
        if not who.ja and not time.ja:
            continue  # the clause would be a verb alone
        clause = english.say(who.asked(mood.question), Phrase(action.en.verb), "past")
        when = lead(time.ja) if who.ja else _when(time)
        ja = f"{when}{who.subject}{japanese.plain(action.verb, past=True)}{noun.ja}は"
        text = ja + mood.end(adjective.ja, past)
        person, phrase = _that(noun, clause, time.en), Phrase("be", adjective.en)
        pairs.append(Pair(text, tell(person, phrase, "past" if past else "present", mood)))
    return Drawn(tuple(w for w in (who.ja, action.key, adjective.ja.text) if w), pairs)


def thing_is_what(draw: Draw) -> Drawn:
    """これは母が昨日作ったケーキです。"""
    (action, noun), who = _with_noun(draw), draw.who(0.0)
    while action.verb.text not in ("作る", "買う", "書く", "編む", "焼く", "借りる"):
        action, noun = _with_noun(draw)
    many = noun.is_plural or noun.article == "s"
    this = Person("these" if many else "this", "3p" if many else "3n")
    pairs = []
    times, moods = draw.times_for(action, "past", 2), draw.moods(2, [who])
    for time, mood in zip(times, moods, strict=True):
        clause = english.say(who.en, Phrase(action.en.verb), "past")
        verb = japanese.plain(action.verb, past=True)
        word = Word(f"これは{who.subject}{_when(time)}{verb}{noun.ja}", "noun")
        phrase = Phrase("be", f"the {_that(noun, clause, time.en).text.removeprefix('the ')}")
        pairs.append(Pair(mood.end(word), tell(this, phrase, "present", mood)))
    return Drawn((who.ja, action.key), pairs)


def person_doing(draw: Draw) -> Drawn:
    """あそこで本を読んでいる人は田中さんです。"""
    action, somebody = draw.action("now"), draw.somebody("name", "friend", "family")
    while action.en.verb not in _VISIBLE or "bath" in action.en.rest or "shower" in action.en.rest:
        action = draw.action("now")
    kinds = {"3f": ("女の人", "woman"), "3m": ("男の人", "man")}
    kind_ja, kind_en = kinds.get(somebody.en.code, ("人", "person"))
    where_ja, where_en = draw.choose(_OVER_THERE)
    code = Person("", somebody.en.code)
    person = Person(f"the {kind_en} {action.en.ing(code)} {where_en}", somebody.en.code)
    ja = f"{where_ja}{japanese.te(action.ja)}いる{kind_ja}は"
    word = Word(somebody.ja, "noun")
    pairs = [
        Pair(ja + mood.end(word), tell(person, Phrase("be", somebody.en.text), "present", mood))
        for mood in draw.moods(2, [somebody])
    ]
    return Drawn((somebody.ja, action.key, where_ja), pairs)


_OVER_THERE = (
    ("あそこで", "over there"),
    ("向こうで", "over there"),
    ("この写真で", "in this photo"),
)
# Actions that somebody who looks on recognises.
_VISIBLE = frozenset(
    "eat drink read write wash clean wait play draw carry sing dance run swim take wipe "
    "smoke".split()
)


def thing_from_somebody(draw: Draw) -> Drawn:
    """父にもらった時計をなくしました。"""
    giver, (tag, got_ja, got_en, verb, en) = draw.somebody(), draw.choose(_FATES)
    noun = draw.noun(tag)
    ja = verb.after(f"{giver.ja}に{got_ja}{noun.ja}を")
    phrase = Phrase(en, f"{noun.the.replace('the ', '')} {got_en} {giver.en.object}")
    phrase = Phrase(en, f"the {phrase.rest}")
    pairs = []
    moods = draw.moods(2, questions=False, negatives=False)
    for time, mood in zip(draw.times("past neutral", 2), moods, strict=True):
        text = lead(time.ja) + mood.end(ja, past=True)
        pairs.append(Pair(text, tell(english.I, phrase.plus(time.en), "past", mood)))
    return Drawn((giver.ja, noun.ja, got_ja, verb.text), pairs)


_RECEIVED = "that I received from"
_BORROWED = "that I borrowed from"
_FATES = (
    ("belonging", "もらった", _RECEIVED, Word("なくす", "godan"), "lose"),
    ("accessory", "もらった", _RECEIVED, Word("なくす", "godan"), "lose"),
    ("body", "もらった", _RECEIVED, Word("着る", "ichidan"), "wear"),
    ("message", "もらった", _RECEIVED, Word("読む", "godan"), "read"),
    ("book", "借りた", _BORROWED, Word("読む", "godan"), "read"),
    ("lendable", "借りた", _BORROWED, Word("返す", "godan"), "return"),
    ("device", "借りた", _BORROWED, Word("使う", "godan"), "use"),
)


def people_who(draw: Draw) -> Drawn:
    """このクラスに英語が話せる学生がたくさんいます。"""
    action = draw.action("skill")
    kind_ja, kind_en = draw.choose((("人", "people"), ("学生", "students"), ("子供", "children")))
    places = _TOGETHER if kind_ja != "人" else _TOGETHER[1:2] + _WORKING
    place_ja, place_en = draw.choose(places)
    can = action.general.base(Person("", "3p"))
    clause = f"{kind_en} {place_en} who can {can}"
    group = f"{place_ja}{action.possible.text}{kind_ja}"
    pairs = [
        Pair(f"{group}がたくさんいます。", f"There are many {clause}."),
        Pair(f"{group}はあまりいません。", f"There aren't many {clause}."),
    ]
    return Drawn((place_ja, action.key, kind_ja), pairs)


_TOGETHER = (
    ("このクラスには", "in this class"),
    ("この町には", "in this town"),
    ("この学校には", "at this school"),
)
_WORKING = (("この会社には", "in this company"), ("私の友達の中には", "among my friends"))


def place_where(draw: Draw) -> Drawn:
    """ここは去年桃を買った八百屋です。"""
    action = draw.action(draw.choose(("together", "buying")))
    place, who = draw.place_for(action), draw.who(0.4)
    if place is None or "built" not in place.kinds:
        return place_where(draw)
    this = Person("this", "3n")
    pairs = []
    moods = draw.moods(2, questions=False)
    for time, mood in zip(draw.times_for(action, "past", 2), moods, strict=True):
        clause = english.say(who.en, action.en.plus(time.en), "past")
        verb = japanese.plain(action.ja, past=True)
        when = _when(time) if who.ja else lead(time.ja)
        word = Word(f"ここは{who.subject}{when}{verb}{place.ja}", "noun")
        phrase = Phrase("be", f"{place.en} where {clause}")
        pairs.append(Pair(mood.end(word), tell(this, phrase, "present", mood)))
    return Drawn(tuple(w for w in (who.ja, action.key, place.ja) if w), pairs)


PATTERNS = (
    thing_somebody_did,
    thing_is_what,
    person_doing,
    thing_from_somebody,
    people_who,
    place_where,
)
