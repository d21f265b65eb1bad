"""Set phrases: greetings, thanks, conversation, shopping, travel, emergencies.

Nothing can be learnt about a set phrase from other set phrases. All of a subject are therefore one
combination, so that no split holds out a part of them.
"""

from functools import cache

from keras_attn_data.everyday import lexicon
from keras_attn_data.everyday.drawing import Draw, Drawn, Pair
from keras_attn_data.everyday.lexicon import SetPhrase

_ENDS = {".": ("。", ""), "!": ("。", "", "!"), "?": ("。", "", "?")}


def _pairs(phrase: SetPhrase) -> list[Pair]:
    """Every wording with one or all of the marks that people put after it."""
    pairs = []
    for i, ja in enumerate(phrase.ja):
        ends = _ENDS[phrase.ends]
        if phrase.ends == "?" and not ja.endswith(("か", "の")):
            ends = ("?",)  # only the mark shows that it is a question
        for end in ends if i < 2 else ends[i % len(ends) :][:1]:
            en = phrase.en.rstrip(".!") + "!" if end == "!" else phrase.en
            pairs.append(Pair(ja + end, en))
    return pairs


@cache
def _phrases(kind: str) -> list[SetPhrase]:
    return [phrase for phrase in lexicon.load().set_phrases if phrase.kind == kind]


def _of(draw: Draw, kind: str) -> Drawn:
    return Drawn((), _pairs(draw.choose(_phrases(kind))))


def greeting(draw: Draw) -> Drawn:
    """おはようございます。お元気ですか。"""
    return _of(draw, "greeting")


def thanks(draw: Draw) -> Drawn:
    """ありがとうございます。ごめんなさい。"""
    return _of(draw, "thanks")


def wishes(draw: Draw) -> Drawn:
    """お誕生日おめでとう!"""
    return _of(draw, "wishes")


def acquaintance(draw: Draw) -> Drawn:
    """お名前は何ですか。どこから来ましたか。"""
    return _of(draw, "acquaintance")


def conversation(draw: Draw) -> Drawn:
    """もう一度言ってください。はい、わかりました。"""
    return _of(draw, "conversation")


def common_question(draw: Draw) -> Drawn:
    """これは何ですか。今何時ですか。"""
    return _of(draw, "common_question")


def shop_phrase(draw: Draw) -> Drawn:
    """これはいくらですか。お会計お願いします。"""
    return _of(draw, "shop_phrase")


def emergency(draw: Draw) -> Drawn:
    """助けてください。"""
    return _of(draw, "emergency")


def feeling(draw: Draw) -> Drawn:
    """お腹が空きました。とてもおいしいです。"""
    return _of(draw, "feeling")


def permission_and_way(draw: Draw) -> Drawn:
    """写真を撮ってもいいですか。"""
    return _of(draw, "permission_and_way")


PATTERNS = (
    greeting,
    thanks,
    wishes,
    acquaintance,
    conversation,
    common_question,
    shop_phrase,
    emergency,
    feeling,
    permission_and_way,
)
