"""Forms of English words and clauses, against tables written by hand."""

import pytest
from keras_attn_data.everyday import english
from keras_attn_data.everyday.english import YOU, I, Person, Phrase

HE = Person("he", "3m", "him")
READ = Phrase("read", "{own} book")


@pytest.mark.parametrize(
    ("verb", "third", "past", "participle", "ing"),
    [
        ("read", "reads", "read", "read", "reading"),
        ("go", "goes", "went", "gone", "going"),
        ("have", "has", "had", "had", "having"),
        ("study", "studies", "studied", "studied", "studying"),
        ("play", "plays", "played", "played", "playing"),
        ("watch", "watches", "watched", "watched", "watching"),
        ("make", "makes", "made", "made", "making"),
        ("swim", "swims", "swam", "swum", "swimming"),
        ("write", "writes", "wrote", "written", "writing"),
        ("tidy", "tidies", "tidied", "tidied", "tidying"),
        ("see", "sees", "saw", "seen", "seeing"),
        ("knit", "knits", "knitted", "knitted", "knitting"),
        ("open", "opens", "opened", "opened", "opening"),
        ("order", "orders", "ordered", "ordered", "ordering"),
        ("withdraw", "withdraws", "withdrew", "withdrawn", "withdrawing"),
    ],
)
def test_verbs_take_their_forms(verb, third, past, participle, ing):
    assert english.third_person(verb) == third
    assert english.past(verb) == past
    assert english.participle(verb) == participle
    assert english.ing(verb) == ing


@pytest.mark.parametrize(
    ("tense", "yes", "no", "question"),
    [
        ("present", "he reads his book", "he doesn't read his book", "does he read his book"),
        ("past", "he read his book", "he didn't read his book", "did he read his book"),
        ("will", "he'll read his book", "he won't read his book", "will he read his book"),
        ("can", "he can read his book", "he can't read his book", "can he read his book"),
        (
            "progressive",
            "he's reading his book",
            "he isn't reading his book",
            "is he reading his book",
        ),
        (
            "past progressive",
            "he was reading his book",
            "he wasn't reading his book",
            "was he reading his book",
        ),
        ("perfect", "he's read his book", "he hasn't read his book", "has he read his book"),
        (
            "perfect progressive",
            "he's been reading his book",
            "he hasn't been reading his book",
            "has he been reading his book",
        ),
    ],
)
def test_clauses_agree_in_every_tense(tense, yes, no, question):
    assert english.say(HE, READ, tense) == yes
    assert english.say(HE, READ, tense, negative=True) == no
    assert english.ask(HE, READ, tense) == question


def test_be_agrees_and_needs_no_do():
    tired = Phrase("be", "tired")
    assert english.say(I, tired, "present") == "I'm tired"
    assert english.say(YOU, tired, "past", negative=True) == "you weren't tired"
    assert english.ask(HE, tired, "present") == "is he tired"
    assert english.say(HE, tired, "will") == "he'll be tired"


def test_adverbs_stand_before_the_main_verb_and_after_be():
    assert english.say(HE, READ, "present", adverb="often") == "he often reads his book"
    assert english.say(HE, READ, "present", True, "often") == "he doesn't often read his book"
    assert english.say(HE, Phrase("be", "late"), "present", adverb="often") == "he's often late"


def test_an_unknown_tense_is_refused():
    with pytest.raises(ValueError, match="`tense` .* Received: tense='aorist'"):
        english.say(HE, READ, "aorist")


@pytest.mark.parametrize(
    ("noun", "with_article", "plural"),
    [
        ("apple", "an apple", "apples"),
        ("uniform", "a uniform", "uniforms"),
        ("umbrella", "an umbrella", "umbrellas"),
        ("dress", "a dress", "dresses"),
        ("grandchild", "a grandchild", "grandchildren"),
        ("knife", "a knife", "knives"),
        ("box", "a box", "boxes"),
        ("city", "a city", "cities"),
        ("child", "a child", "children"),
        ("potato", "a potato", "potatoes"),
    ],
)
def test_nouns_take_articles_and_plurals(noun, with_article, plural):
    assert english.article(noun) == with_article
    assert english.plural(noun) == plural


@pytest.mark.parametrize(
    ("adjective", "more", "most"),
    [
        ("big", "bigger", "biggest"),
        ("cheap", "cheaper", "cheapest"),
        ("heavy", "heavier", "heaviest"),
        ("simple", "simpler", "simplest"),
        ("cute", "cuter", "cutest"),
        ("gentle", "gentler", "gentlest"),
        ("quiet", "quieter", "quietest"),
        ("famous", "more famous", "most famous"),
        ("interesting", "more interesting", "most interesting"),
        ("expensive", "more expensive", "most expensive"),
        ("safe", "safer", "safest"),
        ("old", "older", "oldest"),
        ("lovely", "lovelier", "loveliest"),
        ("strict", "stricter", "strictest"),
        ("warm", "warmer", "warmest"),
        ("new", "newer", "newest"),
        ("slow", "slower", "slowest"),
        ("kind", "kinder", "kindest"),
        ("young", "younger", "youngest"),
        ("tall", "taller", "tallest"),
        ("cool", "cooler", "coolest"),
        ("clean", "cleaner", "cleanest"),
        ("busy", "busier", "busiest"),
        ("important", "more important", "most important"),
    ],
)
def test_adjectives_compare(adjective, more, most):
    assert english.comparative(adjective) == more
    assert english.superlative(adjective) == most


def test_numbers_and_dates_are_written_as_in_print():
    assert [english.number(n) for n in (1, 12, 13, 1200)] == ["one", "twelve", "13", "1,200"]
    assert english.date(5, 3) == "May 3"


def test_possessives_of_names_and_pronouns():
    assert english.possessive("my father") == "my father's"
    assert english.possessive("she") == "her"


def test_only_pronouns_are_contracted_with_their_auxiliary():
    tired = Phrase("be", "tired")
    assert english.say(I, tired, "present", negative=True) == "I'm not tired"
    assert english.say(HE, tired, "present", negative=True) == "he isn't tired"
    assert english.say(Person("my father", "3m"), tired, "present") == "my father is tired"
    assert english.say(Person("that", "3n"), Phrase("be", "a book"), "present") == "that's a book"
    assert english.say(Person("this", "3n"), Phrase("be", "a book"), "present") == "this is a book"
    assert english.say(I, Phrase("have", "a car"), "present") == "I have a car"


def test_negative_questions_begin_with_the_contraction():
    assert english.ask(HE, READ, "past", negative=True) == "didn't he read his book"


def test_what_would_claim_an_unknown_gender_is_marked():
    tanaka = Person("Tanaka", "3u")
    assert english.say(tanaka, READ, "past") == f"Tanaka read {english.UNKNOWN_GENDER} book"
    assert english.say(tanaka, Phrase("sleep"), "present") == "Tanaka sleeps"


def test_a_sentence_has_single_spaces():
    assert english.sentence("it is  late ") == "It is late."
