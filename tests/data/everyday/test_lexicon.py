"""Nouns with their articles and numbers, and what the tables hold."""

from keras_attn_data.everyday import japanese, lexicon
from keras_attn_data.everyday.lexicon import Noun


def noun(en, article, unit=""):
    return Noun("", en, article, "", unit, frozenset())


def test_nouns_take_the_article_of_their_kind():
    light, homework = noun("light", "the"), noun("homework", "own")
    forms = [
        (noun("apple", "a"), "an apple", "apples"),
        (noun("coffee", "0", "cup"), "coffee", "coffee"),
        (noun("shoes", "p", "pair"), "shoes", "shoes"),
        (light, "the light", "the light"),
        (homework, "{own} homework", "{own} homework"),
    ]
    for thing, bare, general in forms:
        assert (thing.bare, thing.general) == (bare, general)
    nouns = (noun("apple", "a"), light, homework)
    assert [thing.the for thing in nouns] == ["the apple", "the light", "the homework"]


def test_masses_and_pairs_are_counted_by_their_unit_and_plural_things_agree():
    assert noun("coffee", "0", "cup").counted(1) == "one cup of coffee"
    assert noun("shoes", "p", "pair").counted(3) == "three pairs of shoes"
    assert noun("knife", "a").counted(2) == "two knives"
    shoes = noun("shoes", "p").as_subject("this")
    assert (shoes.text, shoes.code) == ("these shoes", "3p")


def test_every_word_of_the_tables_can_be_used():
    tables = lexicon.load()
    for action in tables.actions:
        assert action.ja.kind in japanese.VERB_KINDS, action
        assert japanese.plain(action.ja, past=True)[-1] in "ただ", action
    assert all(thing.en and thing.tags for thing in tables.nouns)
    tags = frozenset().union(*(thing.tags for thing in tables.nouns))
    for adjective in tables.adjectives:
        assert adjective.describes & (tags | {"PERSON", "WEATHER"}), adjective
    verbs = {action.verb.text for action in tables.actions if action.noun}
    assert {"飲む", "読む", "弾く", "乗る", "持って来る"} <= verbs
