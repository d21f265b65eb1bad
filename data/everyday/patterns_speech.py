"""Patterns of quotation, thought and knowledge."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Mood, Pair, lead
from keras_attn_data.everyday.english import YOU, I, Person, Phrase
from keras_attn_data.everyday.japanese import Word


def said_request(draw: Draw) -> Drawn:
    """母は「窓を閉めてください」と言いました。"""
    speaker, action = draw.somebody("family", "friend", "name", "pronoun"), draw.action("request")
    words = english.sentence("please " + action.en.base(YOU))
    told = f"{speaker.en.text} told me to {action.en.base(I)}"
    polite = draw.chance(0.6)
    said = "言いました。" if polite else "言った。"
    pairs = [
        Pair(
            f"{speaker.ja}は「{japanese.te(action.ja)}ください」と{said}",
            english.sentence(f'{speaker.en.text} said, "{words}"', ""),
        ),
        Pair(
            f"{speaker.ja}は私に{action.ja.text}ように{said}",
            english.sentence(told),
        ),
    ]
    return Drawn((speaker.ja, action.key), pairs)


def said_plan(draw: Draw) -> Drawn:
    """田中さんは明日京都に行くと言っていました。"""
    speaker, action = draw.somebody("family", "friend", "name", "pronoun"), draw.action("wish")
    time = draw.times_for(action, "future", 1, 0.5)[0]
    pronoun = Person(speaker.en.pronoun, speaker.en.code)
    said = "言っていました。" if draw.chance(0.6) else "言っていた。"
    pairs = []
    for negative in (False, True):
        plain = japanese.plain(action.ja, negative=negative)
        clause = english.say(pronoun, action.en.plus(time.en), "would", negative)
        pairs.append(
            Pair(
                f"{speaker.ja}は{lead(time.ja)}{plain}と{said}",
                english.sentence(f"{speaker.en.text} said {clause}"),
            )
        )
    wanting = japanese.plain(japanese.wanting(action.ja))
    clause = english.say(pronoun, Phrase("want", f"to {action.en.base(pronoun)}"), "past")
    pairs.append(
        Pair(
            f"{speaker.ja}は{wanting}と{said}",
            english.sentence(f"{speaker.en.text} said {clause}"),
        )
    )
    return Drawn((speaker.ja, action.key), draw.sample(pairs, 2))


def said_quality(draw: Draw) -> Drawn:
    """妹は「このケーキはおいしい」と言いました。"""
    speaker, (adjective, noun) = draw.somebody(), draw.described("c")
    this = noun.as_subject("this")
    clause = english.sentence(english.say(this, Phrase("be", adjective.en), "present"))
    that = english.say(noun.as_subject("that"), Phrase("be", adjective.en), "past")
    said = "言いました。" if draw.chance(0.6) else "言った。"
    pairs = [
        Pair(
            f"{speaker.ja}は「この{noun.ja}は{japanese.polite(adjective.ja)}」と{said}",
            english.sentence(f'{speaker.en.text} said, "{clause}"', ""),
        ),
        Pair(
            f"{speaker.ja}はその{noun.ja}は{japanese.plain(adjective.ja)}と{said}",
            english.sentence(f"{speaker.en.text} said {that}"),
        ),
    ]
    return Drawn((speaker.ja, noun.ja, adjective.ja.text), pairs)


def think_will(draw: Draw) -> Drawn:
    """田中さんは明日来ないと思います。"""
    somebody, action = draw.somebody("family", "friend", "name", "pronoun"), draw.action("wish")
    think = "思います。" if draw.chance(0.6) else "思う。"
    pairs = []
    for time, negative in zip(draw.times_for(action, "future", 2, 0.5), (False, True), strict=True):
        plain = japanese.plain(action.ja, negative=negative)
        clause = english.say(somebody.en, action.en.plus(time.en), "will", negative)
        pairs.append(
            Pair(
                f"{somebody.ja}は{lead(time.ja)}{plain}と{think}",
                english.sentence(f"I think {clause}"),
            )
        )
    time = draw.times_for(action, "past", 1)[0]
    plain = japanese.plain(action.ja, past=True)
    clause = english.say(somebody.en, action.en.plus(time.en), "past")
    pairs.append(
        Pair(
            f"{somebody.ja}は{lead(time.ja)}{plain}と{think}",
            english.sentence(f"I think {clause}"),
        )
    )
    return Drawn((somebody.ja, action.key), draw.sample(pairs, 2))


def think_is(draw: Draw) -> Drawn:
    """この本は面白いと思います。"""
    adjective, noun = draw.described("c", "cp")
    this_ja, this_en = draw.choose((("この", "this"), ("その", "that")))
    this = noun.as_subject(this_en)
    pairs = []
    polite = draw.chance(0.6)
    for negative in (False, True):
        ja = f"{this_ja}{noun.ja}は{japanese.plain(adjective.ja, negative=negative)}と"
        clause = english.say(this, Phrase("be", adjective.en), "present")
        start = "I don't think" if negative else "I think"
        pairs.append(
            Pair(ja + ("思います。" if polite else "思う。"), english.sentence(f"{start} {clause}"))
        )
    question = f"{this_ja}{noun.ja}は{japanese.plain(adjective.ja)}と思いますか。"
    clause = english.say(this, Phrase("be", adjective.en), "present")
    pairs.append(Pair(question, english.sentence(f"do you think {clause}", "?")))
    return Drawn((this_ja, noun.ja, adjective.ja.text), draw.sample(pairs, 2))


def heard_that(draw: Draw) -> Drawn:
    """鈴木さんは来月結婚するそうです。"""
    somebody, action = draw.somebody("friend", "name"), draw.action("wish")
    pairs = []
    for time in draw.times_for(action, "future", 1, 0.4) + draw.times_for(action, "past", 1):
        past = "past" in time.kinds
        clause = english.say(somebody.en, action.en.plus(time.en), "past" if past else "will")
        sou = Word(japanese.plain(action.ja, past=past) + "そう", "noun")
        ja = f"{somebody.ja}は{lead(time.ja)}{Mood(draw.chance(0.7)).end(sou)}"
        pairs.append(Pair(ja, english.sentence(f"I hear {clause}")))
    return Drawn((somebody.ja, action.key), pairs)


def do_you_know(draw: Draw) -> Drawn:
    """田中さんがどこで傘を買ったか知っていますか。"""
    somebody, action = draw.somebody("friend", "name"), draw.action("event")
    past = english.say(somebody.en, action.en, "past")
    plain = japanese.plain(action.ja, past=True)
    word_ja, word_en = draw.choose((("どこで", "where"), ("いつ", "when"), ("どうして", "why")))
    clause = f"{somebody.ja}が{word_ja}{plain}か"
    pairs = [
        Pair(f"{clause}知っていますか。", english.sentence(f"do you know {word_en} {past}", "?")),
        Pair(f"{clause}知りません。", english.sentence(f"I don't know {word_en} {past}")),
        Pair(f"{clause}教えてください。", english.sentence(f"please tell me {word_en} {past}")),
    ]
    return Drawn((somebody.ja, action.key, word_ja), draw.sample(pairs, 2))


PATTERNS = (said_request, said_plan, said_quality, think_will, think_is, heard_that, do_you_know)
