from keras_attn.translation.evaluation.exactness import Share, exactness, holds_copies, same_numbers

SAME = [
    ("It costs 1,900 yen.", "It costs 1900 yen."),
    ("1,234,567.50", "1234567.5"),
    ("at 10:30", "30 past 10"),
    ("May 28th", "28 May"),
    ("at 08:05", "at 8:5"),
    ("Two dogs, 3 cats", "3 cats and 2 dogs"),
    ("a 2-year-old", "a two-year-old"),
    ("１２月", "December twelve"),
    ("1 apple", "One apple for the one who asks"),
    ("30 and this one", "30 and this"),
    ("in 1,2 and 3", "1 2 3"),
]
DIFFERENT = [
    ("It costs 1,900 yen.", "It costs 190 yen."),
    ("2 and 2", "2"),
    ("two dogs", "dogs"),
    ("1.5 hours", "15 hours"),
    ("at 10:30", "at 1030"),
    ("1 or 1", "one or none"),
    ("22", "twenty-two"),
    ("22 dogs and 2 cats", "twenty-two dogs and 22 cats"),
    ("often 10", "often"),
]


def test_numbers_are_the_same_in_any_form_and_order_and_others_are_told_apart():
    for pairs, is_same in ((SAME, True), (DIFFERENT, False)):
        for one, other in pairs:
            assert same_numbers(one, other) == same_numbers(other, one) == is_same, (one, other)


def test_copied_text_must_be_in_the_translation_unchanged_and_as_often():
    for source, translation, is_right in (
        ("<b>{n}</b>", "</b>{n}<b>", True),
        ("<b>{n}</b>", "<b>{n}<b>", False),
        ("{n}と{n}", "{n} and {n}", True),
        ("{n}と{n}", "{n}", False),
        ("{n}", "{n} {n}", True),
        ("{name}さん", "Mr. {Name}", False),
        ("https://a.example/x を", "See https://a.example/x.", True),
        ("https://a.example/x を", "See https://a.example/xy.", False),
        ("何もない", "nothing", True),
    ):
        assert holds_copies(source, translation) == is_right, (source, translation)


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
    without = exactness(["猫"], ["A cat."], [("The cat.",)])
    assert [str(share) for share in without] == ["n/a (0 sentences)"] * 2
