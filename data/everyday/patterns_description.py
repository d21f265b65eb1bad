"""Patterns of description: nouns and adjectives as predicates and before nouns."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Mood, Pair, Who, lead, tell
from keras_attn_data.everyday.english import Person, Phrase
from keras_attn_data.everyday.japanese import Word

_THIS = (("この", "this"), ("その", "that"))


def job(draw: Draw) -> Drawn:
    """田中さんは医者です。"""
    somebody, work = draw.somebody(), draw.noun("job")
    while work.ja in ("大学生", "高校生") and somebody.kind != "name":
        work = draw.noun("job")
    named = somebody.kind == "name" and draw.chance(0.5)
    named = named and work.ja not in ("大学生", "高校生")
    relative = draw.somebody("family") if named else None
    who = Who(somebody.ja, somebody.en, somebody.kind)
    if relative is not None and relative.ja in _OTHERS_FAMILY:
        ja = f"{somebody.ja}の{_OTHERS_FAMILY[relative.ja]}"
        en = relative.en.text.replace("my ", f"{somebody.en.text}'s ")
        who = Who(ja, Person(en, relative.en.code))
    word, en = Word(work.ja, "noun"), Phrase("be", english.article(work.en))
    pairs = [
        Pair(who.topic + mood.end(word), tell(who.en, en, "present", mood))
        for mood in draw.moods(3, [who])
    ]
    mood = Mood(draw.chance(0.6))
    text = f"{who.topic}昔、{mood.end(word, past=True)}"
    pairs.append(Pair(text, english.sentence(f"{who.en.text} used to {en.base(who.en)}")))
    return Drawn((who.ja, work.ja), draw.sample(pairs, 3))


_OTHERS_FAMILY = {
    "父": "お父さん",
    "母": "お母さん",
    "兄": "お兄さん",
    "姉": "お姉さん",
    "弟": "弟さん",
    "妹": "妹さん",
    "夫": "ご主人",
    "妻": "奥さん",
    "息子": "息子さん",
    "娘": "娘さん",
}


def thing_is(draw: Draw) -> Drawn:
    """この本はとても面白いです。"""
    (adjective, noun), (this_ja, this_en) = draw.described("c", "color"), draw.choose(_THIS)
    person = noun.as_subject(this_en)
    topic = f"{this_ja}{noun.ja}は"
    pairs = []
    for mood in draw.moods(3):
        en = Phrase("be", adjective.en)
        pairs.append(Pair(topic + mood.end(adjective.ja), tell(person, en, "present", mood)))
    if "color" not in adjective.uses:
        mood = Mood(draw.chance(0.6))
        degree_ja, degree_en = draw.choose((("とても", "very"), ("少し", "a little")))
        if degree_ja == "少し" and adjective.ja.text in _NO_LITTLE:
            degree_ja, degree_en = "とても", "very"
        text = topic + degree_ja + mood.end(adjective.ja)
        en = Phrase("be", f"{degree_en} {adjective.en}")
        pairs.append(Pair(text, tell(person, en, "present", mood)))
        mood = Mood(draw.chance(0.6), negative=True)
        text = topic + "あまり" + mood.end(adjective.ja)
        en = Phrase("be", f"very {adjective.en}")
        pairs.append(Pair(text, tell(person, en, "present", mood)))
    return Drawn((this_ja, noun.ja, adjective.ja.text), draw.sample(pairs, 3))


# 少し sounds unnatural with these adjectives.
_NO_LITTLE = frozenset(
    "おいしい 面白い かわいい 美しい きれい 有名 便利 すてき 特別 大切 丈夫 安全 新しい".split()
)


def event_was(draw: Draw) -> Drawn:
    """昨日のパーティーは楽しかったです。"""
    events, qualities = draw.choose(_EVENT_QUALITIES)
    event_ja, event_en = draw.choose(events)
    (ja, en), time = draw.choose(qualities), draw.time("event")
    person = Person(f"{time.en}'s {event_en}", "3n")
    if time.en.startswith("the day"):
        person = Person(f"the {event_en} {time.en}", "3n")
    topic, phrase = f"{time.ja}の{event_ja}は", Phrase("be", en)
    pairs = [
        Pair(topic + mood.end(ja, past=True), tell(person, phrase, "past", mood))
        for mood in draw.moods(2, negatives=en != "wonderful")
    ]
    mood = Mood(draw.chance(0.6))
    text = f"{topic}とても{mood.end(ja, past=True)}"
    if en != "wonderful":
        pairs.append(Pair(text, tell(person, Phrase("be", f"very {en}"), "past", mood)))
    return Drawn((event_ja, ja.text, time.ja), pairs)


_EVENT_QUALITIES = (
    (
        (
            ("パーティー", "party"),
            ("旅行", "trip"),
            ("祭り", "festival"),
            ("結婚式", "wedding"),
            ("運動会", "sports day"),
            ("コンサート", "concert"),
            ("送別会", "farewell party"),
        ),
        (
            (Word("楽しい", "i"), "fun"),
            (Word("すばらしい", "i"), "wonderful"),
            (Word("にぎやか", "na"), "lively"),
        ),
    ),
    (
        (
            ("試験", "exam"),
            ("仕事", "work"),
            ("練習", "practice"),
            ("宿題", "homework"),
            ("テスト", "test"),
            ("面接", "interview"),
        ),
        (
            (Word("大変", "na"), "hard"),
            (Word("難しい", "i"), "difficult"),
            (Word("簡単", "na"), "simple"),
        ),
    ),
    (
        (
            ("会議", "meeting"),
            ("授業", "class"),
            ("講演", "lecture"),
            ("試合", "game"),
            ("映画", "movie"),
            ("ドラマ", "drama"),
        ),
        (
            (Word("長い", "i"), "long"),
            (Word("短い", "i"), "short"),
            (Word("面白い", "i"), "interesting"),
            (Word("つまらない", "i"), "boring"),
        ),
    ),
)


def bought_described(draw: Draw) -> Drawn:
    """先週、赤いかばんを買いました。"""
    adjective, noun = draw.described("color", "c")
    while not noun.tags & {"item", "vehicle", "electric"} or adjective.en in _NOT_BOUGHT:
        adjective, noun = draw.described("color", "c")
    who = draw.who()
    text = japanese.attributive(adjective.ja) + noun.ja
    word, en = Word(f"{text}を買う", "godan"), Phrase("buy", noun.described(adjective.en))
    pairs = []
    for time, mood in zip(
        draw.times("past", 3), draw.moods(3, [who], negatives=False), strict=False
    ):
        person = who.asked(mood.question)
        ja = who.topic + lead(time.ja) + mood.end(word, past=True)
        pairs.append(Pair(ja, tell(person, en.plus(time.en), "past", mood)))
    return Drawn(tuple(w for w in (who.ja, noun.ja, adjective.ja.text) if w), pairs)


_NOT_BOUGHT = frozenset(
    "dirty necessary important famous safe inconvenient dangerous heavy noisy slow boring "
    "difficult".split()
)


def two_adjectives(draw: Draw) -> Drawn:
    """この部屋は広くて明るいです。"""
    (first_ja, first_en), (second_ja, second_en), tags = draw.choose(_ADJECTIVE_PAIRS)
    noun, (this_ja, this_en) = draw.noun(*tags.split()), draw.choose(_THIS)
    person = noun.as_subject(this_en)
    topic = f"{this_ja}{noun.ja}は{japanese.te(first_ja)}"
    en = Phrase("be", f"{first_en} and {second_en}")
    pairs = []
    for past in (False, True):
        for polite in (True, False):
            mood = Mood(polite)
            tense = "past" if past else "present"
            pairs.append(Pair(topic + mood.end(second_ja, past), tell(person, en, tense, mood)))
    return Drawn((this_ja, noun.ja, first_ja.text, second_ja.text), draw.sample(pairs, 3))


_ADJECTIVE_PAIRS = (
    ((Word("広い", "i"), "spacious"), (Word("明るい", "i"), "bright"), "room"),
    ((Word("狭い", "i"), "small"), (Word("暗い", "i"), "dark"), "room"),
    ((Word("広い", "i"), "spacious"), (Word("きれい", "na"), "clean"), "placein room"),
    ((Word("静か", "na"), "quiet"), (Word("きれい", "na"), "clean"), "placein room"),
    ((Word("安い", "i"), "cheap"), (Word("おいしい", "i"), "delicious"), "order food"),
    ((Word("大きい", "i"), "big"), (Word("重い", "i"), "heavy"), "bag furniture"),
    ((Word("小さい", "i"), "small"), (Word("軽い", "i"), "light"), "bag electric"),
    ((Word("軽い", "i"), "light"), (Word("便利", "na"), "convenient"), "bag electric"),
    ((Word("古い", "i"), "old"), (Word("汚い", "i"), "dirty"), "furniture bag vehicle"),
    ((Word("安い", "i"), "cheap"), (Word("丈夫", "na"), "sturdy"), "furniture bag"),
    ((Word("小さい", "i"), "small"), (Word("かわいい", "i"), "cute"), "pet accessory doll"),
    ((Word("赤い", "i"), "red"), (Word("甘い", "i"), "sweet"), "fruit1"),
    ((Word("長い", "i"), "long"), (Word("つまらない", "i"), "boring"), "show story"),
    ((Word("短い", "i"), "short"), (Word("面白い", "i"), "interesting"), "show story book1"),
    ((Word("簡単", "na"), "simple"), (Word("おいしい", "i"), "delicious"), "curry2"),
    ((Word("大きい", "i"), "big"), (Word("有名", "na"), "famous"), "place"),
    ((Word("古い", "i"), "old"), (Word("有名", "na"), "famous"), "place book"),
)


def person_is(draw: Draw) -> Drawn:
    """鈴木さんは親切で、頭がいいです。"""
    adjective, person = draw.adjective("pers"), draw.somebody()
    topic = person.ja + "は"
    en = Phrase("be", adjective.en)
    pairs = [
        Pair(topic + mood.end(adjective.ja), tell(person.en, en, "present", mood))
        for mood in draw.moods(3, [person])
    ]
    return Drawn((person.ja, adjective.ja.text), pairs)


def person_is_both(draw: Draw) -> Drawn:
    """鈴木さんは親切で、頭がいいです。"""
    (first, first_en), (second, second_en) = draw.sample(_VIRTUES, 2)
    person = draw.somebody()
    text = f"{person.ja}は{japanese.te(first)}、"
    phrase = Phrase("be", f"{first_en} and {second_en}")
    pairs = [
        Pair(text + mood.end(second), tell(person.en, phrase, "present", mood))
        for mood in (Mood(True), Mood(False))
    ]
    return Drawn((person.ja, first.text, second.text), pairs)


_VIRTUES = (
    (Word("親切", "na"), "kind"),
    (Word("優しい", "i"), "gentle"),
    (Word("まじめ", "na"), "serious"),
    (Word("頭がいい", "ii"), "smart"),
    (Word("明るい", "i"), "cheerful"),
    (Word("正直", "na"), "honest"),
    (Word("背が高い", "i"), "tall"),
    (Word("若い", "i"), "young"),
    (Word("元気", "na"), "energetic"),
)


def becoming(draw: Draw) -> Drawn:
    """この部屋は静かになりました。"""
    ja, en, tags = draw.choose(_CHANGES)
    noun, (this_ja, this_en) = draw.noun(*tags.split()), draw.choose(_THIS)
    become = Word(japanese.adverb(ja) + "なる", "godan")
    topic, person = f"{this_ja}{noun.ja}は", noun.as_subject(this_en)
    phrase = Phrase("become", en)
    pairs = [
        Pair(topic + mood.end(become, past=True), tell(person, phrase, "perfect", mood))
        for mood in draw.moods(2)
    ]
    mood = Mood(draw.chance(0.6))
    text = topic + "とても" + mood.end(become, past=True)
    pairs.append(Pair(text, tell(person, Phrase("become", f"very {en}"), "perfect", mood)))
    return Drawn((this_ja, noun.ja, ja.text), pairs)


_CHANGES = (
    (Word("静か", "na"), "quiet", "room town2"),
    (Word("にぎやか", "na"), "lively", "town2"),
    (Word("きれい", "na"), "clean", "room placein clothes2"),
    (Word("汚い", "i"), "dirty", "room clothes2 legs"),
    (Word("暗い", "i"), "dark", "room road2"),
    (Word("明るい", "i"), "bright", "room"),
    (Word("便利", "na"), "convenient", "transit town2 station1"),
    (Word("有名", "na"), "famous", "shop song2 book1 movie1"),
    (Word("高い", "i"), "expensive", "dish fruits vegetable ingredient ticket"),
    (Word("安い", "i"), "cheap", "vegetable fruits electric"),
    (Word("小さい", "i"), "small", "body legs"),
    (Word("古い", "i"), "old", "furniture appliance vehicle bag"),
    (Word("冷たい", "i"), "cold", "hotdrink"),
)


def too_much(draw: Draw) -> Drawn:
    """このかばんは重すぎます。"""
    (adjective, noun), (this_ja, this_en) = draw.described("too"), draw.choose(_THIS)
    word = Word(japanese.stem(adjective.ja) + "すぎる", "ichidan")
    topic, person = f"{this_ja}{noun.ja}は", noun.as_subject(this_en)
    en = Phrase("be", f"too {adjective.en}")
    pairs = []
    for mood, past in zip(draw.moods(3, negatives=False), (False, True, False), strict=False):
        tense = "past" if past else "present"
        pairs.append(Pair(topic + mood.end(word, past), tell(person, en, tense, mood)))
    return Drawn((this_ja, noun.ja, adjective.ja.text), pairs)


def looks_like(draw: Draw) -> Drawn:
    """このケーキはおいしそうです。"""
    (adjective, noun), (this_ja, this_en) = draw.described("looks"), draw.choose(_THIS)
    word = Word(japanese.stem(adjective.ja) + "そう", "na")
    topic, person = f"{this_ja}{noun.ja}は", noun.as_subject(this_en)
    en = Phrase("look", adjective.en)
    pairs = [
        Pair(topic + mood.end(word, past), tell(person, en, "past" if past else "present", mood))
        for mood, past in ((Mood(True), False), (Mood(False), False), (Mood(True), True))
    ]
    return Drawn((this_ja, noun.ja, adjective.ja.text), pairs)


def weather(draw: Draw) -> Drawn:
    """昨日、京都はとても暑かったです。"""
    adjective, place, time = draw.adjective("w"), draw.place("town"), draw.time("event")
    en = Phrase("be", f"{adjective.en} in {place.en} {time.en}")
    very = Phrase("be", f"very {adjective.en} in {place.en} {time.en}")
    topic = f"{lead(time.ja)}{place.ja}は"
    pairs = []
    for mood in draw.moods(2):
        text = topic + mood.end(adjective.ja, past=True)
        pairs.append(Pair(text, tell(english.IT, en, "past", mood)))
    mood = Mood(draw.chance(0.6))
    text = f"{topic}とても{mood.end(adjective.ja, past=True)}"
    pairs.append(Pair(text, tell(english.IT, very, "past", mood)))
    return Drawn((place.ja, adjective.ja.text, time.ja), pairs)


PATTERNS = (
    job,
    thing_is,
    event_was,
    bought_described,
    two_adjectives,
    person_is,
    person_is_both,
    becoming,
    too_much,
    looks_like,
    weather,
)
