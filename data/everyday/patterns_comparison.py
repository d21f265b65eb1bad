"""Patterns of comparison and preference: more, less, which of two, most, like."""

from keras_attn_data.everyday import english, japanese
from keras_attn_data.everyday.drawing import Draw, Drawn, Mood, Pair, tell
from keras_attn_data.everyday.english import Person, Phrase
from keras_attn_data.everyday.japanese import Word
from keras_attn_data.everyday.lexicon import Noun

# Kinds of nouns for preferences; both nouns are of the same kind.
_RIVALS = "fruits vegetable dish sweet softdrink sport game school language beast flower1".split()
_RIVALS += "martial meats tune lesson instrument2".split()
LIKE = Word("好き", "na")
_POPULAR = Word("人気がある", "aru")

# Adjectives for comparisons, and the kinds of nouns that they compare.
_KINDS = (
    (Word("難しい", "i"), "difficult", "school"),
    (Word("面白い", "i"), "interesting", "school"),
    (Word("難しい", "i"), "difficult", "language"),
    (Word("やさしい", "i"), "easy", "language"),
    (Word("おいしい", "i"), "delicious", "dish"),
    (Word("おいしい", "i"), "delicious", "sweet"),
    (Word("おいしい", "i"), "delicious", "fruits"),
    (Word("おいしい", "i"), "delicious", "vegetable"),
    (Word("甘い", "i"), "sweet", "fruits"),
    (Word("高い", "i"), "expensive", "fruits"),
    (Word("安い", "i"), "cheap", "vegetable"),
    (Word("高い", "i"), "expensive", "dish"),
    (Word("面白い", "i"), "interesting", "sport"),
    (Word("難しい", "i"), "difficult", "sport"),
    (Word("かわいい", "i"), "cute", "beast"),
    (Word("頭がいい", "ii"), "smart", "clever"),
    (Word("きれい", "na"), "pretty", "flower1"),
    (_POPULAR, "popular", "sport"),
    (_POPULAR, "popular", "dish"),
    (_POPULAR, "popular", "lesson"),
)
# In ascending order of size, so that the comparisons are true.
_BY_SIZE = "ねずみ 猫 きつね 羊 豚 ライオン 馬 牛 キリン 象 くじら".split()
_TOWNS_BY_SIZE = "奈良 長崎 金沢 仙台 広島 京都 神戸 福岡 札幌 名古屋 大阪 東京".split()
_GROUPS = (
    ("果物", "fruits", "fruits"),
    ("野菜", "vegetables", "vegetable"),
    ("スポーツ", "sports", "sport"),
    ("動物", "animals", "beast"),
    ("花", "flowers", "flower1"),
    ("飲み物", "drinks", "softdrink"),
    ("科目", "school subjects", "subject1"),
    ("料理", "dishes", "dish"),
    ("外国語", "foreign languages", "foreign"),
    ("楽器", "instruments", "instrument2"),
    ("お菓子", "sweets", "sweet1"),
)


def _kind(noun: Noun) -> Person:
    return Person(noun.general, "3n" if noun.article in ("0", "the") else "3p")


def this_than_that(draw: Draw) -> Drawn:
    """この時計はその時計より高いです。"""
    adjective, noun = draw.described("c", "cp")
    while noun.tags & {"event", "naturething", "sight"}:
        adjective, noun = draw.described("c", "cp")
    person, other = noun.as_subject("this"), noun.as_subject("that")
    more = Phrase("be", f"{english.comparative(adjective.en)} than {other.text}")
    less = Phrase("be", f"as {adjective.en} as {other.text}")
    topic = f"この{noun.ja}はその{noun.ja}"
    pairs = [
        Pair(f"{topic}より{mood.end(adjective.ja)}", tell(person, more, "present", mood))
        for mood in draw.moods(2, negatives=False)
    ]
    mood = Mood(draw.chance(0.6), negative=True)
    text = f"{topic}ほど{mood.end(adjective.ja)}"
    pairs.append(Pair(text, tell(person, less, "present", mood)))
    return Drawn((noun.ja, adjective.ja.text), pairs)


def _more_and_less(
    draw: Draw, names: tuple[str, str], kinds: tuple[Person, Person], word: Word, en: str
) -> list[Pair]:
    """Sentences "A is more ... than B" and "B is not as ... as A"."""
    (one, two), (first, second) = names, kinds
    more = Phrase("be", f"{english.comparative(en)} than {second.object}")
    less = Phrase("be", f"as {en} as {first.object}")
    pairs = [
        Pair(f"{one}は{two}より{mood.end(word)}", tell(first, more, "present", mood))
        for mood in draw.moods(2, negatives=False)
    ]
    mood = Mood(draw.chance(0.6), negative=True)
    pairs.append(Pair(f"{two}は{one}ほど{mood.end(word)}", tell(second, less, "present", mood)))
    return pairs


def kind_than_kind(draw: Draw) -> Drawn:
    """数学は歴史より難しいです。"""
    word, en, tag = draw.choose(_KINDS)
    first, second = draw.two_nouns(tag)
    kinds = _kind(first), _kind(second)
    pairs = _more_and_less(draw, (first.ja, second.ja), kinds, word, en)
    return Drawn((first.ja, second.ja, word.text), pairs)


def bigger_than(draw: Draw) -> Drawn:
    """象は馬より大きいです。大阪は奈良より大きいです。"""
    towns = draw.chance(0.5)
    order = _TOWNS_BY_SIZE if towns else _BY_SIZE
    small, big = sorted(draw.sample(range(len(order)), 2))
    if not towns and big - small > 3:  # nobody compares a mouse with a whale
        return bigger_than(draw)
    names = order[big], order[small]
    if towns:
        places = {place.ja: place for place in draw.places("town")}
        kinds = Person(places[names[0]].en, "3n"), Person(places[names[1]].en, "3n")
    else:
        nouns = {noun.ja: noun for noun in draw.lexicon.nouns}
        kinds = _kind(nouns[names[0]]), _kind(nouns[names[1]])
    pairs = _more_and_less(draw, names, kinds, Word("大きい", "i"), "big")
    return Drawn((*names, "大きい"), pairs)


def person_than_person(draw: Draw) -> Drawn:
    """兄は父より背が高いです。"""
    first, second = draw.two_people(draw.choose(("family", "name")))
    adjective = draw.adjective("pers")
    more = Phrase("be", f"{english.comparative(adjective.en)} than {second.en.object}")
    less = Phrase("be", f"as {adjective.en} as {second.en.object}")
    pairs = [
        Pair(
            f"{first.ja}は{second.ja}より{mood.end(adjective.ja)}",
            tell(first.en, more, "present", mood),
        )
        for mood in draw.moods(2, [first, second], negatives=False)
    ]
    mood = Mood(draw.chance(0.6), negative=True)
    text = f"{first.ja}は{second.ja}ほど{mood.end(adjective.ja)}"
    pairs.append(Pair(text, tell(first.en, less, "present", mood)))
    return Drawn((first.ja, second.ja, adjective.ja.text), pairs)


def which_is_liked(draw: Draw) -> Drawn:
    """りんごとみかんと、どちらが好きですか。みかんよりりんごのほうが好きです。"""
    first, second = draw.two_nouns(draw.choose(_RIVALS))
    a, b = first.general, second.general
    question, mood = Mood(draw.chance(0.6), question=True), Mood(draw.chance(0.6))
    pairs = [
        Pair(
            f"{first.ja}と{second.ja}と、どちらが{question.end(LIKE)}",
            f"Which do you like better, {a} or {b}?",
        ),
        Pair(f"{second.ja}より{first.ja}のほうが{mood.end(LIKE)}", f"I like {a} better than {b}."),
    ]
    return Drawn((first.ja, second.ja), pairs)


_TOWN_ADJECTIVES = (
    (Word("寒い", "i"), "cold"),
    (Word("暑い", "i"), "hot"),
    (Word("大きい", "i"), "big"),
    (Word("にぎやか", "na"), "lively"),
    (Word("静か", "na"), "quiet"),
    (Word("古い", "i"), "old"),
    (Word("物価が高い", "i"), "expensive"),
)


def which_is_more(draw: Draw) -> Drawn:
    """東京と京都と、どちらが寒いですか。"""
    if draw.chance(0.5):
        word, en = draw.choose(_TOWN_ADJECTIVES)
        one, two = draw.sample(draw.places("town"), 2)
        names, key, be = (one.en, two.en), (one.ja, two.ja), "is"
    else:
        word, en, tag = draw.choose(_KINDS)
        first, second = draw.two_nouns(tag)
        names, key = (first.general, second.general), (first.ja, second.ja)
        many = {first.article, second.article} & {"a", "s", "p"}
        be = "are" if many else "is"
    pairs = []
    for polite in (True, False):
        ja = f"{key[0]}と{key[1]}と、どちらが{Mood(polite, question=True).end(word)}"
        more = english.comparative(en)
        pairs.append(Pair(ja, f"Which {be} {more}, {names[0]} or {names[1]}?"))
    return Drawn((*key, word.text), pairs)


def best_liked(draw: Draw) -> Drawn:
    """果物の中でりんごが一番好きです。"""
    group_ja, group_en, tag = draw.choose(_GROUPS)
    noun, who = draw.noun(tag), draw.who(0.4)
    phrase = Phrase("like", f"{noun.general} best of all {group_en}")
    pairs = []
    for mood in draw.moods(2, [who], negatives=False):
        text = f"{who.topic}{group_ja}の中で{noun.ja}が一番{mood.end(LIKE)}"
        pairs.append(Pair(text, tell(who.asked(mood.question), phrase, "present", mood)))
    return Drawn(tuple(w for w in (who.ja, group_ja, noun.ja) if w), pairs)


_FAMILY = (("家族の中", "in the family"), ("親戚の中", "of all our relatives"))
_CIRCLES = (
    ("このクラス", "in this class"),
    ("この会社", "in this company"),
    ("このチーム", "on this team"),
    ("私の友達の中", "of all my friends"),
    ("この町", "in this town"),
)


def best_of_group(draw: Draw) -> Drawn:
    """このクラスで田中さんが一番背が高いです。"""
    adjective, somebody = draw.adjective("pers"), draw.somebody("family", "name", "name")
    group_ja, group_en = draw.choose(_FAMILY if somebody.kind == "family" else _CIRCLES)
    phrase = Phrase("be", f"the {english.superlative(adjective.en)} {group_en}")
    pairs = [
        Pair(
            f"{group_ja}で{somebody.ja}が一番{mood.end(adjective.ja)}",
            tell(somebody.en, phrase, "present", mood),
        )
        for mood in draw.moods(3, [somebody], negatives=False)
    ]
    return Drawn((group_ja, somebody.ja, adjective.ja.text), pairs)


_SCOPES = (
    ("この店", "in this shop", "cp", frozenset({"item", "order"})),
    ("この町", "in this town", "c", frozenset({"built1"})),
    ("世界", "in the world", "c", frozenset({"world1"})),
)


def best_thing(draw: Draw) -> Drawn:
    """これはこの店で一番安いかばんです。"""
    scope_ja, scope_en, uses, wanted = draw.choose(_SCOPES)
    adjective, noun = draw.described(uses)
    while noun.tags.isdisjoint(wanted):
        adjective, noun = draw.described(uses)
    this_ja, this_en = draw.choose((("これ", "this"), ("それ", "that")))
    person = noun.as_subject(this_en)._replace(text=noun.pronoun(this_en))
    word = Word(f"{scope_ja}で一番{japanese.attributive(adjective.ja)}{noun.ja}", "noun")
    phrase = Phrase("be", f"the {english.superlative(adjective.en)} {noun.en} {scope_en}")
    pairs = [
        Pair(f"{this_ja}は{mood.end(word)}", tell(person, phrase, "present", mood))
        for mood in draw.moods(2, negatives=False)
    ]
    return Drawn((this_ja, scope_ja, noun.ja, adjective.ja.text), pairs)


def liking(draw: Draw) -> Drawn:
    """妹は猫が大好きです。"""
    who, noun = draw.who(0.4), draw.noun(draw.choose(_RIVALS))
    word, verb = draw.choose(
        (
            (LIKE, "like"),
            (LIKE, "like"),
            (Word("大好き", "na"), "love"),
            (Word("嫌い", "na"), "dislike"),
        )
    )
    pairs = []
    for mood in draw.moods(3, [who], negatives=word == LIKE):
        text = f"{who.topic}{noun.ja}が{mood.end(word)}"
        phrase = Phrase(verb, noun.general)
        pairs.append(Pair(text, tell(who.asked(mood.question), phrase, "present", mood)))
    return Drawn(tuple(w for w in (who.ja, noun.ja, word.text) if w), pairs)


PATTERNS = (
    this_than_that,
    kind_than_kind,
    bigger_than,
    person_than_person,
    which_is_liked,
    which_is_more,
    best_liked,
    best_of_group,
    best_thing,
    liking,
)
