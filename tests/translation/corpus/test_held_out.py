import pytest

from keras_attn.translation.corpus.cleaning import Cleaned, Pair
from keras_attn.translation.corpus.held_out import HeldOut, leave_out
from keras_attn.translation.corpus.load import load_corpus
from keras_attn.translation.corpus.splits import Example

LINES = [f"門{i}を閉める\tI close gate {i}." for i in range(900)]


def cleaned(*pairs):
    return Cleaned([Pair(*pair) for pair in pairs], list(range(len(pairs))), {})


def held_out(*pairs, name="test.tsv"):
    return HeldOut(name, [Example(source, (target,)) for source, target in pairs])


def test_whole_groups_leave_whichever_side_is_shared():
    found, (test_set,) = leave_out(
        cleaned(
            ("犬だ", "A dog."),  # its source is held out
            ("猫だ", "a DOG!"),  # connected by its target
            ("猫だ！", "A cat."),  # connected to the one before by its source
            ("鳥だ", "A bird."),  # its target is held out
            ("魚だ", "A fish."),
        ),
        [""] * 5,
        [held_out(("犬だ。", "something"), ("何か", "a bird"))],
    )
    assert found.pairs == [("魚だ", "A fish.")] and found.positions == [4]
    assert test_set.num_pairs == 4


def test_sides_are_compared_each_with_its_own_and_each_test_set_counts_what_it_leaves_out():
    pairs = cleaned(("a", "b"), ("c", "d"), ("e", "f"))
    sets = [held_out(("b", "c")), held_out(("a", "-"), ("c", "-")), held_out(("c", "-"))]
    found, sets = leave_out(pairs, [""] * 3, sets)
    assert [test_set.num_pairs for test_set in sets] == [0, 2, 1]
    assert found.pairs == [("e", "f")]
    with pytest.raises(ValueError, match="Received: hold_out='test.tsv', which leaves none of 1"):
        leave_out(cleaned(("a", "b")), [""], [held_out(("a", "c"))])
    # Combinations connect, in the order before cleaning.
    pairs = Cleaned([Pair("a", "b"), Pair("c", "d"), Pair("e", "f")], [0, 2, 3], {})
    found, _ = leave_out(pairs, ["x", "y", "x", "y"], [held_out(("a", "-"))])
    assert found.pairs == [("e", "f")] and found.positions == [3]


def test_held_out_sentences_are_in_no_split_and_the_other_groups_stay(write):
    data = write(LINES, "own.tsv")
    usual = load_corpus(data)
    chosen = [
        *(f"{pair.source}！\tother" for pair in usual.train[:5]),
        *(f"何か\t{example.references[0]}" for example in usual.validation[:2]),
        *(f"{example.source}\tother" for example in usual.test[:2]),
    ]
    found = load_corpus(data, hold_out=write(chosen, "held.tsv"))
    assert found.train == usual.train[5:]
    assert found.validation == usual.validation[2:]
    assert found.test == usual.test[2:]
    assert found.counts["held_out"] == 9
    kept = ("train", "validation", "test", "withheld", "held_out")
    assert found.counts["kept"] == sum(found.counts[name] for name in kept)
    (held,) = found.held_out
    assert (held.name, len(held.examples), held.num_pairs) == ("held.tsv", 9, 9)
    assert "\nheld out 9 pairs for held.tsv\n" in found.summary()


def test_several_test_sets_keep_every_line_with_its_reference_and_equal_names_their_folders(
    write, tmp_path
):
    own = write(LINES, "own.tsv")
    first = write(["門1を閉める\tone", "門1を閉める\ttwo", "門1を閉める\ttwo"], "first.tsv")
    sides = [write([side], f"second.{i}") for i, side in enumerate(LINES[2].split("\t"))]
    found = load_corpus(own, hold_out=f"{first} + {','.join(sides)}")
    names = ["first.tsv", "second.0,second.1"]
    assert [(one.name, one.num_pairs) for one in found.held_out] == [(name, 1) for name in names]
    references = [example.references for example in found.held_out[0].examples]
    assert references == [("one",), ("two",), ("two",)]
    assert found.counts["held_out"] == 2
    (tmp_path / "a").mkdir()
    names = [first, write([LINES[1]], "a/first.tsv")]
    found = load_corpus(own, hold_out=" + ".join(names))
    assert [one.name for one in found.held_out] == names


def test_a_test_set_that_cannot_be_used_is_refused_before_the_corpus_is_read(write):
    swapped = [f"I close gate {i}.\t門{i}を閉める" for i in range(3)]
    unreadable = r"`hold_out` must name test sets.*held\.tsv"
    for lines, match in (
        (None, unreadable),
        ([""], unreadable),
        (["", ""], unreadable),
        (["no tab"], unreadable),
        (swapped, r"3 of 3 lines are in other scripts. Exchange"),
    ):
        path = "no/held.tsv" if lines is None else write(lines, "held.tsv")
        with pytest.raises(ValueError, match=match):
            load_corpus("missing", hold_out=path)
