"""Words that are read from a dictionary made here."""

import pytest
from jmdict_by_hand import entry, written
from keras_attn_data.jmdict.words import words


@pytest.mark.parametrize(
    "parts, expected",
    [
        (dict(glosses=["to eat (a meal)", "to dine"]), ("猫", "eat")),
        (dict(glosses=["(in the) box"]), ("猫", "box")),
        (dict(glosses=["as (far) as possible", "fully"]), ("猫", "fully")),
        (dict(glosses=["far, far away", "a b c d e", "afar"]), ("猫", "afar")),
        (dict(glosses=["behaviour", "behavior"]), ("猫", "behavior")),
        (dict(misc=["uk"]), ("ねこ", "cat")),
        (dict(kanji=None), ("ねこ", "cat")),
        (dict(marks=[]), None),
        (dict(misc=["arch"]), None),
        (dict(tags=["n", "ctr"]), None),
        (dict(glosses=["a long tail of five words"]), None),
    ],
)
def test_a_common_word_has_one_form_and_one_clean_gloss(parts, expected):
    found = words(written(entry(**parts)))
    assert [(word.ja, word.en) for word in found] == [expected] * (expected is not None)


def test_the_most_frequent_comes_first_and_a_form_counts_once():
    found = words(
        written(
            entry("山", "やま", ["mountain"], marks=["nf09"]),
            entry("川", "かわ", ["river"], marks=["news1", "nf02"]),
            entry("山", "さん", ["Mount"], marks=["nf30"]),
        )
    )
    assert [(word.ja, word.en, word.rank) for word in found] == [
        ("川", "river", 2),
        ("山", "mountain", 9),
    ]


def test_a_rare_first_gloss_gives_way_to_a_usual_one():
    others = [entry(f"火{i}", f"ひ{i}", [f"fire {i} brigade"]) for i in range(12)]
    fire = entry("火災", "かさい", ["conflagration", "fire"])
    lone = entry("蛍", "ほたる", ["firefly", "lightning bug"])
    found = {word.ja: word.en for word in words(written(*others, fire, lone))}
    assert (found["火災"], found["蛍"]) == ("fire", "firefly")
