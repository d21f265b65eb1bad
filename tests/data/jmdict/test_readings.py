import pytest
from jmdict_by_hand import entry, written
from keras_attn_data.jmdict import readings
from keras_attn_data.jmdict.words import MEMBER


def test_the_most_frequent_reading_is_chosen():
    rows = [("一日", "ついたち", "ichi2"), ("一日", "いちにち", "nf01"), ("私", "わし", "gai2")]
    texts = [entry(form, kana, marks=[mark]) for form, kana, mark in rows]
    rare = entry("私", "わらわ", marks=["nf01"], misc=["arch"])
    found = readings.read(written(*texts, rare, entry(None, "ねこ")))
    assert found == {"一日": "いちにち", "私": "わし"}


@pytest.mark.parametrize(
    "form, kana, tag, expected",
    [
        ("書く", "かく", "v5k", {"書かな": "かかな", "書い": "かい", "書こう": "かこう"}),
        ("行く", "いく", "v5k-s", {"行っ": "いっ"}),
        ("次ぐ", "つぐ", "v5g", {"次がな": "つがな", "次が": None}),  # が may be a particle
        ("食べる", "たべる", "v1", {"食べ": "たべ"}),
        ("見る", "みる", "v1", {"見た": "みた", "見な": "みな", "見": None}),
        ("来る", "くる", "vk", {"来れば": "くれば", "来た": "きた", "来な": "こな"}),
        ("愛する", "あいする", "vs-s", {"愛し": "あいし"}),
        ("高い", "たかい", "adj-i", {"高かっ": "たかかっ", "高": None}),
        ("大きい", "おおきい", "adj-i", {"大き": "おおき"}),
    ],
)
def test_forms_of_a_word_are_known_by_their_beginnings(form, kana, tag, expected):
    found = readings.read(written(entry(form, kana, tags=[tag])))
    assert {one: found.get(one) for one in expected} == expected


def test_the_archive_gives_words_and_names_of_people(make_archive):
    make_archive(MEMBER, written(entry()).getvalue())
    found = readings.readings.__wrapped__()
    assert (found["猫"], found["田中"]) == ("ねこ", "たなか")
