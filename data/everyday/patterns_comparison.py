"""More, less, which of two, and most."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Mood, Pair, tell
from keras_attn_data.everyday.english import Person, Phrase
from keras_attn_data.everyday.japanese import Word

_LIKED = "food drink sport game subject language animal flower martial order lesson tune".split()
LIKE = Word("好き", "na")


def this_than_that(draw: Draw) -> Drawn:
    """この時計はその時計より高いです。"""
    adjective, noun = draw.described("c", "cp")
    while noun.tags & {"subject", "game", "lesson"}:
        adjective, noun = draw.described("c", "cp")
    person, other = noun.as_subject("this"), noun.as_subject("that")
    pairs = []
    more = Phrase("be", f"{english.comparative(adjective.en)} than {other.text}")
    less = Phrase("be", f"as {adjective.en} as {other.text}")
    topic = f"この{noun.ja}はその{noun.ja}"
    for mood in draw.moods(2, negatives=False):
        past = draw.chance(0.2)
        text = f"{topic}より{mood.end(adjective.ja, past)}"
        pairs.append(Pair(text, tell(person, more, "past" if past else "present", mood)))
    mood = Mood(draw.chance(0.6), negative=True)
    text = f"{topic}ほど{mood.end(adjective.ja)}"
    pairs.append(Pair(text, tell(person, less, "present", mood)))
    return Drawn((noun.ja, adjective.ja.text), pairs)


def kind_than_kind(draw: Draw) -> Drawn:
    """象は馬より大きいです。数学は歴史より難しいです。"""
    ja, en, tag = draw.choose(_KINDS)
    first, second = draw.two_nouns(tag)
    person = Person(first.general, "3n" if first.article in ("0", "the") else "3p")
    pairs = []
    for mood in draw.moods(2, negatives=False):
        text = f"{first.ja}は{second.ja}より{mood.end(ja)}"
        phrase = Phrase("be", f"{english.comparative(en)} than {second.general}")
        pairs.append(Pair(text, tell(person, phrase, "present", mood)))
    mood = Mood(draw.chance(0.6), negative=True)
    phrase = Phrase("be", f"as {en} as {second.general}")
    text = f"{first.ja}は{second.ja}ほど{mood.end(ja)}"
    pairs.append(Pair(text, tell(person, phrase, "present", mood)))
    return Drawn((first.ja, second.ja, ja.text), pairs)


_KINDS = (
    (Word("難しい", "i"), "difficult", "subject"),
    (Word("面白い", "i"), "interesting", "subject"),
    (Word("大切", "na"), "important", "subject"),
    (Word("やさしい", "i"), "easy", "language"),
    (Word("おいしい", "i"), "delicious", "order"),
    (Word("高い", "i"), "expensive", "food"),
    (Word("安い", "i"), "cheap", "food"),
    (Word("面白い", "i"), "interesting", "sport"),
    (Word("難しい", "i"), "difficult", "sport"),
    (Word("かわいい", "i"), "cute", "animal"),
    (Word("頭がいい", "ii"), "smart", "animal"),
    (Word("美しい", "i"), "beautiful", "flower"),
    (Word("人気がある", "aru"), "popular", "sport"),
)


def person_than_person(draw: Draw) -> Drawn:
    """兄は父より背が高いです。"""
    first, second = draw.two_people()
    adjective = draw.adjective("pers")
    pairs = []
    more = Phrase("be", f"{english.comparative(adjective.en)} than {second.en.object}")
    for mood in draw.moods(2, negatives=False):
        text = f"{first.ja}は{second.ja}より{mood.end(adjective.ja)}"
        pairs.append(Pair(text, tell(first.en, more, "present", mood)))
    mood = Mood(draw.chance(0.6), negative=True)
    less = Phrase("be", f"as {adjective.en} as {second.en.object}")
    text = f"{first.ja}は{second.ja}ほど{mood.end(adjective.ja)}"
    pairs.append(Pair(text, tell(first.en, less, "present", mood)))
    return Drawn((first.ja, second.ja, adjective.ja.text), pairs)


def which_is_liked(draw: Draw) -> Drawn:
    """りんごとみかんとどちらが好きですか。りんごのほうが好きです。"""
    tag = draw.choose(_LIKED)
    first, second = draw.two_nouns(tag)
    a, b = first.general, second.general
    polite = draw.chance(0.6)
    question = f"{first.ja}と{second.ja}と、どちらが好き" + ("ですか。" if polite else "?")
    pairs = [Pair(question, f"Which do you like better, {a} or {b}?")]
    mood = Mood(draw.chance(0.6))
    text = f"{second.ja}より{first.ja}のほうが{mood.end(LIKE)}"
    pairs.append(Pair(text, f"I like {a} better than {b}."))
    return Drawn((first.ja, second.ja), pairs)


def which_is_more(draw: Draw) -> Drawn:
    """東京と京都と、どちらが寒いですか。"""
    pairs = []
    if draw.chance(0.5):
        word, en = draw.choose(_TOWN_ADJECTIVES)
        one, two = draw.sample(draw.places("town"), 2)
        names, key, be = (one.en, two.en), (one.ja, two.ja), "is"
    else:
        word, en, tag = draw.choose(_KINDS)
        first, second = draw.two_nouns(tag)
        names, key = (first.general, second.general), (first.ja, second.ja)
        be = "is" if {first.article, second.article} == {"0"} else "are"
    for polite in (True, False):
        ja = f"{key[0]}と{key[1]}と、どちらが{Mood(polite, question=True).end(word)}"
        more = english.comparative(en)
        pairs.append(Pair(ja, f"Which {be} {more}, {names[0]} or {names[1]}?"))
    return Drawn((*key, word.text), pairs)


_TOWN_ADJECTIVES = (
    (Word("寒い", "i"), "cold"),
    (Word("暑い", "i"), "hot"),
    (Word("大きい", "i"), "big"),
    (Word("にぎやか", "na"), "lively"),
    (Word("静か", "na"), "quiet"),
    (Word("古い", "i"), "old"),
    (Word("物価が高い", "i"), "expensive"),
)


def best_liked(draw: Draw) -> Drawn:
    """果物の中で、りんごが一番好きです。"""
    group_ja, group_en, tag = draw.choose(_GROUPS)
    noun = draw.noun(tag)
    who = draw.who(0.4)
    pairs = []
    for mood in draw.moods(2, negatives=False):
        person = who.asked(mood.question)
        text = f"{who.topic}{group_ja}の中で{noun.ja}が一番{mood.end(LIKE)}"
        phrase = Phrase("like", f"{noun.general} best of all {group_en}")
        pairs.append(Pair(text, tell(person, phrase, "present", mood)))
    return Drawn(tuple(w for w in (who.ja, group_ja, noun.ja) if w), pairs)


_GROUPS = (
    ("果物", "fruits", "fruit"),
    ("野菜", "vegetables", "vegetable"),
    ("スポーツ", "sports", "sport"),
    ("動物", "animals", "animal"),
    ("花", "flowers", "flower1"),
    ("飲み物", "drinks", "drink"),
    ("科目", "school subjects", "subject1"),
    ("料理", "dishes", "dish"),
    ("外国語", "foreign languages", "foreign"),
    ("楽器", "instruments", "instrument"),
)


def best_of_group(draw: Draw) -> Drawn:
    """このクラスで田中さんが一番背が高いです。"""
    adjective, somebody = draw.adjective("pers"), draw.somebody()
    kinds = _FAMILY if somebody.kind == "family" else _CIRCLES
    group_ja, group_en = draw.choose(kinds)
    pairs = []
    phrase = Phrase("be", f"the {english.superlative(adjective.en)} {group_en}")
    for mood in draw.moods(3, negatives=False):
        text = f"{group_ja}で{somebody.ja}が一番{mood.end(adjective.ja)}"
        pairs.append(Pair(text, tell(somebody.en, phrase, "present", mood)))
    return Drawn((group_ja, somebody.ja, adjective.ja.text), pairs)


_FAMILY = (("家族の中", "in the family"), ("親戚の中", "of all our relatives"))
_CIRCLES = (
    ("このクラス", "in this class"),
    ("この会社", "in this company"),
    ("このチーム", "on this team"),
    ("私の友達の中", "of my friends"),
    ("この町", "in this town"),
)


def best_thing(draw: Draw) -> Drawn:
    """これはこの店で一番安いかばんです。"""
    scope_ja, scope_en, uses = draw.choose(
        (
            ("この店", "in this shop", "cp"),
            ("この町", "in this town", "c"),
            ("世界", "in the world", "c"),
        )
    )
    adjective, noun = draw.described(uses)
    wanted = {"item", "order"} if uses == "cp" else {"cityplace", "naturething"}
    if noun.tags.isdisjoint(wanted) or noun.article not in ("a", "the", "p", "0"):
        return best_thing(draw)
    this_ja, this_en = draw.choose((("これ", "this"), ("それ", "that")))
    if noun.is_plural:
        this_en = {"this": "these", "that": "those"}[this_en]
    person = Person(this_en, "3p" if noun.is_plural else "3n")
    word = Word(f"{scope_ja}で一番{japanese.attributive(adjective.ja)}{noun.ja}", "noun")
    phrase = Phrase("be", f"the {english.superlative(adjective.en)} {noun.en} {scope_en}")
    pairs = [
        Pair(f"{this_ja}は{mood.end(word)}", tell(person, phrase, "present", mood))
        for mood in draw.moods(2)
    ]
    return Drawn((this_ja, scope_ja, noun.ja, adjective.ja.text), pairs)


def liking(draw: Draw) -> Drawn:
    """妹は猫が大好きです。"""
    who, noun = draw.who(0.4), draw.noun(*_LIKED)
    word, adverb = draw.choose(
        ((LIKE, ""), (LIKE, ""), (Word("大好き", "na"), "love"), (Word("嫌い", "na"), "dislike"))
    )
    pairs = []
    for mood in draw.moods(3, negatives=word == LIKE):
        person = who.asked(mood.question)
        phrase = Phrase(adverb or "like", noun.general)
        text = who.topic + noun.ja + "が" + mood.end(word)
        pairs.append(Pair(text, tell(person, phrase, "present", mood)))
    return Drawn(tuple(w for w in (who.ja, noun.ja, word.text) if w), pairs)


PATTERNS = (
    this_than_that,
    kind_than_kind,
    person_than_person,
    which_is_liked,
    which_is_more,
    best_liked,
    best_of_group,
    best_thing,
    liking,
)
