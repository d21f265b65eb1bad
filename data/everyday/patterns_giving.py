"""Patterns of giving and receiving: things and favours."""

from keras_attn_data.everyday import japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Mood, Pair, lead, tell
from keras_attn_data.everyday.english import I, Phrase
from keras_attn_data.everyday.japanese import Word

GIVE = Word("あげる", "ichidan")
GIVE_ME = Word("くれる", "ichidan")
GET = Word("もらう", "godan")
_OCCASIONS = (
    ("誕生日に", "for {whose} birthday"),
    ("クリスマスに", "for Christmas"),
    ("卒業のお祝いに", "for {whose} graduation"),
)


def give(draw: Draw) -> Drawn:
    """誕生日に妹に人形をあげました。"""
    who, noun = draw.who(0.5), draw.noun("gift")
    receiver = draw.other(who)
    (occasion_ja, occasion_en) = draw.choose(_OCCASIONS)
    occasion = occasion_en.format(whose=receiver.en.own)
    word = GIVE.after(f"{receiver.ja}に{noun.ja}を")
    en = Phrase("give", f"{receiver.en.object} {noun.bare}")
    pairs = []
    for mood in draw.moods(1, [who, receiver]):
        person = who.asked(mood.question)
        ja = who.topic + occasion_ja + mood.end(word, past=True)
        pairs.append(Pair(ja, tell(person, en.plus(occasion), "past", mood)))
    for time, mood in zip(
        draw.times("past neutral", 1) + draw.times("future neutral", 1),
        draw.moods(2, [who, receiver], negatives=False),
        strict=True,
    ):
        person, past = who.asked(mood.question), "past" in time.kinds
        ja = who.topic + lead(time.ja) + mood.end(word, past)
        pairs.append(Pair(ja, tell(person, en.plus(time.en), "past" if past else "will", mood)))
    return Drawn(tuple(w for w in (who.ja, receiver.ja, noun.ja) if w), pairs)


def given_to_me(draw: Draw) -> Drawn:
    """祖母が誕生日に時計をくれました。"""
    giver, noun = draw.somebody(), draw.noun("gift")
    occasion_ja, occasion_en = draw.choose(_OCCASIONS)
    occasion = occasion_en.format(whose="my")
    word = GIVE_ME.after(f"{noun.ja}を")
    en = Phrase("give", f"me {noun.bare}")
    mood = Mood(draw.chance(0.6))
    pairs = [
        Pair(
            f"{giver.ja}が{occasion_ja}{mood.end(word, past=True)}",
            tell(giver.en, en.plus(occasion), "past", mood),
        )
    ]
    for time in draw.times("past neutral", 2):
        mood = Mood(draw.chance(0.6), negative=draw.chance(0.15))
        particle = "は" if mood.negative else "が"
        ja = f"{lead(time.ja)}{giver.ja}{particle}{mood.end(word, past=True)}"
        pairs.append(Pair(ja, tell(giver.en, en.plus(time.en), "past", mood)))
    return Drawn((giver.ja, noun.ja), pairs)


def receive(draw: Draw) -> Drawn:
    """先週、田中さんにお土産をもらいました。"""
    who, noun = draw.who(0.5), draw.noun("gift", "message", "present")
    giver = draw.other(who)
    word = GET.after(f"{giver.ja}に{noun.ja}を")
    en = Phrase("receive", f"{noun.bare} from {giver.en.object}")
    pairs = []
    for time, mood in zip(draw.times("past neutral", 3), draw.moods(3, [who, giver]), strict=False):
        person = who.asked(mood.question)
        ja = who.topic + lead(time.ja) + mood.end(word, past=True)
        pairs.append(Pair(ja, tell(person, en.plus(time.en), "past", mood)))
    return Drawn(tuple(w for w in (who.ja, giver.ja, noun.ja) if w), pairs)


def favour_for_me(draw: Draw) -> Drawn:
    """兄が自転車を修理してくれました。"""
    helper, action = draw.somebody(), draw.action(draw.choose(("favour", "favour", "favour-to-me")))
    word = GIVE_ME.after(japanese.te(action.ja))
    en = action.en.plus("for me")
    if action.en.verb == "help":
        en = Phrase("help", f"me {action.en.rest}")
    pairs = []
    for time in draw.times_for(action, "past", 2):
        mood = Mood(draw.chance(0.6))
        ja = f"{lead(time.ja)}{helper.ja}が{mood.end(word, past=True)}"
        pairs.append(Pair(ja, tell(helper.en, en.plus(time.en), "past", mood)))
    time, mood = draw.times_for(action, "future", 1)[0], Mood(draw.chance(0.6))
    ja = f"{lead(time.ja)}{helper.ja}が{mood.end(word)}"
    pairs.append(Pair(ja, tell(helper.en, en.plus(time.en), "will", mood)))
    return Drawn((helper.ja, action.key), pairs)


def favour_for_somebody(draw: Draw) -> Drawn:
    """妹にケーキを作ってあげました。"""
    receiver = draw.somebody("family")
    action = draw.action("favour")
    while action.en.verb == "help":
        action = draw.action("favour")
    word = GIVE.after(f"{receiver.ja}のために{japanese.te(action.ja)}")
    en = action.en.plus(f"for {receiver.en.object}")
    pairs = []
    for time, mood in zip(
        draw.times_for(action, "past", 2),
        draw.moods(2, questions=False, negatives=False),
        strict=True,
    ):
        ja = lead(time.ja) + mood.end(word, past=True)
        pairs.append(Pair(ja, tell(I, en.plus(time.en), "past", mood)))
    return Drawn((receiver.ja, action.key), pairs)


def have_it_done(draw: Draw) -> Drawn:
    """父に車を修理してもらいました。"""
    action, who = draw.action("favour"), draw.who(0.7)
    helper = draw.other(who)
    base = GET.after(f"{helper.ja}に{japanese.te(action.ja)}")
    en = Phrase("have", f"{helper.en.object} {action.en.base(helper.en)}")
    pairs = []
    times = draw.times("past neutral", 2) + draw.times("future neutral", 1)
    for time, mood in zip(times, draw.moods(3, [who, helper], negatives=False), strict=False):
        past, person = "past" in time.kinds, who.asked(mood.question)
        ja = who.topic + lead(time.ja) + mood.end(base, past)
        pairs.append(Pair(ja, tell(person, en.plus(time.en), "past" if past else "will", mood)))
    return Drawn(tuple(w for w in (who.ja, helper.ja, action.key) if w), pairs)


def lend_and_borrow(draw: Draw) -> Drawn:
    """友達に辞書を貸しました。田中さんから傘を借りました。"""
    who, noun = draw.who(0.5), draw.noun("lendable", "cash")
    other = draw.other(who)
    lend = Word(f"{other.ja}に{noun.ja}を貸す", "godan")
    borrow = Word(f"{other.ja}から{noun.ja}を借りる", "ichidan")
    verb, en = draw.choose(
        (
            (lend, Phrase("lend", f"{other.en.object} {noun.bare}")),
            (borrow, Phrase("borrow", f"{noun.bare} from {other.en.object}")),
        )
    )
    pairs = []
    times = draw.times("past neutral", 2) + draw.times("future neutral", 1)
    for time, mood in zip(times, draw.moods(3, [who, other]), strict=False):
        past, person = "past" in time.kinds, who.asked(mood.question)
        ja = who.topic + lead(time.ja) + mood.end(verb, past)
        pairs.append(Pair(ja, tell(person, en.plus(time.en), "past" if past else "will", mood)))
    key = verb.text[-2:]
    return Drawn(tuple(w for w in (who.ja, other.ja, noun.ja, key) if w), pairs)


PATTERNS = (
    give,
    given_to_me,
    receive,
    favour_for_me,
    favour_for_somebody,
    have_it_done,
    lend_and_borrow,
)
