"""What people do, did and will do: tenses, time words, places, companions, ways to travel."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Mood, Pair, Who, lead, tell
from keras_attn_data.everyday.english import Phrase
from keras_attn_data.everyday.japanese import Word
from keras_attn_data.everyday.lexicon import Action, Place, Time

_COMPANIONS = ("family", "friend", "name")
_TRANSPORT = (
    ("バスで", "by bus"),
    ("電車で", "by train"),
    ("車で", "by car"),
    ("タクシーで", "by taxi"),
    ("自転車で", "by bicycle"),
    ("歩いて", "on foot"),
)
_FAR_TRANSPORT = (
    ("新幹線で", "by bullet train"),
    ("電車で", "by train"),
    ("車で", "by car"),
    ("夜行バスで", "by night bus"),
    ("飛行機で", "by plane"),
)
GO = Word("行く", "iku")


def _placed(action: Action, place: Place | None) -> tuple[Word, Phrase]:
    """The action with で and its place."""
    if place is None:
        return action.ja, action.en
    return action.ja.after(place.ja + "で"), action.en.plus(place.at)


def _words(who: Who, *words: str) -> tuple[str, ...]:
    return tuple(word for word in (who.ja, *words) if word)


def _timed(
    draw: Draw, who: Who, ja: Word, en: Phrase, times: list[Time], moods: list[Mood]
) -> list[Pair]:
    """The same event at different times in different moods."""
    pairs = []
    for time, mood in zip(times, moods, strict=False):
        past = "past" in time.kinds
        person = who.asked(mood.question)
        tense = "past" if past else "will" if "future" in time.kinds else "present"
        text = who.topic + lead(time.ja) + mood.end(ja, past)
        pairs.append(Pair(text, tell(person, en.plus(time.en), tense, mood)))
    return pairs


def habit(draw: Draw) -> Drawn:
    """毎朝、コーヒーを飲みます。"""
    who, action = draw.who(), draw.action("h")
    place = draw.place_for(action) if draw.chance(0.3) else None
    ja, en = _placed(action, place)
    moods = draw.moods(3, negatives=False)
    words = _words(who, action.key, place.ja if place else "")
    return Drawn(words, _timed(draw, who, ja, en, draw.times("habit", 3), moods))


def frequency(draw: Draw) -> Drawn:
    """兄はよくテニスをします。"""
    who, action = draw.who(), draw.action("h")
    pairs = []
    for time, mood in zip(draw.times("freq", 2), draw.moods(2, negatives=False), strict=True):
        person = who.asked(mood.question)
        text = who.topic + time.ja + mood.end(action.ja)
        pairs.append(Pair(text, tell(person, action.en, "present", mood, time.en)))
    rarely = Mood(draw.chance(0.6), negative=True)
    text = who.topic + "あまり" + rarely.end(action.ja)
    pairs.append(Pair(text, tell(who.en, action.en, "present", rarely, "often")))
    return Drawn(_words(who, action.key), pairs)


def past_action(draw: Draw) -> Drawn:
    """昨日、図書館で本を読みました。"""
    who, action = draw.who(), draw.action("w")
    place = draw.place_for(action)
    ja, en = _placed(action, place)
    times = draw.times("past", 3)
    words = _words(who, action.key, place.ja if place else "")
    return Drawn(words, _timed(draw, who, ja, en, times, draw.moods(3)))


def future_action(draw: Draw) -> Drawn:
    """明日、図書館で本を読みます。"""
    who, action = draw.who(), draw.action("w")
    place = draw.place_for(action) if draw.chance(0.6) else None
    ja, en = _placed(action, place)
    times = draw.times("future", 3)
    words = _words(who, action.key, place.ja if place else "")
    return Drawn(words, _timed(draw, who, ja, en, times, draw.moods(3)))


def with_companion(draw: Draw) -> Drawn:
    """先週の日曜日、友達と公園でテニスをしました。"""
    action = draw.action("w")
    place = draw.place_for(action)
    who = draw.who()
    companion = draw.somebody(*_COMPANIONS)
    while companion.ja == who.ja:
        companion = draw.somebody(*_COMPANIONS)
    ja, en = _placed(action, None)
    where = place.ja + "で" if place and draw.chance(0.5) else ""
    en = en.plus(f"with {companion.en.object}", place.at if place and where else "")
    ja = ja.after(f"{companion.ja}と{where}")
    times = draw.times("past", 2) + draw.times("future", 1)
    words = _words(who, action.key, companion.ja, where)
    return Drawn(words, _timed(draw, who, ja, en, times, draw.moods(3, negatives=False)))


def right_now(draw: Draw) -> Drawn:
    """母は今、台所で料理しています。"""
    who, action = draw.who(0.2), draw.action("p")
    place = draw.place_for(action) if draw.chance(0.5) else None
    ja, en = _placed(action, place)
    ja = japanese.progressive(ja)
    pairs = []
    for mood in draw.moods(2, negatives=False):
        person = who.asked(mood.question)
        text = who.topic + "今、" + mood.end(ja)
        pairs.append(Pair(text, tell(person, en.plus("now"), "progressive", mood)))
    mood = Mood(draw.chance(0.6))
    text = f"{who.topic}そのとき、{mood.end(ja, past=True)}"
    pairs.append(Pair(text, tell(who.en, en.plus("then"), "past progressive", mood)))
    return Drawn(_words(who, action.key, place.ja if place else ""), pairs)


def going(draw: Draw) -> Drawn:
    """来週、新幹線で京都に行きます。"""
    who, place = draw.who(), draw.place("go")
    far = place.kinds & {"town", "land"} or place.activities & {"city"}
    abroad = "abroad" in place.activities
    ways = _FAR_TRANSPORT[-1:] if abroad else _FAR_TRANSPORT if far else _TRANSPORT
    way_ja, way_en = draw.choose(ways)
    if draw.chance(0.3):
        companion = draw.somebody("family", "friend", "name")
        if companion.ja != who.ja:
            way_ja, way_en = companion.ja + "と", f"with {companion.en.object}"
    ja, en = GO.after(f"{way_ja}{place.ja}に"), Phrase("go", f"to {place.en} {way_en}")
    kind = "long" if abroad or far else "future"
    times = draw.times("past" if kind == "future" else "long", 2) + draw.times(kind, 2)
    times = list(dict.fromkeys(times))[:3]
    return Drawn(_words(who, place.ja, way_ja), _timed(draw, who, ja, en, times, draw.moods(3)))


def going_to_do(draw: Draw) -> Drawn:
    """昨日、デパートへ靴を買いに行きました。"""
    who, action = draw.who(), draw.action("w")
    place = draw.place_for(action)
    while place is None or place.ja == "家" or place.ja == "庭" or action.ja.text.endswith("行く"):
        action = draw.action("w")
        place = draw.place_for(action)
    ja = GO.after(f"{place.ja}へ{japanese.stem(action.ja)}に")
    times = draw.times("past", 2) + draw.times("future", 2)
    draw.rng.shuffle(times)
    pairs = []
    for time, mood in zip(times, draw.moods(3), strict=False):
        person = who.asked(mood.question)
        en = Phrase("go", f"to {place.en} to {action.en.base(person)} {time.en}")
        past = "past" in time.kinds
        text = who.topic + lead(time.ja) + mood.end(ja, past)
        pairs.append(Pair(text, tell(person, en, "past" if past else "will", mood)))
    return Drawn(_words(who, action.key, place.ja), pairs)


def already_or_not_yet(draw: Draw) -> Drawn:
    """もう宿題をしましたか。まだ宿題をしていません。"""
    who, action = draw.who(), draw.action("d")
    done, asked = Mood(draw.chance(0.6)), Mood(draw.chance(0.6), question=True)
    not_yet = Mood(draw.chance(0.6), negative=True)
    listener = who.asked(True)
    yet = action.en.plus("yet")
    pairs = [
        Pair(
            f"{who.topic}もう{done.end(action.ja, past=True)}",
            english.sentence(english.say(who.en, action.en, "perfect", adverb="already")),
        ),
        Pair(
            f"{who.topic}もう{asked.end(action.ja, past=True)}",
            tell(listener, yet, "perfect", asked),
        ),
        Pair(
            f"{who.topic}まだ{not_yet.end(japanese.progressive(action.ja))}",
            tell(who.en, yet, "perfect", not_yet),
        ),
    ]
    return Drawn(_words(who, action.key), pairs)


PATTERNS = (
    habit,
    frequency,
    past_action,
    future_action,
    with_companion,
    right_now,
    going,
    going_to_do,
    already_or_not_yet,
)
