import pytest

from keras_attn.translation.evaluation.exactness import (
    Share,
    exactness,
    holds_copies,
    same_numbers,
)
from keras_attn.translation.tokenization.copied import spans


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("It costs 1,900 yen.", "It costs 1900 yen."),
        ("1,234,567.50", "1234567.5"),
        ("Section 1.5", "section 1.50"),
        ("at 10:30", "30 past 10"),
        ("May 28th", "28 May"),
        ("at 08:05", "at 8:5"),
        ("at 5:00", "at five"),
        ("Two dogs, 3 cats", "3 cats and 2 dogs"),
        ("a 2-year-old", "a two-year-old"),
        ("１２月", "December twelve"),
        ("1 apple", "one apple"),
        ("1 apple", "One apple for the one who asks"),
        ("30 and this one", "30 and this"),
        ("the 1, 2, 3 of it", "3 2 1"),
        ("in 1,2 and 3", "1 2 3"),
    ],
)
def test_numbers_are_the_same_in_any_form_and_order(text, other):
    assert same_numbers(text, other) and same_numbers(other, text)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("It costs 1,900 yen.", "It costs 190 yen."),
        ("2 dogs", "dogs"),
        ("2 and 2", "2"),
        ("two dogs", "dogs"),
        ("1.5 hours", "15 hours"),
        ("at 10:30", "at 1030"),
        ("1 apple", "an apple"),
        ("1 or 1", "one or none"),
        ("22", "twenty-two"),
        ("22 dogs and 2 cats", "twenty-two dogs and 22 cats"),
        ("often 10", "often"),
    ],
)
def test_numbers_that_differ_are_told_apart(text, other):
    assert not same_numbers(text, other) and not same_numbers(other, text)


@pytest.mark.parametrize(
    ("source", "copied"),
    [
        (
            "詳しくはhttps://example.org/a?b=1&c=%20をご覧ください。",
            ["https://example.org/a?b=1&c=%20"],
        ),
        ("(www.example.org/).", ["www.example.org/"]),
        ("連絡先はa.b+c@mail.example.orgです", ["a.b+c@mail.example.org"]),
        ("{name}さん、${x}円、{0}、{}", ["{name}", "${x}", "{0}", "{}"]),
        ("%sは%dです。%1$s、%.2f、%(name)s", ["%s", "%d", "%1$s", "%.2f", "%(name)s"]),
        ('<b>太い</b><a href="x">字</a><br/>', ["<b>", "</b>", '<a href="x">', "</a>", "<br/>"]),
        ("100%の力、50 % off, 3 < 4 > 2", []),
    ],
)
def test_copied_text_is_found_between_japanese(source, copied):
    assert spans(source) == copied


@pytest.mark.parametrize(
    ("source", "translation", "is_right"),
    [
        ("<b>{n}</b>", "</b>{n}<b>", True),
        ("<b>{n}</b>", "<b>{n}<b>", False),
        ("{n}と{n}", "{n} and {n}", True),
        ("{n}と{n}", "{n}", False),
        ("{n}", "{n} {n}", True),
        ("{name}さん", "Mr. {Name}", False),
        ("https://a.example/x を", "See https://a.example/x.", True),
        ("https://a.example/x を", "See https://a.example/xy.", False),
        ("何もない", "nothing", True),
    ],
)
def test_copied_text_must_be_in_the_translation_unchanged_and_as_often(
    source, translation, is_right
):
    assert holds_copies(source, translation) == is_right


def test_accuracy_counts_only_sentences_that_have_something_to_carry_over():
    rows = [
        ("本が二冊。", "Two books.", ("2 books.",)),
        ("9時に。", "At 8.", ("At 9.", "At nine.")),
        ("20人。", "Twenty people.", ("20 people.", "Twenty people.")),
        ("本が三冊。", "Four books.", ("Three books.",)),  # no digits in the reference
        ("{x}を。", "The {x}.", ("The {x}.",)),
    ]
    found = exactness(*zip(*rows, strict=True))
    assert found.numbers == Share(2, 3)
    assert found.copies == Share(1, 1)
    assert [str(share) for share in found] == ["66.7% (3 sentences)", "100.0% (1 sentence)"]


def test_without_such_sentences_there_is_no_accuracy():
    found = exactness(["猫"], ["A cat."], [("The cat.",)])
    assert [str(share) for share in found] == ["n/a (0 sentences)", "n/a (0 sentences)"]
