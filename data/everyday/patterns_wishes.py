"""Patterns of wishes, plans, ability, experience and preferences."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import SPEAKER, Draw, Drawn, Mood, Pair, Who, lead, tell
from keras_attn_data.everyday.english import Phrase
from keras_attn_data.everyday.japanese import Word

_GOODS = "clothes accessory bag electric book furniture instrument vehicle pet dishware".split()


def _key(who: Who, *words: str) -> tuple[str, ...]:
    return tuple(word for word in (who.ja, *words) if word)


def want_thing(draw: Draw) -> Drawn:
    """新しい自転車がほしいです。"""
    noun = draw.noun(*_GOODS)
    adjective, english_adjective = draw.choose(_WANTED)
    if "pet" in noun.tags:
        adjective, english_adjective = draw.choose((("かわいい", "cute"), ("小さい", "small")))
    word = Word(f"{adjective}{noun.ja}がほしい", "i")
    phrase = Phrase("want", noun.described(english_adjective))
    pairs = []
    for mood in draw.moods(3):
        past = draw.chance(0.25)
        person = SPEAKER.asked(mood.question)
        pairs.append(
            Pair(mood.end(word, past), tell(person, phrase, "past" if past else "present", mood))
        )
    return Drawn((adjective, noun.ja), pairs)


_WANTED = (
    ("新しい", "new"),
    ("安い", "cheap"),
    ("大きい", "big"),
    ("小さい", "small"),
    ("軽い", "light"),
    ("黒い", "black"),
    ("白い", "white"),
    ("すてきな", "lovely"),
)


def want_to_do(draw: Draw) -> Drawn:
    """来週、友達と京都に行きたいです。妹はピアノを習いたがっています。"""
    action = draw.action("wish")
    time = draw.times_for(action, "future", 1, timeless=0.7)[0]
    place = draw.place_for(action) if draw.chance(0.5) else None
    where = place.ja + "で" if place else ""
    base = action.ja.after(where)
    en = action.en.plus(place.at if place else "")
    pairs = []
    for mood in draw.moods(2):
        person = SPEAKER.asked(mood.question)
        wanting = japanese.wanting(base)
        phrase = Phrase("want", f"to {en.base(person)} {time.en}")
        pairs.append(Pair(lead(time.ja) + mood.end(wanting), tell(person, phrase, "present", mood)))
    somebody = draw.somebody("family", "friend", "name")
    mood = Mood(draw.chance(0.6))
    third = Word(japanese.stem(base) + "たがっている", "ichidan")
    phrase = Phrase("want", f"to {en.base(somebody.en)}")
    pairs.append(
        Pair(f"{somebody.ja}は{mood.end(third)}", tell(somebody.en, phrase, "present", mood))
    )
    return Drawn((action.key, where, somebody.ja), pairs)


def want_to_go(draw: Draw) -> Drawn:
    """夏休みに家族とイタリアに行きたいです。"""
    place, companion = draw.place("fun"), draw.somebody()
    word = Word(f"{companion.ja}と{place.ja}に行く", "iku")
    phrase = Phrase("want", f"to go to {place.en} with {companion.en.object}")
    time = draw.time("future long" if "far" in place.kinds else "future neutral")
    pairs = []
    for mood in draw.moods(3, [companion]):
        ja = mood.end(japanese.wanting(word.after(lead(time.ja))))
        person = SPEAKER.asked(mood.question)
        pairs.append(Pair(ja, tell(person, phrase.plus(time.en), "present", mood)))
    return Drawn((place.ja, companion.ja), pairs)


def intending(draw: Draw) -> Drawn:
    """来月、ギターを買うつもりです。"""
    who, action = draw.who(), draw.action("wish")
    pairs = []
    for time in draw.times_for(action, "future", 2, timeless=0.6):
        mood = Mood(
            draw.chance(0.6),
            question=draw.chance(0.2) and who.kind != "family" and who.ja != "私たち",
        )
        person = who.asked(mood.question)
        word = Word(action.ja.text + "つもり", "noun")
        phrase = Phrase("intend", f"to {action.en.base(person)} {time.en}")
        pairs.append(
            Pair(who.topic + lead(time.ja) + mood.end(word), tell(person, phrase, "present", mood))
        )
    time = draw.times_for(action, "future", 1, timeless=0.6)[0]
    polite = draw.chance(0.6)
    ja = f"{lead(time.ja)}{japanese.volitional(action.ja)}と思{'います' if polite else 'う'}。"
    if not who.ja:
        text = english.sentence(f"I'm thinking of {action.en.ing(english.I)} {time.en}")
        pairs.append(Pair(ja, text))
    return Drawn(_key(who, action.key), pairs)


def able(draw: Draw) -> Drawn:
    """姉はフランス語が話せます。一人で泳ぐことができます。"""
    who, action = draw.who(), draw.action("skill")
    can, could = action.possible, Word(f"{action.ja.text}ことができる", "ichidan")
    pairs = []
    for mood, word in zip(draw.moods(3, [who]), (can, could, can), strict=False):
        person = who.asked(mood.question)
        pairs.append(Pair(who.topic + mood.end(word), tell(person, action.general, "can", mood)))
    mood = Mood(draw.chance(0.6), negative=True)
    ja = f"{who.topic}昔、{mood.end(can, past=True)}"
    phrase = action.general.plus("in the past")
    pairs.append(Pair(ja, tell(who.en, phrase, "could", mood)))
    return Drawn(_key(who, action.key), draw.sample(pairs, 3))


def have_done_before(draw: Draw) -> Drawn:
    """馬に乗ったことがあります。"""
    who, action = draw.who(), draw.action("experience")
    movable = action.noun is None or "food" in action.noun.tags
    place = None
    if movable and not action.places & {"home"} and "で" not in action.ja.text:
        place = draw.place("town") if draw.chance(0.4) else None
    ja = action.ja.after(place.ja + "で" if place else "")
    word = Word(japanese.plain(ja, past=True) + "ことがある", "aru")
    eaten = action.noun is not None and "food" in action.noun.tags
    usual = action.general if eaten else action.en
    pairs = []
    for mood in draw.moods(3, [who]):
        person = who.asked(mood.question)
        adverb = "ever" if mood.question else "never" if mood.negative else ""
        plain = Mood(mood.polite, question=mood.question)
        phrase = usual.plus(place.at if place else "")
        if not adverb:
            phrase = phrase.plus("before")
        pairs.append(
            Pair(who.topic + mood.end(word), tell(person, phrase, "perfect", plain, adverb))
        )
    return Drawn(_key(who, action.key, place.ja if place else ""), pairs)


def like_doing(draw: Draw) -> Drawn:
    """父は庭で花を育てるのが好きです。"""
    who, action = draw.who(), draw.action("hobby")
    skilled = "skill" in action.uses or action.en.verb in ("play", "do", "go")
    feeling_ja, feeling_kind, be, feeling_en = draw.choose(_FEELINGS if skilled else _FEELINGS[:1])
    place = draw.place_for(action) if draw.chance(0.3) else None
    ja = action.ja.after(place.ja + "で" if place else "")
    word = Word(f"{ja.text}のが{feeling_ja}", feeling_kind)
    pairs = []
    for mood in draw.moods(3, [who]):
        person = who.asked(mood.question)
        doing = action.general.plus(place.at if place else "").ing(person)
        if feeling_en:
            doing = doing.removeprefix("going ")
        phrase = Phrase(be, f"{feeling_en}{doing}")
        pairs.append(Pair(who.topic + mood.end(word), tell(person, phrase, "present", mood)))
    return Drawn(_key(who, action.key, feeling_ja, place.ja if place else ""), pairs)


_FEELINGS = (
    ("好き", "na", "like", ""),
    ("好き", "na", "like", ""),
    ("上手", "na", "be", "good at "),
    ("苦手", "na", "be", "bad at "),
    ("得意", "na", "be", "great at "),
)

PATTERNS = (
    want_thing,
    want_to_do,
    want_to_go,
    intending,
    able,
    have_done_before,
    like_doing,
)
