import re
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.corpus.cleaning import clean_text
from keras_attn.translation.text import noise
from keras_attn.translation.text.kana import KANA_OF_KANJI, Kana
from keras_attn.translation.text.placeholders import PLACEHOLDERS
from keras_attn.translation.text.typed import plain

KINDS = {kind for language in ("ja", "zh", "en") for kind in noise.rates(language)}
MARKS = "コーヒー don't Paris 12 3 は を 、 , ・ 。 ? ! . 「 」 です が".split()
WRITTEN = st.sampled_from(
    [*KANA_OF_KANJI, *noise.OFTEN_IN_KATAKANA, *MARKS, " ", PLACEHOLDERS[0], PLACEHOLDERS[7]]
)
TEXTS = st.one_of(st.text(), st.lists(WRITTEN).map("".join)).map(clean_text)
LANGUAGES = st.sampled_from(["ja", "zh", "en", "de", "ko", "digits"])


def digits(text):
    return [one for one in text if one.isdigit() or one in PLACEHOLDERS]


@settings(max_examples=40, deadline=None)
@given(TEXTS, LANGUAGES, st.integers(0, 99))
def test_same_seed_same_text_with_the_same_digits_and_never_an_empty_one(text, language, seed):
    changed = noise.add_noise(text, language, Random(seed))
    assert changed == noise.add_noise(text, language, Random(seed))
    assert digits(changed) == digits(text)
    assert bool(changed) == bool(text)
    numbers = f"{seed} {9 - seed} 7."
    assert noise.add_noise(numbers, language, Random(seed)) == numbers


@settings(max_examples=40, deadline=None)
@given(TEXTS, st.integers(0, 99))
def test_no_kind_joins_two_numbers(text, seed):
    around = f"2、3日と4,5日、6・7日{text}"
    for kind in KINDS:
        changed = kind(around, Random(seed))
        assert digits(changed) == digits(around)
        assert not any(joined in changed for joined in ("23", "45", "67"))


def in_kana(text, random):
    return noise.write_in_kana(text, random, Kana())


def results(kind, text):
    return {kind(text, Random(seed)) for seed in range(200)}


def test_each_kind_makes_its_change():
    for kind, text, expected in (
        (noise.leave_out_end, "雨です。", {"雨です"}),
        (noise.leave_out_end, "行きますか?", {"行きますか"}),
        (noise.leave_out_end, "行く?", {"行く?"}),  # a statement without it
        (noise.leave_out_end, "Is it 3?", {"Is it 3"}),
        (noise.leave_out_end, "It rains...", {"It rains"}),
        (noise.change_end, "雨?", {"雨??", "雨?!", "雨???"}),
        (noise.change_end, "雨」", {"雨」"}),
        (noise.write_ascii, "「はい」、2、3人。", {'"はい",2、3人.'}),
        (noise.change_commas, "雨、雪", {"雨雪", "雨,雪", "雨。雪"}),
        (noise.leave_out_commas, "Yes, 1,000.", {"Yes 1,000."}),
        (noise.mistype_kana, "雨あい2", {"雨いあ2", "雨ああい2", "雨あいい2", "雨あ2", "雨い2"}),
        (noise.mistype_kana, "雨だ", {"雨だ"}),
        (noise.mistype_kana, "雨です?", {"雨すで?", "雨でです?", "雨ですす?", "雨す?", "雨で?"}),
        (noise.mistype_kana, "雨かか。", {"雨かか。"}),
        (noise.mistype_letters, "a 1b", {"aa 1b", " 1b", "a 1bb", "a 1"}),
        (noise.leave_out_particle, "名前は何?", {"名前何?"}),
        (noise.leave_out_particle, "映画を見る方がいい", {"映画見る方がいい"}),
        (noise.leave_out_particle, "不可能を可能に変えた。", {"不可能を可能に変えた。"}),
        (noise.add_particle, "雨です。", {"雨ですよ。"}),
        (noise.add_particle, "来てください", {"来てくださいね"}),
        (noise.add_particle, "雨ですか。", {"雨ですか。"}),
        (in_kana, "私はコーヒーを飲む", {"わたしはコーヒーをのむ", "わたしはこーひーをのむ"}),
        (noise.write_kana, "私は本を読む", {"わたしは本を読む", "私はほんを読む", "私は本をよむ"}),
        (noise.write_kana, "銀行って", {"ぎんこうって"}),  # the longest word: no 行って
        (noise.write_kana, "3時と時計", {"3時と時計"}),
        (noise.write_other_kana, "すごいコーヒー", {"スゴイコーヒー", "すごいこーひー"}),
        (noise.write_capitals, "Don't go", {"DON'T GO"}),
        (noise.write_lower_case, "Don't go", {"don't go"}),
        (noise.leave_out_apostrophes, "I don't say 'go'", {"I dont say 'go'"}),
    ):
        found = results(kind, text)
        if kind is noise.write_kana:
            found -= {"わたしはほんをよむ"}
        assert found == expected, (kind.__name__, text)


def test_all_kinds_of_a_language_are_drawn():
    for language, text in (
        ("ja", "「私は、コーヒーが好き」です。"),
        ("en", "I don't, Anna."),
        ("zh", "你好,我、他。"),
    ):
        expected = {}
        for kind in noise.rates(language):
            changed = {plain(one, language) for one in results(kind, text)}
            expected |= dict.fromkeys(changed - {text}, kind)
        drawn = {expected[noise.add_noise(text, language, Random(i))] for i in range(500)}
        assert drawn == set(noise.rates(language)), language


def test_readings_keep_the_kana_that_follow_the_kanji_and_are_hiragana():
    for word, reading in KANA_OF_KANJI.items():
        assert reading.endswith(re.search("[ぁ-ん]*$", word)[0])
    for word in (*KANA_OF_KANJI.values(), *noise.OFTEN_IN_KATAKANA):
        assert all("ぁ" <= c <= "ん" for c in word)
