import collections
import gzip
from pathlib import Path

import pytest
from keras_attn_data.jmdict import frames
from keras_attn_data.tatoeba import archive
from processes import run_python

from keras_attn.translation.config import Config
from keras_attn.translation.corpus import cleaning, load, sources, splits
from keras_attn.translation.corpus.cleaning import REASONS
from keras_attn.translation.corpus.load import load_corpus, load_test_set
from keras_attn.translation.corpus.pairs import Pair
from keras_attn.translation.corpus.splits import normalise

LINES = [f"箱{i}を開ける\tI open box {i}." for i in range(307)]
KEYS = [f"鍵{i}を回す\tI turn key {i}." for i in range(1500)]


@pytest.fixture
def tatoeba(tmp_path, monkeypatch):
    """The corpus `tatoeba` with sentences made here in place of its archive."""
    lines = [f"{i}\t{line}\t-" for i, line in enumerate(LINES)]
    monkeypatch.setenv("KERAS_ATTN_CACHE", str(tmp_path))
    monkeypatch.setattr(archive, "fetch", lambda: tmp_path)
    monkeypatch.setattr(archive, "lines", lambda path: iter(lines))


def refuse(match, *arguments, **options):
    with pytest.raises(ValueError, match=match):
        load_corpus(*arguments, **options)


def test_a_file_is_read_cleaned_and_split(write):
    path = write(LINES)
    found = load_corpus(path)
    assert (found.name, found.credit) == (path, "")
    counts = found.counts
    assert counts["read"] == counts["kept"] == counts["groups"] == 307
    assert counts["train"] == len(found.train)
    assert counts["validation"] == len(found.validation) >= 1
    assert counts["test"] == len(found.test) >= 1
    assert len(found.train) + len(found.validation) + len(found.test) == 307
    assert found.train[0] == Pair("箱0を開ける", "I open box 0.")
    number = found.test[0].source[1:].split("を")[0]
    assert found.test[0].references == (f"I open box {number}.",)


def test_other_ways_to_write_the_same_file_give_the_same_corpus(write):
    plain = load_corpus(write(LINES))
    sides = [list(side) for side in zip(*(line.split("\t") for line in LINES), strict=True)]
    two_files = ",".join(write(side, f"side{i}.txt") for i, side in enumerate(sides))
    for name, content in (
        ("gzip", gzip.compress("\n".join(LINES).encode())),
        ("further columns", [f"{line}\tCC0\tsomebody" for line in LINES]),
        ("gzip of UTF-16 BE", gzip.compress(b"\xfe\xff" + "\n".join(LINES).encode("utf-16-be"))),
        ("two files", None),
    ):
        other = load_corpus(write(content, "other.tsv") if content else two_files)
        for part in ("train", "validation", "test"):
            assert getattr(other, part) == getattr(plain, part), name


def test_two_files_that_do_not_fit_are_refused(write):
    sides = write("a\nb\nc", "a.txt"), write("x\ny", "x.txt")
    refuse("same number of lines. Received: 3 lines in", ",".join(sides))
    for name in (f"{sides[0]},missing.txt", f"missing.txt,{sides[0]}"):
        refuse("Both files.*of which there is no `missing.txt`", name)
    refuse("no such file", "one.txt,two.txt")
    folder = write("", "x").removesuffix("x")
    refuse("must be a file, not a folder", f"{sides[0]},{folder}")


def test_lines_that_are_broken_are_left_out_on_both_sides_counted_and_the_first_ten_named(write):
    sources, targets = zip(*(line.encode().split(b"\t") for line in LINES), strict=True)
    sources = [*sources[:4], b"\xff\xfe", *sources[5:]]
    paths = write(b"\n".join(sources), "a.txt"), write(b"\n".join(targets), "x.txt")
    counts = load_corpus(",".join(paths)).counts
    assert (counts["read"], counts["broken"], counts["kept"]) == (307, 1, 306)
    lines = [line.encode() for line in LINES]
    for position in range(4, 304, 25):
        lines[position] = b"no tab" if position % 2 else b"\xff\xfe\t\x80"
    found = load_corpus(write(b"\n".join(lines)))
    assert (found.counts["read"], found.counts["broken"]) == (307, 12)
    assert "12 lines without TAB or valid UTF-8" in found.warnings[0]
    assert "left out: 5, 30, 55, 80, 105, 130, 155, 180, 205, 230, ..." in found.warnings[0]


def test_only_a_small_test_split_is_pointed_out(write):
    found = load_corpus(write([f"Haus {i}\thouse {i}" for i in range(50)]), "de", "en")
    assert found.counts["kept"] == 50
    (warning,) = found.warnings
    assert "the test split has only 1 sentence" in warning
    assert load_corpus(write([f"本{i}\tbook {i}" for i in range(14_000)])).warnings == ()


def test_the_counts_add_up(write, monkeypatch):
    monkeypatch.setattr(cleaning, "MAX_CHARACTERS", 30)
    odd = ["\t", "", "no tab", "一\t\t", "９\t9", "english\t日本", LINES[3], f"{'長' * 31}\tlong"]
    found = load_corpus(write([*odd, "左\u2028右\tleft\x0b right", *LINES]))
    counts = found.counts
    dropped = {name: counts[name] for name in ("broken", *REASONS) if counts[name]}
    assert dropped == dict(
        broken=1, empty=3, too_long=1, equal_sides=1, wrong_script=1, duplicate=1
    )
    assert counts["read"] == counts["kept"] + sum(dropped.values()) == 316
    split_up = ("train", "validation", "test", "withheld")
    assert counts["kept"] == sum(counts[name] for name in split_up)
    summary = found.summary()
    assert "read 316, broken 1, empty 3, too long 1, " in summary and "odd lengths" not in summary
    # A line separator of Unicode does not part lines.
    assert ("左 右", "left right") in [*found.train, *((e[0], e[1][0]) for e in found.test)]


def test_swapped_columns_get_a_hint(write):
    swapped = "wrong_script 307.*look swapped.*with --source ja --target en"
    refuse(f"No pair.*{swapped}", write(LINES), "en", "ja")
    mixed = write([*LINES, *("\t".join(line.split("\t")[::-1]) for line in LINES[:99])])
    assert any("columns look swapped" in text for text in load_corpus(mixed, "en", "ja").warnings)
    assert not any("look swapped" in text for text in load_corpus(mixed).warnings)


def test_what_leaves_too_little_and_languages_that_a_named_corpus_lacks_are_refused(
    write, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(cleaning, "MAX_CHARACTERS", 3)
        refuse(r"No pair.*too_long 307, [^)]*\)\.$", write(LINES))
    refuse("no such file. Expected one of everyday.* opus:CORPUS, .*'tatoeva'", "tatoeva")
    for languages in (("ja", "ja"), ("ja", "de"), ("en", "en")):
        refuse("`tatoeba` translates from ja to en or from en to ja", "tatoeba", *languages)


def test_a_named_corpus_is_read_in_both_directions_with_the_same_splits(tatoeba, write):
    forth = load_corpus("tatoeba")
    back = load_corpus("tatoeba", "en", "ja")
    own = load_corpus(write(LINES))
    assert sorted(forth.train) == sorted(own.train)
    assert forth.test == own.test
    assert [(pair.target, pair.source) for pair in back.train] == forth.train
    assert [(e.references[0], e.source) for e in back.test] == [
        (e.source, e.references[0]) for e in forth.test
    ]
    assert "https://tatoeba.org" in forth.credit and "CC BY 2.0 FR" in forth.credit


@pytest.mark.slow  # another process
def test_a_file_needs_neither_data_sets_nor_tokenizers(write):
    code = (
        "import sys; from keras_attn.translation.corpus.load import load_corpus\n"
        "load_corpus(sys.argv[1])\n"
        "print([m for m in ('tensorflow_datasets', 'sentencepiece') if m in sys.modules])"
    )
    assert run_python("-c", code, write(LINES)).stdout == "[]\n"


def test_a_dictionary_next_to_other_corpora_is_for_training_only(write, monkeypatch):
    words = [{"ja": f"語{i}", "en": f"word {i}", "combination": f"{i // 2}"} for i in range(90)]
    words.append({"ja": "箱1を開ける", "en": "I open box 1."})  # of the other corpus
    monkeypatch.setattr(frames, "examples", lambda: enumerate(words))
    own = write(LINES)
    alone, joined = load_corpus(own), load_corpus(f"jmdict=0.5 + {own}")
    assert (joined.validation, joined.test) == (alone.validation, alone.test)
    assert len(joined.train) == len(alone.train) + 90
    assert sum(joined.parts[0].weights) == len(alone.train) + 45
    assert joined.test_corpora == alone.test_corpora and "CC BY-SA 4.0" in joined.credit
    held_out = load_corpus(f"{own} + jmdict", hold_out=write(["語7\tseven"], "held.tsv"))
    assert (held_out.counts["withheld"], len(held_out.train)) == (1, len(joined.train) - 1)
    only = load_corpus("jmdict", "en", "ja")
    assert only.test and only.validation and not only.warnings[1:]


@pytest.mark.parametrize("direction", [("ja", "en"), ("en", "ja")])
def test_no_corpus_trains_on_a_sentence_of_the_yardstick(write, monkeypatch, direction):
    yardstick = write(["ja\treference_1", "箱3を開ける!\tNo box", "語7\tNo word"], "wild.tsv")
    monkeypatch.setattr(splits, "in_the_wild", lambda: Path(yardstick))
    words = [{"ja": f"語{i}", "en": f"word {i}"} for i in range(90)]
    monkeypatch.setattr(frames, "examples", lambda: enumerate(words))
    lines = [*LINES, "鍵\tNo box"]  # the translations of the yardstick may be trained on
    lines = ["\t".join(line.split("\t")[:: 1 if direction[0] == "ja" else -1]) for line in lines]
    found = load_corpus(f"{write(lines)} + jmdict", *direction)
    japanese = {pair[direction.index("ja")] for pair in found.train}
    assert not japanese & {"箱3を開ける", "語7"} and "語8" in japanese
    assert found.counts["withheld"] == 2
    assert len(found.train) + len(found.validation) + len(found.test) == len(lines) + 90 - 2


def test_several_corpora_are_one_with_weights_and_test_sentences_known_by_corpus(write, tatoeba):
    own = write(KEYS)
    name = f"tatoeba=0.5 + {own}=3"
    found = load_corpus(name)
    assert found.name == name and found.counts["read"] == 1807
    assert "https://tatoeba.org" in found.credit
    (part,) = found.parts
    assert part.pairs == found.train
    for pair, weight in zip(*part, strict=True):
        assert weight == (3.0 if pair.source.startswith("鍵") else 0.5)
    assert {pair.source[0] for pair in found.train} == {"箱", "鍵"}
    assert list(found.test_corpora) == ["tatoeba", "own.tsv"]  # without folders
    for name, first in (("tatoeba", "箱"), ("own.tsv", "鍵")):
        rows = [i for i, example in enumerate(found.test) if example.source.startswith(first)]
        assert found.test_corpora[name] == rows
        assert any(warning.startswith(f"{name}: the test split") for warning in found.warnings)
    assert len(found.test_corpora["own.tsv"]) > 2
    alone = load_corpus(own)
    assert alone.test_corpora.keys() == {"own.tsv"}
    assert set(alone.parts[0].weights) == {1.0}


def test_a_sentence_of_two_corpora_is_on_one_side_of_the_split(write):
    first = write(LINES, "first.tsv")
    second = write([f"{line.split(chr(9))[0]}！\tAgain {i}" for i, line in enumerate(LINES)])
    found = load_corpus(f"{first} + {second}")
    assert found.counts["groups"] == 307 and found.counts["kept"] == 614
    held_out = {normalise(example.source) for example in found.validation + found.test}
    assert not held_out & {normalise(pair.source) for pair in found.train}


def test_weights_are_numbers_above_zero_and_a_pair_of_two_corpora_has_the_larger(write):
    one, two = write(LINES), write(LINES[:150], "two.tsv")
    for names in (f"{one} + {two}=4", f"{two}=4 + {one}"):
        part = load_corpus(names).parts[0]
        counts = [part.weights.count(weight) for weight in (1.0, 4.0)]
        assert sum(counts) == len(part.weights) and min(counts) > 100
    for weight in ("0", "-1", "nan", "inf", "much", "1e999", "1001"):
        refuse(f"above 0, at most 1,000. Received: '{weight}' in data=", f"{one}={weight}")
    refuse("must be named once. Received: .*own.tsv' twice in", f"{one} + {one}=2")
    for name in ("a + b.tsv", "own=3"):  # the names of files
        assert load_corpus(write(LINES, name)).counts["read"] == 307


def test_a_test_set_is_all_its_lines_each_with_its_reference(write):
    path = write("犬。\tA dog.\n猫。\tA cat.\n犬。\tThe dog.\n\n鳥。\t\n犬。\t犬。\n")
    expected = [("犬。", "A dog."), ("猫。", "A cat."), ("犬。", "The dog."), ("犬。", "犬。")]
    assert load_test_set(path) == [(source, (reference,)) for source, reference in expected]
    with pytest.raises(ValueError, match="must hold sentences. Received: data="):
        load_test_set(write("\t\n"))


def test_without_a_network_the_default_is_what_ships_with_the_project(monkeypatch, write):
    seen = []
    monkeypatch.setattr(load, "load_corpus", lambda *given, **named: seen.append((given, named)))
    options = {"source": "ja", "target": "en", "hold_out": "x.tsv"}
    load.load_default_corpus(**options)
    assert seen == [((Config.data,), options)]
    shipped = load_corpus(write(LINES))

    def load_without_network(name, *given, **named):
        if name != load.WITHOUT_NETWORK:
            raise OSError("There is no network.")
        return shipped

    monkeypatch.setattr(load, "load_corpus", load_without_network)
    corpus = load.load_default_corpus()
    assert corpus.train == shipped.train
    assert "`tatoeba` cannot be had" in corpus.summary()
    assert "on `everyday=0.4 + situations` alone. There is no network." in corpus.summary()


GATES = [f"門{i}を閉める\tI close gate {i}." for i in range(900)]


def test_held_out_sentences_are_in_no_split_and_the_other_groups_stay(write):
    data = write(GATES, "own.tsv")
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
    own = write(GATES, "own.tsv")
    first = write(["門1を閉める\tone", "門1を閉める\ttwo", "門1を閉める\ttwo"], "first.tsv")
    sides = [write([side], f"second.{i}") for i, side in enumerate(GATES[2].split("\t"))]
    found = load_corpus(own, hold_out=f"{first} + {','.join(sides)}")
    names = ["first.tsv", "second.0,second.1"]
    assert [(one.name, one.num_pairs) for one in found.held_out] == [(name, 1) for name in names]
    references = [example.references for example in found.held_out[0].examples]
    assert references == [("one",), ("two",), ("two",)]
    assert found.counts["held_out"] == 2
    (tmp_path / "a").mkdir()
    names = [first, write([GATES[1]], "a/first.tsv")]
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
        (swapped, "The columns look swapped: .* Exchange them"),
    ):
        path = "no/held.tsv" if lines is None else write(lines, "held.tsv")
        with pytest.raises(ValueError, match=match):
            load_corpus("missing", hold_out=path)


NUM_PAIRS, NUM_PARTS = 1200, 5


# A set that is larger than memory, if memory holds 250 pairs; some sentences come often.
SET_PAIRS = [(f"箱{i % 900}を開ける。", f"I open box {i % 700}.") for i in range(NUM_PAIRS)]


@pytest.fixture
def large_set(translation_set, monkeypatch):
    monkeypatch.setattr(sources, "PART_PAIRS", 250)
    return f"tfds:{translation_set(SET_PAIRS)}"


def test_a_large_set_is_read_in_parts_that_share_no_held_out_sentence(large_set, write):
    held = [f"{ja}\t-" for ja, _ in SET_PAIRS[::200]] + [f"-\t{en}" for _, en in SET_PAIRS[7::200]]
    found = load_corpus(large_set, hold_out=write(held))  # by source and by target
    assert found.counts["parts"] == len(found.parts) == NUM_PARTS
    assert found.counts["read"] == NUM_PAIRS // NUM_PARTS
    read = [part.pairs for part in found.parts]
    assert read[0] == found.train
    assert found.num_train == pytest.approx(sum(map(len, read)), rel=0.1)
    train = [pair for part in read for pair in part]
    held_out = found.validation + found.test + found.held_out[0].examples
    sources = {normalise(example.source) for example in held_out}
    targets = {normalise(text) for example in held_out for text in example.references}
    assert len(sources) >= 2
    assert not sources & {normalise(pair.source) for pair in train}
    assert not targets & {normalise(pair.target) for pair in train}
    # Nothing else is missing: what shares no sentence with them is there.
    missing = set(SET_PAIRS) - set(train)
    assert all(normalise(s) in sources or normalise(t) in targets for s, t in missing)


def test_a_small_corpus_beside_a_large_set_is_dealt_out_to_its_parts(large_set, write):
    own = write([f"鍵{i}を回す。\tI turn key {i}." for i in range(100)])
    found = load_corpus(f"{large_set} + {own}=2")
    weights = collections.Counter()
    for pairs in found.parts:
        ours = [w for pair, w in zip(*pairs, strict=True) if pair.source.startswith("鍵")]
        assert 10 <= len(ours) <= 30 and set(ours) == {2.0}
        weights.update(pair for pair, w in zip(*pairs, strict=True) if w == 2.0)
    assert set(weights.values()) == {1} and len(weights) > 90
