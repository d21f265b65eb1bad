"""Clauses before a noun: the book I bought yesterday."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Pair, lead, tell
from keras_attn_data.everyday.english import Person, Phrase


def thing_somebody_did(draw: Draw) -> Drawn:
    """昨日母が作ったケーキはおいしかったです。"""
    action, who = draw.action("t"), draw.who(0.4)
    while action.noun is None:
        action = draw.action("t")
    noun = action.noun
    adjective = _adjective_for(draw, noun.tags)
    if adjective is None:
        return thing_somebody_did(draw)
    verb = japanese.plain(action.verb, past=True)
    pairs = []
    for time, mood in zip(draw.times("past", 2), draw.moods(2), strict=True):
        doing = english.say(who.asked(mood.question), Phrase(action.en.verb), "past")
        person = Person(f"the {noun.en} that {doing} {time.en}", "3p" if noun.is_plural else "3n")
        past = draw.chance(0.5)
        ja = f"{lead(time.ja)}{who.subject}{verb}{noun.ja}は{mood.end(adjective.ja, past)}"
        phrase = Phrase("be", adjective.en)
        pairs.append(Pair(ja, tell(person, phrase, "past" if past else "present", mood)))
    return Drawn(tuple(w for w in (who.ja, action.key, adjective.ja.text) if w), pairs)


def _adjective_for(draw: Draw, tags: frozenset[str]):
    adjectives = [
        a for a in draw.lexicon.adjectives if a.describes & tags and a.uses & {"c", "cp", "color"}
    ]
    return draw.choose(adjectives) if adjectives else None


def person_doing(draw: Draw) -> Drawn:
    """あそこで本を読んでいる人は田中さんです。"""
    action, somebody = draw.action("p"), draw.somebody("name", "friend", "family")
    kind_ja, kind_en = draw.choose((("男の人", "man"), ("女の人", "woman")))
    kind_ja, kind_en = ("女の人", "woman") if somebody.en.code == "3f" else ("男の人", "man")
    place = draw.place_for(action)
    where_ja, where_en = (
        (place.ja + "で", place.at) if place and draw.chance(0.5) else ("あそこで", "over there")
    )
    code = Person("", somebody.en.code)
    person = Person(f"the {kind_en} {action.en.ing(code)} {where_en}", somebody.en.code)
    ja = f"{where_ja}{japanese.te(action.ja)}いる{kind_ja}は"
    word = japanese.Word(somebody.ja, "noun")
    pairs = [
        Pair(ja + mood.end(word), tell(person, Phrase("be", somebody.en.object), "present", mood))
        for mood in draw.moods(2)
    ]
    return Drawn((somebody.ja, action.key, where_ja), pairs)


def thing_i_have(draw: Draw) -> Drawn:
    """父にもらった時計をなくしました。"""
    giver, noun = draw.somebody(), draw.noun("belonging", "book", "body", "head")
    got_ja, got_en = draw.choose(
        (("もらった", "that I received from"), ("借りた", "that I borrowed from"))
    )
    verb, en = draw.choose(_FATES)
    pairs = []
    ja = verb.after(f"{giver.ja}に{got_ja}{noun.ja}を")
    phrase = Phrase(en, f"the {noun.en} {got_en} {giver.en.object}")
    for time, mood in zip(
        draw.times("past", 2), draw.moods(2, questions=False, negatives=False), strict=True
    ):
        text = lead(time.ja) + mood.end(ja, past=True)
        pairs.append(Pair(text, tell(english.I, phrase.plus(time.en), "past", mood)))
    return Drawn((giver.ja, noun.ja, got_ja, verb.text), pairs)


_FATES = (
    (japanese.Word("なくす", "godan"), "lose"),
    (japanese.Word("使う", "godan"), "use"),
    (japanese.Word("見つける", "ichidan"), "find"),
)


def people_who(draw: Draw) -> Drawn:
    """英語が話せる人を知っています。"""
    action = draw.action("c")
    can = japanese.potential(action.verb if action.noun else action.ja)
    if action.noun:
        particle = "に" if f"{action.noun.ja}に" in action.ja.text else "が"
        can = can.after(action.noun.ja + particle)
    kind_ja, kind_en = draw.choose((("人", "people"), ("学生", "students"), ("子供", "children")))
    place_ja, place_en = draw.choose(
        (
            ("このクラスに", "in this class"),
            ("この町に", "in this town"),
            ("この学校に", "at this school"),
        )
    )
    them = Person("", "3p")
    pairs = [
        Pair(
            f"{place_ja}{can.text}{kind_ja}がたくさんいます。",
            f"There are many {kind_en} who can {action.en.base(them)} {place_en}.",
        ),
        Pair(
            f"{place_ja}{can.text}{kind_ja}はあまりいません。",
            f"There are not many {kind_en} who can {action.en.base(them)} {place_en}.",
        ),
    ]
    return Drawn((place_ja, action.key, kind_ja), pairs)


def place_where(draw: Draw) -> Drawn:
    """ここは去年友達と行ったレストランです。"""
    action = draw.action("w")
    place = draw.place_for(action)
    while place is None or "built" not in place.kinds:
        action = draw.action("w")
        place = draw.place_for(action)
    who = draw.who(0.4)
    pairs = []
    for time, mood in zip(draw.times("past", 2), draw.moods(2, questions=False), strict=True):
        doing = english.say(who.en, action.en.plus(time.en), "past")
        ja = f"ここは{lead(time.ja)}{who.subject}{japanese.plain(action.ja, past=True)}{place.ja}"
        word = japanese.Word(ja, "noun")
        person = Person("this", "3n")
        pairs.append(
            Pair(
                mood.end(word),
                tell(person, Phrase("be", f"{place.en} where {doing}"), "present", mood),
            )
        )
    return Drawn(tuple(w for w in (who.ja, action.key, place.ja) if w), pairs)


def never_seen(draw: Draw) -> Drawn:
    """これは私が描いた絵です。"""
    action, who = draw.action("t"), draw.who(0.0)
    while action.noun is None:
        action = draw.action("t")
    noun = action.noun
    this = ("これ", "these" if noun.is_plural else "this")
    verb = japanese.plain(action.verb, past=True)
    pairs = []
    for time, mood in zip(draw.times("past", 2), draw.moods(2), strict=True):
        doing = english.say(who.en, Phrase(action.en.verb), "past")
        phrase = Phrase("be", f"the {noun.en} that {doing} {time.en}")
        word = japanese.Word(f"{this[0]}は{who.subject}{lead(time.ja)}{verb}{noun.ja}", "noun")
        person = Person(this[1], "3p" if noun.is_plural else "3n")
        pairs.append(Pair(mood.end(word), tell(person, phrase, "present", mood)))
    return Drawn((who.ja, action.key), pairs)


PATTERNS = (thing_somebody_did, person_doing, thing_i_have, people_who, place_where, never_seen)
