import re

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.decoding.coverage import Coverage
from keras_attn.translation.export.tags import Tags
from keras_attn.translation.lexicon import Lexicon
from keras_attn.translation.text.placeholders import PLACEHOLDERS, mask, unmask
from keras_attn.translation.tokenization.in_graph import GraphTokenizer

# Words of one source piece, with their translations by the lexicon of the test.
WORDS = {"猫": " cat", "花": " flower", "庭": " garden"}


@pytest.fixture(scope="module")
def tags(tokenizers):
    source, target = (GraphTokenizer(side.proto) for side in tokenizers)
    number = len(source.scores)
    ids = [
        (piece, source.tokenize([f"の{japanese}"])[0, -1].numpy())
        for japanese, english in WORDS.items()
        for piece in target.tokenize([english])[0].numpy()
        if target.id_to_string(piece) != "\u2581".encode()
    ]
    keys = np.unique([y * number + x for y, x in ids]).astype(np.int32)
    lexicon = Lexicon(number, keys, np.zeros(len(keys), np.float16))
    return Tags(source, target, Coverage(lexicon, 0.0), " ")


def put(tags, source, *translations):
    masked, values = mask(tf.constant([source]), "ja", "en")
    found = tags.put(masked, values, tf.constant([translations]))[0]
    whole, _ = unmask(found, *(tf.repeat(x, len(translations), 0) for x in (values, masked)), "en")
    return [text.decode() for text in whole.numpy()]


def test_tags_are_around_the_translations_of_their_words(tags):
    for source, translation, expected in (
        ("<b>猫</b>が庭に", "A cat is in the garden.", "A <b>cat</b> is in the garden."),
        ("庭に<b>花</b>と<i>猫</i>", "A flower, a cat", "A <b>flower</b>, a <i>cat</i>"),
        ("<b>庭の猫</b>が", "The garden cat sleeps.", "The <b>garden cat</b> sleeps."),
        ("<b>花と<i>猫</i></b>と庭", "flower, cat, garden", "<b>flower, <i>cat</i></b>, garden"),
        ("花と<img src='x'>猫", "A flower and a cat", "A flower and a <img src='x'>cat"),
        ("<0>猫</0>と{a}", "{a} and a cat", "{a} and a <0>cat</0>"),
        # All of the text, and words that the translation lacks.
        ("<b>猫が咲く</b>", "A cat blooms.", "<b>A cat blooms.</b>"),
        ("花と<b>駅</b>", "My flower blooms.", "My flower <b></b>blooms."),
        # Pairs go with their words, unless one is in another.
        ("<b>猫</b>と<i>花</i>", "A flower, a cat", "A <i>flower</i>, a <b>cat</b>"),
        ("<b>猫<i>花</i></b>", "A flower, a cat", "A <b>flower<i>, a</i></b> cat"),
        ("花と猫", "A flower, a cat", "A flower, a cat"),
    ):
        translation = translation.replace("{a}", PLACEHOLDERS["{a}" in source and 2])
        assert put(tags, source, translation) == [expected]


def test_tags_are_around_all_of_a_long_text(tags):
    for source, translation in (
        ("花と<b>猫</b>", "cat " * 3000),
        ("花" * 3000 + "<b>猫</b>", "cat"),
    ):
        (found,) = put(tags, source, translation.strip())
        assert re.sub("</?b>", "", found) == translation.strip() and found.count("<b>") == 1
    assert put(tags, "花と<b>猫</b>", ("cat " * 3000).strip()) == [f"<b>{'cat ' * 2999}cat</b>"]


def test_the_model_does_not_see_tags(tags):
    given = ["<b>猫</b>と{a}", "猫", "&nbsp;<i>花</i>"]
    masked, values = mask(tf.constant(given), "ja", "en")
    removed = [text.decode() for text in tags.removed(masked, values).numpy()]
    assert removed == [f"猫と{PLACEHOLDERS[2]}", "猫", f"{PLACEHOLDERS[0]}花"]


PARTS = st.sampled_from([*WORDS, "駅", "。", "と", "<b>", "</b>", "<i>", "</i>", "<br/>", " "])
ENGLISH = st.sampled_from([*WORDS.values(), " is", " a", ".", ",", "é"])


@settings(max_examples=25, derandomize=True, deadline=None)
@given(st.lists(PARTS, max_size=12), st.lists(ENGLISH, max_size=9))
def test_nothing_but_tags_is_added_and_each_stays(tags, source, translation):
    plain = "".join(translation).lstrip()
    found = put(tags, "".join(source), plain, "")
    for text, expected in zip(found, (plain, ""), strict=True):
        assert re.sub("<[^<>]*>|(?<=>) (?=<)", "", text) == expected
        assert sorted(re.findall("<[^<>]*>", text)) == sorted(
            re.findall("<[^<>]*>", "".join(source))
        )
