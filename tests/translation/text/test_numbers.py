import tensorflow as tf

from keras_attn.translation.text import numbers


def strings(tensor):
    return [text.decode() for text in tensor.numpy()]


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
            assert numbers.ways_to_write(text) == (f"{value}", f"{value:,}")


def test_numbers_are_written_as_the_target_language_writes_them_and_python_reads_them():
    spans = ["1,900", "1900", "8万5千", "10:30", "A4", "{n}"]
    followers = tf.constant(["円", "年に", "円", "に", "の", ""])
    for target, *expected in (
        ("en", "1,900", "1900", "85,000", "10:30", "A4", "{n}"),
        ("de", "1900", "1900", "85000", "10:30", "A4", "{n}"),
        ("ja", "1,900", "1900", "8万5千", "10:30", "A4", "{n}"),
    ):
        assert strings(numbers.translated(tf.constant(spans), followers, target)) == expected
    spans = ["九百六十", "百二十万", "1.5万", "2億", "045-951-8623", "千一", "12,345,678", "3千"]
    in_graph = numbers.translated(tf.constant(spans), tf.constant(["円"] * len(spans)), "en")
    assert strings(in_graph) == [numbers.ways_to_write(span)[1] for span in spans]


def test_ordinal_endings_follow_the_number():
    given = "1th 2th 3th 4th 11th 12th 13th 21th 102th 111th month"
    expected = "1st 2nd 3rd 4th 11th 12th 13th 21st 102nd 111th month"
    assert strings(numbers.with_ordinal_endings(tf.constant([given]))) == [expected]
