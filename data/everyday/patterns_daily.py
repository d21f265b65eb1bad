"""Patterns of daily actions: tenses, time words, places, companions, means of transport."""

from keras_attn_data.everyday import japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Mood, Pair, Who, lead, tell
from keras_attn_data.everyday.english import Phrase
from keras_attn_data.everyday.japanese import Word
from keras_attn_data.everyday.lexicon import Action, Place, Time

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
    """Action with its place and the particle で."""
    if place is None:
        return action.ja, action.en
    return action.ja.after(place.ja + "で"), action.en.plus(place.at)


def words(who: Who, *others: str) -> tuple[str, ...]:
    return tuple(word for word in (who.ja, *others) if word)


def timed(
    who: Who,
    ja: Word,
    en: Phrase,
    times: list[Time],
    moods: list[Mood],
    action: Action | None = None,
) -> list[Pair]:
    """Sentences about the same event with different times and moods.

    Args:
        who: Subject.
        ja: Japanese predicate.
        en: English predicate.
        times: Times.
        moods: Moods, one for each time.
        action: Predicate without a place, for negative sentences. Defaults to None.
    """
    pairs = []
    for time, mood in zip(times, moods, strict=False):
        if mood.negative and action is not None:
            if time.ja == "さっき":
                continue
            predicate, phrase = action.ja, action.en
        else:
            predicate, phrase = ja, en
        past = "past" in time.kinds
        person = who.asked(mood.question)
        tense = "past" if past else "will" if "future" in time.kinds else "present"
        text = who.topic + lead(time.ja) + mood.end(predicate, past)
        pairs.append(Pair(text, tell(person, phrase.plus(time.en), tense, mood)))
    return pairs


def habit(draw: Draw) -> Drawn:
    """毎朝、コーヒーを飲みます。"""
    who, action = draw.who(), draw.action("habit")
    place = draw.place_for(action) if draw.chance(0.3) else None
    ja, _ = _placed(action, place)
    en = action.general.plus(place.at if place else "")
    moods = draw.moods(3, [who], negatives=False)
    times = draw.times_for(action, "habit", 3, timeless=0.4)
    return Drawn(
        words(who, action.key, place.ja if place else ""), timed(who, ja, en, times, moods)
    )


def frequency(draw: Draw) -> Drawn:
    """兄はよくテニスをします。"""
    who, action = draw.who(), draw.action("habit")
    pairs = []
    moods = draw.moods(2, [who], negatives=False)
    for time, mood in zip(draw.times("freq", 2), moods, strict=True):
        person = who.asked(mood.question)
        text = who.topic + time.ja + mood.end(action.ja)
        pairs.append(Pair(text, tell(person, action.general, "present", mood, time.en)))
    rarely = Mood(draw.chance(0.6), negative=True)
    text = who.topic + "あまり" + rarely.end(action.ja)
    pairs.append(Pair(text, tell(who.en, action.general, "present", rarely, "often")))
    return Drawn(words(who, action.key), pairs)


def past_action(draw: Draw) -> Drawn:
    """昨日、図書館で本を読みました。"""
    who, action = draw.who(), draw.action("wish")
    place = draw.place_for(action)
    ja, en = _placed(action, place)
    times = draw.times_for(action, "past", 3)
    pairs = timed(who, ja, en, times, draw.moods(3, [who]), action)
    return Drawn(words(who, action.key, place.ja if place else ""), pairs)


def future_action(draw: Draw) -> Drawn:
    """明日、図書館で本を読みます。"""
    who, action = draw.who(), draw.action("wish")
    place = draw.place_for(action) if draw.chance(0.6) else None
    ja, en = _placed(action, place)
    times = draw.times_for(action, "future", 3)
    pairs = timed(who, ja, en, times, draw.moods(3, [who]), action)
    return Drawn(words(who, action.key, place.ja if place else ""), pairs)


def with_companion(draw: Draw) -> Drawn:
    """先週の日曜日、友達と公園でテニスをしました。"""
    action, who = draw.action("together"), draw.who()
    companion, place = draw.other(who), draw.place_for(action)
    where = place.ja + "で" if place and draw.chance(0.5) else ""
    en = action.en.plus(f"with {companion.en.object}", place.at if place and where else "")
    ja = action.ja.after(f"{companion.ja}と{where}")
    times = draw.times_for(action, "past", 2) + draw.times_for(action, "future", 1)
    moods = draw.moods(3, [who, companion], negatives=False)
    return Drawn(words(who, action.key, companion.ja, where), timed(who, ja, en, times, moods))


def right_now(draw: Draw) -> Drawn:
    """母は今、台所で料理しています。"""
    who, action = draw.who(0.2), draw.action("now")
    place = draw.place_for(action) if draw.chance(0.5) else None
    ja, en = _placed(action, place if place and place.ja != "家" else None)
    ja = japanese.progressive(ja)
    pairs = []
    for mood in draw.moods(2, [who], negatives=False):
        person = who.asked(mood.question)
        text = who.topic + "今、" + mood.end(ja)
        pairs.append(Pair(text, tell(person, en.plus("now"), "progressive", mood)))
    mood = Mood(draw.chance(0.6))
    text = f"{who.topic}そのとき、{mood.end(ja, past=True)}"
    pairs.append(Pair(text, tell(who.en, en.plus("then"), "past progressive", mood)))
    return Drawn(words(who, action.key, place.ja if place else ""), pairs)


def going(draw: Draw) -> Drawn:
    """来週、新幹線で京都に行きます。"""
    who, place = draw.who(), draw.place("go")
    abroad, far = "abroad" in place.activities, "far" in place.kinds
    ways = _FAR_TRANSPORT[-1:] if abroad else _FAR_TRANSPORT if far else _TRANSPORT
    way_ja, way_en = draw.choose(ways)
    companion = draw.other(who)
    if draw.chance(0.4):
        way_ja, way_en = companion.ja + "と", f"with {companion.en.object}"
    elif draw.chance(0.3):
        way_ja, way_en = "", ""
    ja = GO.after(f"{way_ja}{place.ja}に")
    en = Phrase("go", f"to {place.en}").plus(way_en)
    times = draw.times("long" if far else "neutral", 3)
    moods = draw.moods(3, [who, companion], negatives=not way_ja)
    return Drawn(words(who, place.ja, way_ja), timed(who, ja, en, times, moods))


def going_to_do(draw: Draw) -> Drawn:
    """昨日、デパートへ靴を買いに行きました。"""
    who, action = draw.who(), draw.action(draw.choose(("together", "buying")))
    place = draw.place_for(action)
    while place is None or place.ja in ("家", "庭", "教室") or "far" in place.kinds:
        action = draw.action(draw.choose(("together", "buying")))
        place = draw.place_for(action)
    ja = GO.after(f"{place.ja}へ{japanese.stem(action.ja)}に")
    times = draw.times_for(action, "past", 2) + draw.times_for(action, "future", 2)
    draw.rng.shuffle(times)
    pairs = []
    for time, mood in zip(times, draw.moods(3, [who], negatives=False), strict=False):
        person = who.asked(mood.question)
        en = Phrase("go", f"to {place.en} to {action.en.base(person)} {time.en}")
        past = "past" in time.kinds
        text = who.topic + lead(time.ja) + mood.end(ja, past)
        pairs.append(Pair(text, tell(person, en, "past" if past else "will", mood)))
    return Drawn(words(who, action.key, place.ja), pairs)


def already_or_not_yet(draw: Draw) -> Drawn:
    """もう宿題をしましたか。まだ宿題をしていません。"""
    who, action = draw.who(), draw.action(draw.choose(("task", "routine")))
    done, not_yet = Mood(draw.chance(0.6)), Mood(draw.chance(0.6), negative=True)
    yet = action.en.plus("yet")
    finished = tell(who.en, action.en, "perfect", done, "already")
    pairs = [
        Pair(f"{who.topic}もう{done.end(action.ja, past=True)}", finished),
        Pair(
            f"{who.topic}まだ{not_yet.end(japanese.progressive(action.ja))}",
            tell(who.en, yet, "perfect", not_yet),
        ),
    ]
    for mood in draw.moods(4, [who], negatives=False):
        if mood.question:
            text = f"{who.topic}もう{mood.end(action.ja, past=True)}"
            pairs.append(Pair(text, tell(who.asked(True), yet, "perfect", mood)))
    return Drawn(words(who, action.key), pairs)


def mishap(draw: Draw) -> Drawn:
    """昨日、財布を落としてしまいました。"""
    who, action = draw.who(0.3), draw.action("mishap")
    ja = Word(japanese.te(action.ja) + "しまう", "godan")
    times = draw.times("past", 2)
    moods = draw.moods(2, [who], negatives=False, questions=False)
    return Drawn(words(who, action.key), timed(who, ja, action.en, times, moods))


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
    mishap,
)
