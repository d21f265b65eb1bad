"""Patterns of shops, restaurants and hotels."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Pair
from keras_attn_data.everyday.lexicon import Noun

_ORDERED = ("order", "drink", "fruits", "sweet")
_EXCUSE = (("", ""), ("", ""), ("すみません、", "Excuse me, "))


def _one(noun: Noun) -> str:
    """One of a thing that is asked for: "a sandwich", "coffee", "chopsticks"."""
    return noun.with_article("a") if noun.article in ("the", "s") else noun.bare


def _please(thing: str, excuse: str = "") -> str:
    text = english.sentence(f"{thing}, please")
    return excuse + text[0].lower() + text[1:] if excuse else text


def ordering(draw: Draw) -> Drawn:
    """水をください。ビールを二つお願いします。"""
    noun = draw.noun(*_ORDERED)
    excuse_ja, excuse_en = draw.choose(_EXCUSE)
    ask = draw.choose(("をください。", "をお願いします。", "ください。"))
    pairs = [Pair(f"{excuse_ja}{noun.ja}{ask}", _please(_one(noun), excuse_en))]
    number = draw.choose((1, 2, 3, 4, 5))
    if noun.counter:
        count_ja = draw.choose((japanese.count(number, noun.counter), japanese.count(number, "つ")))
        ask = draw.choose(("ください。", "お願いします。"))
        en = noun.counted(number)
        pairs.append(Pair(f"{noun.ja}を{count_ja}{ask}", _please(en)))
    other = draw.noun(*_ORDERED)
    if other.ja != noun.ja:
        both = f"{_one(noun)} and {_one(other)}"
        pairs.append(Pair(f"{noun.ja}と{other.ja}をください。", _please(both)))
    pairs.append(Pair(f"{noun.ja}はありますか。", f"Do you have {noun.general}?"))
    pairs.append(Pair(f"{noun.ja}にします。", f"I'll have {_one(noun)}."))
    return Drawn((noun.ja,), draw.typed(draw.sample(pairs, 3)))


_WITHOUT = (
    ("砂糖", "sugar"),
    ("氷", "ice"),
    ("わさび", "wasabi"),
    ("肉", "meat"),
    ("卵", "eggs"),
    ("玉ねぎ", "onions"),
    ("チーズ", "cheese"),
    ("ミルク", "milk"),
    ("ねぎ", "leeks"),
    ("塩", "salt"),
    ("ソース", "sauce"),
    ("マヨネーズ", "mayonnaise"),
    ("きのこ", "mushrooms"),
    ("トマト", "tomatoes"),
    ("唐辛子", "chili"),
)
_NOT_EATEN = (
    ("肉", "meat"),
    ("魚", "fish"),
    ("豚肉", "pork"),
    ("牛肉", "beef"),
    ("鶏肉", "chicken"),
    ("生の魚", "raw fish"),
    ("卵", "eggs"),
    ("エビ", "shrimp"),
    ("ナッツ", "nuts"),
    ("チーズ", "cheese"),
    ("牛乳", "milk"),
    ("納豆", "natto"),
    ("辛い物", "spicy food"),
    ("ピーナッツ", "peanuts"),
    ("そば", "soba"),
    ("小麦", "wheat"),
    ("大豆", "soybeans"),
    ("かに", "crab"),
)


def diet(draw: Draw) -> Drawn:
    """氷なしでお願いします。肉は食べられません。卵アレルギーがあります。"""
    (ja, en), (left_ja, left_en) = draw.choose(_NOT_EATEN), draw.choose(_WITHOUT)
    me = draw.choose(("", "", "私は", "わたしは"))
    eat = draw.choose(("食べられません", "食べません"))
    verb = "can't" if eat.startswith("食べられ") else "don't"
    pairs = [
        Pair(f"{left_ja}なしでお願いします。", f"Without {left_en}, please."),
        Pair(f"{left_ja}抜きでお願いします。", f"Without {left_en}, please."),
        Pair(f"{left_ja}を入れないでください。", f"Please don't put {left_en} in it."),
        Pair(
            f"{me}{ja}は{eat}。", f"I {verb} eat {en}." if ja != "牛乳" else f"I {verb} drink milk."
        ),
        Pair(f"{me}{ja}アレルギーです。", f"I'm allergic to {en}."),
        Pair(f"{me}{ja}アレルギーがあります。", f"I'm allergic to {en}."),
        Pair(f"{me}{ja}にアレルギーがあります。", f"I'm allergic to {en}."),
        Pair(f"これには{ja}が入っていますか。", f"Does this contain {en}?"),
        Pair(f"これに{ja}は入っていません。", f"This doesn't contain {en}."),
        Pair(
            f"{ja}は大丈夫ですか。",
            f"Is {en} all right?" if not en.endswith("s") else f"Are {en} all right?",
        ),
    ]
    if draw.chance(0.15):
        return Drawn(("なし", left_ja), draw.typed(draw.sample(pairs[:3], 2)))
    eaten = pairs[3:4] if ja in ("辛い物", "生の魚") else pairs[3:]
    return Drawn((ja,), draw.typed(draw.sample(eaten, 3)))


_VARIANTS = (
    ("大きい", "bigger"),
    ("小さい", "smaller"),
    ("安い", "cheaper"),
    ("軽い", "lighter"),
    ("新しい", "newer"),
)
_COLOURS = (
    ("赤い", "red"),
    ("青い", "blue"),
    ("白い", "white"),
    ("黒い", "black"),
    ("茶色い", "brown"),
    ("黄色い", "yellow"),
)


def shopping(draw: Draw) -> Drawn:
    """このかばんを見せてください。かばんを探しています。"""
    noun = draw.noun("clothes", "accessory", "bag", "electric", "dishware", "stationery", "book")
    this_ja, this_en = draw.choose((("この", "this"), ("その", "that"), ("あの", "that")))
    this, (more_ja, more_en) = noun.as_subject(this_en).text, draw.choose(_VARIANTS)
    (excuse_ja, excuse_en) = draw.choose(_EXCUSE)
    general = english.plural(noun.en) if noun.article == "the" else noun.general
    be, are = ("are", "are") if noun.is_plural else ("is", "are")
    if noun.article == "0":
        are = "is"
    thing = f"{this_ja}{noun.ja}"
    pairs = [
        Pair(f"{thing}を見せてください。", f"Please show me {this}."),
        Pair(f"{thing}をください。", _please(this)),
        Pair(f"{thing}はいくらですか。", f"How much {be} {this}?"),
        Pair(f"{thing}を買います。", f"I'll buy {this}."),
        Pair(f"{thing}にします。", f"I'll take {this}."),
        Pair(f"{noun.ja}を探しています。", f"I'm looking for {_one(noun)}."),
        Pair(
            f"{excuse_ja}{noun.ja}はどこで買えますか。",
            english.sentence(f"{excuse_en}where can I buy {general}", "?"),
        ),
        Pair(f"{noun.ja}はどこにありますか。", f"Where {are} the {general}?"),
        Pair(f"{thing}はもうありません。", f"We don't have {this} anymore."),
        Pair(f"{thing}は高すぎます。", english.sentence(f"{this} {be} too expensive")),
    ]
    if noun.article != "0":
        larger = noun.described(more_en)
        pairs.append(Pair(f"もっと{more_ja}{noun.ja}はありますか。", f"Do you have {larger}?"))
    return Drawn((this_ja, noun.ja), draw.typed(draw.sample(pairs, 4)))


def trying_on(draw: Draw) -> Drawn:
    """このシャツを試着してもいいですか。もう少し安いのはありますか。"""
    noun = draw.noun("clothes", "accessory", "bag")
    this_ja, this_en = draw.choose((("この", "this"), ("その", "that"), ("あの", "that")))
    this, be = noun.as_subject(this_en).text, "are" if noun.is_plural else "is"
    (more_ja, more_en), (colour_ja, colour_en) = draw.choose(_VARIANTS), draw.choose(_COLOURS)
    size_ja, size_en = draw.choose((("小さ", "small"), ("大き", "big")))
    thing, coloured = f"{this_ja}{noun.ja}", f"{noun.pronoun(this_en)} {colour_en} {noun.en}"
    pairs = [
        Pair(f"{colour_ja}{noun.ja}はありますか。", f"Do you have {noun.described(colour_en)}?"),
        Pair(f"{this_ja}{colour_ja}{noun.ja}をください。", _please(coloured)),
        Pair(
            f"{thing}は私には{size_ja}すぎます。",
            english.sentence(f"{this} {be} too {size_en} for me"),
        ),
        Pair(f"{thing}の他の色はありますか。", f"Do you have {this} in another color?"),
    ]
    if "clothes" in noun.tags:
        pairs.append(Pair(f"{thing}を試着してもいいですか。", f"Can I try on {this}?"))
        pairs.append(Pair(f"{thing}を着てみてもいいですか。", f"Can I try on {this}?"))
        if noun.tags & {"legs", "head"}:
            pairs.pop()
    if draw.chance(0.1):
        more = draw.choose(("もう少し", "もっと"))
        pairs = [
            Pair(f"{more}{more_ja}のはありますか。", f"Do you have a {more_en} one?"),
            Pair(f"{colour_ja}のはありますか。", f"Do you have a {colour_en} one?"),
            Pair(f"{colour_ja}のをください。", f"The {colour_en} one, please."),
        ]
    return Drawn((this_ja, noun.ja, colour_ja), draw.typed(draw.sample(pairs, 3)))


def party_of(draw: Draw) -> Drawn:
    """二人です。三名で予約しています。大人二枚ください。"""
    number = draw.choose((1, 2, 3, 4, 5, 6, 7, 8, 10, 12))
    shown = draw.choose((str(number), japanese.numeral(number)))
    word = english.number(number)
    people = "person" if number == 1 else "people"
    tickets = "ticket" if number == 1 else "tickets"
    hour = draw.choose((5, 6, 7, 8, 9))
    name = draw.choose(draw.names("surname", "foreign-surname"))
    place = draw.place(draw.choose(("town", "city")))
    counter = draw.choose(("人", "名"))
    pairs = [
        Pair(f"{shown}{counter}です。", f"There {'is' if number == 1 else 'are'} {word} of us."),
        Pair(f"大人{shown}枚ください。", f"{word.capitalize()} adult {tickets}, please."),
        Pair(f"子供{shown}枚お願いします。", f"{word.capitalize()} child {tickets}, please."),
        Pair(
            f"{place.ja}まで{shown}枚ください。",
            f"{word.capitalize()} {tickets} to {place.en}, please.",
        ),
        Pair(
            f"{hour}時に{shown}{counter}で予約したいです。",
            f"I'd like to make a reservation for {word} {people} at {hour} o'clock.",
        ),
        Pair(f"{shown}{counter}で予約しています。", f"I have a reservation for {word} {people}."),
        Pair(
            f"{name.ja}の名前で予約しています。",
            f"I have a reservation under the name of {name.en}.",
        ),
        Pair(f"{name.ja}で予約しました。", f"I made a reservation under {name.en}."),
        Pair(
            f"今晩{shown}{counter}で予約できますか。",
            f"Can I make a reservation for {word} {people} this evening?",
        ),
        Pair(f"{shown}{counter}分の席はありますか。", f"Do you have a table for {word}?"),
    ]
    if draw.chance(0.3):
        named = [pair for pair in pairs if name.ja in pair.ja]
        return Drawn((name.ja,), draw.typed(named))
    if draw.chance(0.3):
        there = [pair for pair in pairs if place.ja in pair.ja]
        return Drawn((place.ja, str(number)), draw.typed(there))
    pairs = [pair for pair in pairs if name.ja not in pair.ja and place.ja not in pair.ja]
    if number == 1:
        pairs = [pair for pair in pairs if "枚" in pair.ja]
    return Drawn((str(number),), draw.typed(draw.sample(pairs, 3)))


def nights(draw: Draw) -> Drawn:
    """三泊お願いします。シングルの部屋はありますか。"""
    number = draw.choose((1, 2, 3, 4, 5, 6, 7))
    shown = draw.choose((str(number), japanese.numeral(number)))
    stay = english.number(number) + (" night" if number == 1 else " nights")
    place = draw.place(draw.choose(("town", "land")))
    if draw.chance(0.5):
        pairs = [
            Pair(f"{place.ja}に{shown}泊しました。", f"I stayed in {place.en} for {stay}."),
            Pair(f"{place.ja}に{shown}泊します。", f"I'll stay in {place.en} for {stay}."),
            Pair(
                f"{place.ja}に{shown}泊したいです。", f"I'd like to stay in {place.en} for {stay}."
            ),
        ]
        return Drawn((place.ja, str(number)), draw.typed(pairs))
    if draw.chance(0.1):
        pairs = [
            Pair(f"{shown}泊お願いします。", english.sentence(f"{stay}, please")),
            Pair(f"{shown}泊したいです。", f"I'd like to stay for {stay}."),
            Pair(f"{shown}泊する予定です。", f"I plan to stay for {stay}."),
        ]
        return Drawn((str(number),), draw.typed(pairs))
    ja, en = draw.choose(_ROOMS)
    pairs = [
        Pair(f"{ja}を{shown}泊予約したいです。", f"I'd like to reserve {en} for {stay}."),
        Pair(f"{ja}を{shown}泊お願いします。", english.sentence(f"{en} for {stay}, please")),
        Pair(f"{ja}はありますか。", f"Do you have {en}?"),
        Pair(f"{ja}は一泊いくらですか。", f"How much is {en} per night?"),
        Pair(f"{ja}をお願いします。", english.sentence(f"{en}, please")),
        Pair(f"{ja}がいいです。", f"I'd prefer {en}."),
    ]
    return Drawn((ja,), draw.typed(draw.sample(pairs, 3)))


def in_the_room(draw: Draw) -> Drawn:
    """部屋にドライヤーはありますか。毛布を持って来てください。"""
    ja, en, carried = draw.choose(_COMFORTS)
    pairs = [
        Pair(f"部屋に{ja}はありますか。", f"Is there {en} in the room?"),
        Pair(f"部屋に{ja}がありません。", f"There isn't {en} in the room."),
        Pair(f"{ja}はありますか。", f"Do you have {en}?"),
        Pair(f"部屋に{ja}があります。", f"There is {en} in the room."),
    ]
    if carried:
        pairs += [
            Pair(f"{ja}を貸してもらえますか。", f"Could you lend me {en}?"),
            Pair(f"{ja}を持って来てもらえますか。", f"Could you bring me {en}?"),
            Pair(f"{ja}を貸してください。", f"Please lend me {en}."),
            Pair(f"{ja}を借りてもいいですか。", f"May I borrow {en}?"),
        ]
    return Drawn((ja,), draw.typed(draw.sample(pairs, 3)))


_ROOMS = (
    ("シングルの部屋", "a single room"),
    ("ダブルの部屋", "a double room"),
    ("ツインの部屋", "a twin room"),
    ("和室", "a Japanese-style room"),
    ("洋室", "a Western-style room"),
    ("禁煙の部屋", "a non-smoking room"),
    ("静かな部屋", "a quiet room"),
    ("広い部屋", "a spacious room"),
    ("海が見える部屋", "a room with an ocean view"),
    ("もっと安い部屋", "a cheaper room"),
    ("お風呂付きの部屋", "a room with a bath"),
)
# What a guest asks for, and whether it is carried to the room.
_COMFORTS = (
    ("ドライヤー", "a hair dryer", True),
    ("アイロン", "an iron", True),
    ("毛布", "a blanket", True),
    ("枕", "a pillow", True),
    ("タオル", "a towel", True),
    ("充電器", "a charger", True),
    ("加湿器", "a humidifier", True),
    ("傘", "an umbrella", True),
    ("ペン", "a pen", True),
    ("はさみ", "a pair of scissors", True),
    ("辞書", "a dictionary", True),
    ("目覚まし時計", "an alarm clock", True),
    ("体温計", "a thermometer", True),
    ("車いす", "a wheelchair", True),
    ("エアコン", "an air conditioner", False),
    ("冷蔵庫", "a refrigerator", False),
    ("金庫", "a safe", False),
    ("バスタブ", "a bathtub", False),
    ("テレビ", "a television", False),
    ("電子レンジ", "a microwave", False),
    ("洗濯機", "a washing machine", False),
    ("机", "a desk", False),
    ("鏡", "a mirror", False),
)

PATTERNS = (ordering, diet, shopping, trying_on, party_of, nights, in_the_room)
