"""Patterns of requests, permission, prohibition, duty, advice and invitations."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Mood, Pair, lead, tell
from keras_attn_data.everyday.english import WE, YOU, I, Phrase
from keras_attn_data.everyday.japanese import Word

_WHEN = (
    ("", ""),
    ("明日の朝", "tomorrow morning"),
    ("明日", "tomorrow"),
    ("あさって", "the day after tomorrow"),
    ("今日", "today"),
    ("今晩", "this evening"),
    ("あとで", "later"),
)


def please(draw: Draw) -> Drawn:
    """窓を開けてください。"""
    action = draw.action("request")
    te, base = japanese.te(action.ja), action.en.base(YOU)
    pairs = []
    for time_ja, time_en in draw.sample(_WHEN, 2):
        text = english.join("please", base, time_en)
        pairs.append(Pair(f"{lead(time_ja)}{te}ください。", english.sentence(text)))
    time_ja, time_en = draw.choose(_WHEN)
    ending = draw.choose(("くれませんか。", "くれない?"))
    text = english.join("could you", base, time_en)
    pairs.append(Pair(f"{lead(time_ja)}{te}{ending}", english.sentence(text, "?")))
    return Drawn((action.key,), pairs)


def must_not(draw: Draw) -> Drawn:
    """ここでたばこを吸わないでください。"""
    here = draw.chance(0.75)
    action = draw.action("banned-here" if here else "banned")
    where_ja, where_en = draw.choose(_HERE if here else _AT_NIGHT)
    where_ja = lead(where_ja)
    negative, te = japanese.plain(action.ja, negative=True), japanese.te(action.ja)
    base = english.join(action.general.base(YOU), where_en)
    mine = english.join(action.general.base(I), where_en)
    pairs = [
        Pair(f"{where_ja}{negative}でください。", english.sentence(f"please don't {base}")),
        Pair(f"{where_ja}{te}はいけません。", english.sentence(f"you must not {base}")),
        Pair(f"{where_ja}{te}もいいですか。", english.sentence(f"may I {mine}", "?")),
        Pair(f"{where_ja}{te}もいいですよ。", english.sentence(f"you may {base}")),
    ]
    return Drawn((where_ja, action.key), draw.sample(pairs, 3))


_HERE = (
    ("ここで", "here"),
    ("この部屋で", "in this room"),
    ("教室で", "in the classroom"),
    ("図書館で", "in the library"),
    ("会議室で", "in the meeting room"),
    ("病院で", "in the hospital"),
    ("この建物の中で", "in this building"),
    ("電車の中で", "on the train"),
)
_AT_NIGHT = (("夜遅くに", "late at night"), ("今", "now"), ("一人で", "alone"))


def must(draw: Draw) -> Drawn:
    """明日までに宿題をしなければなりません。"""
    tasks = draw.chance(0.6)
    who, action = draw.who(0.5), draw.action("task" if tasks else "duty")
    time_ja, time_en = draw.choose(_DEADLINES if tasks else _DAYS)
    time_ja = lead(time_ja.removesuffix("は")) if who.ja else time_ja
    negative = f"{who.topic}{time_ja}{japanese.negative_stem(action.ja)}"
    pairs = []
    for mood in draw.moods(3, [who]):
        person = who.asked(mood.question)
        phrase = Phrase("have", f"to {action.en.base(person)} {time_en}")
        if mood.negative:
            ja = f"{negative}なくてもいい{'です' if mood.polite else ''}。"
        else:
            ja = f"{negative}なければ{mood._replace(negative=True).end(Word('なる', 'godan'))}"
        pairs.append(Pair(ja, tell(person, phrase, "present", mood)))
    return Drawn(tuple(w for w in (who.ja, action.key, time_ja) if w), pairs)


_DEADLINES = (
    ("明日までに", "by tomorrow"),
    ("今日中に", "by the end of today"),
    ("金曜日までに", "by Friday"),
    ("月曜日までに", "by Monday"),
    ("来週までに", "by next week"),
    ("夕方までに", "by evening"),
    ("昼までに", "by noon"),
)
_DAYS = (
    ("毎日", "every day"),
    ("今日は", "today"),
    ("明日は", "tomorrow"),
    ("今晩は", "this evening"),
)


def should(draw: Draw) -> Drawn:
    """今日は早く寝たほうがいいですよ。"""
    action, warned = draw.action("duty"), draw.action("banned-here")
    while warned.en.verb == "use":
        warned = draw.action("banned-here")
    time_ja, time_en = draw.choose(_WHEN[1:])
    end = "ですよ。" if draw.chance(0.6) else "よ。"
    do, avoid = action.en.plus(time_en).base(YOU), warned.general.plus("today").base(YOU)
    if draw.chance(0.7):
        ja = f"{lead(time_ja)}{japanese.plain(action.ja, past=True)}ほうがいい{end}"
        return Drawn((action.key, time_ja), [Pair(ja, english.sentence(f"you should {do}"))])
    ja = f"今日は{japanese.plain(warned.ja, negative=True)}ほうがいい{end}"
    return Drawn((warned.key,), [Pair(ja, english.sentence(f"you shouldn't {avoid}"))])


def let_us(draw: Draw) -> Drawn:
    """今度の日曜日、公園でテニスをしましょう。"""
    action = draw.action("together")
    place, time = draw.place_for(action), draw.times_for(action, "future", 1, 0.6)[0]
    ja = action.ja.after(place.ja + "で" if place else "")
    doing = action.en.plus(place.at if place else "")
    base, invited = doing.plus(time.en).base(WE), doing.plus("with me", time.en).base(YOU)
    stem, front = japanese.stem(ja), lead(time.ja)
    pairs = [
        Pair(f"{front}{stem}ましょう。", english.sentence(f"let's {base}")),
        Pair(f"{front}{japanese.volitional(ja)}。", english.sentence(f"let's {base}")),
        Pair(f"{front}{stem}ましょうか。", english.sentence(f"shall we {base}", "?")),
        Pair(
            f"{front}一緒に{stem}ませんか。",
            english.sentence(f"would you like to {invited}", "?"),
        ),
    ]
    return Drawn((action.key, place.ja if place else "", time.ja), draw.sample(pairs, 2))


def want_somebody_to(draw: Draw) -> Drawn:
    """弟に部屋を掃除してほしいです。"""
    somebody, action = draw.somebody(), draw.action(draw.choose(("task", "duty", "favour")))
    word = Word(f"{somebody.ja}に{japanese.te(action.ja)}ほしい", "i")
    phrase = Phrase("want", f"{somebody.en.object} to {action.en.base(somebody.en)}")
    pairs = []
    for mood, past in ((Mood(True), False), (Mood(draw.chance(0.5)), True), (Mood(False), False)):
        tense = "past" if past else "present"
        pairs.append(Pair(mood.end(word, past), tell(I, phrase, tense, mood)))
    return Drawn((somebody.ja, action.key), draw.sample(pairs, 2))


PATTERNS = (please, must_not, must, should, let_us, want_somebody_to)
