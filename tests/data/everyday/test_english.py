"""Forms of English words and clauses, against tables written by hand."""

import pytest
from keras_attn_data.everyday import english
from keras_attn_data.everyday.english import YOU, I, Person, Phrase

HE = Person("he", "3m", "him")
READ, TIRED = Phrase("read", "{own} book"), Phrase("be", "tired")
# verb, third person, past, participle, ing
VERBS = """
read reads read read reading
go goes went gone going
have has had had having
study studies studied studied studying
play plays played played playing
watch watches watched watched watching
make makes made made making
swim swims swam swum swimming
write writes wrote written writing
tidy tidies tidied tidied tidying
see sees saw seen seeing
knit knits knitted knitted knitting
open opens opened opened opening
order orders ordered ordered ordering
withdraw withdraws withdrew withdrawn withdrawing
lie lies lay lain lying
prefer prefers preferred preferred preferring
step steps stepped stepped stepping
"""
# noun and article, plural
NOUNS = """
an apple apples, a uniform uniforms, an umbrella umbrellas, a dress dresses, a knife knives,
a grandchild grandchildren, a box boxes, a city cities, a child children, a potato potatoes
"""
COMPARED = """
big bigger biggest, cheap cheaper cheapest, heavy heavier heaviest, simple simpler simplest,
cute cuter cutest, gentle gentler gentlest, quiet quieter quietest, safe safer safest,
old older oldest, lovely lovelier loveliest, strict stricter strictest, warm warmer warmest,
new newer newest, slow slower slowest, kind kinder kindest, young younger youngest,
tall taller tallest, cool cooler coolest, clean cleaner cleanest, busy busier busiest
"""
# tense: he ... his book; he ... not; does he ...
CLAUSES = """
present: reads, doesn't read, does he read
past: read, didn't read, did he read
will: 'll read, won't read, will he read
can: can read, can't read, can he read
progressive: 's reading, isn't reading, is he reading
past progressive: was reading, wasn't reading, was he reading
perfect: 's read, hasn't read, has he read
perfect progressive: 's been reading, hasn't been reading, has he been reading
"""


def test_verbs_take_their_forms():
    for verb, *forms in map(str.split, VERBS.strip().splitlines()):
        rules = (english.third_person, english.past, english.participle, english.ing)
        assert [rule(verb) for rule in rules] == forms


def test_clauses_agree_in_every_tense():
    for line in CLAUSES.strip().splitlines():
        tense, _, forms = line.partition(": ")
        yes, no, question = (f"{form} his book" for form in forms.split(", "))
        he = "he" if yes.startswith("'") else "he "
        assert english.say(HE, READ, tense) == he + yes
        assert english.say(HE, READ, tense, negative=True) == f"he {no}"
        assert english.question(HE, READ, tense) == question
    assert english.question(HE, READ, "past", negative=True) == "didn't he read his book"
    with pytest.raises(ValueError, match="`tense` .* Received: tense='aorist'"):
        english.say(HE, READ, "aorist")


def test_be_agrees_needs_no_do_and_is_contracted_with_pronouns_alone():
    assert english.say(I, TIRED, "present") == "I'm tired"
    assert english.say(YOU, TIRED, "past", negative=True) == "you weren't tired"
    assert english.question(HE, TIRED, "present") == "is he tired"
    assert english.say(HE, TIRED, "will") == "he'll be tired"
    assert english.say(I, TIRED, "present", negative=True) == "I'm not tired"
    assert english.say(HE, TIRED, "present", negative=True) == "he isn't tired"
    assert english.say(Person("my father", "3m"), TIRED, "present") == "my father is tired"
    book = Phrase("be", "a book")
    assert english.say(Person("that", "3n"), book, "present") == "that's a book"
    assert english.say(Person("this", "3n"), book, "present") == "this is a book"
    assert english.say(I, Phrase("have", "a car"), "present") == "I have a car"


def test_adverbs_stand_before_the_main_verb_and_after_be():
    assert english.say(HE, READ, "present", adverb="often") == "he often reads his book"
    assert english.say(HE, READ, "present", True, "often") == "he doesn't often read his book"
    assert english.say(HE, Phrase("be", "late"), "present", adverb="often") == "he's often late"


def test_nouns_take_articles_and_plurals():
    for forms in NOUNS.split(","):
        article, noun, plural = forms.split()
        assert english.article(noun) == f"{article} {noun}"
        assert english.plural(noun) == plural


def test_adjectives_compare():
    rows = [forms.split() for forms in COMPARED.split(",")]
    for long in ("famous", "interesting", "expensive", "important"):
        rows.append([long, f"more {long}", f"most {long}"])
    for adjective, more, most in rows:
        assert (english.comparative(adjective), english.superlative(adjective)) == (more, most)


def test_numbers_dates_possessives_and_spaces_are_written_as_in_print():
    assert [english.number(n) for n in (1, 12, 13, 1200)] == ["one", "twelve", "13", "1,200"]
    assert english.date(5, 3) == "May 3"
    assert english.possessive("my father") == "my father's"
    assert english.possessive("she") == "her"
    assert english.sentence("it is  late ") == "It is late."


def test_what_would_claim_an_unknown_gender_is_marked():
    tanaka = Person("Tanaka", "3u")
    assert english.say(tanaka, READ, "past") == f"Tanaka read {english.UNKNOWN_GENDER} book"
    assert english.say(tanaka, Phrase("sleep"), "present") == "Tanaka sleeps"
