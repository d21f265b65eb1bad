"""Asking others to do things, permission, prohibition, duty, advice, invitations."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Mood, Pair, lead, tell
from keras_attn_data.everyday.english import WE, YOU, I, Phrase
from keras_attn_data.everyday.japanese import Word

_WHEN = (
    ("", ""),
    ("明日の朝", "tomorrow morning"),
    ("明日", "tomorrow"),
    ("来週", "next week"),
    ("今日", "today"),
    ("今週", "this week"),
    ("あとで", "later"),
)


def please(draw: Draw) -> Drawn:
    """窓を開けてください。"""
    action = draw.action("r")
    te, you = japanese.te(action.ja), action.en.base(YOU)
    pairs = []
    for time_ja, time_en in draw.sample(_WHEN, 2):
        text = english.join("please", you, time_en)
        pairs.append(Pair(f"{lead(time_ja)}{te}ください。", english.sentence(text)))
    time_ja, time_en = draw.choose(_WHEN)
    ending = draw.choose(("くれませんか。", "くれない?"))
    text = english.join("could you", you, time_en)
    pairs.append(Pair(f"{lead(time_ja)}{te}{ending}", english.sentence(text, "?")))
    return Drawn((action.key,), pairs)


def please_do_not(draw: Draw) -> Drawn:
    """ここでたばこを吸わないでください。"""
    action = draw.action("x")
    where_ja, where_en = draw.choose(_PROHIBITED)
    negative = japanese.plain(action.ja, negative=True)
    base = english.join(action.en.base(YOU), where_en)
    pairs = [
        Pair(f"{where_ja}{negative}でください。", english.sentence(f"please do not {base}")),
        Pair(
            f"{where_ja}{japanese.te(action.ja)}はいけません。",
            english.sentence(f"you must not {base}"),
        ),
        Pair(
            f"{where_ja}{japanese.te(action.ja)}もいいですか。",
            english.sentence(f"may I {base.replace('your', 'my')}", "?"),
        ),
    ]
    return Drawn((where_ja, action.key), pairs)


_PROHIBITED = (
    ("ここで", "here"),
    ("この部屋で", "in this room"),
    ("教室で", "in the classroom"),
    ("図書館で", "in the library"),
    ("夜遅く", "late at night"),
    ("授業の前に", "before class"),
    ("この建物の中で", "in this building"),
    ("食事の前に", "before the meal"),
    ("一人で", "alone"),
)


def must(draw: Draw) -> Drawn:
    """明日までに宿題をしなければなりません。"""
    who, action = draw.who(0.5), draw.action("d")
    deadline_ja, deadline_en = draw.choose(_DEADLINES)
    negative = japanese.negative_stem(action.ja)
    pairs = []
    for ending, question in draw.sample(_DUTIES, 2):
        person = who.asked(question)
        phrase = Phrase("have", f"to {action.en.base(person)} {deadline_en}")
        mood = Mood(True, question=question)
        ja = who.topic + deadline_ja + negative + ending
        pairs.append(Pair(ja, tell(person, phrase, "present", mood)))
    person = who.en
    ja = f"{who.topic}{deadline_ja}{negative}なくてもいいです。"
    phrase = Phrase("have", f"to {action.en.base(person)} {deadline_en}")
    pairs.append(Pair(ja, tell(person, phrase, "present", Mood(True, negative=True))))
    return Drawn(tuple(w for w in (who.ja, action.key, deadline_ja) if w), pairs)


_DEADLINES = (
    ("明日までに", "by tomorrow"),
    ("今日中に", "by the end of today"),
    ("金曜日までに", "by Friday"),
    ("月曜日までに", "by Monday"),
    ("来週までに", "by next week"),
    ("夕方までに", "by evening"),
    ("昼までに", "by noon"),
    ("出かける前に", "before going out"),
)
_DUTIES = (
    ("なければなりません。", False),
    ("なければならない。", False),
    ("なければなりませんか。", True),
)


def should(draw: Draw) -> Drawn:
    """もっと野菜を食べたほうがいいです。"""
    action = draw.action("d")
    time_ja, time_en = draw.choose(_WHEN[1:])
    base = action.en.plus(time_en).base(YOU)
    polite = draw.chance(0.6)
    end = "ですよ。" if polite else "よ。"
    pairs = [
        Pair(
            f"{lead(time_ja)}{japanese.plain(action.ja, past=True)}ほうがいい{end}",
            english.sentence(f"you should {base}"),
        ),
        Pair(
            f"{lead(time_ja)}{japanese.plain(action.ja, negative=True)}ほうがいい{end}",
            english.sentence(f"you should not {base}"),
        ),
    ]
    return Drawn((action.key, time_ja), pairs)


def let_us(draw: Draw) -> Drawn:
    """日曜日に公園でテニスをしましょう。"""
    action, time = draw.action("w"), draw.time("future")
    place = draw.place_for(action)
    ja = action.ja.after(place.ja + "で" if place else "")
    base = action.en.plus(place.at if place else "", time.en).base(WE)
    stem, front = japanese.stem(ja), lead(time.ja)
    pairs = [
        Pair(f"{front}{stem}ましょう。", english.sentence(f"let's {base}")),
        Pair(f"{front}{japanese.volitional(ja)}。", english.sentence(f"let's {base}")),
        Pair(f"{front}{stem}ましょうか。", english.sentence(f"shall we {base}", "?")),
        Pair(
            f"{front}一緒に{stem}ませんか。",
            english.sentence(f"would you like to {base.replace(' our ', ' your ')} together", "?"),
        ),
    ]
    return Drawn((action.key, place.ja if place else "", time.ja), draw.sample(pairs, 2))


def want_somebody_to(draw: Draw) -> Drawn:
    """弟に部屋を掃除してほしいです。"""
    somebody, action = draw.somebody(), draw.action("d")
    word = Word(f"{somebody.ja}に{japanese.te(action.ja)}ほしい", "i")
    phrase = Phrase("want", f"{somebody.en.object} to {action.en.base(somebody.en)}")
    pairs = []
    for mood in draw.moods(2, questions=False):
        past = draw.chance(0.3)
        pairs.append(
            Pair(mood.end(word, past), tell(I, phrase, "past" if past else "present", mood))
        )
    return Drawn((somebody.ja, action.key), pairs)


PATTERNS = (please, please_do_not, must, should, let_us, want_somebody_to)
