"""Patterns of numbers: counts, prices, ages, dates, times of day and durations."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Mood, Pair, lead, tell
from keras_attn_data.everyday.english import IT, Person, Phrase
from keras_attn_data.everyday.japanese import Word

_WEEKDAYS = tuple(zip("月火水木金土日", english.WEEKDAYS, strict=True))
_DAY_EVENTS = (
    ("誕生日", "birthday"),
    ("結婚式", "wedding"),
    ("面接", "job interview"),
    ("試験", "exam"),
    ("送別会", "farewell party"),
    ("卒業式", "graduation ceremony"),
)


def bought_counted(draw: Draw) -> Drawn:
    """昨日、八百屋でりんごを三つ買いました。"""
    action = draw.action("buying")
    while action.noun is None or not action.noun.counter or "vehicle" in action.noun.tags:
        action = draw.action("buying")
    noun, who = action.noun, draw.who()
    few = noun.counter == "着" or noun.tags & {
        "furniture",
        "clothes",
        "bag",
        "accessory",
        "glasses",
    }
    number = draw.choose((1,) if noun.counter == "台" else (1, 2) if few else (2, 3, 4, 5, 6, 8))
    place = draw.place_for(action)
    shop = place.ja + "で" if place else ""
    verb = Word("買う", "godan")
    if noun.counter == "杯" or ("order" in noun.tags and draw.chance(0.3)):
        verb, shop, place = Word("注文する", "suru"), "", None
    ja = verb.after(f"{shop}{noun.ja}を{japanese.count(number, noun.counter)}")
    en = Phrase("buy" if verb.text == "買う" else "order", noun.counted(number))
    en = en.plus(place.at if place else "")
    pairs = []
    for time, mood in zip(
        draw.times_for(action, "past", 2),
        draw.moods(2, negatives=False, questions=False),
        strict=True,
    ):
        text = who.topic + lead(time.ja) + mood.end(ja, past=True)
        pairs.append(Pair(text, tell(who.en, en.plus(time.en), "past", mood)))
    return Drawn(tuple(w for w in (who.ja, noun.ja, shop, str(number)) if w), pairs)


def price(draw: Draw) -> Drawn:
    """このシャツは2500円です。"""
    noun = draw.noun("item", "order", "food")
    while noun.tags & {"furniture", "clothes", "bag", "accessory", "glasses"} and noun.en in (
        "futon",
    ):
        noun = draw.noun("item", "order", "food")
    this_ja, this_en = draw.choose((("この", "this"), ("その", "that")))
    low, high, step = price_range(noun.tags)
    yen = low + step * int(draw.rng.random() * ((high - low) // step))
    person = noun.as_subject(this_en)
    word = Word(f"{yen}円", "noun")
    phrase = Phrase("be", f"{yen:,} yen")
    pairs = []
    for mood in draw.moods(2, questions=False, negatives=False):
        past = draw.chance(0.4)
        text = f"{this_ja}{noun.ja}は{mood.end(word, past)}"
        pairs.append(Pair(text, tell(person, phrase, "past" if past else "present", mood)))
    return Drawn((this_ja, noun.ja, str(yen)), pairs)


def price_range(tags: frozenset[str]) -> tuple[int, int, int]:
    if tags & {"electric", "furniture", "instrument", "vehicle"}:
        return 8000, 98000, 1000
    if tags & {"clothes", "bag", "accessory", "glasses"}:
        return 1000, 20000, 500
    if tags & {"order", "book", "dishware"}:
        return 300, 2500, 50
    return (300, 900, 10) if "fruits" in tags else (100, 900, 10)


def age(draw: Draw) -> Drawn:
    """妹は十五歳です。"""
    person = draw.somebody()
    low, high = _AGES.get(person.ja, (18, 60))
    years = low + int(draw.rng.random() * (high - low))
    word = Word(f"{years}歳", "noun")
    next_year = Word(f"{years}歳になる", "godan")
    pairs = []
    for mood in draw.moods(2, [person], negatives=False):
        phrase = Phrase("be", f"{years} years old")
        pairs.append(
            Pair(person.ja + "は" + mood.end(word), tell(person.en, phrase, "present", mood))
        )
    time = draw.choose((("来年", "next year"), ("来月", "next month"), ("今年", "this year")))
    mood = Mood(draw.chance(0.6))
    phrase = Phrase("turn", f"{years} {time[1]}")
    text = f"{person.ja}は{time[0]}、{mood.end(next_year)}"
    pairs.append(Pair(text, tell(person.en, phrase, "will", mood)))
    return Drawn((person.ja, str(years)), pairs)


_AGES = {
    "大家さん": (35, 70),
    "上司": (35, 60),
    "先生": (30, 65),
    "コーチ": (30, 60),
    "おじ": (35, 65),
    "おば": (35, 65),
    "クラスメート": (15, 22),
    "太郎くん": (8, 18),
    "健太くん": (8, 18),
    "おい": (3, 20),
    "めい": (3, 20),
    "父": (40, 70),
    "母": (40, 70),
    "祖父": (70, 95),
    "祖母": (70, 95),
    "弟": (5, 25),
    "妹": (5, 25),
    "息子": (2, 25),
    "娘": (2, 25),
}


def _clock(
    draw: Draw, hours: range, minutes: tuple[int, ...] = (0, 0, 30, 15, 10, 20, 45, 50)
) -> tuple[str, str]:
    hour = draw.choose(list(hours))
    minute = draw.choose(minutes)
    return clock_time(hour, minute)


def clock_time(hour: int, minute: int) -> tuple[str, str]:
    """Time of day in both languages: 午後3時半, "3:30 p.m."."""
    half, shown = ("午前", "a.m.") if hour < 12 else ("午後", "p.m.")
    twelve = hour if hour <= 12 else hour - 12
    minutes = "" if not minute else "半" if minute == 30 else f"{minute}分"
    digits = f"{twelve}:{minute:02d}" if minute else f"{twelve}"
    return f"{half}{twelve}時{minutes}", f"{digits} {shown}"


def at_time(draw: Draw) -> Drawn:
    """毎朝、午前7時半に起きます。"""
    verb, en, hours = draw.choose(_ROUTINE)
    who, (time_ja, time_en) = draw.who(0.3), _clock(draw, hours)
    ja, phrase = verb.after(f"{time_ja}に"), Phrase(*en).plus(f"at {time_en}")
    pairs = []
    for mood in draw.moods(1, [who], negatives=False):
        text = f"{who.topic}毎日、{mood.end(ja)}"
        person = who.asked(mood.question)
        pairs.append(Pair(text, tell(person, phrase.plus("every day"), "present", mood)))
    for time, mood in zip(
        draw.times("past neutral", 1) + draw.times("future neutral", 1),
        draw.moods(2, [who], negatives=False),
        strict=True,
    ):
        past = "past" in time.kinds
        text = who.topic + lead(time.ja) + mood.end(ja, past)
        person = who.asked(mood.question)
        tense = "past" if past else "will"
        pairs.append(Pair(text, tell(person, phrase.plus(time.en), tense, mood)))
    return Drawn(tuple(w for w in (who.ja, verb.text, time_ja) if w), pairs)


_ROUTINE = (
    (Word("起きる", "ichidan"), ("get", "up"), range(5, 10)),
    (Word("家を出る", "ichidan"), ("leave", "home"), range(6, 10)),
    (Word("家に帰る", "godan"), ("go", "home"), range(16, 23)),
    (Word("寝る", "ichidan"), ("go", "to bed"), range(20, 24)),
    (Word("朝ご飯を食べる", "ichidan"), ("eat", "breakfast"), range(6, 9)),
    (Word("昼ご飯を食べる", "ichidan"), ("eat", "lunch"), range(12, 14)),
    (Word("晩ご飯を食べる", "ichidan"), ("eat", "dinner"), range(18, 21)),
    (Word("会社に着く", "godan"), ("arrive", "at the office"), range(7, 11)),
    (Word("お風呂に入る", "godan"), ("take", "a bath"), range(18, 23)),
    (Word("薬を飲む", "godan"), ("take", "medicine"), range(7, 22)),
)


def event_time(draw: Draw) -> Drawn:
    """会議は午後3時に始まります。"""
    noun = draw.noun("event", "starts")
    if noun.ja == "旅行":
        return event_time(draw)
    verb, en = draw.choose(((Word("始まる", "godan"), "start"), (Word("終わる", "godan"), "end")))
    time_ja, time_en = _clock(draw, range(9, 21))
    day = draw.choose((("", ""), ("明日の", "tomorrow's "), ("今日の", "today's ")))
    person = Person(f"{day[1]}{noun.en}" if day[0] else f"the {noun.en}", "3n")
    phrase = Phrase(en, f"at {time_en}")
    pairs = []
    for mood in draw.moods(2, negatives=False):
        text = f"{day[0]}{noun.ja}は{time_ja}に{mood.end(verb)}"
        pairs.append(Pair(text, tell(person, phrase, "present", mood)))
    return Drawn((day[0] + noun.ja, verb.text, time_ja), pairs)


def event_day(draw: Draw) -> Drawn:
    """会議は10月28日の午後3時半に始まります。10月28日の午後3時半に駅で会いましょう。"""
    noun = draw.noun("event", "starts")
    if noun.ja == "旅行":
        return event_day(draw)
    place_ja, place_en = draw.choose(_MEETING_PLACES)
    time_ja, time_en = _clock(draw, range(9, 21))
    month, day = 1 + int(draw.rng.random() * 12), 1 + int(draw.rng.random() * 28)
    at_ja = f"{month}月{day}日の{time_ja}"
    at_en = f"at {time_en} on {english.date(month, day)}"
    person = Person(f"the {noun.en}", "3n")
    pairs = [
        Pair(
            f"{noun.ja}は{at_ja}に{mood.end(Word('始まる', 'godan'))}",
            tell(person, Phrase("start", at_en), "present", mood),
        )
        for mood in draw.moods(1, negatives=False)
    ]
    pairs += [
        Pair(f"{noun.ja}は{at_ja}からです。", f"The {noun.en} is {at_en}."),
        Pair(f"{at_ja}に{place_ja}で会いましょう。", f"Let's meet at {place_en} {at_en}."),
    ]
    return Drawn((noun.ja, place_ja, at_ja), pairs)


_MEETING_PLACES = (
    ("駅", "the station"),
    ("図書館", "the library"),
    ("大学", "the university"),
    ("公園", "the park"),
    ("喫茶店", "the coffee shop"),
)


def opening_hours(draw: Draw) -> Drawn:
    """銀行は午前9時から午後3時までです。図書館は午前9時に開きます。"""
    place = draw.place("hours")
    open_ja, open_en = _clock(draw, range(7, 12), (0, 0, 30))
    close_ja, close_en = _clock(draw, range(16, 21), (0, 0, 30))
    person = Person(place.en, "3n")
    both = Word("開いている", "ichidan")
    pairs = []
    for mood in draw.moods(2, negatives=False):
        text = f"{place.ja}は{open_ja}から{close_ja}まで{mood.end(both)}"
        phrase = Phrase("be", f"open from {open_en} to {close_en}")
        pairs.append(Pair(text, tell(person, phrase, "present", mood)))
    return Drawn((place.ja, open_ja, close_ja), pairs)


def date(draw: Draw) -> Drawn:
    """田中さんの誕生日は5月3日です。"""
    somebody = draw.somebody()
    older = somebody.ja in ("父", "母", "祖父", "祖母", "夫", "妻")
    event_ja, event_en = draw.choose(_DAY_EVENTS[:1] if older else _DAY_EVENTS)
    month = 1 + int(draw.rng.random() * 12)
    day = 1 + int(draw.rng.random() * 28)
    word = Word(f"{month}月{day}日", "noun")
    person = Person(f"{english.possessive(somebody.en.text)} {event_en}", "3n")
    phrase = Phrase("be", f"on {english.date(month, day)}")
    pairs = [
        Pair(f"{somebody.ja}の{event_ja}は{mood.end(word)}", tell(person, phrase, "present", mood))
        for mood in draw.moods(2, [somebody], negatives=False)
    ]
    return Drawn((somebody.ja, event_ja, word.text), pairs)


def weekday(draw: Draw) -> Drawn:
    """今日は10月3日、木曜日です。会議は木曜日の午後3時からです。"""
    letter, weekday_en = draw.choose(_WEEKDAYS)
    month, day = 1 + int(draw.rng.random() * 12), 1 + int(draw.rng.random() * 28)
    text = f"{month}月{day}日、{letter}曜日"
    word, phrase = Word(text, "noun"), Phrase("be", f"{weekday_en}, {english.date(month, day)}")
    today = draw.choose(
        (("今日", "today", False), ("明日", "tomorrow", False), ("昨日", "yesterday", True))
    )
    person = Person(today[1], "3n")
    pairs = [
        Pair(
            f"{today[0]}は{mood.end(word, today[2])}",
            tell(person, phrase, "past" if today[2] else "present", mood),
        )
        for mood in draw.moods(2, questions=False, negatives=False)
    ]
    return Drawn((today[0], text), pairs)


def takes_time(draw: Draw) -> Drawn:
    """家から駅まで自転車で二十分かかります。"""
    first = draw.place("built")
    home = draw.chance(0.4)
    second = draw.place("built")
    while second.ja == first.ja:
        second = draw.place("built")
    start_ja, start_en = ("家", "my house") if home else (first.ja, first.en)
    way_ja, way_en = draw.choose(
        (
            ("バスで", "by bus"),
            ("車で", "by car"),
            ("自転車で", "by bicycle"),
            ("歩いて", "on foot"),
        )
    )
    minutes = draw.choose((5, 10, 15, 20, 25, 30, 40))
    take = Word(f"{start_ja}から{second.ja}まで{way_ja}{minutes}分かかる", "godan")
    phrase = Phrase("take", f"{minutes} minutes to get from {start_en} to {second.en} {way_en}")
    pairs = []
    for mood, past in zip(
        draw.moods(2, negatives=False, questions=False), (False, True), strict=True
    ):
        pairs.append(
            Pair(mood.end(take, past), tell(IT, phrase, "past" if past else "present", mood))
        )
    return Drawn((start_ja, second.ja, way_ja, str(minutes)), pairs)


def how_long(draw: Draw) -> Drawn:
    """昨日、二時間テレビを見ました。三年間日本語を勉強しています。"""
    who, action = draw.who(), draw.action("for-hours")
    number = draw.choose((1, 2, 3, 4, 5))
    hours = f"for {english.number(number)} hours" if number > 1 else "for an hour"
    pairs = []
    for time, mood in zip(
        draw.times("past neutral", 2), draw.moods(2, [who], negatives=False), strict=True
    ):
        person = who.asked(mood.question)
        counted = action.ja.after(f"{japanese.numeral(number)}時間")
        text = who.topic + lead(time.ja) + mood.end(counted, past=True)
        pairs.append(Pair(text, tell(person, action.en.plus(hours, time.en), "past", mood)))
    return Drawn(tuple(w for w in (who.ja, action.key, str(number)) if w), pairs)


def for_years(draw: Draw) -> Drawn:
    """三年前から日本語を勉強しています。"""
    number = draw.choose((2, 3, 4, 5, 6, 7, 8, 10))
    unit_ja, unit_en = draw.choose((("年", "year"), ("か月", "month")))
    action = draw.action("for-years")
    who = draw.who(0.4)
    word = japanese.progressive(action.ja).after(f"{japanese.numeral(number)}{unit_ja}前から")
    phrase = action.general.plus(f"for {english.number(number)} {unit_en}s")
    pairs = []
    for mood in draw.moods(2, [who], negatives=False):
        person = who.asked(mood.question)
        text = who.topic + mood.end(word)
        pairs.append(Pair(text, tell(person, phrase, "perfect progressive", mood)))
    return Drawn(tuple(w for w in (who.ja, action.key, str(number) + unit_ja) if w), pairs)


PATTERNS = (
    bought_counted,
    price,
    age,
    at_time,
    event_time,
    event_day,
    opening_hours,
    date,
    weekday,
    takes_time,
    how_long,
    for_years,
)
