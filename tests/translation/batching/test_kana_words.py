import re

from keras_attn.translation.batching.kana_words import KANA_OF_KANJI, OFTEN_IN_KATAKANA


def test_readings_keep_the_kana_that_follow_the_kanji():
    for word, reading in KANA_OF_KANJI.items():
        kana = re.search("[ぁ-ん]*$", word)[0]
        assert reading.endswith(kana) and all("ぁ" <= c <= "ん" for c in reading)


def test_words_often_in_katakana_are_hiragana():
    assert all("ぁ" <= c <= "ん" for word in OFTEN_IN_KATAKANA for c in word)
