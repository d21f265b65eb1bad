"""Patterns of what people say about themselves: languages, family, hobbies, likes, possessions."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Mood, Pair, tell
from keras_attn_data.everyday.english import YOU, I, Phrase
from keras_attn_data.everyday.japanese import Word

_ME = ("", "", "", "私は", "わたしは", "僕は")


def speaking(draw: Draw) -> Drawn:
    """日本語が少し話せます。英語がわかりますか。"""
    noun = draw.noun("language")
    ja, en = noun.ja, noun.en
    me = draw.choose(_ME)
    speak = draw.choose(("が話せ", "を話せ"))
    pairs = [
        Pair(f"{me}{ja}{speak}ます。", f"I can speak {en}."),
        Pair(f"{me}{ja}{speak}ません。", f"I can't speak {en}."),
        Pair(f"{ja}{speak}ますか。", f"Can you speak {en}?"),
        Pair(f"{ja}を話しますか。", f"Do you speak {en}?"),
        Pair(f"{me}{ja}を話します。", f"I speak {en}."),
        Pair(f"{me}{ja}がわかりません。", f"I don't understand {en}."),
        Pair(f"{me}{ja}が分かります。", f"I understand {en}."),
        Pair(f"{ja}がわかりますか。", f"Do you understand {en}?"),
        Pair(f"{ja}が少しわかります。", f"I understand a little {en}."),
        Pair(f"{ja}で話してください。", f"Please speak in {en}."),
        Pair(f"{ja}を話せる人はいますか。", f"Is there anyone who can speak {en}?"),
        Pair(f"{ja}を教えてください。", f"Please teach me {en}."),
        Pair(f"{ja}は難しいです。", f"{en} is difficult."),
        Pair(f"{ja}は面白いです。", f"{en} is interesting."),
        Pair(f"{ja}で何と言いますか。", f"How do you say it in {en}?"),
        Pair(f"私の{ja}はまだ下手です。", f"My {en} is still poor."),
    ]
    for little in ("少し", "少しだけ", "ちょっと"):
        only = "only " if little == "少しだけ" else ""
        pairs.append(Pair(f"{me}{ja}が{little}話せます。", f"I can {only}speak a little {en}."))
        pairs.append(Pair(f"{me}{little}{ja}が話せます。", f"I can {only}speak a little {en}."))
    pairs.append(Pair(f"{me}{ja}があまり話せません。", f"I can't speak {en} very well."))
    return Drawn((ja,), draw.typed(draw.sample(pairs, 5)))


def learning(draw: Draw) -> Drawn:
    """日本語を勉強しています。"""
    noun, me = draw.noun("subject", "language"), draw.choose(_ME)
    study = draw.choose(("を勉強", "の勉強を"))
    pairs = [
        Pair(f"{me}{noun.ja}{study}しています。", f"I'm studying {noun.en}."),
        Pair(f"{me}今、{noun.ja}を勉強している。", f"I'm studying {noun.en} now."),
        Pair(f"{noun.ja}を勉強していますか。", f"Are you studying {noun.en}?"),
        Pair(f"{me}{noun.ja}を習っています。", f"I'm learning {noun.en}."),
        Pair(f"どうして{noun.ja}を勉強しているんですか。", f"Why are you studying {noun.en}?"),
    ]
    place = draw.choose((("大学", "at university"), ("学校", "at school"), ("家", "at home")))
    pairs.append(
        Pair(f"{me}{place[0]}で{noun.ja}を勉強しています。", f"I'm studying {noun.en} {place[1]}.")
    )
    years = draw.choose((1, 2, 3, 4, 5))
    unit = "year" if years == 1 else "years"
    text = f"I've been studying {noun.en} for {english.number(years)} {unit}."
    pairs.append(Pair(f"{noun.ja}を{japanese.numeral(years)}年間勉強しています。", text))
    return Drawn((noun.ja,), draw.typed(draw.sample(pairs, 3)))


_RELATIVES = (
    ("兄", "older brother"),
    ("姉", "older sister"),
    ("弟", "younger brother"),
    ("妹", "younger sister"),
    ("息子", "son"),
    ("娘", "daughter"),
    ("いとこ", "cousin"),
    ("子供", "child"),
    ("友達", "friend"),
    ("孫", "grandchild"),
)


def family(draw: Draw) -> Drawn:
    """兄が二人います。四人家族です。犬を飼っています。"""
    ja, en = draw.choose(_RELATIVES)
    number, me = draw.choose((1, 2, 3, 4)), draw.choose(_ME)
    counted = english.number(number) + " " + (en if number == 1 else english.plural(en))
    people = draw.choose((japanese.count(number, "人"), f"{number}人"))
    moods = draw.moods(2, negatives=False, questions=False)
    have = Word(f"{ja}がいる", "ichidan")
    pairs = [
        Pair(me + mood.end(Word(f"{ja}が{people}いる", "ichidan")), f"I have {counted}.")
        for mood in moods
    ]
    if en not in ("friend", "child"):
        pairs.append(Pair(me + Mood(True).end(have), f"I have {english.article(en)}."))
        pairs.append(Pair(f"{ja}がいますか。", f"Do you have {english.article(en)}?"))
    if en != "friend":
        none = f"I don't have any {english.plural(en)}."
        pairs.append(Pair(f"{ja}はいません。", none))
    return Drawn((ja,), draw.typed(draw.sample(pairs, 3)))


def household(draw: Draw) -> Drawn:
    """四人家族です。犬を飼っています。"""
    me, pairs = draw.choose(_ME), []
    size = 2 + int(draw.rng.random() * 9)
    shown = draw.choose((str(size), japanese.numeral(size)))
    family_en = f"There are {english.number(size)} people in my family."
    family_ja = draw.choose(("{}人家族です。", "家族は{}人です。", "うちは{}人家族です。"))
    if draw.chance(0.4):
        return Drawn((str(size),), draw.typed([Pair(family_ja.format(shown), family_en)]))
    pet = draw.noun("pet")
    number = draw.choose((1, 2, 3))
    counted = japanese.count(number, pet.counter)
    keep = Word("飼っている", "ichidan")
    for mood in draw.moods(2):
        person = YOU if mood.question else I
        text = tell(person, Phrase("have", pet.bare), "present", mood)
        pairs.append(
            Pair(("" if mood.question else me) + mood.end(keep.after(f"{pet.ja}を")), text)
        )
    mood = Mood(draw.chance(0.7))
    many = keep.after(f"{pet.ja}を{counted}")
    pairs.append(Pair(me + mood.end(many), f"I have {pet.counted(number)}."))
    return Drawn((pet.ja,), draw.typed(draw.sample(pairs, 3)))


_HOBBIES = (
    ("読書", "reading"),
    ("旅行", "traveling"),
    ("料理", "cooking"),
    ("音楽", "music"),
    ("映画鑑賞", "watching movies"),
    ("スポーツ", "sports"),
    ("写真", "photography"),
    ("釣り", "fishing"),
    ("登山", "mountain climbing"),
    ("園芸", "gardening"),
    ("散歩", "taking walks"),
    ("買い物", "shopping"),
    ("ジョギング", "jogging"),
    ("ゲーム", "gaming"),
    ("カラオケ", "karaoke"),
    ("ドライブ", "driving"),
    ("キャンプ", "camping"),
    ("水泳", "swimming"),
)


def hobby(draw: Draw) -> Drawn:
    """趣味は読書です。私の趣味は写真を撮ることです。"""
    my_ja = draw.choose(("趣味は", "私の趣味は", "わたしの趣味は", "わたしのしゅみは"))
    pairs = []
    if draw.chance(0.4):
        ja, en = draw.choose(_HOBBIES)
        pairs = [
            Pair(f"{my_ja}{mood.end(Word(ja, 'noun'))}", f"My hobby is {en}.")
            for mood in (Mood(True), Mood(draw.chance(0.5)))
        ]
        return Drawn((ja,), draw.typed(pairs))
    action = draw.action("hobby")
    doing = action.general.ing(I).removeprefix("going ")
    word = Word(f"{action.ja.text}こと", "noun")
    pairs.append(Pair(f"{my_ja}{Mood(True).end(word)}", f"My hobby is {doing}."))
    who = draw.who(0.0)
    if "{" not in action.general.ing(who.en) and who.ja != "私たち":
        text = f"{english.possessive(who.en.text)} hobby is {action.general.ing(who.en)}"
        text = text.replace("is going ", "is ")
        pairs.append(
            Pair(f"{who.ja}の趣味は{Mood(draw.chance(0.7)).end(word)}", english.sentence(text))
        )
    return Drawn((action.key,), draw.typed(pairs))


_LIKED = "fruits vegetable dish sweet1 softdrink sport school beast".split()
_LIKED += "flower1 tune game alcohol show meats".split()
_FAVOURITES = (
    ("食べ物", "food", "dish"),
    ("飲み物", "drink", "softdrink"),
    ("スポーツ", "sport", "sport"),
    ("科目", "subject", "subject1"),
    ("デザート", "dessert", "sweet1"),
    ("お酒", "alcoholic drink", "alcohol"),
    ("音楽", "kind of music", "music-kind"),
    ("季節", "season", "season"),
    ("色", "color", "colour-name"),
)


def likes(draw: Draw) -> Drawn:
    """すしが大好きです。好きなスポーツは何ですか。"""
    noun, me = draw.noun(*_LIKED), draw.choose(_ME)
    feelings = (("が好き", "like"), ("が好き", "like"), ("が大好き", "love"))
    (feeling_ja, feeling_en) = draw.choose(feelings)
    word = Word(noun.ja + feeling_ja, "na")
    pairs = []
    for mood in draw.moods(2, negatives=feeling_en == "like"):
        person = YOU if mood.question else I
        text = tell(person, Phrase(feeling_en, noun.general), "present", mood)
        pairs.append(Pair(("" if mood.question else me) + mood.end(word), text))
    very = f"{me}{noun.ja}がとても好きです。"
    pairs.append(Pair(very, f"I like {noun.general} very much."))
    pairs.append(
        Pair(f"{noun.ja}はあまり好きではありません。", f"I don't like {noun.general} very much.")
    )
    pairs.append(Pair(f"{noun.ja}は好きですか。", f"Do you like {noun.general}?"))
    pairs.append(Pair(f"{noun.ja}も好きです。", f"I like {noun.general}, too."))
    return Drawn((noun.ja,), draw.typed(draw.sample(pairs, 4)))


def favourite(draw: Draw) -> Drawn:
    """好きな食べ物は何ですか。好きなスポーツはテニスです。"""
    kind_ja, kind_en, tag = draw.choose(_FAVOURITES)
    nouns = [n for n in draw.lexicon.nouns if tag in n.tags and n.article in ("0", "n")]
    noun, my = draw.choose(nouns), draw.choose(("", "私の"))
    pairs = [
        Pair(f"好きな{kind_ja}は何ですか。", f"What is your favorite {kind_en}?"),
        Pair(f"一番好きな{kind_ja}は何ですか。", f"What is your favorite {kind_en}?"),
        Pair(f"{my}好きな{kind_ja}は{noun.ja}です。", f"My favorite {kind_en} is {noun.en}."),
        Pair(f"{my}一番好きな{kind_ja}は{noun.ja}です。", f"My favorite {kind_en} is {noun.en}."),
        Pair(f"どんな{kind_ja}が好きですか。", f"What kind of {kind_en} do you like?"),
    ]
    if kind_en.startswith("kind") or kind_en in ("season", "color"):
        pairs.pop()
    return Drawn((kind_ja, noun.ja), draw.typed(draw.sample(pairs, 3)))


def having(draw: Draw) -> Drawn:
    """傘がありますか。お金がありません。"""
    (ja, en, some), me = draw.choose(_HAD), draw.choose(_ME)
    any_en = some.replace("some ", "any ")
    pairs = [
        Pair(f"{me}{ja}があります。", f"I have {some}."),
        Pair(f"{ja}がありますか。", f"Do you have {any_en}?"),
        Pair(f"{ja}はありますか。", f"Do you have {any_en}?"),
        Pair(f"{me}{ja}がある。", f"I have {some}."),
        Pair(f"{me}{ja}がありません。", f"I don't have {any_en}."),
        Pair(f"{me}{ja}がなかった。", f"I didn't have {any_en}."),
        Pair(f"{me}{ja}がありました。", f"I had {some}."),
        Pair(f"{me}今日は{ja}がありません。", f"I don't have {any_en} today."),
        Pair(f"{me}明日は{ja}があります。", f"I have {some} tomorrow."),
    ]
    if en not in _SCHEDULED:
        pairs = pairs[:-2]
    return Drawn((ja,), draw.typed(draw.sample(pairs, 4)))


_SCHEDULED = frozenset("work class exam meeting homework plans appointment".split())
_HAD = (
    ("仕事", "work", "work"),
    ("授業", "class", "class"),
    ("試験", "exam", "an exam"),
    ("会議", "meeting", "a meeting"),
    ("宿題", "homework", "homework"),
    ("予定", "plans", "plans"),
    ("約束", "appointment", "an appointment"),
    ("いい考え", "idea", "a good idea"),
    ("問題", "problem", "a problem"),
    ("熱", "fever", "a fever"),
    ("時間", "time", "time"),
    ("経験", "experience", "experience"),
    ("自信", "confidence", "confidence"),
    ("車", "car", "a car"),
)

PATTERNS = (speaking, learning, family, household, hobby, likes, favourite, having)
