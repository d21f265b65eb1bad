"""Nouns with their articles and numbers, and what the tables hold."""

import pytest
from keras_attn_data.everyday import japanese, lexicon
from keras_attn_data.everyday.lexicon import Noun


def noun(en, article, unit=""):
    return Noun("", en, article, "", unit, frozenset())


@pytest.mark.parametrize(
    ("thing", "bare", "general", "the"),
    [
        (noun("apple", "a"), "an apple", "apples", "the apple"),
        (noun("coffee", "0", "cup"), "coffee", "coffee", "coffee"),
        (noun("shoes", "p", "pair"), "shoes", "shoes", "shoes"),
        (noun("light", "the"), "the light", "the light", "the light"),
        (noun("homework", "own"), "{own} homework", "{own} homework", "the homework"),
    ],
)
def test_nouns_take_the_article_of_their_kind(thing, bare, general, the):
    assert thing.bare == bare
    assert thing.general == general
    if thing.article not in ("0", "p"):
        assert thing.the == the


def test_masses_and_pairs_are_counted_by_their_unit():
    assert noun("coffee", "0", "cup").counted(1) == "one cup of coffee"
    assert noun("shoes", "p", "pair").counted(3) == "three pairs of shoes"
    assert noun("knife", "a").counted(2) == "two knives"


def test_plural_things_take_these_and_agree():
    shoes = noun("shoes", "p").as_subject("this")
    assert (shoes.text, shoes.code) == ("these shoes", "3p")


def test_every_verb_conjugates_and_every_noun_has_english():
    tables = lexicon.load()
    for action in tables.actions:
        assert action.ja.kind in japanese.VERB_KINDS, action
        assert japanese.plain(action.ja, past=True)[-1] in "ただ", action
    assert all(thing.en and thing.tags for thing in tables.nouns)


def test_every_verb_finds_objects_and_every_adjective_nouns():
    tables = lexicon.load()
    tags = frozenset().union(*(thing.tags for thing in tables.nouns))
    for adjective in tables.adjectives:
        assert adjective.describes & (tags | {"PERSON", "WEATHER"}), adjective
    verbs = {action.verb.text for action in tables.actions if action.noun}
    assert {"飲む", "読む", "弾く", "乗る", "持って来る"} <= verbs
