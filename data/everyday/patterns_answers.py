"""Patterns of answers with はい and いいえ, and of short statements about things."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Mood, Pair, tell
from keras_attn_data.everyday.english import IT, YOU, I, Person, Phrase
from keras_attn_data.everyday.japanese import Word

_YES = (("はい、", "Yes"), ("ええ、", "Yes"))
_NO = (("いいえ、", "No"), ("いえ、", "No"))
_CASUAL = {"Yes": "うん、", "No": "ううん、"}


def _answer(draw: Draw, text: str, mood: Mood) -> tuple[str, str]:
    """Interjections in both languages for an answer of a mood."""
    ja, en = draw.choose(_NO if mood.negative else _YES)
    return (ja if mood.polite else _CASUAL[en]) + text, en + ", "


def _lower(sentence: str) -> str:
    return sentence if sentence.startswith(("I ", "I'")) else sentence[0].lower() + sentence[1:]


def _answers(draw: Draw, ja: Word, person: Person, en: Phrase, tense: str) -> list[Pair]:
    past = tense == "past"
    pairs = []
    for negative in (False, True):
        mood = Mood(draw.chance(0.75), negative=negative)
        text, start = _answer(draw, mood.end(ja, past), mood)
        pairs.append(Pair(text, start + _lower(tell(person, en, tense, mood))))
    return pairs


def yes_i_am(draw: Draw) -> Drawn:
    """はい、学生です。いいえ、学生ではありません。"""
    if draw.chance(0.6):
        work = draw.noun("job", "study-job")
        ja, en = Word(work.ja, "noun"), english.article(work.en)
    else:
        ja, en = draw.choose(_STATES)
    return Drawn((ja.text,), draw.typed(_answers(draw, ja, I, Phrase("be", en), "present")))


_STATES = (
    (Word("日本人", "noun"), "Japanese"),
    (Word("元気", "na"), "fine"),
    (Word("忙しい", "i"), "busy"),
    (Word("暇", "na"), "free"),
    (Word("眠い", "i"), "sleepy"),
    (Word("独身", "noun"), "single"),
    (Word("アメリカ人", "noun"), "American"),
    (Word("中国人", "noun"), "Chinese"),
    (Word("疲れている", "ichidan"), "tired"),
    (Word("結婚している", "ichidan"), "married"),
)


def yes_i_do(draw: Draw) -> Drawn:
    """はい、毎日飲みます。いいえ、テレビは見ません。"""
    action = draw.action(draw.choose(("habit", "wish")))
    tense = "past" if "habit" not in action.uses else draw.choose(("past", "present"))
    en = action.en if tense == "past" else action.general
    return Drawn((action.key, tense), draw.typed(_answers(draw, action.ja, I, en, tense)))


def yes_it_is(draw: Draw) -> Drawn:
    """はい、高いです。いいえ、あまり面白くないです。"""
    ja, en = draw.choose(_IT_IS)
    pairs = _answers(draw, ja, IT, Phrase("be", en), draw.choose(("present", "present", "past")))
    mood = Mood(draw.chance(0.75), negative=True)
    text, start = _answer(draw, "あまり" + mood.end(ja), mood)
    very = tell(IT, Phrase("be", f"very {en}"), "present", mood)
    pairs.append(Pair(text, start + _lower(very)))
    return Drawn((ja.text,), draw.typed(pairs))


_IT_IS = (
    (Word("高い", "i"), "expensive"),
    (Word("安い", "i"), "cheap"),
    (Word("おいしい", "i"), "delicious"),
    (Word("難しい", "i"), "difficult"),
    (Word("簡単", "na"), "easy"),
    (Word("面白い", "i"), "interesting"),
    (Word("楽しい", "i"), "fun"),
    (Word("大きい", "i"), "big"),
    (Word("小さい", "i"), "small"),
    (Word("新しい", "i"), "new"),
    (Word("古い", "i"), "old"),
    (Word("遠い", "i"), "far"),
    (Word("近い", "i"), "near"),
    (Word("便利", "na"), "convenient"),
    (Word("有名", "na"), "famous"),
    (Word("静か", "na"), "quiet"),
    (Word("きれい", "na"), "beautiful"),
    (Word("暑い", "i"), "hot"),
    (Word("寒い", "i"), "cold"),
    (Word("必要", "na"), "necessary"),
    (Word("大切", "na"), "important"),
    (Word("甘い", "i"), "sweet"),
    (Word("辛い", "i"), "spicy"),
    (Word("重い", "i"), "heavy"),
    (Word("軽い", "i"), "light"),
    (Word("長い", "i"), "long"),
    (Word("短い", "i"), "short"),
    (Word("かわいい", "i"), "cute"),
    (Word("すばらしい", "i"), "wonderful"),
    (Word("無料", "noun"), "free of charge"),
)
_ADVERBS = (
    ("", ""),
    ("とても", "very "),
    ("すごく", "very "),
    ("少し", "a little "),
    ("ちょっと", "a little "),
)


def it_is(draw: Draw) -> Drawn:
    """とてもおいしいです。難しくないです。楽しかったですか。"""
    ja, en = draw.choose(_IT_IS)
    if ja.kind == "noun" or en == "wonderful":
        adverb_ja, adverb_en = "", ""
    else:
        adverb_ja, adverb_en = draw.choose(_ADVERBS)
    if adverb_en == "a little " and en not in _MILD:
        adverb_ja, adverb_en = draw.choose((("とても", "very "), ("本当に", "really ")))
    phrase = Phrase("be", adverb_en + en)
    pairs = []
    for mood in draw.moods(4, negatives=not adverb_ja, questions=not adverb_ja):
        past = draw.chance(0.35)
        tense = "past" if past else "present"
        pairs.append(Pair(adverb_ja + mood.end(ja, past), tell(IT, phrase, tense, mood)))
    mood = Mood(draw.chance(0.7), negative=True)
    text = tell(IT, Phrase("be", f"very {en}"), "present", mood)
    if ja.kind != "noun" and en != "wonderful":
        pairs.append(Pair("あまり" + mood.end(ja), text))
        doubtful = Word(ja.text + "と思う", "godan") if ja.kind in ("i", "ii") else None
        if doubtful:
            pairs.append(Pair(f"それは{doubtful.text[:-1]}います。", f"I think it's {en}."))
    that = draw.choose((("これは", "this"), ("それは", "that"), ("あれは", "that")))
    for mood in draw.moods(2):
        text = tell(Person(that[1], "3n"), Phrase("be", en), "present", mood)
        pairs.append(Pair(that[0] + mood.end(ja), text))
    return Drawn((ja.text, adverb_ja), draw.typed(pairs))


_MILD = frozenset(
    "expensive difficult big small old far hot cold sweet spicy heavy long short".split()
)


def what_it_is(draw: Draw) -> Drawn:
    """これは本です。あれは何の店ですか。いいえ、それは私の傘ではありません。"""
    noun = draw.noun("item", "food", "electric", "instrument")
    this_ja, this_en = draw.choose((("これ", "this"), ("それ", "that"), ("あれ", "that")))
    person = Person(noun.pronoun(this_en), "3p" if noun.is_plural else "3n")
    thing = noun.with_article("a") if noun.article in ("the", "s") else noun.bare
    mine = Word(f"私の{noun.ja}", "noun")
    word = Word(noun.ja, "noun")
    if "{" in thing:
        thing = "my passport"
    pairs = [
        Pair(f"{this_ja}は{mood.end(word)}", tell(person, Phrase("be", thing), "present", mood))
        for mood in draw.moods(3)
    ]
    if "item" in noun.tags:
        pairs += [
            Pair(
                f"{this_ja}は{mood.end(mine)}",
                tell(person, Phrase("be", f"my {noun.en}"), "present", mood),
            )
            for mood in draw.moods(2, questions=False)
        ]
        question = tell(
            person, Phrase("be", f"your {noun.en}"), "present", Mood(True, question=True)
        )
        pairs.append(Pair(f"{this_ja}はあなたの{noun.ja}ですか。", question))
    return Drawn((this_ja, noun.ja), draw.typed(draw.sample(pairs, 4)))


def yes_i_can(draw: Draw) -> Drawn:
    """泳げますか。はい、できます。コーヒーを飲みませんか。"""
    action = draw.action("skill")
    can = Word(japanese.potential(action.ja).text, "ichidan")
    if action.noun is not None:
        can = action.possible
    pairs = _answers(draw, can, I, action.general, "can")
    base = action.general.base(YOU)
    pairs.append(Pair(f"{can.text[:-1]}ますか。", english.sentence(f"can you {base}", "?")))
    return Drawn((action.key,), draw.typed(pairs))


PATTERNS = (yes_i_am, yes_i_do, yes_it_is, it_is, what_it_is, yes_i_can)
