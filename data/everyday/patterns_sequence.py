"""One thing after, before or during another."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Mood, Pair, lead, tell
from keras_attn_data.everyday.english import Person, Phrase
from keras_attn_data.everyday.lexicon import Action


def _two(draw: Draw, use: str = "h") -> tuple[Action, Action]:
    """Two actions without a verb or an object in common."""
    first, second = draw.action(use), draw.action(use)
    while second.en.verb == first.en.verb or (first.noun and first.noun == second.noun):
        second = draw.action(use)
    return first, second


def _pronoun(person: Person) -> Person:
    return Person(person.pronoun, person.code)


def and_then(draw: Draw) -> Drawn:
    """昨日、買い物をしてから映画を見ました。"""
    (first, second), who = _two(draw, "q"), draw.who(0.5)
    pairs = []
    for time, mood in zip(
        draw.times("past", 1) + draw.times("future", 1), draw.moods(2, negatives=False), strict=True
    ):
        past, person = "past" in time.kinds, who.asked(mood.question)
        after = first.en.ing(person)
        ja = f"{who.topic}{lead(time.ja)}{japanese.te(first.ja)}から、{mood.end(second.ja, past)}"
        en = second.en.plus(f"after {after}", time.en)
        pairs.append(Pair(ja, tell(person, en, "past" if past else "will", mood)))
    return Drawn(tuple(w for w in (who.ja, first.key, second.key) if w), pairs)


def before_doing(draw: Draw) -> Drawn:
    """寝る前に歯を磨きます。"""
    (first, second), who = _two(draw, "q"), draw.who(0.5)
    pairs = []
    for mood in draw.moods(2, negatives=False):
        person = who.asked(mood.question)
        past = draw.chance(0.5)
        time_ja, time_en = ("昨日、", "yesterday") if past else ("いつも", "")
        ja = f"{who.topic}{time_ja}{second.ja.text}前に{mood.end(first.ja, past)}"
        en = first.en.plus(f"before {second.en.ing(person)}", time_en)
        text = tell(person, en, "past" if past else "present", mood, "" if past else "always")
        pairs.append(Pair(ja, text))
    return Drawn(tuple(w for w in (who.ja, first.key, second.key) if w), pairs)


def two_things(draw: Draw) -> Drawn:
    """日曜日に部屋を掃除して、本を読みました。"""
    (first, second), who = _two(draw, "q"), draw.who(0.5)
    pairs = []
    for time, listing in zip(draw.times("past", 2), (False, True), strict=True):
        mood = Mood(draw.chance(0.6))
        joined = _tari(first, second) if listing else second.ja.after(japanese.te(first.ja) + "、")
        link = "and" if not listing else "and"
        one = english.say(who.en, first.en, "past")
        tail = english.join(english.past(second.en.verb), second.en.tail(who.en))
        if listing:
            one = english.say(who.en, Phrase("do", f"things like {first.en.ing(who.en)}"), "past")
            tail = second.en.ing(who.en)
        ja = who.topic + lead(time.ja) + mood.end(joined, past=True)
        pairs.append(Pair(ja, english.sentence(f"{one} {link} {tail} {time.en}")))
    return Drawn(tuple(w for w in (who.ja, first.key, second.key) if w), pairs)


def _tari(first: Action, second: Action) -> japanese.Word:
    one, two = (japanese.plain(a.ja, past=True) + "り" for a in (first, second))
    return japanese.Word(f"{one}、{two}する", "suru")


def while_doing(draw: Draw) -> Drawn:
    """音楽を聞きながら宿題をします。"""
    (side_ja, side_en), who = draw.choose(_SIDE), draw.who(0.5)
    action = draw.action("p")
    while action.en.verb in _ATTENTION or action.key in side_ja:
        action = draw.action("p")
    pairs = []
    for mood in draw.moods(2, negatives=False):
        person = who.asked(mood.question)
        past = draw.chance(0.5)
        time = draw.time("past" if past else "freq")
        ja = f"{who.topic}{lead(time.ja)}{side_ja}ながら{mood.end(action.ja, past)}"
        en = action.en.plus(f"while {side_en}", time.en if past else "")
        text = tell(person, en, "past" if past else "present", mood, "" if past else time.en)
        pairs.append(Pair(ja, text))
    return Drawn(tuple(w for w in (who.ja, side_ja, action.key) if w), pairs)


_SIDE = (
    ("音楽を聞き", "listening to music"),
    ("ラジオを聞き", "listening to the radio"),
    ("テレビを見", "watching TV"),
    ("歌を歌い", "singing songs"),
    ("友達と話し", "talking with friends"),
    ("コーヒーを飲み", "drinking coffee"),
    ("お茶を飲み", "drinking tea"),
)
_ATTENTION = frozenset("watch listen talk sing speak swim drink dance look play teach".split())


def when_young(draw: Draw) -> Drawn:
    """子供のとき、よく川で泳ぎました。"""
    when_ja, when_en = draw.choose(_WHEN)
    who, action = draw.who(0.5), draw.action("h")
    place = draw.place_for(action) if draw.chance(0.4) else None
    ja = action.ja.after(place.ja + "で" if place else "")
    pairs = []
    for adverb_ja, adverb_en in draw.sample(
        (("よく", "often"), ("ときどき", "sometimes"), ("毎日", "")), 2
    ):
        mood = Mood(draw.chance(0.6), question=draw.chance(0.2))
        person = who.asked(mood.question)
        clause = english.say(_pronoun(person), Phrase("be", when_en), "past")
        en = action.en.plus(
            place.at if place else "", "every day" if not adverb_en else "", f"when {clause}"
        )
        text = tell(person, en, "past", mood, adverb_en)
        pairs.append(
            Pair(f"{who.topic}{when_ja}、{lead(adverb_ja)}{mood.end(ja, past=True)}", text)
        )
    return Drawn(
        tuple(w for w in (who.ja, when_ja, action.key, place.ja if place else "") if w), pairs
    )


_WHEN = (
    ("子供のとき", "a child"),
    ("学生のとき", "a student"),
    ("若いとき", "young"),
    ("大学生のとき", "a college student"),
)

PATTERNS = (and_then, before_doing, two_things, while_doing, when_young)
