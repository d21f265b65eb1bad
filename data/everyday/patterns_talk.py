"""Patterns of small talk: the weather, what one does and did, invitations, exclamations."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Mood, Pair, lead, tell
from keras_attn_data.everyday.english import IT, WE, YOU, Phrase
from keras_attn_data.everyday.japanese import Word

_WEATHER = (
    (Word("暑い", "i"), Phrase("be", "hot")),
    (Word("寒い", "i"), Phrase("be", "cold")),
    (Word("暖かい", "i"), Phrase("be", "warm")),
    (Word("涼しい", "i"), Phrase("be", "cool")),
    (Word("蒸し暑い", "i"), Phrase("be", "muggy")),
    (Word("風が強い", "i"), Phrase("be", "windy")),
    (Word("いい天気", "noun"), Phrase("be", "sunny")),
    (Word("晴れ", "noun"), Phrase("be", "sunny")),
    (Word("雨", "noun"), Phrase("be", "rainy")),
    (Word("曇り", "noun"), Phrase("be", "cloudy")),
)
_NOW = (
    ("今日は", "today"),
    ("今日は", "today"),
    ("今朝は", "this morning"),
    ("今日も", "today, too"),
)
_THEN = (
    ("昨日は", "yesterday"),
    ("昨日の夜は", "last night"),
    ("先週は", "last week"),
    ("去年の夏は", "last summer"),
)
_NEXT = (
    ("明日は", "tomorrow"),
    ("あさっては", "the day after tomorrow"),
    ("週末は", "this weekend"),
    ("来週は", "next week"),
)
_FALLING = (("雨", "rain"), ("雪", "snow"))


def weather_talk(draw: Draw) -> Drawn:
    """今日は暑いですね。明日は雨が降るでしょう。"""
    word, phrase = draw.choose(_WEATHER)
    (now_ja, now_en), (then_ja, then_en) = draw.choose(_NOW), draw.choose(_THEN)
    next_ja, next_en = draw.choose(_NEXT)
    pairs = []
    if word.text != "いい天気":
        for mood in draw.moods(2, questions=False):
            text = tell(IT, phrase.plus(now_en), "present", mood)
            pairs.append(Pair(now_ja + mood.end(word), text))
        isnt = english.sentence(english.say(IT, phrase.plus(now_en), "present") + ", isn't it", "?")
        pairs.append(Pair(f"{now_ja}{word.text}ですね。", isnt))
        plain = word.text + ("ね。" if word.kind in ("i", "ii") else "だね。")
        pairs.append(Pair(now_ja + plain, isnt))
        very = Phrase("be", f"very {phrase.rest} {now_en}")
        if word.kind == "i":
            pairs.append(
                Pair(f"{now_ja}とても{word.text}です。", tell(IT, very, "present", Mood(True)))
            )
    for mood in draw.moods(2):
        pairs.append(
            Pair(then_ja + mood.end(word, past=True), tell(IT, phrase.plus(then_en), "past", mood))
        )
    if word.kind == "noun":
        tense = Phrase(phrase.verb, f"{phrase.rest} {next_en}")
        pairs.append(Pair(f"{next_ja}{word.text}です。", tell(IT, tense, "will", Mood(True))))
        pairs.append(
            Pair(
                f"{next_ja}{word.text}ですか。", tell(IT, tense, "will", Mood(True, question=True))
            )
        )
    probable = english.sentence(f"it'll probably be {phrase.rest} {next_en}")
    pairs.append(Pair(f"{next_ja}{word.text}でしょう。", probable))
    return Drawn((word.text,), draw.typed(draw.sample(pairs, 4)))


def rain_or_snow(draw: Draw) -> Drawn:
    """明日は雨が降るでしょう。昨日は雪が降りました。"""
    ja, en = draw.choose(_FALLING)
    (now_ja, now_en), (then_ja, then_en) = draw.choose(_NOW), draw.choose(_THEN)
    next_ja, next_en = draw.choose(_NEXT)
    place, much = draw.place("town"), draw.choose((("たくさん", " a lot"), ("少し", " a little")))
    pairs = [
        Pair(f"{next_ja}{ja}が降るでしょう。", f"It'll probably {en} {next_en}."),
        Pair(f"{next_ja}{ja}が降りますか。", f"Will it {en} {next_en}?"),
        Pair(f"{next_ja}{ja}が降ると思います。", f"I think it'll {en} {next_en}."),
        Pair(f"{next_ja}{ja}が降らないでしょう。", f"It probably won't {en} {next_en}."),
        Pair(f"{then_ja}{ja}が降りました。", f"It {english.past(en)} {then_en}."),
        Pair(f"{then_ja}{ja}が降りませんでした。", f"It didn't {en} {then_en}."),
        Pair(f"{then_ja}{ja}が{much[0]}降りました。", f"It {english.past(en)}{much[1]} {then_en}."),
        Pair(f"{now_ja}{ja}が降っています。", f"It's {english.ing(en)} {now_en}."),
        Pair(f"{now_ja}{ja}が降っていますか。", f"Is it {english.ing(en)} {now_en}?"),
        Pair(f"{now_ja}{ja}が降りそうです。", f"It looks like it'll {en} {now_en}."),
    ]
    there = [
        Pair(f"{place.ja}は{ja}が降っています。", f"It's {english.ing(en)} in {place.en}."),
        Pair(f"{place.ja}では{ja}が降っていますか。", f"Is it {english.ing(en)} in {place.en}?"),
        Pair(f"{place.ja}は{ja}が{much[0]}降ります。", f"It {en}s{much[1]} in {place.en}."),
        Pair(
            f"{then_ja}{place.ja}で{ja}が降った。",
            f"It {english.past(en)} in {place.en} {then_en}.",
        ),
    ]
    if draw.chance(0.5):
        return Drawn((ja, place.ja), draw.typed(draw.sample(there, 3)))
    return Drawn((ja, next_ja, then_ja), draw.typed(draw.sample(pairs, 3)))


_WHEN_ASKED = (
    ("明日", "tomorrow", "will"),
    ("今夜", "tonight", "will"),
    ("週末", "on weekends", "present"),
    ("今週末", "this weekend", "will"),
    ("今度の週末", "this weekend", "will"),
    ("今度の日曜日", "this Sunday", "will"),
    ("夏休み", "during the summer vacation", "will"),
    ("冬休み", "during the winter vacation", "will"),
    ("来週の月曜日", "next Monday", "will"),
    ("今日の午後", "this afternoon", "will"),
    ("昨日", "yesterday", "past"),
    ("昨日の夜", "last night", "past"),
    ("先週末", "last weekend", "past"),
    ("先週の日曜日", "last Sunday", "past"),
    ("今朝", "this morning", "past"),
    ("休みの日", "on your days off", "present"),
    ("日曜日", "on Sundays", "present"),
    ("暇なとき", "in your free time", "present"),
    ("クリスマス", "at Christmas", "will"),
)
_ACTS = (
    (Word("何をする", "suru"), "what", Phrase("do")),
    (Word("どこに行く", "iku"), "where", Phrase("go")),
    (Word("どこへ行く", "iku"), "where", Phrase("go")),
    (Word("何を食べる", "ichidan"), "what", Phrase("eat")),
    (Word("何を飲む", "godan"), "what", Phrase("drink")),
    (Word("何を買う", "godan"), "what", Phrase("buy")),
    (Word("何を見る", "ichidan"), "what", Phrase("watch")),
    (Word("何を読む", "godan"), "what", Phrase("read")),
    (Word("何を作る", "godan"), "what", Phrase("make")),
    (Word("何を勉強する", "suru"), "what", Phrase("study")),
    (Word("だれに会う", "godan"), "who", Phrase("meet")),
    (Word("何時に起きる", "ichidan"), "what time", Phrase("get", "up")),
    (Word("何時に寝る", "ichidan"), "what time", Phrase("go", "to bed")),
    (Word("何時に帰る", "godan"), "what time", Phrase("go", "home")),
    (Word("何時間働く", "godan"), "how many hours", Phrase("work")),
    (Word("何時間寝る", "ichidan"), "how many hours", Phrase("sleep")),
    (Word("何時に出かける", "ichidan"), "what time", Phrase("go", "out")),
)


_LONG = frozenset("夏休み 冬休み 週末 今週末 今度の週末 先週末 暇なとき クリスマス".split())


def what_do(draw: Draw) -> Drawn:
    """週末は何をしますか。昨日はどこに行きましたか。"""
    (when_ja, when_en, tense), (ja, word, en) = draw.choose(_WHEN_ASKED), draw.choose(_ACTS)
    if when_ja in _LONG and (word.startswith(("what time", "how")) or en.verb in ("eat", "drink")):
        return what_do(draw)
    past = tense == "past"
    question = english.sentence(f"{word} {english.ask(YOU, en.plus(when_en), tense)}", "?")
    pairs = []
    for polite in (True, False):
        mood = Mood(polite, question=True)
        pairs.append(Pair(f"{when_ja}は{mood.end(ja, past)}", question))
    if not past:
        wanting = english.sentence(f"{word} do you want to {en.base(YOU)} {when_en}", "?")
        if tense == "will" and word != "how many hours":
            pairs.append(Pair(f"{when_ja}は{japanese.wanting(ja).text}ですか。", wanting))
    if draw.chance(0.2):
        simple = english.ask(YOU, en, "past")
        pairs.append(
            Pair(Mood(True, question=True).end(ja, True), english.sentence(f"{word} {simple}", "?"))
        )
    return Drawn((ja.text, when_ja), draw.typed(pairs))


_DONE = (
    (Word("家にいる", "ichidan"), Phrase("be", "at home")),
    (Word("仕事をする", "suru"), Phrase("work")),
    (Word("働く", "godan"), Phrase("work")),
    (Word("友達に会う", "godan"), Phrase("meet", "my friend")),
    (Word("映画を見に行く", "iku"), Phrase("go", "to see a movie")),
    (Word("買い物に行く", "iku"), Phrase("go", "shopping")),
    (Word("家族と過ごす", "godan"), Phrase("spend", "time with my family")),
    (Word("ゆっくり休む", "godan"), Phrase("rest", "well")),
    (Word("部屋を掃除する", "suru"), Phrase("clean", "my room")),
    (Word("音楽を聞く", "godan"), Phrase("listen", "to music")),
    (Word("日本語を勉強する", "suru"), Phrase("study", "Japanese")),
    (Word("本を読む", "godan"), Phrase("read", "a book")),
    (Word("料理をする", "suru"), Phrase("cook")),
    (Word("友達と食事をする", "suru"), Phrase("have", "a meal with my friend")),
    (Word("友達の家に行く", "iku"), Phrase("go", "to my friend's house")),
    (Word("祖母の家に行く", "iku"), Phrase("go", "to my grandmother's house")),
    (Word("海に行く", "iku"), Phrase("go", "to the sea")),
    (Word("旅行に行く", "iku"), Phrase("go", "on a trip")),
    (Word("試験を受ける", "ichidan"), Phrase("take", "an exam")),
    (Word("洗濯をする", "suru"), Phrase("do", "the laundry")),
    (Word("早く寝る", "ichidan"), Phrase("go", "to bed early")),
    (Word("学校を休む", "godan"), Phrase("miss", "school")),
    (Word("仕事を休む", "godan"), Phrase("take", "the day off")),
    (Word("日本に行く", "iku"), Phrase("go", "to Japan")),
)


def what_i_do(draw: Draw) -> Drawn:
    """明日は友達に会います。昨日は家にいました。"""
    (when_ja, when_en, tense), (ja, en) = draw.choose(_WHEN_ASKED), draw.choose(_DONE)
    if tense == "present" and "day off" in en.rest:
        return what_i_do(draw)
    me, past = draw.choose(("", "", "私は")), tense == "past"
    pairs = []
    for mood in draw.moods(2, negatives=tense != "present", questions=False):
        when = when_ja.removesuffix("は") + ("は" if not me else "、")
        text = tell(english.I, en.plus(when_en.replace("your", "my")), tense, mood)
        pairs.append(Pair(me + when + mood.end(ja, past), text))
    if tense == "will":
        wanting = Mood(True).end(japanese.wanting(ja))
        text = f"I want to {en.base(english.I)} {when_en}."
        pairs.append(Pair(f"{when_ja}は{wanting}", text))
        plan = f"{when_ja}は{ja.text}つもりです。"
        pairs.append(Pair(plan, f"I intend to {en.base(english.I)} {when_en}."))
    return Drawn((ja.text, when_ja), draw.typed(pairs))


def inviting(draw: Draw) -> Drawn:
    """一緒に映画を見ませんか。コーヒーを飲みに行きましょう。"""
    action = draw.action("together")
    time_ja, time_en = draw.choose(
        (
            ("", ""),
            ("", ""),
            ("明日", "tomorrow"),
            ("今晩", "this evening"),
            ("週末に", "on the weekend"),
        )
    )
    stem, front = japanese.stem(action.ja), lead(time_ja)
    together = draw.choose(("一緒に", "いっしょに"))
    with_me = action.en.plus("with me", time_en).base(YOU)
    base = action.en.plus("together", time_en).base(WE)
    pairs = [
        Pair(
            f"{front}{together}{stem}ませんか。",
            english.sentence(f"would you like to {with_me}", "?"),
        ),
        Pair(f"{front}{together}{stem}ましょう。", english.sentence(f"let's {base}")),
        Pair(
            f"{front}{together}{japanese.plain(action.ja, negative=True)}?",
            english.sentence(f"would you like to {with_me}", "?"),
        ),
    ]
    if not time_ja and action.noun is not None:
        eat = english.sentence(f"let's go and {action.en.base(WE)}")
        if action.en.verb in ("eat", "drink", "see", "buy"):
            pairs.append(Pair(f"{stem}に行きましょう。", eat))
            pairs.append(Pair(f"{stem}に行こう。", eat))
    return Drawn((action.key, time_ja), draw.typed(draw.sample(pairs, 3)))


_LOOKS = (
    ("本当に", "really "),
    ("とても", "very "),
    ("", ""),
)


def remark(draw: Draw) -> Drawn:
    """この料理はおいしいですね。きれいな花ですね。いい店ですね。"""
    adjective, noun = draw.described("c", "cp")
    this_ja, this_en = draw.choose((("この", "this"), ("その", "that"), ("あの", "that")))
    person = noun.as_subject(this_en)
    be, pronoun = ("aren't", "they") if noun.is_plural else ("isn't", "it")
    adverb_ja, adverb_en = draw.choose(_LOOKS)
    very = f"{adverb_en}{adjective.en}"
    clause = english.say(person, Phrase("be", very), "present")
    text = english.sentence(f"{clause}, {be} {pronoun}", "?")
    pairs = [Pair(f"{this_ja}{noun.ja}は{adverb_ja}{adjective.ja.text}ですね。", text)]
    attributive = japanese.attributive(adjective.ja) + noun.ja
    if noun.article in ("a", "s", "the") and "naturething" not in noun.tags:
        what = f"{noun.described(adjective.en, 'a')}" if noun.article != "p" else ""
        pairs.append(Pair(f"{attributive}ですね。", english.sentence(f"what {what}", "!")))
    plain = adjective.ja.text + ("ね。" if adjective.ja.kind in ("i", "ii") else "だね。")
    pairs.append(Pair(f"{this_ja}{noun.ja}は{adverb_ja}{plain}", text))
    return Drawn((this_ja, noun.ja, adjective.ja.text), draw.typed(pairs))


def somebody_now(draw: Draw) -> Drawn:
    """田中さんはいますか。兄は今どこにいますか。母は家にいます。"""
    somebody = draw.somebody()
    name = somebody.en
    place = draw.place(draw.choose(("hours", "study", "work", "home")))
    me = Word(f"{place.ja}にいる", "ichidan")
    pairs = [
        Pair(f"{somebody.ja}は{mood.end(me)}", tell(name, Phrase("be", place.at), "present", mood))
        for mood in draw.moods(2, [somebody])
    ]
    now = Mood(draw.chance(0.7))
    text = tell(name, Phrase("be", f"{place.at} now"), "present", now)
    pairs.append(Pair(f"{somebody.ja}は今、{now.end(me)}", text))
    if somebody.kind == "name":
        pairs += [
            Pair(f"{somebody.ja}はいますか。", f"Is {name.text} here?"),
            Pair(f"{somebody.ja}はどこにいますか。", f"Where is {name.text}?"),
            Pair(f"{somebody.ja}、お元気ですか。", f"How are you, {name.text}?"),
            Pair(f"{somebody.ja}、こんにちは。", f"Hello, {name.text}."),
            Pair(f"{somebody.ja}、おはようございます。", f"Good morning, {name.text}."),
            Pair(f"{somebody.ja}、ありがとうございます。", f"Thank you, {name.text}."),
            Pair(f"{somebody.ja}、お誕生日おめでとうございます。", f"Happy birthday, {name.text}."),
            Pair(f"{somebody.ja}を知っていますか。", f"Do you know {name.object}?"),
            Pair(f"{somebody.ja}はだれですか。", f"Who is {name.text}?"),
            Pair(f"{somebody.ja}に会いたいです。", f"I want to see {name.object}."),
            Pair(f"{somebody.ja}によろしくお伝えください。", f"Please say hello to {name.object}."),
            Pair(
                f"これは{somebody.ja}からのプレゼントです。",
                f"This is a present from {name.object}.",
            ),
            Pair(f"{somebody.ja}に電話しました。", f"I called {name.object}."),
            Pair(f"{somebody.ja}をお願いします。", f"May I speak to {name.object}?"),
        ]
    else:
        pairs.append(Pair(f"{somebody.ja}に電話しました。", f"I called {name.object}."))
        pairs.append(
            Pair(
                f"{somebody.ja}は元気です。",
                tell(name, Phrase("be", "fine"), "present", Mood(True)),
            )
        )
        if draw.chance(0.5):
            pairs.append(Pair(f"{somebody.ja}に会いたいです。", f"I want to see {name.object}."))
    return Drawn((somebody.ja, place.ja), draw.typed(draw.sample(pairs, 4)))


def going_plain(draw: Draw) -> Drawn:
    """学校に行きます。駅へ行きました。デパートに行きたいです。"""
    place, me = draw.place("go"), draw.choose(("", "", "私は"))
    go, to = Word("行く", "iku"), draw.choose(("に", "へ"))
    where = "home" if place.ja == "家" else f"to {place.en}"
    if place.ja == "家":
        return going_plain(draw)
    pairs = []
    for mood in draw.moods(2):
        person = YOU if mood.question else english.I
        text = tell(person, Phrase("go", where), "past", mood)
        pairs.append(
            Pair(("" if mood.question else me) + mood.end(go.after(place.ja + to), True), text)
        )
    for mood in draw.moods(2, negatives=False, questions=False):
        text = f"I'm going {where}."
        pairs.append(Pair(me + mood.end(go.after(place.ja + to)), text))
    pairs.append(Pair(f"{place.ja}{to}行きますか。", f"Are you going {where}?"))
    pairs.append(Pair(f"{place.ja}{to}行きましょう。", f"Let's go {where}."))
    pairs.append(Pair(f"{place.ja}{to}行こう。", f"Let's go {where}."))
    pairs.append(Pair(f"いつ{place.ja}{to}行きますか。", f"When will you go {where}?"))
    pairs.append(Pair(f"{place.ja}{to}行きませんか。", f"Would you like to go {where}?"))
    return Drawn((place.ja, to), draw.typed(draw.sample(pairs, 4)))


PATTERNS = (
    weather_talk,
    rain_or_snow,
    what_do,
    what_i_do,
    inviting,
    remark,
    somebody_now,
    going_plain,
)
