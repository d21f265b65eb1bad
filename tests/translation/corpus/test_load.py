import gzip
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from keras_attn_data.tatoeba import archive, tatoeba_dataset_builder

from keras_attn.translation.corpus import load
from keras_attn.translation.corpus.cleaning import REASONS, Pair
from keras_attn.translation.corpus.load import load_corpus, load_test_set
from keras_attn.translation.corpus.splits import normalise

LINES = [f"箱{i}を開ける\tI open box {i}." for i in range(307)]


@pytest.fixture
def write(tmp_path):
    def write(content: bytes | str, name: str = "own.tsv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return str(path)

    return write


@pytest.fixture
def tatoeba(tmp_path, monkeypatch):
    """The corpus `tatoeba` with sentences made here in place of its archive."""
    lines = [f"{i}\t{line}\t-" for i, line in enumerate(LINES)]
    monkeypatch.setenv("KERAS_ATTN_CACHE", str(tmp_path))
    monkeypatch.setattr(archive, "fetch", lambda: tmp_path)
    monkeypatch.setattr(archive, "lines", lambda path: iter(lines))


def test_a_file_is_read_cleaned_and_split(write):
    path = write("\n".join(LINES) + "\n")
    found = load_corpus(path)
    assert (found.name, found.source, found.target, found.credit) == (path, "ja", "en", "")
    counts = found.counts
    assert counts["read"] == counts["kept"] == counts["groups"] == 307
    assert counts["train"] == len(found.train)
    assert counts["validation"] == len(found.validation) >= 1
    assert counts["test"] == len(found.test) >= 1
    assert len(found.train) + len(found.validation) + len(found.test) == 307
    assert found.train[0] == Pair("箱0を開ける", "I open box 0.")
    number = found.test[0].source[1:].split("を")[0]
    assert found.test[0].references == (f"I open box {number}.",)


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress("\n".join(LINES).encode()),
        "\r\n".join(LINES).encode("utf-8-sig"),
        "\n".join(f"{line}\tCC0\tsomebody" for line in LINES).encode(),
        "\r".join(LINES).encode(),
        "\r\n".join(LINES).encode("utf-16"),
        gzip.compress(b"\xfe\xff" + "\n".join(LINES).encode("utf-16-be")),
    ],
    ids=["gzip", "BOM and CRLF", "further columns", "CR", "UTF-16", "gzip of UTF-16 BE"],
)
def test_other_ways_to_write_the_same_file_give_the_same_corpus(write, content):
    plain = load_corpus(write("\n".join(LINES), "plain.tsv"))
    other = load_corpus(write(content))
    assert (other.train, other.validation, other.test) == (
        plain.train,
        plain.validation,
        plain.test,
    )


def test_two_files_give_the_same_corpus_as_one(write):
    sides = zip(*(line.split("\t") for line in LINES), strict=True)
    paths = [write("\n".join(side), f"side{i}.txt") for i, side in enumerate(sides)]
    one, two = load_corpus(write("\n".join(LINES))), load_corpus(",".join(paths))
    assert (one.train, one.validation, one.test) == (two.train, two.validation, two.test)


def test_two_files_that_do_not_fit_are_refused(write):
    sides = write("a\nb\nc", "a.txt"), write("x\ny", "x.txt")
    with pytest.raises(ValueError, match="same number of lines. Received: 3 lines in"):
        load_corpus(",".join(sides))
    for name in (f"{sides[0]},missing.txt", f"missing.txt,{sides[0]}"):
        with pytest.raises(ValueError, match="Both files.*of which there is no `missing.txt`"):
            load_corpus(name)
    with pytest.raises(ValueError, match="no such file"):
        load_corpus("one.txt,two.txt")
    with pytest.raises(ValueError, match="must be a file, not a folder"):
        load_corpus(f"{sides[0]},{write('', 'x').removesuffix('x')}")


def test_line_broken_on_one_side_is_left_out_on_both(write):
    sources, targets = zip(*(line.encode().split(b"\t") for line in LINES), strict=True)
    sources = [*sources[:4], b"\xff\xfe", *sources[5:]]
    paths = write(b"\n".join(sources), "a.txt"), write(b"\n".join(targets), "x.txt")
    counts = load_corpus(",".join(paths)).counts
    assert (counts["read"], counts["broken"], counts["kept"]) == (307, 1, 306)


def test_unicode_line_separators_do_not_part_lines(write):
    found = load_corpus(write("\n".join(["左\u2028右\tleft\x0b right", *LINES])))
    assert found.counts["read"] == 308
    assert ("左 右", "left right") in [*found.train, *((e[0], e[1][0]) for e in found.test)]


def test_broken_lines_are_counted_and_the_first_ten_named(write):
    lines = [line.encode() for line in LINES]
    for position in range(4, 304, 25):
        lines[position] = b"no tab" if position % 2 else b"\xff\xfe\t\x80"
    found = load_corpus(write(b"\n".join(lines)))
    assert found.counts["broken"] == 12
    assert found.counts["read"] == 307
    assert "12 lines without TAB or valid UTF-8" in found.warnings[0]
    assert "left out: 5, 30, 55, 80, 105, 130, 155, 180, 205, 230, ..." in found.warnings[0]


def test_a_corpus_without_broken_lines_and_with_enough_test_sentences_has_no_warning(write):
    lines = [f"本{i}\tbook {i}" for i in range(14_000)]
    assert load_corpus(write("\n".join(lines))).warnings == ()


def test_a_small_test_split_is_pointed_out(write):
    (warning,) = load_corpus(write("\n".join(LINES[:50]))).warnings
    assert "the test split has only 1 sentence" in warning


def test_the_counts_add_up(write):
    odd = ["\t", "", "no tab", "一\t\t", "９\t9", "english\t日本", LINES[3], f"{'長' * 31}\tlong"]
    found = load_corpus(write("\n".join([*odd, *LINES])), max_characters=30)
    counts = found.counts
    dropped = {name: counts[name] for name in ("broken", *REASONS)}
    assert dropped == {
        "broken": 1,
        "empty": 3,
        "too_long": 1,
        "equal_sides": 1,
        "wrong_script": 1,
        "duplicate": 1,
        "odd_lengths": 0,
    }
    assert counts["read"] == counts["kept"] + sum(dropped.values()) == 315
    split_up = ("train", "validation", "test", "withheld")
    assert counts["kept"] == sum(counts[name] for name in split_up)
    summary = found.summary()
    assert "read 315, broken 1, empty 3, too long 1, " in summary and "odd lengths" not in summary


def test_other_languages_than_japanese_work(write):
    found = load_corpus(write("\n".join(f"Haus {i}\thouse {i}" for i in range(50))), "de", "en")
    assert found.counts["kept"] == 50


WORDS = st.text(alphabet="あいう、。1", min_size=1, max_size=3)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=20,
    derandomize=True,
    deadline=None,
)
@given(st.lists(st.tuples(WORDS, WORDS.map(lambda w: w.replace("あ", "a"))), max_size=25))
def test_no_held_out_sentence_occurs_in_training(write, pairs):
    path = write("\n".join([*("\t".join(pair) for pair in pairs), *LINES[:13]]))
    found = load_corpus(path, "ja", "xx")
    sources = {normalise(pair.source) for pair in found.train}
    targets = {normalise(pair.target) for pair in found.train}
    for example in (*found.validation, *found.test):
        assert normalise(example.source) not in sources
        assert not {normalise(text) for text in example.references} & targets


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(
        ValueError, match="no such file. Expected one of everyday, tatoeba, the.*'tatoeva'"
    ):
        load_corpus("tatoeva")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="must be a file, not a folder. Received"):
        load_corpus(str(tmp_path))


def test_an_empty_file_is_refused(write):
    with pytest.raises(ValueError, match="must hold sentences. Received: .*which is empty"):
        load_corpus(write(""))
    with pytest.raises(ValueError, match="which is empty"):
        load_corpus(write(gzip.compress(b"")))


def test_a_file_of_broken_lines_alone_is_refused(write):
    with pytest.raises(ValueError, match="source TAB target.*all 3 lines are broken"):
        load_corpus(write("one,two\nthree,four\nfive"))


def test_a_cut_archive_is_refused(write):
    content = gzip.compress("\n".join(LINES).encode())[:-20]
    with pytest.raises(ValueError, match="cannot be read to its end"):
        load_corpus(write(content))


def test_swapped_columns_get_a_hint(write):
    path = write("\n".join(LINES))
    with pytest.raises(
        ValueError, match="No pair.*wrong_script 307.*look swapped.*with --source ja --target en"
    ):
        load_corpus(path, "en", "ja")
    mixed = write("\n".join([*LINES, *("\t".join(line.split("\t")[::-1]) for line in LINES[:99])]))
    assert any("columns look swapped" in text for text in load_corpus(mixed, "en", "ja").warnings)
    assert not any("look swapped" in text for text in load_corpus(mixed).warnings)


def test_a_length_limit_that_leaves_nothing_is_refused(write):
    with pytest.raises(ValueError, match=r"No pair.*too_long 307, [^)]*\)\.$"):
        load_corpus(write("\n".join(LINES)), max_characters=3)
    with pytest.raises(ValueError, match="`max_characters` must be at least 1. Received: max_ch"):
        load_corpus("everyday", max_characters=0)


def test_two_lines_are_too_few(write):
    with pytest.raises(ValueError, match="at least 3 groups"):
        load_corpus(write("\n".join(LINES[:2])))


@pytest.mark.parametrize(("source", "target"), [("ja", "ja"), ("ja", "de"), ("en", "en")])
def test_named_corpora_have_two_languages(source, target):
    with pytest.raises(ValueError, match="`tatoeba` translates from ja to en or from en to ja"):
        load_corpus("tatoeba", source, target)


def test_a_named_corpus_is_read_in_both_directions_with_the_same_splits(tatoeba, write):
    forth = load_corpus("tatoeba")
    back = load_corpus("tatoeba", "en", "ja")
    own = load_corpus(write("\n".join(LINES)))
    assert sorted(forth.train) == sorted(own.train)
    assert forth.test == own.test
    assert [(pair.target, pair.source) for pair in back.train] == forth.train
    assert [(e.references[0], e.source) for e in back.test] == [
        (e.source, e.references[0]) for e in forth.test
    ]
    assert "https://tatoeba.org" in forth.credit and "CC BY 2.0 FR" in forth.credit


def test_a_corpus_that_another_process_prepared_meanwhile_is_used(tatoeba, monkeypatch):
    prepare = tatoeba_dataset_builder.Builder.download_and_prepare

    def lose_the_race(builder):
        prepare(builder)
        raise OSError("Directory not empty")

    monkeypatch.setattr(tatoeba_dataset_builder.Builder, "download_and_prepare", lose_the_race)
    assert load_corpus("tatoeba").counts["read"] == 307


@pytest.mark.slow  # another process
def test_a_file_needs_neither_data_sets_nor_tokenizers(write):
    code = (
        "import sys; from keras_attn.translation.corpus.load import load_corpus\n"
        "load_corpus(sys.argv[1])\n"
        "print([m for m in ('tensorflow_datasets', 'sentencepiece') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code, write("\n".join(LINES))]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_several_corpora_are_one_with_a_weight_for_each_pair(write, tatoeba):
    own = write("\n".join(f"鍵{i}を回す\tI turn key {i}." for i in range(200)), "own.tsv")
    name = f"tatoeba=0.5 + {own}=3"
    found = load_corpus(name)
    assert found.name == name and found.counts["read"] == 507
    assert "https://tatoeba.org" in found.credit
    (part,) = [read() for read in found.parts]
    assert part.pairs == found.train
    for pair, weight in zip(*part, strict=True):
        assert weight == (3.0 if pair.source.startswith("鍵") else 0.5)
    assert {pair.source[0] for pair in found.train} == {"箱", "鍵"}
    assert {weight for _, weight in zip(*load_corpus(own).parts[0](), strict=True)} == {1.0}


def test_test_sentences_are_known_by_corpus_without_folders(write, tatoeba):
    own = write("\n".join(f"鍵{i}を回す\tI turn key {i}." for i in range(1500)), "own.tsv")
    found = load_corpus(f"tatoeba=0.5 + {own}=3")
    assert list(found.test_corpora) == ["tatoeba", "own.tsv"]
    for name, first in (("tatoeba", "箱"), ("own.tsv", "鍵")):
        rows = [i for i, example in enumerate(found.test) if example.source.startswith(first)]
        assert found.test_corpora[name] == rows
        assert any(warning.startswith(f"{name}: the test split") for warning in found.warnings)
    assert len(found.test_corpora["own.tsv"]) > 2
    assert load_corpus(own).test_corpora.keys() == {"own.tsv"}


def test_a_sentence_of_two_corpora_is_on_one_side_of_the_split(write):
    first = write("\n".join(LINES), "first.tsv")
    second = write(
        "\n".join(f"{line.split(chr(9))[0]}！\tAgain {i}" for i, line in enumerate(LINES))
    )
    found = load_corpus(f"{first} + {second}")
    assert found.counts["groups"] == 307 and found.counts["kept"] == 614
    held_out = {normalise(example.source) for example in found.validation + found.test}
    assert not held_out & {normalise(pair.source) for pair in found.train}


def test_a_pair_of_two_corpora_has_the_larger_weight(write):
    one, two = write("\n".join(LINES)), write("\n".join(LINES[:150]), "two.tsv")
    for names in (f"{one} + {two}=4", f"{two}=4 + {one}"):
        part = load_corpus(names).parts[0]()
        counts = [part.weights.count(weight) for weight in (1.0, 4.0)]
        assert sum(counts) == len(part.weights) and min(counts) > 100


@pytest.mark.parametrize("weight", ["0", "-1", "nan", "inf", "much", "1e999", "1001"])
def test_a_weight_must_be_a_number_above_zero(write, weight):
    path = write("\n".join(LINES))
    with pytest.raises(ValueError, match=f"above 0, at most 1,000. Received: '{weight}' in data="):
        load_corpus(f"{path}={weight}")


def test_a_file_whose_name_looks_like_several_corpora_is_a_file(write):
    for name in ("a + b.tsv", "own=3"):
        assert load_corpus(write("\n".join(LINES), name)).counts["read"] == 307


def test_a_corpus_named_twice_is_refused(write):
    path = write("\n".join(LINES))
    with pytest.raises(ValueError, match="must be named once. Received: .*own.tsv' twice in"):
        load_corpus(f"{path} + {path}=2")


def test_a_test_set_is_all_its_lines_each_with_its_reference(write):
    path = write("犬。\tA dog.\n猫。\tA cat.\n犬。\tThe dog.\n\n鳥。\t\n犬。\t犬。\n")
    assert load_test_set(path) == [
        ("犬。", ("A dog.",)),
        ("猫。", ("A cat.",)),
        ("犬。", ("The dog.",)),
        ("犬。", ("犬。",)),
    ]
    with pytest.raises(ValueError, match="must hold sentences. Received: data="):
        load_test_set(write("\t\n"))


def test_the_default_corpus_holds_real_and_everyday_sentences(monkeypatch):
    seen = []
    monkeypatch.setattr(load, "load_corpus", lambda *given, **named: seen.append((given, named)))
    load.load_default_corpus("ja", "en", hold_out="x.tsv")
    assert seen == [(("tatoeba + everyday=0.4", "ja", "en"), {"hold_out": "x.tsv"})]


def test_without_a_network_the_default_is_everyday_with_a_sentence(monkeypatch, write):
    corpora = {"everyday": load_corpus(write("\n".join(LINES)))}

    def load_without_network(name, *given, **named):
        if name not in corpora:
            raise OSError("There is no network.")
        return corpora[name]

    monkeypatch.setattr(load, "load_corpus", load_without_network)
    corpus = load.load_default_corpus()
    assert corpus.train == corpora["everyday"].train
    assert "`tatoeba` cannot be had" in corpus.summary()
    assert "on `everyday` alone. There is no network." in corpus.summary()


@pytest.mark.slow  # makes the whole corpus
def test_everyday_is_there_without_a_network(monkeypatch, tmp_path):
    def fail():
        raise OSError("There is no network.")

    monkeypatch.setenv("KERAS_ATTN_CACHE", str(tmp_path))
    monkeypatch.setattr(archive, "fetch", fail)
    corpus = load.load_default_corpus()
    part = corpus.parts[0]()
    weights = {pair.source: weight for pair, weight in zip(*part, strict=True)}
    assert weights["おはようございます"] == 12.0 and min(weights.values()) == 1.0
    assert corpus.name == "everyday" and len(corpus.train) > 80_000
