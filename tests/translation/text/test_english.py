import re
from functools import partial

from keras_attn.translation.text import english
from keras_attn.translation.text.characters import replace
from keras_attn.translation.text.in_graph import replace_in_graph
from keras_attn.translation.text.numbers import ways_to_copy
from keras_attn.translation.text.tables import read_pattern

# Name of a pattern of English, how it is written in Japanese, and other ways to write it.
WAYS = {
    ("time", english.TIME_IN_JAPANESE, english.ways_to_write_time): (
        ("3:30 p.m.", "午後3時30分", "15時半", "三時三十分"),
        ("7am", "午前7時", "朝7時", "七時"),
        ("12:05 A.M.", "午前0時5分", "12時5分"),
        ("12 PM", "正午", "午後0時"),
        ("10:00 am", "午前10時", "10時"),
    ),
    ("half or quarter of an hour", english.SPOKEN_IN_JAPANESE): (
        ("half past nine", "9時半", "九時半"),
        ("a quarter to 12", "12時15分前"),
        ("Quarter past three", "3時15分", "三時十五分"),
    ),
    ("minutes of an hour", english.SPOKEN_IN_JAPANESE): (
        ("ten to five", "5時10分前", "五時十分前"),
        ("twenty-five minutes past 10", "10時25分"),
    ),
    ("amount and a half", english.HALF_IN_JAPANESE): (
        ("an hour and a half", "1時間半", "一時間半"),
        ("Two and a half years", "2年半"),
        ("3 and a half kilometers", "3キロ半"),
        ("a month and a half", "1か月半"),
        ("two hours and 30 minutes", "2時間30分"),
    ),
    ("English fraction", english.FRACTION_IN_JAPANESE): (
        ("Two-thirds", "3分の2", "三分の二"),
        ("a quarter", "4分の1"),
    ),
    ("English about", english.ABOUT_IN_JAPANESE): (
        ("two or three days", "2、3日", "二、三日"),
        ("5 or 6 people", "5、6人"),
    ),
    ("minus", english.MINUS_IN_JAPANESE): (
        ("minus five degrees", "マイナス5度", "氷点下5度", "マイナス五度"),
        ("Negative 12", "マイナス12", "-12"),
    ),
    ("money in Japanese", english.MONEY_IN_JAPANESE, ways_to_copy): (
        ("$20", "20ドル", "$20"),
        ("€15.50", "15.50ユーロ"),
        ("$0.99", "0.99ドル"),
        ("£20,000", "2万ポンド"),
        ("¥1.5 million", "150万円"),
    ),
}


def test_english_amounts_are_written_in_japanese_in_the_graph_too():
    for (name, replacements, *ways), rows in WAYS.items():
        ways_to_write = partial(*ways or [english.ways_to_write], replacements)
        for text, japanese, *others in rows:
            assert re.fullmatch(read_pattern(name), text)
            assert replace(text, replacements) == japanese
            assert replace_in_graph(text, replacements).numpy().decode() == japanese
            assert all(re.fullmatch(ways_to_write(text), way) for way in (japanese, *others)), text


def test_other_amounts_are_no_ways_to_write_one():
    for ways, text, other in (
        (partial(english.ways_to_write_time, english.TIME_IN_JAPANESE), "3:30 p.m.", "午前3時30分"),
        (partial(english.ways_to_write_time, english.TIME_IN_JAPANESE), "3 p.m.", "13時"),
        (
            partial(english.ways_to_write, english.HALF_IN_JAPANESE),
            "two and a half hours",
            "12時間半",
        ),
        (partial(ways_to_copy, english.MONEY_IN_JAPANESE), "$20", "20ユーロ"),
    ):
        assert not re.search(ways(text), other)
