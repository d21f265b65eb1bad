import re
from random import Random

from keras_attn.translation.text import numbers
from keras_attn.translation.text.characters import replace
from keras_attn.translation.text.in_graph import replace_in_graph
from keras_attn.translation.text.tables import read_pattern


def kanji(value):
    """A number below 10,000 in kanji."""
    text = ""
    for place, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, value = divmod(value, place)
        if digit:
            text += ("" if digit == 1 and unit else "一二三四五六七八九"[digit - 1]) + unit
    return text


COUNTS = (0, 1, 5, 10, 11, 20, 99, 100, 110, 999, 1000, 1001, 9999)


def test_numbers_in_kanji_and_digits_are_read():
    random = Random(0)
    for _ in range(1000):
        counts = random.choices(COUNTS, k=4)
        value, text = 0, ""
        for count, unit in zip(counts, ("兆", "億", "万", ""), strict=True):
            value = 10_000 * value + count
            text += (kanji(count) if random.random() < 0.5 else str(count)) + unit if count else ""
        if value < 10 or text in "十百千":
            continue
        assert re.fullmatch(f"{read_pattern('large number')}|{read_pattern('number')}", text), text
        assert replace(text, numbers.IN_DIGITS) == f"{value}", text
        assert replace(text, numbers.WITH_COMMAS) == f"{value:,}", text


def test_numbers_are_written_in_the_graph_as_in_python_and_the_ways_to_write_them_are_known():
    rows = (
        "1,900 1900 1,900|8万5千 85000 85,000|九百六十 960 960|百二十万 1200000 1,200,000|"
        "1.5万 15000 15,000|23万5千 235000 235,000|2億 200000000 200_million|A4 A4 A4|"
        "045-951-8623 045-951-8623 045-951-8623|12,345,678 12345678 12,345,678|"
        "3千 3000 3,000|10:30 10:30 10:30|4パーセント 4% 4%|3対1 3-1 3-1|"
        "1.5億 150000000 150_million|1,200万 12000000 12_million|2億5千万 250000000 250_million|"
        "15兆 15000000000000 15_trillion|二十億 2000000000 2_billion|1.25億 125000000 125_million|"
        "1234万 12340000 12.34_million|1億2345万 123450000 123.45_million|"
        "10億5 1000000005 1,000,000,005"
    )
    for span, *expected in map(str.split, rows.split("|")):
        is_large = re.fullmatch(read_pattern("large number"), span)
        assert is_large or re.fullmatch(read_pattern("number"), span)
        ways = numbers.ways_to_write_large if is_large else numbers.ways_to_write
        english = numbers.LARGE_IN_ENGLISH if is_large else numbers.WITH_COMMAS
        for replacements, text in zip((numbers.IN_DIGITS, english), expected, strict=True):
            text = text.replace("_", " ")
            assert replace(span, replacements) == text
            assert replace_in_graph(span, replacements).numpy().decode() == text
            assert re.fullmatch(ways(span), text)
    for span, way in (
        ("1.5 million", "150万"),
        ("Half a million", "50万"),
        ("ten billion", "100億"),
        ("2 billion", "20億"),
        ("1.25 trillion", "1兆2500億"),
    ):
        assert re.fullmatch(read_pattern("number in words"), span)
        assert replace_in_graph(span, numbers.IN_MYRIADS).numpy().decode() == way
        assert re.fullmatch(numbers.ways_to_copy(numbers.IN_MYRIADS, span), way)
    for span, way in (("4%", "4 percent"), ("3対1", "3 to 1"), ("千", "千")):
        assert re.fullmatch(numbers.ways_to_write(span), way)


def test_a_number_that_cannot_be_read_is_written_as_given():
    for span in ("1,2万", "0万", "5万1.5"):
        assert re.fullmatch(numbers.ways_to_write_large(span), span)


def test_ordinal_endings_follow_the_number():
    given = "1th 2th 3th 4th 11th 12th 13th 21th 102th 111th month"
    expected = "1st 2nd 3rd 4th 11th 12th 13th 21st 102nd 111th month"
    assert replace(given, numbers.ORDINAL_ENDINGS) == expected
