import hashlib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keras_attn.translation.corpus import splits
from keras_attn.translation.corpus.pairs import Entry, Pair
from keras_attn.translation.corpus.splits import Example, HeldOut, Splits, leave_out, normalise


def entries(pairs, combinations=None):
    combinations = combinations or [""] * len(pairs)
    return [
        Entry(Pair(*pair), combination=one) for pair, one in zip(pairs, combinations, strict=True)
    ]


def split(pairs, combinations=None, anchor=0):
    """The splits of pairs, with pairs for training in place of entries."""
    found = splits.split(entries(pairs, combinations), anchor)
    return found._replace(train=[entry.pair for entry in found.train])


def numbered(count):
    return [Pair(f"文{i}", f"sentence {i}") for i in range(count)]


def bucket(text):
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % 10_000


def first_with(character, wanted):
    """The first numbered text of the character whose bucket is as wanted."""
    return next(t for i in range(10_000) if wanted(bucket(t := f"{character}{i}")))


def sides(part):
    """Normalised sources and targets of a list of pairs or of examples."""
    sources = {normalise(item.source) for item in part}
    texts = [t for item in part for t in (item[1] if isinstance(item[1], tuple) else (item[1],))]
    return sources, {normalise(text) for text in texts}


def assert_nothing_leaks(found: Splits):
    parts = [sides(found.train), sides(found.validation), sides(found.test)]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert not parts[i][0] & parts[j][0]
        assert not parts[i][1] & parts[j][1]


def test_normalised_text_is_letters_and_digits_in_lower_case():
    given = ["It's  ＯＫ!", "ラーメン、３杯。", "人々", "!?", "ÉCOLE"]
    expected = ["itsok", "ラーメン3杯", "人々", "!?", "école"]
    assert [normalise(text) for text in given] == expected


def test_single_pairs_go_where_the_hash_of_their_source_says():
    pairs = numbered(2003)
    found = split(pairs)
    buckets = {pair.source: bucket(pair.source) for pair in pairs}
    assert {e.source for e in found.test} == {s for s, b in buckets.items() if b < 100}
    assert {e.source for e in found.validation} == {s for s, b in buckets.items() if 100 <= b < 200}
    assert found.train == [p for p in pairs if buckets[p.source] >= 200]
    assert found.groups == 2003
    assert 10 < len(found.test) < 40


@pytest.mark.parametrize("goes_to_test", [True, False])
def test_a_chain_of_equal_sides_goes_as_one_group_by_its_smallest_source(goes_to_test):
    held, free = ("甲", "車") if goes_to_test else ("車", "甲")
    to_test = first_with(held, lambda b: b < 100)
    to_train = first_with(free, lambda b: b >= 200)
    # The first two share their target and the last two their source, up to case and punctuation.
    chain = [Pair(to_test, "One."), Pair(to_train, "one"), Pair(f"{to_train}!", "another")]
    found = split([*numbered(300), *chain])
    assert found.groups == 301
    assert [pair in found.train for pair in chain] == [not goes_to_test] * 3
    of_chain = [example for example in found.test if held in example.source]
    assert of_chain == ([(to_test, ("One.",))] if goes_to_test else [])
    assert found.withheld == (2 if goes_to_test else 0)


def test_other_targets_of_the_same_source_become_references():
    held = first_with("字", lambda b: b < 100)
    group = [
        Pair(held, "b second"),
        Pair(f"{held}。", "c third"),
        Pair(held, "a first"),
        Pair(f"車{held}", "a first!"),  # same target, other source: no reference
        Pair(f"車{held}", "d fourth"),
    ]
    found = split([*numbered(300), *group])
    (example,) = [e for e in found.test if held in e.source]
    assert example == (held, ("a first", "b second", "c third"))
    assert found.withheld == 4


def test_combinations_connect_pairs_and_empty_ones_do_not():
    pairs = numbered(300)
    combinations = [f"{i // 3}" for i in range(300)]
    found = split(pairs, combinations)
    assert found.groups == 100
    assert split(pairs, [""] * 300).groups == 300
    train = set(found.train)
    assert all(len({p in train for p in pairs[i : i + 3]}) == 1 for i in range(0, 300, 3))
    assert_nothing_leaks(found)


def test_a_small_corpus_gives_its_lowest_hashes_to_test_and_validation():
    pairs = [pair for pair in numbered(11) if bucket(pair.source) >= 200]
    found = split(pairs)
    first, second, *others = sorted(pairs, key=lambda pair: bucket(pair.source))
    assert [e.source for e in found.test] == [first.source]
    assert [e.source for e in found.validation] == [second.source]
    assert found.train == [p for p in pairs if p in others] != []


def test_three_groups_give_one_to_each_split_and_fewer_are_refused():
    low = [f"低{i}" for i in range(3000) if bucket(f"低{i}") < 100][:3]
    found = split([Pair(text, f"{i}") for i, text in enumerate(low)])
    assert [len(part) for part in found[:3]] == [1, 1, 1]
    pairs = [Pair("一", "one"), Pair("壱", "one"), Pair("二", "two")]
    with pytest.raises(ValueError, match=r"at least 3 groups.*Received: 2 in 3 pairs.*Add more"):
        split(pairs)


def test_both_directions_have_the_same_splits():
    generator = random.Random(5)
    pairs = [
        Pair(f"文{generator.randrange(400)}", f"s{generator.randrange(900)}") for _ in range(700)
    ]
    pairs = list(dict.fromkeys(pairs))
    forth = split(pairs, anchor=0)
    back = split([Pair(t, s) for s, t in pairs], anchor=1)
    assert [Pair(t, s) for s, t in back.train] == forth.train
    for one, other in ((forth.test, back.test), (forth.validation, back.validation)):
        assert [(e.source, e.references[0]) for e in one] == [
            (e.references[0], e.source) for e in other
        ]


WORDS = st.text(alphabet="abAB!あい1", min_size=1, max_size=4)


@given(st.lists(st.tuples(WORDS, WORDS), unique=True, min_size=3, max_size=30), st.randoms())
def test_nothing_leaks_nothing_is_lost_and_the_order_does_not_matter(sentences, shuffler):
    pairs = [Pair(*sentence) for sentence in sentences]
    try:
        found = split(pairs)
    except ValueError:
        return
    assert_nothing_leaks(found)
    assert len(pairs) == len(found.train) + len(found.validation) + len(found.test) + found.withheld
    assert min(len(found.train), len(found.validation), len(found.test)) >= 1
    shuffled = list(pairs)
    shuffler.shuffle(shuffled)
    again = split(shuffled)
    assert set(again.train) == set(found.train)
    assert again[1:] == found[1:]
    assert [pair for pair in pairs if pair in set(found.train)] == found.train


def leaves_out(pairs, *held_out, combinations=None):
    """Pairs that are left by held-out pairs, and the number that each test set leaves out."""
    sets = [
        HeldOut("test.tsv", [Example(source, (target,)) for source, target in one])
        for one in held_out
    ]
    found, sets = leave_out(entries(pairs, combinations), sets)
    return [entry.pair for entry in found], [one.num_pairs for one in sets]


def test_whole_groups_leave_whichever_side_is_shared():
    pairs = [
        ("犬だ", "A dog."),  # its source is held out
        ("猫だ", "a DOG!"),  # connected by its target
        ("猫だ！", "A cat."),  # connected to the one before by its source
        ("鳥だ", "A bird."),  # its target is held out
        ("魚だ", "A fish."),
    ]
    held_out = [("犬だ。", "something"), ("何か", "a bird")]
    assert leaves_out(pairs, held_out) == ([("魚だ", "A fish.")], [4])


def test_sides_are_compared_each_with_its_own_and_each_test_set_counts_what_it_leaves_out():
    pairs = [("a", "b"), ("c", "d"), ("e", "f")]
    found = leaves_out(pairs, [("b", "c")], [("a", "-"), ("c", "-")], [("c", "-")])
    assert found == ([("e", "f")], [0, 2, 1])
    with pytest.raises(ValueError, match="Received: hold_out='test.tsv', which leaves none of 1"):
        leaves_out([("a", "b")], [("a", "c")])
    # Combinations connect.
    assert leaves_out(pairs, [("a", "-")], combinations="xyx")[0] == [("c", "d")]
