import numpy as np

from keras_attn.translation.corpus.pairs import Pair
from keras_attn.translation.text import training_placeholders
from keras_attn.translation.text.placeholders import PLACEHOLDERS

# Sentences written for this test.
JA_EN = ("ja", "en")
PAIRS = [
    Pair("{name}さんは{time}に来ます。", "{name} will come at {time}."),
    Pair("トムはNHKで働いている。", "Tom works at NHK."),
    Pair("トムとトムの犬。", "Tom and his dog."),
    Pair("https://example.com/を見て。", "Look at our page."),
    Pair("アメリカ人だ。", "He is American."),
    Pair("猫が寝ている。", "A cat is sleeping."),
]


def masked(pair, languages, random):
    return Pair(*training_placeholders.mask_pair(*pair, languages, random))


def test_equal_spans_become_equal_placeholders_on_both_sides():
    seen = set()
    for seed in range(40):
        new = masked(PAIRS[0], JA_EN, np.random.default_rng(seed))
        used = [c for c in new.source if c in PLACEHOLDERS]
        assert len(used) == 2 and sorted(used) == sorted(c for c in new.target if c in PLACEHOLDERS)
        found = str.maketrans(dict(zip(used, ("{name}", "{time}"), strict=True)))
        assert Pair(*(side.translate(found) for side in new)) == PAIRS[0]
        seen.update(used)
    assert seen == set(PLACEHOLDERS)


def test_names_and_words_become_placeholders_now_and_then(monkeypatch):
    sources = [masked(PAIRS[1], JA_EN, np.random.default_rng(i)).source for i in range(300)]
    assert not any("NHK" in source for source in sources)  # a word in other letters always does
    count = sum("トム" not in source for source in sources)
    assert 0.6 < count / 300 / training_placeholders.SHARE < 1.4
    monkeypatch.setattr(training_placeholders, "SHARE", 1.0)
    new = masked(PAIRS[1], JA_EN, np.random.default_rng(0))
    assert "トム" not in new.source and "Tom" not in new.target and "NHK" not in new.target
    back = masked(Pair(*reversed(PAIRS[1])), ("en", "ja"), np.random.default_rng(0))
    assert "トム" not in back.target and "Tom" not in back.source


def test_names_are_found_in_sentences_without_other_spans(monkeypatch):
    monkeypatch.setattr(training_placeholders, "SHARE", 1.0)
    new = masked(
        Pair("トムは学校に行った。", "Tom went to school."), JA_EN, np.random.default_rng(0)
    )
    assert new.source[0] in PLACEHOLDERS and new.target[0] in PLACEHOLDERS


def test_what_is_not_once_on_both_sides_stays(monkeypatch):
    monkeypatch.setattr(training_placeholders, "SHARE", 1.0)
    for pair in PAIRS[2:]:
        assert masked(pair, JA_EN, np.random.default_rng(0)) == pair


def test_numbers_and_tags_always_become_placeholders():
    many = " ".join(f"{{a{i}}}" for i in range(9))
    for source, target, number in (
        ("12人いる。", "There are twelve.", 0),
        ("120円と12円", "120 yen and 12 yen", 2),
        (many, many, 8),
        ("10月に会う。", "See you in the 10th month.", 0),
    ):
        new = masked(Pair(source, target), JA_EN, np.random.default_rng(0))
        for side in new:
            assert sum(character in PLACEHOLDERS for character in side) == number, source
    pair = Pair("21日の午後3時に来て。", "Come on the 21st at 3 p.m.")
    new = masked(pair, JA_EN, np.random.default_rng(0))
    day, time = new.source[0], new.source[3]
    assert new == Pair(f"{day}日の{time}時分に来て。", f"Come on the {day}th at {time}.")
