"""Patterns of two clauses: reasons, conditions and contrasts."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Mood, Pair, lead
from keras_attn_data.everyday.english import I, Person, Phrase
from keras_attn_data.everyday.japanese import Word
from keras_attn_data.everyday.lexicon import Time

# Reasons not to do something: Japanese clause, and English after "because I".
_HINDRANCES = (
    (Word("忙しい", "i"), Phrase("be", "busy")),
    (Word("疲れている", "ichidan"), Phrase("be", "tired")),
    (Word("時間がない", "i"), Phrase("have", "no time")),
    (Word("頭が痛い", "i"), Phrase("have", "a headache")),
    (Word("体の具合が悪い", "i"), Phrase("feel", "sick")),
    (Word("熱がある", "aru"), Phrase("have", "a fever")),
    (Word("眠い", "i"), Phrase("be", "sleepy")),
    (Word("仕事がたくさんある", "aru"), Phrase("have", "a lot of work")),
)


def _day(draw: Draw) -> Time:
    """A day in the past, near enough to remember how one felt."""
    time = draw.time("past neutral")
    return _day(draw) if time.ja == "三日前に" else time


def hindered(draw: Draw) -> Drawn:
    """忙しかったので、昨日はテレビを見ませんでした。"""
    (cause_ja, cause_en), action = draw.choose(_HINDRANCES), draw.action("together")
    who = draw.who(0.5)
    pairs = []
    past_time = _day(draw)
    pronoun = Person(who.en.pronoun, who.en.code)
    mood = Mood(draw.chance(0.6), negative=True)
    reason = english.say(pronoun, cause_en, "past")
    ja = f"{who.topic}{japanese.nominal(cause_ja, past=True)}ので、{past_time.ja}は"
    main = english.say(who.en, action.en.plus(past_time.en), "past", True)
    pairs.append(
        Pair(ja + mood.end(action.ja, past=True), english.sentence(f"{main} because {reason}"))
    )
    if not who.ja:
        reason = english.say(pronoun, cause_en, "present")
        main = english.say(who.en, action.en.plus("today"), "will", True)
        ja = f"{japanese.polite(cause_ja)}から、今日は"
        ja += Mood(True, negative=True).end(action.ja)
        pairs.append(Pair(ja, english.sentence(f"{main} because {reason}")))
    return Drawn(tuple(w for w in (who.ja, cause_ja.text, action.key) if w), pairs)


def no_money(draw: Draw) -> Drawn:
    """お金がないので、新しいカメラが買えません。"""
    noun = draw.noun(
        "clothes", "electric", "vehicle", "furniture", "instrument", "bag", "accessory"
    )
    adjective_ja, adjective_en = draw.choose((("新しい", "new"), ("いい", "good")))
    thing = noun.described(adjective_en)
    polite = draw.chance(0.6)
    cannot = Word(f"{adjective_ja}{noun.ja}が買える", "ichidan")
    pairs = []
    for past in (False, True):
        mood = Mood(polite, negative=True)
        money = "お金がなかったので、" if past else "お金がないので、"
        have = "because I had no money" if past else "because I have no money"
        main = english.say(I, Phrase("buy", thing), "could" if past else "can", True)
        pairs.append(Pair(money + mood.end(cannot, past), english.sentence(f"{main} {have}")))
    mood = Mood(draw.chance(0.6))
    word = Word(f"{adjective_ja}{noun.ja}を買う", "godan")
    pairs.append(
        Pair(
            f"お金があれば、{mood.end(word)}",
            english.sentence(f"if I have money, I'll buy {thing}"),
        )
    )
    return Drawn((adjective_ja, noun.ja), pairs)


def because_it_is(draw: Draw) -> Drawn:
    """このかばんは重いので、買いません。"""
    adjectives, tags, consequences = draw.choose(_JUDGEMENTS)
    (ja, en), noun = draw.choose(adjectives), draw.noun(*tags.split())
    verb, verb_en, negative = draw.choose(consequences)
    this, them = noun.as_subject("this"), "them" if noun.is_plural else "it"
    pairs = []
    for past, polite in ((False, True), (True, True), (True, False), (False, False)):
        mood, tense = Mood(polite, negative=negative), "past" if past else "present"
        reason = english.say(this, Phrase("be", en), tense)
        main = english.say(I, Phrase(verb_en, them), "past" if past else "will", negative)
        text = f"この{noun.ja}は{japanese.nominal(ja, past)}ので、{mood.end(verb, past)}"
        pairs.append(Pair(text, english.sentence(f"{reason}, so {main}")))
    return Drawn((noun.ja, ja.text, verb.text), draw.sample(pairs, 2))


_BUY = Word("買う", "godan")
_JUDGEMENTS = (
    (
        (
            (Word("重い", "i"), "heavy"),
            (Word("高い", "i"), "expensive"),
            (Word("大きい", "i"), "big"),
        ),
        "bag furniture electric",
        ((_BUY, "buy", True),),
    ),
    (
        (
            (Word("安い", "i"), "cheap"),
            (Word("軽い", "i"), "light"),
            (Word("便利", "na"), "convenient"),
        ),
        "bag electric",
        ((_BUY, "buy", False),),
    ),
    (
        ((Word("高い", "i"), "expensive"), (Word("古い", "i"), "old")),
        "body legs vehicle instrument furniture",
        ((_BUY, "buy", True),),
    ),
    (
        ((Word("安い", "i"), "cheap"), (Word("すてき", "na"), "lovely")),
        "body legs accessory bag furniture",
        ((_BUY, "buy", False),),
    ),
    (
        ((Word("面白い", "i"), "interesting"), (Word("やさしい", "i"), "easy")),
        "book",
        ((Word("読む", "godan"), "read", False),),
    ),
    (
        ((Word("難しい", "i"), "difficult"), (Word("つまらない", "i"), "boring")),
        "book message",
        ((Word("読む", "godan"), "read", True),),
    ),
    (
        ((Word("高い", "i"), "expensive"), (Word("辛い", "i"), "spicy")),
        "dish",
        ((Word("食べる", "ichidan"), "eat", True),),
    ),
)

_WEATHER = (
    (Word("雨が降る", "godan"), " rains", "in"),
    (Word("雪が降る", "godan"), " snows", "in"),
    (Word("天気がいい", "ii"), "'s sunny", "out"),
    (Word("天気が悪い", "i"), "'s stormy", "in"),
    (Word("寒い", "i"), "'s cold", "in"),
    (Word("暖かい", "i"), "'s warm", "out"),
    (Word("風が強い", "i"), "'s windy", "in"),
    (Word("晴れる", "ichidan"), " clears up", "out"),
)


def if_weather(draw: Draw) -> Drawn:
    """明日雨が降ったら、家で本を読みます。"""
    weather_ja, weather_en, side = draw.choose(_WEATHER)
    home = side == "in"
    action = draw.action("together")
    while ("home" in action.places) != home or (not home and not action.places & _OUTDOORS):
        action = draw.action("together")
    place = None if home else draw.place_for(action)
    where_ja, where_en = (
        ("家で", "at home") if home or place is None else (place.ja + "で", place.at)
    )
    main = english.say(I, action.en.plus(where_en), "will")
    time = draw.choose(
        (("明日", "tomorrow"), ("日曜日に", "on Sunday"), ("週末に", "on the weekend"))
    )
    pairs = []
    for form in (japanese.tara(weather_ja), japanese.conditional(weather_ja)):
        mood = Mood(draw.chance(0.6))
        ja = f"{lead(time[0])}{form}、{mood.end(action.ja.after(where_ja))}"
        pairs.append(Pair(ja, english.sentence(f"if it{weather_en} {time[1]}, {main}")))
    return Drawn((weather_ja.text, action.key, where_ja), pairs)


_OUTDOORS = frozenset({"park", "nature", "garden"})


def if_time(draw: Draw) -> Drawn:
    """時間があれば、映画を見たいです。"""
    cause_ja, cause_en = draw.choose(_CHANCES)
    action = draw.action("together")
    place = draw.place_for(action)
    where_ja, where_en = (place.ja + "で", place.at) if place else ("", "")
    ja = action.ja.after(where_ja)
    polite = draw.chance(0.6)
    phrase = action.en.plus(where_en)
    wanting = Mood(polite).end(japanese.wanting(ja))
    doing = Mood(polite).end(ja)
    base = phrase.base(I)
    pairs = [
        Pair(f"{cause_ja}、{wanting}", english.sentence(f"if {cause_en}, I want to {base}")),
        Pair(f"{cause_ja}、{doing}", english.sentence(f"if {cause_en}, I'll {base}")),
    ]
    return Drawn((cause_ja, action.key, where_ja), pairs)


_CHANCES = (
    ("時間があれば", "I have time"),
    ("仕事が早く終われば", "work ends early"),
    ("明日暇だったら", "I'm free tomorrow"),
    ("雨がやんだら", "the rain stops"),
    ("家に早く帰れたら", "I can go home early"),
    ("宿題が終わったら", "my homework is done"),
    ("疲れていなければ", "I'm not tired"),
)


def when_there(draw: Draw) -> Drawn:
    """京都に行ったら、お寺の写真を撮りたいです。"""
    place, action = draw.place("city" if draw.chance(0.6) else "abroad"), draw.action("together")
    while action.places & {"home", "garden"}:
        action = draw.action("together")
    base = action.en.base(I)
    polite = Mood(draw.chance(0.6))
    pairs = [
        Pair(
            f"{place.ja}に行ったら、{polite.end(japanese.wanting(action.ja))}",
            english.sentence(f"when I go to {place.en}, I want to {base}"),
        ),
        Pair(
            f"{place.ja}に行ったとき、{polite.end(action.ja, past=True)}",
            english.sentence(english.say(I, action.en, "past") + f" when I went to {place.en}"),
        ),
    ]
    return Drawn((place.ja, action.key), pairs)


def even_though(draw: Draw) -> Drawn:
    """忙しかったですが、テニスをしました。雨でも、走ります。"""
    (cause_ja, cause_en), action = draw.choose(_HINDRANCES), draw.action("together")
    who, time = draw.who(0.5), _day(draw)
    pronoun = Person(who.en.pronoun, who.en.code)
    cause = english.say(who.en, cause_en.plus(time.en), "past")
    main = english.say(pronoun, action.en, "past")
    front = who.topic + lead(time.ja)
    did = Mood(True).end(action.ja, past=True)
    pairs = [
        Pair(
            f"{front}{japanese.nominal(cause_ja, past=True)}のに、{did}",
            english.sentence(f"although {cause}, {main}"),
        ),
        Pair(
            f"{front}{japanese.polite(cause_ja, past=True)}が、{did}",
            english.sentence(f"{cause}, but {main}"),
        ),
    ]
    return Drawn(tuple(w for w in (who.ja, cause_ja.text, action.key) if w), pairs)


PATTERNS = (hindered, no_money, because_it_is, if_weather, if_time, when_there, even_though)
