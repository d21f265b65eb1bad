"""Patterns of introductions: names, nationality, home town, job, workplace, age."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Mood, Pair, tell
from keras_attn_data.everyday.english import YOU, I, Person, Phrase
from keras_attn_data.everyday.japanese import Word
from keras_attn_data.everyday.lexicon import Name

# "I" as a topic; often it is left out.
_ME = ("", "", "私は", "わたしは", "僕は")
_NATIONS = (
    ("日本", "Japan", "Japanese"),
    ("アメリカ", "America", "American"),
    ("イギリス", "England", "English"),
    ("カナダ", "Canada", "Canadian"),
    ("オーストラリア", "Australia", "Australian"),
    ("中国", "China", "Chinese"),
    ("韓国", "Korea", "Korean"),
    ("台湾", "Taiwan", "Taiwanese"),
    ("タイ", "Thailand", "Thai"),
    ("ベトナム", "Vietnam", "Vietnamese"),
    ("フィリピン", "the Philippines", "Filipino"),
    ("インドネシア", "Indonesia", "Indonesian"),
    ("マレーシア", "Malaysia", "Malaysian"),
    ("インド", "India", "Indian"),
    ("ネパール", "Nepal", "Nepalese"),
    ("フランス", "France", "French"),
    ("ドイツ", "Germany", "German"),
    ("イタリア", "Italy", "Italian"),
    ("スペイン", "Spain", "Spanish"),
    ("ポルトガル", "Portugal", "Portuguese"),
    ("ロシア", "Russia", "Russian"),
    ("ポーランド", "Poland", "Polish"),
    ("スウェーデン", "Sweden", "Swedish"),
    ("ブラジル", "Brazil", "Brazilian"),
    ("メキシコ", "Mexico", "Mexican"),
    ("トルコ", "Turkey", "Turkish"),
    ("エジプト", "Egypt", "Egyptian"),
    ("ケニア", "Kenya", "Kenyan"),
)


def _name(draw: Draw) -> tuple[str, str]:
    """A surname, a given name or both; often a foreign name, sometimes in kana."""
    if draw.chance(0.4):
        given = draw.choose(draw.names("foreign"))
        if draw.chance(0.6):
            return given.ja, given.en
        surname = draw.choose(draw.names("foreign-surname"))
        return f"{given.ja}・{surname.ja}", f"{given.en} {surname.en}"
    surname, given = draw.choose(draw.names("surname")), draw.choose(draw.names("given"))
    kana = draw.chance(0.2)
    parts = draw.choose(((surname,), (given,), (given, surname), (surname,)))
    ja = "".join(_spelling(name, kana) for name in reversed(parts))
    return ja, " ".join(name.en for name in parts)


def _spelling(name: Name, kana: bool) -> str:
    return name.kana if kana else name.ja


def my_name(draw: Draw) -> Drawn:
    """私の名前は田中です。はじめまして、マイクと申します。"""
    ja, en = _name(draw)
    named = [
        f"{start}{ja}{end}"
        for start in ("私の名前は", "わたしの名前は", "わたしのなまえは", "名前は", "僕の名前は")
        for end in ("です。", "です。", "だ。", "といいます。")
    ]
    named += [
        f"{me}{ja}{end}" for me in _ME for end in ("と申します。", "といいます。", "と言います。")
    ]
    plain = [f"{me}{ja}です。" for me in _ME]
    met = [f"{hello}、{ja}です。" for hello in ("はじめまして", "初めまして")]
    met += [f"{hello}。{ja}です。" for hello in ("はじめまして", "初めまして")]
    hello_named = [f"{hello}、{ja}と申します。" for hello in ("はじめまして", "初めまして")]
    pairs = [Pair(text, f"My name is {en}.") for text in draw.sample(named, 2)]
    pairs += [Pair(text, f"I'm {en}.") for text in draw.sample(plain, 1)]
    pairs += [Pair(text, f"Nice to meet you. I'm {en}.") for text in draw.sample(met, 1)]
    pairs.append(Pair(draw.choose(hello_named), f"Nice to meet you. My name is {en}."))
    greeted = draw.choose(
        (
            f"{ja}です。よろしくお願いします。",
            f"{ja}です。どうぞよろしくお願いします。",
            f"{ja}です。はじめまして。",
        )
    )
    pairs.append(Pair(greeted, f"I'm {en}. Nice to meet you."))
    called = f"{ja}と呼んでください。"
    pairs.append(Pair(called, f"Please call me {en}."))
    return Drawn((ja,), draw.typed(draw.sample(pairs, 4)))


def whose_name(draw: Draw) -> Drawn:
    """妹の名前は花子です。あなたは田中さんですか。"""
    given, surname = (
        draw.choose(draw.names("given", "foreign")),
        draw.choose(draw.names("surname", "foreign-surname")),
    )
    owner_ja, owner_en = draw.choose(_NAMED)
    word = Word(given.ja, "noun")
    person = Person(f"{owner_en} name", "3n")
    pairs = [
        Pair(
            f"{owner_ja}の名前は{mood.end(word)}",
            tell(person, Phrase("be", given.en), "present", mood),
        )
        for mood in (Mood(True), Mood(draw.chance(0.5)))
    ]
    pairs.append(Pair(f"{owner_ja}の名前は何ですか。", f"What is {owner_en} name?"))
    title = "くん" if surname.kind == "surname" and draw.chance(0.2) else "さん"
    pairs.append(Pair(f"{surname.ja}{title}ですか。", f"Are you {surname.en}?"))
    pairs.append(Pair(f"こちらは{surname.ja}{title}です。", f"This is {surname.en}."))
    friend_ja, friend_en = draw.choose(_COMPANIONS)
    pairs.append(
        Pair(f"こちらは{friend_ja}の{given.ja}さんです。", f"This is my {friend_en} {given.en}.")
    )
    pairs.append(Pair(f"あの人は{surname.ja}さんです。", f"That person is {surname.en}."))
    return Drawn((owner_ja, given.ja, surname.ja), draw.typed(draw.sample(pairs, 3)))


_NAMED = (
    ("妹", "my younger sister's"),
    ("弟", "my younger brother's"),
    ("姉", "my older sister's"),
    ("兄", "my older brother's"),
    ("息子", "my son's"),
    ("娘", "my daughter's"),
    ("彼", "his"),
    ("彼女", "her"),
    ("友達", "my friend's"),
    ("先生", "my teacher's"),
)
_COMPANIONS = (("友達", "friend"), ("同僚", "colleague"), ("友人", "friend"))


def nationality(draw: Draw) -> Drawn:
    """私はアメリカ人です。カナダから来ました。"""
    country_ja, country_en, people_en = draw.choose(_NATIONS)
    word, be = Word(f"{country_ja}人", "noun"), Phrase("be", people_en)
    came = Word(f"{country_ja}から来る", "kuru")
    home = Phrase("be", f"from {country_en}")
    who = draw.who(0.6)
    if who.kind == "family" or who.ja == "私たち":
        return nationality(draw)
    pairs = []
    for mood in draw.moods(3, [who]):
        me = who.topic or ("" if mood.question else draw.choose(_ME))
        person = who.asked(mood.question)
        pairs.append(Pair(me + mood.end(word), tell(person, be, "present", mood)))
    for mood in draw.moods(2, [who], negatives=False):
        me = who.topic or ("" if mood.question else draw.choose(_ME))
        text = tell(who.asked(mood.question), home, "present", mood)
        pairs.append(Pair(me + mood.end(came, past=True), text))
    return Drawn((who.ja, country_ja), draw.typed(pairs))


def home_town(draw: Draw) -> Drawn:
    """東京に住んでいます。大阪の出身です。"""
    place, who = draw.place(draw.choose(("town", "town", "land"))), draw.who(0.6)
    live = Word(f"{place.ja}に住んでいる", "ichidan")
    pairs = []
    for mood in draw.moods(3, [who]):
        me = who.topic or ("" if mood.question else draw.choose(_ME))
        text = tell(who.asked(mood.question), Phrase("live", f"in {place.en}"), "present", mood)
        pairs.append(Pair(me + mood.end(live), text))
    me = who.topic or draw.choose(_ME)
    origin = draw.choose((f"{place.ja}出身", f"{place.ja}の出身"))
    text = tell(who.en, Phrase("be", f"from {place.en}"), "present", Mood(True))
    pairs.append(Pair(f"{me}{origin}です。", text))
    if not who.ja:
        born = Word(f"{place.ja}で生まれる", "ichidan")
        mood = Mood(draw.chance(0.7))
        pairs.append(Pair(me + mood.end(born, past=True), f"I was born in {place.en}."))
        pairs.append(Pair(f"出身は{place.ja}です。", f"I'm from {place.en}."))
        years = draw.choose((2, 3, 4, 5, 10))
        stay = f"{place.ja}に{draw.choose((str(years), japanese.numeral(years)))}年住んでいます。"
        pairs.append(Pair(stay, f"I've lived in {place.en} for {english.number(years)} years."))
    return Drawn((who.ja, place.ja), draw.typed(draw.sample(pairs, 4)))


def my_job(draw: Draw) -> Drawn:
    """私は学生です。医者ですか。"""
    work = draw.noun("job", "study-job")
    word, be = Word(work.ja, "noun"), Phrase("be", english.article(work.en))
    pairs = []
    for mood in draw.moods(4):
        me = "" if mood.question else draw.choose(_ME[1:])
        if mood.question:
            me = draw.choose(("", "あなたは"))
        pairs.append(
            Pair(me + mood.end(word), tell(YOU if mood.question else I, be, "present", mood))
        )
    dream = Word(f"{work.ja}になる", "godan")
    text = draw.choose(("", "将来、")) + Mood(True).end(japanese.wanting(dream))
    future = " in the future" if text.startswith("将来") else ""
    pairs.append(Pair(text, f"I want to be {english.article(work.en)}{future}."))
    return Drawn((work.ja,), draw.typed(pairs))


def workplace(draw: Draw) -> Drawn:
    """私は銀行で働いています。"""
    place, who = draw.place("built"), draw.who(0.5)
    where = english.article(place.en.removeprefix("the "))
    work = Word(f"{place.ja}で働いている", "ichidan")
    pairs = []
    for mood in draw.moods(3, [who]):
        me = who.topic or ("" if mood.question else draw.choose(_ME))
        text = tell(who.asked(mood.question), Phrase("work", f"at {where}"), "present", mood)
        pairs.append(Pair(me + mood.end(work), text))
    return Drawn((who.ja, place.ja), draw.typed(pairs))


def my_age(draw: Draw) -> Drawn:
    """私は25歳です。二十五歳です。"""
    years = 6 + int(draw.rng.random() * 80)
    shown = draw.choose((str(years), str(years), japanese.numeral(years)))
    word, be = Word(f"{shown}歳", "noun"), Phrase("be", f"{years} years old")
    pairs = []
    for mood in draw.moods(3, negatives=False):
        me = "" if mood.question else draw.choose(_ME)
        person = YOU if mood.question else I
        pairs.append(Pair(me + mood.end(word), tell(person, be, "present", mood)))
    time_ja, time_en = draw.choose((("来年", "next year"), ("今年", "this year")))
    pairs.append(
        Pair(f"{draw.choose(_ME)}{time_ja}{shown}歳になります。", f"I'll turn {years} {time_en}.")
    )
    return Drawn((str(years),), draw.typed(pairs))


PATTERNS = (my_name, whose_name, nationality, home_town, my_job, workplace, my_age)
