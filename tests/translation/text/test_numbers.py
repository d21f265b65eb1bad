import re

from keras_attn.translation.text import numbers
from keras_attn.translation.text.characters import replace, replace_in_graph


def kanji(value):
    """A number below 10,000 in kanji."""
    text = ""
    for place, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, value = divmod(value, place)
        if digit:
            text += ("" if digit == 1 and unit else "一二三四五六七八九"[digit - 1]) + unit
    return text


def test_numbers_in_kanji_are_read():
    for myriads in (0, 1, 12, 9000):
        for number in (10, 11, 20, 99, 100, 101, 110, 999, 1000, 1001, 1110, 9999):
            text = (kanji(myriads) + "万" if myriads else "") + kanji(number)
            value = 10_000 * myriads + number
            assert replace(text, numbers.IN_DIGITS) == f"{value}"
            assert replace(text, numbers.WITH_COMMAS) == f"{value:,}"
            assert bool(re.fullmatch(numbers.NUMBER, text)) == (text not in "十百千")


def test_numbers_are_written_in_the_graph_as_in_python_and_the_ways_to_write_them_are_known():
    rows = (
        "1,900 1900 1,900|8万5千 85000 85,000|九百六十 960 960|百二十万 1200000 1,200,000|"
        "1.5万 15000 15,000|23万5千 235000 235,000|2億 200000000 200,000,000|A4 A4 A4|"
        "045-951-8623 045-951-8623 045-951-8623|12,345,678 12345678 12,345,678|"
        "3千 3000 3,000|10:30 10:30 10:30|4パーセント 4% 4%|3対1 3-1 3-1"
    )
    for span, *expected in map(str.split, rows.split("|")):
        assert re.fullmatch(numbers.NUMBER, span)
        both = (numbers.IN_DIGITS, numbers.WITH_COMMAS)
        for replacements, text in zip(both, expected, strict=True):
            assert replace(span, replacements) == text
            assert replace_in_graph(span, replacements).numpy().decode() == text
            assert re.fullmatch(numbers.ways_to_write(span), text)
    for span, way in (("4%", "4 percent"), ("3対1", "3 to 1"), ("千", "千")):
        assert re.fullmatch(numbers.ways_to_write(span), way)


def test_ordinal_endings_follow_the_number():
    given = "1th 2th 3th 4th 11th 12th 13th 21th 102th 111th month"
    expected = "1st 2nd 3rd 4th 11th 12th 13th 21st 102nd 111th month"
    assert replace(given, numbers.ORDINAL_ENDINGS) == expected
