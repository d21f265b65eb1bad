import re
from importlib.resources import files

LINES = (files("keras_attn.translation.text") / "names.tsv").read_text("utf-8").splitlines()
ROWS = [line.split("\t") for line in LINES[1:]]


def test_table_has_four_columns_in_the_order_of_kinds():
    assert LINES[0] == "ja\ten\tkind\tonly"
    assert all(len(row) == 4 for row in ROWS)
    kinds = [kind for _, _, kind, _ in ROWS]
    assert list(dict.fromkeys(kinds)) == ["surname", "given", "place", "numeral"]
    assert kinds == sorted(kinds, key=["surname", "given", "place", "numeral"].index)
    assert {only for *_, only in ROWS} == {"", "title"}


def test_each_name_stands_once_in_japanese_letters():
    names = [ja for ja, *_ in ROWS]
    assert len(set(names)) == len(names)
    assert [ja for ja in names if not re.fullmatch("[々ヶぁ-ゖァ-ヺー一-鿿]+", ja)] == []


def test_english_spelling_is_ascii_words():
    word = r"[A-Z][A-Za-z]*\.?(?:-[A-Za-z]+)*"
    spellings = {en for _, en, *_ in ROWS}
    assert [en for en in spellings if not re.fullmatch(rf"{word}(?: (?:no|{word}))*", en)] == []


def test_one_character_is_a_name_only_before_a_title():
    assert [ja for ja, _, _, only in ROWS if len(ja) == 1 and not only] == []


def test_numerals_stand_in_all_names_of_their_kind():
    names = [ja for ja, _, kind, _ in ROWS if kind == "numeral"]
    assert [ja for ja in names if not re.search("[一二三四五六七八九十百千万廿]", ja)] == []
