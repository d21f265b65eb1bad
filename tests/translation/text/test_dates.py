import re

from keras_attn.translation.text import dates
from keras_attn.translation.text.characters import replace
from keras_attn.translation.text.in_graph import replace_in_graph
from keras_attn.translation.text.tables import read_pattern

PATTERNS = {mark: read_pattern(f"date {mark}") for mark in ("月日", "年月", "月", "時分")}
DATES = {
    "2026年3月31日": ("March 31, 2026", "月日"),
    "1999年十二月一日": ("December 1, 1999", "月日"),
    "十月二十八日": ("October 28", "月日"),
    "08月09日": ("August 9", "月日"),
    "2016年6月": ("June 2016", "年月"),
    "12月": ("December", "月"),
    "午後3時半": ("3:30 p.m.", "時分"),
    "午前九時": ("9 a.m.", "時分"),
    "午後11時35分": ("11:35 p.m.", "時分"),
    "7時5分": ("7:05", "時分"),
    "十時半": ("10:30", "時分"),
    "二十時四十五分": ("8:45 p.m.", "時分"),
    "15時": ("3 p.m.", "時分"),
    "午前0時": ("midnight", "時分"),
    "午後0時30分": ("12:30 p.m.", "時分"),
    "0時5分": ("12:05 a.m.", "時分"),
    "5時10分前": ("10 to 5", "時分"),
    "午後三時五分すぎ": ("5 past 3 p.m.", "時分"),
    "15時二十五分前": ("25 to 3 p.m.", "時分"),
    "13月40日": ("13月40日", "月日"),  # no date: it stays
}


def test_dates_and_times_are_written_as_in_english_in_the_graph_too():
    for date, (english, mark) in DATES.items():
        assert [m for m, one in PATTERNS.items() if re.fullmatch(one, date)] == [mark]
        assert replace(date, dates.IN_ENGLISH) == english
        assert replace_in_graph(date, dates.IN_ENGLISH).numpy().decode() == english
        assert re.fullmatch(dates.ways_to_write(date), english)
    for other in ("3時間", "九時", "猫", "", "1,900"):
        assert not any(re.fullmatch(pattern, other) for pattern in PATTERNS.values())


WAYS = {
    "5月3日": ["May 3rd", "May the third", "the 3rd of May", "3 May"],
    "10月21日": ["Oct. 21st"],
    "9月30日": ["Sept. thirtieth"],
    "2026年3月31日": ["March 31st, 2026"],
    "2026年3月": ["March of 2026"],
    "午後3時": ["3:00 PM", "three o'clock in the afternoon"],
    "午前9時": ["nine in the morning"],
    "午後2時半": ["2:30 in the afternoon"],
    "10時半": ["half past ten"],
    "5時10分前": ["ten to five", "10 minutes before five", "ten minutes to five o'clock"],
    "9時15分過ぎ": ["quarter past nine", "fifteen past nine"],
}
NO_WAYS = {"5月3日": ["May 31", "March 3"], "午後3時": ["3 a.m."], "7時5分": ["7:50"]}


def test_other_ways_to_write_a_date_are_known_and_other_dates_are_none():
    for table, is_way in ((WAYS, True), (NO_WAYS, False)):
        for date, ways in table.items():
            for way in ways:
                assert bool(re.fullmatch(dates.ways_to_write(date), way)) == is_way, way
    for text in ("午後三時間", "五月雨", "五月蠅", "5時10分前後", "3日半額"):  # words and durations
        assert re.match(read_pattern("no date"), text)


def test_half_a_unit_of_time_is_written_in_english():
    for duration, *ways in (
        ("一年半", "a year and a half", "1.5 years", "one and a half years"),
        ("3か月半", "3 and a half months", "three months and a half"),
        ("2ヶ月半", "2 and a half months"),
        ("十週間半", "10 and a half weeks", "10.5 weeks"),
        ("1時間半", "an hour and a half"),
    ):
        assert re.fullmatch(read_pattern("duration"), duration)
        assert replace(duration, dates.DURATION_IN_ENGLISH) == ways[0]
        assert all(re.fullmatch(dates.ways_to_write_duration(duration), way) for way in ways)


def test_a_sentence_that_ends_with_an_hour_has_one_period():
    for text, expected in {
        "at 3 p.m..": "at 3 p.m.",
        "at 9 a.m.. Then": "at 9 a.m. Then",
        "at 3 p.m.?": "at 3 p.m.?",
        "end..": "end..",
    }.items():
        assert replace(text, dates.ONE_PERIOD) == expected
    found = [replace(text, dates.TWO_PERIODS) for text in ("at 3 p.m.", "3 p.m. sharp.")]
    assert found == ["at 3 p.m..", "3 p.m. sharp."]
