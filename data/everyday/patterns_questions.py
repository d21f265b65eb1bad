"""Patterns of questions with question words."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Mood, Pair, lead
from keras_attn_data.everyday.english import Phrase
from keras_attn_data.everyday.japanese import Word


def _ending(draw: Draw, word: Word, past: bool = False) -> str:
    return Mood(draw.chance(0.65), question=True).end(word, past)


def where_or_when(draw: Draw) -> Drawn:
    """どこでそのかばんを買いましたか。"""
    who, action = draw.stranger(0.4), draw.action("wish")
    while "早く" in action.ja.text:  # it tells when
        action = draw.action("wish")
    person = who.asked(True)
    questions = [("いつ", "when")]
    if "together" in action.uses:
        questions.append(("だれと", "who"))
    if action.places:
        questions.append(("どこで", "where"))
    pairs = []
    for word_ja, word_en in draw.sample(questions, 2):
        past = draw.chance(0.6)
        tail = "with" if word_en == "who" else ""
        text = english.ask(person, action.en.plus(tail), "past" if past else "will")
        ja = f"{who.topic}{word_ja}{_ending(draw, action.ja, past)}"
        pairs.append(Pair(ja, english.sentence(f"{word_en} {text}", "?")))
    return Drawn(tuple(w for w in (who.ja, action.key) if w), pairs)


def what_did(draw: Draw) -> Drawn:
    """昨日、図書館で何を読みましたか。"""
    verb, en, places = draw.choose(_TAKERS)
    who, place = draw.stranger(0.4), draw.place(draw.choose(places))
    person = who.asked(True)
    pairs = []
    for kind in ("past", "future"):
        past = kind == "past"
        time = draw.time(f"{kind} {'long' if 'far' in place.kinds else 'neutral'}")
        ja = f"{who.topic}{lead(time.ja)}{place.ja}で何を{_ending(draw, verb, past)}"
        phrase = Phrase(en, f"{place.at} {time.en}")
        text = english.ask(person, phrase, "past" if past else "will")
        pairs.append(Pair(ja, english.sentence(f"what {text}", "?")))
    return Drawn(tuple(w for w in (who.ja, verb.text, place.ja) if w), pairs)


_TAKERS = (
    (Word("食べる", "ichidan"), "eat", ("eat", "town", "land")),
    (Word("飲む", "godan"), "drink", ("eat", "home")),
    (Word("買う", "godan"), "buy", ("dept", "town", "land", "shop-fruit")),
    (Word("する", "suru"), "do", ("park", "sport", "town", "study", "home")),
    (Word("勉強する", "suru"), "study", ("study", "home")),
    (Word("読む", "godan"), "read", ("study", "home")),
    (Word("作る", "godan"), "make", ("home",)),
    (Word("見る", "ichidan"), "see", ("town", "land", "park")),
)


def where_going(draw: Draw) -> Drawn:
    """明日、何時に学校に行きますか。"""
    who, place = draw.stranger(0.4), draw.place("go")
    person = who.asked(True)
    reach = " long" if "far" in place.kinds else " neutral"
    how = [("何で", "how"), ("だれと", "who"), ("どうして", "why")]
    pairs = []
    for word_ja, word_en in draw.sample(how, 2):
        time = draw.time(("past" if draw.chance(0.6) else "future") + reach)
        past = "past" in time.kinds
        go = Word(f"{word_ja}{place.ja}に行く", "iku")
        if word_en == "why":
            ending = japanese.plain(go, past) + draw.choose(("んですか。", "の?"))
        else:
            ending = _ending(draw, go, past)
        tail = "with" if word_en == "who" else ""
        phrase = Phrase("go", f"to {place.en}").plus(tail, time.en)
        text = english.ask(person, phrase, "past" if past else "will")
        ja = f"{who.topic}{lead(time.ja)}{ending}"
        pairs.append(Pair(ja, english.sentence(f"{word_en} {text}", "?")))
    return Drawn(tuple(w for w in (who.ja, place.ja) if w), pairs)


def why_did(draw: Draw) -> Drawn:
    """どうして昨日テレビを見なかったんですか。"""
    who, action = draw.stranger(0.4), draw.action("wish")
    person, time = who.asked(True), draw.times_for(action, "past", 1)[0]
    pairs = []
    for negative in (False, True):
        plain = japanese.plain(action.ja, past=True, negative=negative)
        ending = "んですか。" if draw.chance(0.6) else "の?"
        ja = f"{who.topic}どうして{lead(time.ja)}{plain}{ending}"
        text = english.ask(person, action.en.plus(time.en), "past", negative)
        pairs.append(Pair(ja, english.sentence(f"why {text}", "?")))
    return Drawn(tuple(w for w in (who.ja, action.key) if w), pairs)


def who_did(draw: Draw) -> Drawn:
    """だれがこのケーキを作りましたか。"""
    action = draw.action("result")
    while action.noun is None:
        action = draw.action("result")
    noun, past = action.noun, english.past(action.en.verb)
    thing = noun.as_subject("this").text
    ja = action.verb.after(f"だれがこの{noun.ja}を")
    pairs = [Pair(_ending(draw, ja, past=True), english.sentence(f"who {past} {thing}", "?"))]
    somebody = draw.somebody()
    mood = Mood(draw.chance(0.6))
    ja = action.verb.after(f"{somebody.ja}がこの{noun.ja}を")
    text = english.say(somebody.en, Phrase(action.en.verb, thing), "past")
    pairs.append(Pair(mood.end(ja, past=True), english.sentence(text)))
    return Drawn((noun.ja, action.verb.text, somebody.ja), pairs)


def whose_and_how_much(draw: Draw) -> Drawn:
    """この傘はだれのですか。その時計はいくらですか。"""
    noun = draw.noun("item", "order", "vehicle")
    this_ja, this_en = draw.choose((("この", "this"), ("その", "that")))
    this = noun.as_subject(this_en)
    be = "are" if noun.is_plural else "is"
    pairs = [
        Pair(
            f"{this_ja}{noun.ja}はいくらですか。",
            english.sentence(f"how much {be} {this.text}", "?"),
        ),
        Pair(
            f"どこで{this_ja}{noun.ja}を買いましたか。",
            english.sentence(f"where did you buy {this.text}", "?"),
        ),
    ]
    if "order" not in noun.tags:
        gave = english.sentence(f"who gave you {this.text}", "?")
        pairs.append(Pair(f"だれに{this_ja}{noun.ja}をもらいましたか。", gave))
        pairs.append(
            Pair(
                f"{this_ja}{noun.ja}はだれのですか。",
                english.sentence(f"whose {be} {this.text}", "?"),
            )
        )
    return Drawn((this_ja, noun.ja), pairs)


PATTERNS = (where_or_when, what_did, where_going, why_did, who_did, whose_and_how_much)
