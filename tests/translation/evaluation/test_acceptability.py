from collections import Counter
from pathlib import Path

import pytest

from keras_attn.translation.corpus.splits import in_the_wild
from keras_attn.translation.evaluation import acceptability
from keras_attn.translation.evaluation.acceptability import DEVELOPMENT, RELEASE, Row


@pytest.fixture(scope="module")
def rows():
    return acceptability.read(in_the_wild())


@pytest.mark.parametrize(
    ("checks", "right", "wrong"),
    [
        ("not | never", "I don’t know. / I CAN'T. / I cannot. / We won't.", "Nothing. / Note it."),
        ("rain*", "Rainy! / It was raining.", "A train. / The drain is full."),
        ("stay* home", "He stayed home.", "He stayed at home. / Mainstay home."),
        ("1,200 ; yen", "1200 yen / ¥1,200, yen", "12,000 yen / 1,200.5 yen / 1,200yens"),
        ("minus 5", "-5°C / minus 5", "5 / 3-5"),
        ("8 p.m. | 8:30", "At 8PM. / at 8:00 p.m. / (8:30)", "At 8 a.m. / 8:31 / 30"),
        ("$20 ; 3.5", "It's $20, 3.5.", "20 and 3.5 / $20 for 3,5"),
        ("he is ; u.s. | usa", "He's in the U.S. now.", "Is he in the USB port?"),
        ("go ; ! not", "I'll go.", "I won't go. / Nothing."),
        ("wi-fi ; café", "Wi-Fi, cafe / wi fi café", "wifi café"),
        ("150万 | 猫", "料金は150万円です / 黒猫だ", "1150万円 / 犬"),
        ("=<b> ; =</b> | </i>", "<b>x</b> / a<b></i>", "</b><b> / <B>x</b>"),
        ("^=- ; !=。", "- one", "* - one / - 一。"),
        ("==", "%d", "%d. / d"),
    ],
)
def test_a_translation_passes_if_it_passes_every_group(checks, right, wrong):
    for texts, expected in ((right, True), (wrong, False)):
        for text in texts.split(" / "):
            assert acceptability.passes(text, checks, source="%d") == expected, text


def test_an_acceptable_translation_passes_its_checks_and_is_near_a_reference():
    row = Row(
        "",
        "",
        "猫が帰った。",
        "The cat came home.",
        "The cat has returned.",
        "cat ; home | return*",
    )
    for text, expected in {
        "The cat came home.": True,
        "The cat has come home.": True,
        "The cat returned.": True,
        "The dog came home.": False,  # near a reference
        "Home that I cat of the for a is.": False,  # passes the checks
    }.items():
        assert acceptability.is_acceptable(text, row) == expected, text


def test_both_references_pass_their_checks_and_situations_are_balanced(rows):
    assert [
        text
        for row in rows
        for text in row.references
        if not acceptability.is_acceptable(text, row)
    ] == []
    assert {len(row.references) for row in rows} == {2}
    counts = Counter((row.split, row.situation) for row in rows)
    assert len(counts) == 16 and set(counts.values()) == {25}
    assert {split for split, _ in counts} == {DEVELOPMENT, RELEASE}
    assert len({row.source for row in rows}) == len(rows) == 400


def test_each_kind_of_text_has_20_rows_a_direction_and_references_pass_their_checks():
    rows = acceptability.read(Path(__file__).parents[2] / "data" / "kinds.tsv")
    counts = Counter((row.situation, row.direction) for row in rows)
    assert len(counts) == 26 and set(counts.values()) == {20}
    assert {row.direction for row in rows} == {"ja-en", "en-ja"}
    assert len({(row.source, row.direction) for row in rows}) == len(rows)
    for row in rows:
        (reference,) = row.references
        assert acceptability.passes(reference, row.checks, row.source), row
