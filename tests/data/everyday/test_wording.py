"""The wording of the corpus: faults that a native reader found, counted over all pairs."""

import re

import pytest
from keras_attn_data.everyday import lexicon

KIN = (
    "husband|wife|son|daughter|older brother|younger brother|older sister|younger sister|father|"
    "mother|uncle|aunt|nephew|niece|cousin|grandfather|grandmother|friend|colleague|teacher|boss|"
    "classmate|neighbor|landlord|roommate|coach"
)
TIME = re.compile(
    "昨日|おととい|先週|先月|去年|今朝|さっき|日前|週間前|月前|年前|明日|あさって|来週|来月|来年|今夜|"
    "今度|休みに|毎|週末|今日|今晩"
)


@pytest.fixture(scope="module")
def english(corpus):
    """English of the pairs without text that is copied."""
    return [s.en for s in corpus if not s.combination.startswith("copied")]


def test_another_subject_has_no_relatives_of_the_speaker(english):
    names = "|".join(sorted({name.en for name in lexicon.load().names}))
    wrong = re.compile(rf"(He|She|{names})\b(?! (is|isn't) ).* my ({KIN})\b")
    assert [text for text in english if wrong.match(text)] == []


ENGLISH_FAULTS = [
    r"withdrawed",
    r"(n't|not) .*\bsome\b",
    r"\b(interesting|cheap), so I('ll)? borrow",
    r"a long time ago",
    r"(n't|not) .*\bat \d+(:\d\d)?\b",
    r"one-piece",
    r"\bM(r|s|rs)\. ",
    r"\bgrandchilds\b",
    r"[Ff]olk songs or songs|[Ss]ongs or folk songs",
]


def test_known_faults_do_not_occur(corpus, english):
    in_english = re.compile("|".join(ENGLISH_FAULTS))
    assert [text for text in english if in_english.search(text)] == []
    in_japanese = re.compile("写真の中で|トイレ[をが]片付|十分(日本語|待)")
    assert [s.ja for s in corpus if in_japanese.search(s.ja)] == []


def test_why_did_asks_for_an_explanation(corpus):
    why = [s.ja for s in corpus if re.search("どうして.*(ます|ました|ません|でした)か", s.ja)]
    assert [text for text in why if not re.search("か(知って|知り|教え)", text)] == []


def test_spoken_english_is_contracted(english):
    whole = re.compile(
        r"\b(do|does|did|is|are|was|were|have|has|will|could|would|should) not\b|\bcannot\b|"
        r"\b(I am|he is|she is|it is|we are|they are|that is|(I|you|he|she|it|we|they) will)\b",
        re.IGNORECASE,
    )
    assert [text for text in english if whole.search(text)] == []


def test_the_gender_of_a_surname_is_never_claimed(corpus):
    people = lexicon.load().people
    surnames = "|".join(person.en.text for person in people if person.en.code == "3u")
    others = "|".join(person.en.text for person in people if person.en.code in ("3m", "3f"))
    claimed = re.compile(rf"^({surnames})\b(?!.*\b({others})\b).*\b(he|she|his|her)\b")
    assert [s.en for s in corpus if claimed.search(s.en)] == []


def test_few_pairs_are_about_pictures_of_animals_and_things(corpus):
    assert sum("の絵[をが]描" in s.ja or "picture of" in s.en for s in corpus) < 600


def test_a_quarter_to_a_third_of_all_pairs_has_a_time_word(corpus):
    share = sum(bool(TIME.search(s.ja)) for s in corpus) / len(corpus)
    assert 0.25 <= share <= 0.33
