"""Patterns of sequence: one action after, before or during another."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Mood, Pair, Who, lead, tell
from keras_attn_data.everyday.english import Person, Phrase
from keras_attn_data.everyday.japanese import Word
from keras_attn_data.everyday.lexicon import Action

_MOMENTS = (
    (Word("家に帰る", "godan"), Phrase("go", "home"), "after"),
    (Word("晩ご飯を食べる", "ichidan"), Phrase("eat", "dinner"), "both"),
    (Word("朝ご飯を食べる", "ichidan"), Phrase("eat", "breakfast"), "both"),
    (Word("部屋を掃除する", "suru"), Phrase("clean", "{own} room"), "after"),
    (Word("宿題をする", "suru"), Phrase("do", "{own} homework"), "after"),
    (Word("買い物に行く", "iku"), Phrase("go", "shopping"), "both"),
    (Word("お風呂に入る", "godan"), Phrase("take", "a bath"), "both"),
    (Word("寝る", "ichidan"), Phrase("go", "to bed"), "before"),
    (Word("出かける", "ichidan"), Phrase("go", "out"), "before"),
    (Word("仕事に行く", "iku"), Phrase("go", "to work"), "before"),
    (Word("学校に行く", "iku"), Phrase("go", "to school"), "before"),
)


def _key(who: Who, *words: str) -> tuple[str, ...]:
    return tuple(word for word in (who.ja, *words) if word)


def _moment(draw: Draw, side: str, action: Action) -> tuple[Word, Phrase]:
    """Time of day that is not related to the action."""
    while True:
        ja, en, sides = draw.choose(_MOMENTS)
        if sides in (side, "both") and ja.text[:2] not in action.ja.text:
            return ja, en


def and_then(draw: Draw) -> Drawn:
    """昨日、家に帰ってから、映画を見ました。"""
    who, action = draw.who(0.5), draw.action("routine")
    first, first_en = _moment(draw, "after", action)
    times = draw.times("past neutral", 1) + draw.times("future neutral", 1)
    pairs = []
    for time, mood in zip(times, draw.moods(2, [who], negatives=False), strict=True):
        past, person = "past" in time.kinds, who.asked(mood.question)
        ja = f"{who.topic}{lead(time.ja)}{japanese.te(first)}から、{mood.end(action.ja, past)}"
        en = action.en.plus(f"after {first_en.ing(person)}", time.en)
        pairs.append(Pair(ja, tell(person, en, "past" if past else "will", mood)))
    return Drawn(_key(who, first.text, action.key), pairs)


def before_doing(draw: Draw) -> Drawn:
    """寝る前に歯を磨きます。"""
    who, action = draw.who(0.5), draw.action("routine")
    later, later_en = _moment(draw, "before", action)
    pairs = []
    for mood, past in zip(draw.moods(2, [who], negatives=False), (False, True), strict=True):
        person = who.asked(mood.question)
        time_ja, time_en = ("昨日、", "yesterday") if past else ("いつも", "")
        ja = f"{who.topic}{time_ja}{later.text}前に{mood.end(action.ja, past)}"
        usual = action.en if past else action.general
        en = usual.plus(f"before {later_en.ing(person)}", time_en)
        tense, adverb = ("past", "") if past else ("present", "always")
        pairs.append(Pair(ja, tell(person, en, tense, mood, adverb)))
    return Drawn(_key(who, action.key, later.text), pairs)


def two_things(draw: Draw) -> Drawn:
    """昨日、部屋を掃除して、本を読みました。"""
    who, first, second = draw.who(0.5), draw.action("routine"), draw.action("routine")
    while second.en.verb == first.en.verb or (first.noun and first.noun == second.noun):
        second = draw.action("routine")
    then, listing = draw.times("past neutral", 2)
    mood = Mood(draw.chance(0.6))
    one = english.say(who.en, first.en, "past")
    two = english.join(english.past(second.en.verb), second.en.tail(who.en), then.en)
    ja = second.ja.after(f"{who.topic}{lead(then.ja)}{japanese.te(first.ja)}、")
    pairs = [Pair(mood.end(ja, past=True), english.sentence(f"{one} and {two}"))]
    mood = Mood(draw.chance(0.6))
    some = [japanese.plain(action.ja, past=True) + "り" for action in (first, second)]
    ja = f"{who.topic}{lead(listing.ja)}{some[0]}、{some[1]}"
    doing = f"things like {first.en.ing(who.en)} and {second.en.ing(who.en)}"
    text = tell(who.en, Phrase("do", f"{doing} {listing.en}"), "past", mood)
    pairs.append(Pair(ja + mood.end(Word("する", "suru"), past=True), text))
    return Drawn(_key(who, first.key, second.key), pairs)


def while_doing(draw: Draw) -> Drawn:
    """音楽を聞きながら部屋を掃除します。"""
    side_ja, side_en, use = draw.choose(_SIDE)
    who, action = draw.who(0.5), draw.action(use)
    while action.noun is not None and action.noun.tags & {"drink", "tune", "alcohol"}:
        action = draw.action(use)
    if action.en.verb == "listen":
        return while_doing(draw)
    pairs = []
    for mood, past in zip(draw.moods(2, [who], negatives=False), (True, False), strict=True):
        person = who.asked(mood.question)
        time = draw.times_for(action, "past", 1)[0] if past else draw.time("freq")
        ja = f"{who.topic}{lead(time.ja)}{side_ja}ながら{mood.end(action.ja, past)}"
        en = (action.en if past else action.general).plus(f"while {side_en}")
        tense, adverb = ("past", "") if past else ("present", time.en)
        pairs.append(Pair(ja, tell(person, en.plus(time.en if past else ""), tense, mood, adverb)))
    return Drawn(_key(who, side_ja, action.key), pairs)


_SIDE = (
    ("音楽を聞き", "listening to music", "with-music"),
    ("ラジオを聞き", "listening to the radio", "with-music"),
    ("テレビを見", "watching TV", "with-tv"),
    ("コーヒーを飲み", "drinking coffee", "with-tea"),
    ("お茶を飲み", "drinking tea", "with-tea"),
)


def when_young(draw: Draw) -> Drawn:
    """子供のとき、よく川で泳ぎました。"""
    when_ja, when_one, when_many = draw.choose(_WHEN)
    who, action = draw.who(0.5), draw.action("together")
    child = when_ja == "子供のとき"
    if not child and who.ja.endswith("くん"):
        return when_young(draw)
    if child and action.noun is not None and "alcohol" in action.noun.tags:
        return when_young(draw)
    place = draw.place_for(action) if draw.chance(0.4) else None
    ja = action.ja.after(place.ja + "で" if place else "")
    pairs = []
    for adverb_ja, adverb_en in draw.sample(_OFTEN, 2):
        mood = draw.moods(1, [who], negatives=False)[0]
        person = who.asked(mood.question)
        state = when_many if person.code == "1p" else when_one
        clause = english.say(Person(person.pronoun, person.code), Phrase("be", state), "past")
        en = action.general.plus(place.at if place else "", f"when {clause}")
        text = tell(person, en, "past", mood, adverb_en)
        ja_text = f"{who.topic}{when_ja}、{adverb_ja}{mood.end(ja, past=True)}"
        pairs.append(Pair(ja_text, text))
    return Drawn(_key(who, when_ja, action.key, place.ja if place else ""), pairs)


_OFTEN = (("よく", "often"), ("ときどき", "sometimes"), ("たまに", "occasionally"))
_WHEN = (
    ("子供のとき", "a child", "children"),
    ("学生のとき", "a student", "students"),
    ("若いとき", "young", "young"),
)

PATTERNS = (and_then, before_doing, two_things, while_doing, when_young)
