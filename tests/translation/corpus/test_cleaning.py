import re
import unicodedata
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from keras_attn.translation.corpus import cleaning
from keras_attn.translation.corpus.cleaning import clean_text
from keras_attn.translation.corpus.pairs import Entry, Pair


def cleaned(*pairs, max_characters=50):
    with patch.object(cleaning, "MAX_CHARACTERS", max_characters):
        return cleaning.clean([Entry(Pair(*pair)) for pair in pairs], "ja", "en")


def only_reason(*pairs, **options):
    return {name: count for name, count in cleaned(*pairs, **options).dropped.items() if count}


def test_text_is_normalised():
    for raw, expected in (
        ("  二つ\u3000の\t語 \n", "二つ の 語"),
        ("Ｆｕｌｌ　１２", "Full 12"),
        ("ﾊﾝｶｸ", "ハンカク"),
        ("one\u2028two\u2029three\x85four\x00five\x0bsix", "one two three four five six"),
        ("so\u00adft \ufeffhyphen\u200bs\u202e", "soft hyphen s"),
        ("「はい」、と。", "「はい」、と。"),
        ("波〜波", "波〜波"),
        ("10時\uff5e12時", "10時\u301c12時"),  # the wave dash of Windows is the wave dash
        ("e\u0301", "é"),
        ("👩\u200d🚀☂\ufe0f", "👩🚀☂"),
        ("\u200b \u3000", ""),
    ):
        assert clean_text(raw) == expected


@given(st.text())
def test_normalised_text_is_one_line_of_nfkc_and_stays_as_it_is(text):
    once = clean_text(text)
    assert clean_text(once) == once
    assert unicodedata.is_normalized("NFKC", once)
    assert once == once.strip() and "  " not in once
    assert len(once.splitlines()) <= 1


def test_wrong_script_is_found():
    for language, right, wrong in (
        # Latin names stand in Japanese text, and some text has no letters.
        ("ja", ["これは犬", "Facebookをやる", "ラーメン", "人々", "3 + 4 = 7!"], ["This is a dog"]),
        ("en", ["the word 犬", "naïve café"], ["これは犬", "Привет"]),
        ("ru", ["Привет"], []),
        ("zgh", ["ⴰⴱⴳ"], []),  # no entry for the language
        ("en-GB", [], ["これは犬"]),
        ("ja_JP", [], ["This is a dog"]),
    ):
        assert not [text for text in right if cleaning.has_wrong_script(text, language)]
        assert not [text for text in wrong if not cleaning.has_wrong_script(text, language)]


def test_each_reason_is_counted_under_its_name_and_a_pair_once_for_the_first():
    for reason, *pairs in (
        ("empty", (" \u3000", "nothing")),
        ("empty", ("何か", "\u200b")),
        ("too_long", ("あ" * 51, "long")),
        ("too_long", ("あ", "x" * 51)),
        ("too_long", ("x" * 51, "x" * 51)),
        ("equal_sides", ("４２", "42")),
        ("equal_sides", ("same", "same")),
        ("wrong_script", ("swapped", "逆")),
        ("duplicate", ("犬", "dog"), ("犬 ", "dog"), ("犬", "hound")),
    ):
        assert only_reason(*pairs) == {reason: 1}
    assert only_reason(("あ" * 50, "x" * 50)) == {}  # the longest allowed


def test_pair_whose_lengths_fit_no_translation_is_left_out():
    usual = [("あ" * n, "x" * 2 * n) for n in range(5, 15)]
    for odd in [("あ" * 40, "x" * 19), ("あ" * 4, "x" * 40)]:
        assert only_reason(*usual, odd) == {"odd_lengths": 1}
    for fair in [("あ" * 40, "x" * 20), ("あ" * 5, "x" * 40), ("あ" * 20, "x" * 4)]:
        assert only_reason(*usual, fair) == {}


SIDES = st.sampled_from(["", " ", "犬", "犬 ", "猫が好き", "dog", "a cat", "42", "４２", "x" * 9])


@given(st.lists(st.tuples(SIDES, SIDES), max_size=20))
def test_every_pair_is_kept_or_counted_exactly_once(pairs):
    found = cleaned(*pairs, max_characters=8)
    assert list(found.dropped) == list(cleaning.REASONS)
    assert len(found.entries) + sum(found.dropped.values()) == len(pairs)
    kept = [entry.pair for entry in found.entries]
    normal = dict.fromkeys(tuple(map(clean_text, pair)) for pair in pairs)
    assert kept == [pair for pair in normal if pair in set(kept)]


FORTH, BACK = Pair("川。", "A river."), Pair("A river.", "川。")


def test_columns_of_other_scripts_are_told_of():
    for pairs, languages, says in (
        ([BACK, BACK, FORTH], "ja en", "look swapped.*`ja` TAB `en`.*--source en --target"),
        ([FORTH], "en ja", "columns look swapped"),
        ([FORTH], "ru en", "not in the scripts of `ru` TAB `en`"),
        ([FORTH, FORTH, BACK], "ja en", "^$"),
        ([Pair("12", "34"), Pair("", "")], "ja en", "^$"),
        ([Pair("der Hund", "the dog")], "en de", "^$"),
        ([], "ja en", "^$"),
    ):
        assert re.search(says, cleaning.wrong_script_message(pairs, *languages.split())), says
