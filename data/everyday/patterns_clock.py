"""Patterns of clock times, dates and weekdays in questions and appointments."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Mood, Pair, tell
from keras_attn_data.everyday.english import IT, YOU, I, Phrase
from keras_attn_data.everyday.japanese import Word

_MINUTES = (0, 0, 0, 0, 30, 30, 5, 10, 15, 20, 25, 35, 40, 45, 50, 55)


def clock_time(draw: Draw, hours: range = range(1, 25)) -> tuple[str, str]:
    """Time of day in both languages, with or without 午前 and 午後.

    Args:
        draw: Random choice.
        hours: Hours of the day, from 1 to 24. Defaults to all.
    """
    of_day, minute = draw.choose(hours), draw.choose(_MINUTES)
    hour, afternoon = (of_day - 1) % 12 + 1, 12 <= of_day < 24
    kanji = draw.chance(0.3)
    shown = japanese.numeral(hour) if kanji else str(hour)
    minutes = japanese.numeral(minute) if kanji and minute else str(minute)
    tail = "時" if not minute else "時半" if minute == 30 else f"時{minutes}分"
    digits = f"{hour}:{minute:02d}" if minute else str(hour)
    half = ("午後", " p.m.") if afternoon else ("午前", " a.m.")
    half_ja, half_en = half if draw.chance(0.5) else ("", "")
    if not half_ja and not minute:
        half_en = " o'clock"
    return f"{half_ja}{shown}{tail}", f"{digits}{half_en}"


def what_time(draw: Draw) -> Drawn:
    """今3時半です。もう九時です。"""
    ja, en = clock_time(draw)
    word, now = Word(ja, "noun"), draw.choose(("今、", "今", "今は"))
    pairs = [
        Pair(f"{now}{ja}です。", english.sentence(f"it's {en} now")),
        Pair(f"{now}{ja}だ。", english.sentence(f"it's {en} now")),
        Pair(f"もう{ja}です。", english.sentence(f"it's already {en}")),
        Pair(f"まだ{ja}です。", english.sentence(f"it's still {en}")),
        Pair(f"もうすぐ{ja}です。", english.sentence(f"it's almost {en}")),
        Pair(f"{ja}ごろです。", english.sentence(f"it's about {en}")),
        Pair(f"{ja}に会いましょう。", english.sentence(f"let's meet at {en}")),
        Pair(f"{ja}に来てください。", english.sentence(f"please come at {en}")),
        Pair(f"{ja}までに来てください。", english.sentence(f"please come by {en}")),
        Pair(f"{ja}に起こしてください。", english.sentence(f"please wake me up at {en}")),
        Pair(f"{ja}に迎えに来てください。", english.sentence(f"please pick me up at {en}")),
        Pair(f"{ja}まで待ちました。", english.sentence(f"I waited until {en}")),
        Pair(f"{ja}まで開いています。", english.sentence(f"it's open until {en}")),
        Pair(f"{ja}に予約しています。", english.sentence(f"I have a reservation for {en}")),
    ]
    for mood in draw.moods(2, negatives=False):
        pairs.append(Pair(mood.end(word), tell(IT, Phrase("be", en), "present", mood)))
    return Drawn((ja,), draw.typed(draw.sample(pairs, 4)))


_MORNING, _NOON, _EVENING, _NIGHT = range(6, 11), range(12, 15), range(17, 22), range(21, 25)
_ROUTINE = (
    (Word("起きる", "ichidan"), Phrase("get", "up"), range(5, 11)),
    (Word("寝る", "ichidan"), Phrase("go", "to bed"), _NIGHT),
    (Word("家を出る", "ichidan"), Phrase("leave", "home"), _MORNING),
    (Word("家に帰る", "godan"), Phrase("go", "home"), _EVENING),
    (Word("朝ご飯を食べる", "ichidan"), Phrase("eat", "breakfast"), _MORNING),
    (Word("昼ご飯を食べる", "ichidan"), Phrase("eat", "lunch"), _NOON),
    (Word("晩ご飯を食べる", "ichidan"), Phrase("eat", "dinner"), _EVENING),
    (Word("学校に行く", "iku"), Phrase("go", "to school"), _MORNING),
    (Word("会社に行く", "iku"), Phrase("go", "to the office"), _MORNING),
    (Word("仕事を始める", "ichidan"), Phrase("start", "work"), _MORNING),
    (Word("仕事が終わる", "godan"), Phrase("finish", "work"), _EVENING),
    (Word("お風呂に入る", "godan"), Phrase("take", "a bath"), _EVENING),
    (Word("駅に着く", "godan"), Phrase("arrive", "at the station"), range(6, 22)),
    (Word("空港に着く", "godan"), Phrase("arrive", "at the airport"), range(6, 22)),
    (Word("東京に着く", "godan"), Phrase("arrive", "in Tokyo"), range(6, 22)),
    (Word("友達に会う", "godan"), Phrase("meet", "{own} friend"), range(10, 20)),
    (Word("電車に乗る", "godan"), Phrase("take", "the train"), range(6, 22)),
)
_DAY = (("", ""), ("", ""), ("毎朝", "every morning"), ("毎日", "every day"), ("いつも", "always"))


def routine(draw: Draw) -> Drawn:
    """毎朝7時に起きます。何時に起きますか。"""
    ja, en, hours = draw.choose(_ROUTINE)
    time_ja, time_en = clock_time(draw, hours)
    me, (day_ja, day_en) = draw.choose(("", "", "私は")), draw.choose(_DAY)
    kept = ja.text[:2] not in ("空港", "東京", "友達") and (
        "朝" not in day_ja or hours in (_MORNING, range(5, 11))
    )
    if not kept:
        day_ja, day_en = "", ""
    at = en.plus(f"at {time_en}")
    adverb, day_en = ("always", "") if day_en == "always" else ("", day_en)
    pairs = []
    for mood in draw.moods(2, negatives=False, questions=False):
        text = tell(I, at.plus(day_en), "present", mood, adverb)
        pairs.append(Pair(f"{me}{day_ja}{time_ja}に{mood.end(ja)}", text))
    mood = Mood(draw.chance(0.7))
    pairs.append(
        Pair(
            f"{me}今日は{time_ja}に{mood.end(ja, past=True)}",
            tell(I, at.plus("today"), "past", mood),
        )
    )
    pairs.append(Pair(f"{me}{time_ja}に{mood.end(ja, past=True)}", tell(I, at, "past", mood)))
    asked = draw.choose(("", "明日", "昨日", "毎日"))
    tense, time = {
        "": ("present", ""),
        "明日": ("will", "tomorrow"),
        "昨日": ("past", "yesterday"),
        "毎日": ("present", "every day"),
    }[asked]
    front = asked + "、" if asked else draw.choose(("", "", "いつも"))
    adverb = "usually" if front == "いつも" else ""
    question = Mood(draw.chance(0.7), question=True)
    text = english.ask(YOU, en.plus(time), tense, adverb=adverb)
    pairs.append(
        Pair(
            f"{front}何時に{question.end(ja, tense == 'past')}",
            english.sentence(f"what time {text}", "?"),
        )
    )
    return Drawn((ja.text, time_ja), draw.typed(draw.sample(pairs, 3)))


_EVENTS = (
    ("会議", "the meeting"),
    ("授業", "the class"),
    ("映画", "the movie"),
    ("パーティー", "the party"),
    ("試験", "the exam"),
    ("コンサート", "the concert"),
    ("試合", "the game"),
    ("面接", "the interview"),
    ("朝食", "breakfast"),
    ("チェックイン", "check-in"),
    ("ツアー", "the tour"),
    ("お祭り", "the festival"),
    ("花火大会", "the fireworks display"),
    ("ミーティング", "the meeting"),
    ("セミナー", "the seminar"),
    ("講義", "the lecture"),
)
_LEAVING = (
    ("電車", "the train"),
    ("バス", "the bus"),
    ("飛行機", "the plane"),
    ("新幹線", "the bullet train"),
    ("船", "the ship"),
    ("最終電車", "the last train"),
    ("次のバス", "the next bus"),
    ("フェリー", "the ferry"),
)


def schedule(draw: Draw) -> Drawn:
    """会議は何時からですか。電車は10時20分に出ます。店は9時から6時までです。"""
    (ja, en), (time_ja, time_en) = draw.choose(_EVENTS), clock_time(draw, range(8, 22))
    letter, day_en = draw.choose(list(zip("月火水木金土日", english.WEEKDAYS, strict=True)))
    go_ja, go_en = draw.choose(_LEAVING)
    place = draw.place("hours")
    open_hour, close_hour = draw.choose((8, 9, 10, 11)), draw.choose((5, 6, 7, 8, 9))
    hours = english.sentence(f"{place.en} is open from {open_hour} to {close_hour}")
    pairs = [
        Pair(f"{ja}は何時からですか。", f"What time does {en} start?"),
        Pair(f"{ja}は何時に始まりますか。", f"What time does {en} start?"),
        Pair(f"{ja}は何時に終わりますか。", f"What time does {en} end?"),
        Pair(f"{ja}はいつですか。", f"When is {en}?"),
        Pair(f"{ja}は何曜日ですか。", f"What day is {en}?"),
        Pair(f"{ja}は{time_ja}からです。", english.sentence(f"{en} starts at {time_en}")),
        Pair(f"{ja}は{time_ja}に始まる。", english.sentence(f"{en} starts at {time_en}")),
        Pair(f"{ja}は{letter}曜日です。", english.sentence(f"{en} is on {day_en}")),
        Pair(
            f"{ja}は{letter}曜日の{time_ja}からです。",
            english.sentence(f"{en} starts at {time_en} on {day_en}"),
        ),
        Pair(f"{ja}は{letter}曜日ですか。", english.sentence(f"is {en} on {day_en}", "?")),
        Pair(f"{go_ja}は何時に出ますか。", f"What time does {go_en} leave?"),
        Pair(f"{go_ja}は何時に着きますか。", f"What time does {go_en} arrive?"),
        Pair(f"{go_ja}は{time_ja}に出ます。", english.sentence(f"{go_en} leaves at {time_en}")),
        Pair(
            f"{go_ja}は{time_ja}に着きました。", english.sentence(f"{go_en} arrived at {time_en}")
        ),
        Pair(f"{place.ja}は{open_hour}時から{close_hour}時までです。", hours),
        Pair(
            f"{place.ja}は{letter}曜日に休みです。",
            english.sentence(f"{place.en} is closed on {day_en}s"),
        ),
        Pair(f"{place.ja}は何時までですか。", f"What time does {place.en} close?"),
    ]
    if en in ("breakfast", "check-in"):
        pairs = [p for p in pairs if "曜" not in p.ja and "いつ" not in p.ja]
    return Drawn((ja, go_ja, place.ja, time_ja), draw.typed(draw.sample(pairs, 4)))


def day_and_date(draw: Draw) -> Drawn:
    """今日は月曜日です。明日は5月3日です。誕生日は五月三日です。"""
    letter, day_en = draw.choose(list(zip("月火水木金土日", english.WEEKDAYS, strict=True)))
    month, day = 1 + int(draw.rng.random() * 12), 1 + int(draw.rng.random() * 28)
    kanji = draw.chance(0.3)
    date_ja = (
        f"{japanese.numeral(month)}月{japanese.numeral(day)}日" if kanji else f"{month}月{day}日"
    )
    date_en = english.date(month, day)
    when_ja, when_en, past = draw.choose(
        (("今日", "today", False), ("明日", "tomorrow", False), ("昨日", "yesterday", True))
    )
    be = "was" if past else "is"
    event_ja, event_en = draw.choose(_EVENTS[:8])
    pairs = []
    for polite in (True, False):
        mood = Mood(polite)
        pairs.append(
            Pair(
                f"{when_ja}は{mood.end(Word(f'{date_ja}', 'noun'), past)}",
                english.sentence(f"{when_en} {be} {date_en}"),
            )
        )
        pairs.append(
            Pair(
                f"{when_ja}は{mood.end(Word(f'{letter}曜日', 'noun'), past)}",
                english.sentence(f"{when_en} {be} {day_en}"),
            )
        )
    pairs += [
        Pair(f"私の誕生日は{date_ja}です。", f"My birthday is on {date_en}."),
        Pair(f"誕生日は{date_ja}です。", f"My birthday is on {date_en}."),
        Pair(f"{event_ja}は{date_ja}です。", english.sentence(f"{event_en} is on {date_en}")),
        Pair(
            f"{event_ja}は{date_ja}ですか。", english.sentence(f"is {event_en} on {date_en}", "?")
        ),
        Pair(
            f"{event_ja}は{date_ja}の{letter}曜日です。",
            english.sentence(f"{event_en} is on {day_en}, {date_en}"),
        ),
        Pair(f"{letter}曜日に会いましょう。", f"Let's meet on {day_en}."),
        Pair(f"{date_ja}に会いましょう。", f"Let's meet on {date_en}."),
        Pair(f"{letter}曜日は休みです。", f"I'm off on {day_en}s."),
        Pair(f"{letter}曜日は忙しいです。", f"I'm busy on {day_en}s."),
        Pair(f"{date_ja}に予約したいです。", f"I'd like to make a reservation for {date_en}."),
        Pair(f"{date_ja}に出発します。", f"I'll leave on {date_en}."),
        Pair(f"{date_ja}に日本に行きます。", f"I'll go to Japan on {date_en}."),
        Pair(f"{date_ja}から夏休みです。", f"The summer vacation starts on {date_en}.")
        if month in (7, 8)
        else None,
        Pair(f"{date_ja}までに返事をください。", f"Please reply by {date_en}."),
    ]
    kept = [pair for pair in pairs if pair is not None]
    return Drawn((when_ja, date_ja, letter), draw.typed(draw.sample(kept, 4)))


_SPANS = (
    ("分", "minute", (2, 3, 5, 10, 15, 20, 30, 45)),
    ("時間", "hour", (1, 2, 3, 4, 5, 8, 10, 24)),
    ("日間", "day", (2, 3, 4, 5, 10)),
    ("週間", "week", (1, 2, 3, 4, 6)),
    ("か月", "month", (1, 2, 3, 6)),
    ("年間", "year", (1, 2, 3, 4, 5, 10, 20)),
)


def time_span(draw: Draw) -> Drawn:
    """5分待ってください。あと三時間です。日本に二週間います。"""
    unit_ja, unit_en, numbers = draw.choose(_SPANS)
    number = draw.choose(numbers)
    kanji = draw.chance(0.35) and (number, unit_en) != (10, "minute")  # 十分 is also "enough"
    shown = (japanese.numeral(number) if kanji else str(number)) + unit_ja
    span = f"{english.number(number)} {unit_en}s" if number > 1 else english.article(unit_en)
    short = shown.removesuffix("間") if unit_en in ("day", "year") else shown
    place, me = draw.place("land"), draw.choose(("", "", "私は"))
    be = "is" if number == 1 else "are"
    pairs = [
        Pair(f"あと{short}です。", f"There {be} {span} left."),
        Pair(f"あと{short}あります。", f"There {be} {span} left."),
        Pair(f"{me}{place.ja}に{shown}いました。", f"I was in {place.en} for {span}."),
        Pair(f"{me}{place.ja}に{shown}います。", f"I'll be in {place.en} for {span}."),
        Pair(f"{shown}かかります。", f"It takes {span}."),
        Pair(f"{shown}ぐらいかかります。", f"It takes about {span}."),
        Pair(f"{shown}かかりました。", f"It took {span}."),
        Pair(f"{me}{shown}待ちました。", f"I waited for {span}."),
        Pair(f"{short}後に戻ります。", f"I'll be back in {span}."),
        Pair(f"{short}前に来ました。", f"I came {span} ago."),
        Pair(f"{short}前に着きました。", f"I arrived {span} ago."),
        Pair(f"{short}前に会いました。", f"We met {span} ago."),
        Pair(f"{short}遅れます。", f"I'll be {span} late."),
        Pair(f"{short}待ってください。", f"Please wait {span}."),
        Pair(f"{me}{shown}寝ました。", f"I slept for {span}."),
        Pair(f"{me}{shown}日本語を勉強しました。", f"I studied Japanese for {span}."),
    ]
    lasting = ("day", "week", "month", "year")
    drop: tuple[str, ...] = ("遅れ", "待って", "待ち", "寝") if unit_en in lasting else (place.ja,)
    if unit_en == "hour":
        drop += ("待って",)
    if unit_en == "minute":
        drop += ("寝",)
    kept = [pair for pair in pairs if not any(word in pair.ja for word in drop)]
    return Drawn((shown, place.ja), draw.typed(draw.sample(kept, 4)))


PATTERNS = (what_time, routine, schedule, day_and_date, time_span)
