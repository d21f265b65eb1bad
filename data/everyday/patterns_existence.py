"""Patterns of existence, location and possession."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Mood, Pair, tell
from keras_attn_data.everyday.english import Person, Phrase
from keras_attn_data.everyday.japanese import Word

THERE = Word("ある", "aru")
LIVING = Word("いる", "ichidan")
_SPOTS = (
    ("机の上", "on the desk", "small"),
    ("机の下", "under the desk", "bag"),
    ("テーブルの上", "on the table", "small"),
    ("いすの上", "on the chair", "bag"),
    ("箱の中", "in the box", "small"),
    ("かばんの中", "in the bag", "small"),
    ("引き出しの中", "in the drawer", "small"),
    ("本棚の上", "on top of the bookshelf", "small"),
    ("ベッドの下", "under the bed", "bag"),
    ("ベッドの横", "beside the bed", "bag"),
    ("ドアの後ろ", "behind the door", "bag"),
    ("冷蔵庫の中", "in the refrigerator", "cold"),
    ("台所のテーブルの上", "on the kitchen table", "cold"),
    ("車の中", "in the car", "bag"),
    ("玄関", "in the entrance hall", "bag"),
)
_SPOT_TAGS = {
    "small": ("stationery", "book", "ticket", "glasses", "accessory", "toiletry", "keys"),
    "bag": ("bag", "box", "legs", "instrument1", "present"),
    "cold": ("fruit", "vegetable", "dishware1", "sweet", "alcohol"),
}
_RELATIONS = (
    ("前", "in front of"),
    ("後ろ", "behind"),
    ("隣", "next to"),
    ("近く", "near"),
    ("向かい", "across from"),
)
_ANIMAL_SPOTS = (
    ("庭", "in the garden"),
    ("木の下", "under the tree"),
    ("公園", "in the park"),
    ("動物園", "in the zoo"),
    ("家の前", "in front of the house"),
    ("川の近く", "near the river"),
    ("ドアの前", "in front of the door"),
    ("農場", "on the farm"),
)
_PEOPLE_SPOTS = (
    ("教室", "in the classroom"),
    ("部屋の中", "in the room"),
    ("バスの中", "on the bus"),
    ("駅の前", "in front of the station"),
    ("店の前", "in front of the shop"),
    ("ホテルのロビー", "in the hotel lobby"),
    ("待合室", "in the waiting room"),
    ("公園", "in the park"),
    ("図書館", "in the library"),
)


def _there_is(
    draw: Draw, spot: tuple[str, str], ja: str, thing: Person, verb: Word, moods: list[Mood]
) -> list[Pair]:
    pairs = []
    for mood in moods:
        past = draw.chance(0.4)
        be = english.say(Person("there", thing.code), Phrase("be"), "past" if past else "present")
        if mood.question:
            be = english.ask(
                Person("there", thing.code), Phrase("be"), "past" if past else "present"
            )
        text = english.sentence(f"{be} {thing.text} {spot[1]}", "?" if mood.question else ".")
        pairs.append(Pair(f"{spot[0]}に{ja}{mood.end(verb, past)}", text))
    return pairs


def counted_things(draw: Draw) -> Drawn:
    """机の上に本が三冊あります。"""
    spot = draw.choose(_SPOTS)
    noun = draw.noun(*_SPOT_TAGS[spot[2]])
    while not noun.counter:
        noun = draw.noun(*_SPOT_TAGS[spot[2]])
    number = draw.choose((1, 2, 3, 4, 5, 6, 8))
    thing = Person(noun.counted(number), "3n" if number == 1 else "3p")
    ja = f"{noun.ja}が{japanese.count(number, noun.counter)}"
    moods = draw.moods(2, negatives=False, questions=False)
    return Drawn(
        (spot[0], noun.ja, str(number)), _there_is(draw, spot[:2], ja, thing, THERE, moods)
    )


def living_things(draw: Draw) -> Drawn:
    """公園に子供が五人います。"""
    people = draw.chance(0.5)
    spot = draw.choose(_PEOPLE_SPOTS if people else _ANIMAL_SPOTS)
    noun = draw.noun("personnoun" if people else "animal")
    while not people and noun.ja in ("くじら", "イルカ", "金魚", "ねずみ"):
        noun = draw.noun("animal")
    if not people and spot[0] != "動物園":
        noun = draw.noun("tame") if "前" in spot[0] else draw.noun("farm", "tame")
    number = draw.choose((1, 2, 3, 4, 5, 6, 7, 10))
    thing = Person(noun.counted(number), "3n" if number == 1 else "3p")
    ja = f"{noun.ja}が{_people(number) if people else japanese.count(number, noun.counter)}"
    moods = draw.moods(2, negatives=False, questions=False)
    return Drawn((spot[0], noun.ja, str(number)), _there_is(draw, spot, ja, thing, LIVING, moods))


def _people(number: int) -> str:
    return japanese.count(number, "人")


def where_thing_is(draw: Draw) -> Drawn:
    """かぎは引き出しの中にあります。"""
    spot = draw.choose(_SPOTS)
    noun = draw.noun(*_SPOT_TAGS[spot[2]])
    owner_ja, owner_en = draw.choose((("", "the"), ("私の", "my"), ("あなたの", "your")))
    about = []
    if not owner_ja and draw.chance(0.7):
        somebody = draw.somebody()
        about = [somebody]
        owner_ja, owner_en = f"{somebody.ja}の", english.possessive(somebody.en.text)
    many = noun.is_plural or noun.article == "s"
    name = noun.general if many else noun.en
    person = Person(f"{owner_en} {name}", "3p" if many else "3n")
    pairs = []
    for mood in draw.moods(3, about):
        past = draw.chance(0.3)
        tense = "past" if past else "present"
        text = f"{owner_ja}{noun.ja}は{spot[0]}に{mood.end(THERE, past)}"
        pairs.append(Pair(text, tell(person, Phrase("be", spot[1]), tense, mood)))
    return Drawn((owner_ja, noun.ja, spot[0]), pairs)


def where_place_is(draw: Draw) -> Drawn:
    """銀行は駅の前にあります。"""
    place, landmark = draw.sample(draw.places("built"), 2)
    relation_ja, relation_en = draw.choose(_RELATIONS)
    person = Person(place.en, "3n")
    where = f"{landmark.ja}の{relation_ja}"
    en = Phrase("be", f"{relation_en} {landmark.en}")
    moods = draw.moods(3)
    pairs = [
        Pair(f"{place.ja}は{where}に{mood.end(THERE)}", tell(person, en, "present", mood))
        for mood in moods
    ]
    return Drawn((place.ja, landmark.ja, relation_ja), pairs)


def whose_it_is(draw: Draw) -> Drawn:
    """これは姉の傘です。"""
    somebody, noun = draw.somebody(), draw.noun("item", "vehicle")
    this_ja, this_en = draw.choose((("これ", "this"), ("それ", "that")))
    if noun.is_plural:
        this_en = {"this": "these", "that": "those"}[this_en]
    person = Person(this_en, "3p" if noun.is_plural else "3n")
    en = Phrase("be", f"{english.possessive(somebody.en.text)} {noun.en}")
    word = Word(f"{somebody.ja}の{noun.ja}", "noun")
    pairs = [
        Pair(f"{this_ja}は{mood.end(word)}", tell(person, en, "present", mood))
        for mood in draw.moods(3, [somebody])
    ]
    return Drawn((this_ja, somebody.ja, noun.ja), pairs)


def owning(draw: Draw) -> Drawn:
    """兄は車を二台持っています。"""
    who = draw.who(0.3)
    noun = draw.noun("vehicle", "electric", "suitcase1", "instrument", "accessory", "formal1")
    have = Word("持っている", "ichidan")
    thing = noun.with_article("a") if noun.article == "the" else noun.bare
    number = draw.choose((1, 2, 3))
    pairs = []
    if noun.counter and number > 1:
        mood = Mood(draw.chance(0.6))
        ja = have.after(f"{noun.ja}を{japanese.count(number, noun.counter)}")
        en = Phrase("have", noun.counted(number))
        pairs.append(Pair(who.topic + mood.end(ja), tell(who.en, en, "present", mood)))
    for mood in draw.moods(2, [who]):
        person = who.asked(mood.question)
        ja = have.after(f"{noun.ja}を")
        text = tell(person, Phrase("have", thing), "present", mood)
        pairs.append(Pair(who.topic + mood.end(ja), text))
    return Drawn(tuple(w for w in (who.ja, noun.ja) if w), pairs)


PATTERNS = (counted_things, living_things, where_thing_is, where_place_is, whose_it_is, owning)
