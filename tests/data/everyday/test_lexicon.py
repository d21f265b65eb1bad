"""Nouns with their articles and numbers, and what the tables hold."""

from keras_attn_data.everyday import japanese, lexicon
from keras_attn_data.everyday.lexicon import Noun


def noun(en, article, unit=""):
    row = {"ja": en, "en": en, "article": article, "counter": "-", "unit": unit, "tags": ""}
    return Noun(row)


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
        assert (thing.text_en, thing.general) == (bare, general)
    nouns = (noun("apple", "a"), light, homework)
    assert [thing.forms["the"] for thing in nouns] == ["the apple", "the light", "the homework"]


def test_masses_and_pairs_are_counted_by_their_unit_and_plural_things_agree():
    assert noun("coffee", "0", "cup").counted(1) == "one cup of coffee"
    assert noun("shoes", "p", "pair").counted(3) == "three pairs of shoes"
    assert noun("knife", "a").counted(2) == "two knives"
    assert noun("shoes", "p").forms["this1"] == "these"


def test_every_word_of_the_tables_can_be_used():
    actions, nouns = lexicon.load("actions"), lexicon.load("nouns")
    for action in actions:
        assert action.whole.kind in japanese.VERB_KINDS, action.text_ja
        assert japanese.plain(action.whole, past=True)[-1] in "ただ", action.text_ja
        assert japanese.word(action.text_ja) == action.whole
    assert all(thing.text_en and thing.tags for thing in nouns)
    tags = frozenset().union(*(thing.tags for thing in nouns))
    for adjective in lexicon.load("adjectives"):
        assert adjective.describes & (tags | {"PERSON", "WEATHER"}), adjective.text_ja
    verbs = {action.verb.text for action in actions if action.noun}
    assert {"飲む", "読む", "弾く", "乗る", "持って来る"} <= verbs
