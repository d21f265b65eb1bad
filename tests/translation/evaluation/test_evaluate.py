import pytest

from keras_attn.translation.corpus.splits import Example, HeldOut
from keras_attn.translation.evaluation.documents import write_report
from keras_attn.translation.evaluation.evaluate import (
    TRANSLATIONS,
    check_baseline,
    earlier_translations,
    evaluate,
)
from keras_attn.translation.evaluation.report import Sample


def examples(count):
    return [Example(f"文{i}", (f"the sentence number {i} here",)) for i in range(count)]


def all_good(texts):
    return [f"the sentence number {text[1:]} here" for text in texts]


def upper_case_odd(texts):
    return [text.upper() if i % 2 else text for i, text in enumerate(all_good(texts))]


def test_evaluation_translates_scores_and_shows_evenly_spaced_samples():
    report = evaluate(upper_case_odd, examples(23), "en")
    assert report.num_sentences == 23
    numbers = [0, 2, 4, 6, 9, 11, 13, 16, 18, 20]
    assert [sample.source for sample in report.samples] == [f"文{i}" for i in numbers]
    reference = "the sentence number 9 here"
    assert report.samples[4] == Sample("文9", reference.upper(), reference)
    assert 40 < report.scores.bleu < 70
    assert report.seconds >= 0
    assert len(evaluate(upper_case_odd, examples(3), "en").samples) == 3
    with pytest.raises(ValueError, match="one translation for each text. Received: 2 for 3"):
        evaluate(lambda texts: texts[1:], examples(3), "en")


def test_report_shows_the_best_the_worst_and_scores_by_length():
    long = Example("長い" * 30, ("a sentence of some length is here for you",))
    report = evaluate(upper_case_odd, [*examples(8), long], "en")
    assert report.best[0].translation == report.best[0].reference
    assert report.worst[0].translation.isupper()
    by_length = [(group.characters, group.sentences) for group in report.by_length]
    assert by_length == [("1 to 10", 8), ("41 to 80", 1)]
    assert len(report.translations) == 9


def test_report_compares_with_an_earlier_one_of_the_same_sentences(tmp_path):
    folder = tmp_path / "1"
    folder.mkdir()
    write_report(evaluate(upper_case_odd, examples(30), "en"), folder)
    assert len((folder / TRANSLATIONS).read_text(encoding="utf-8").splitlines()) == 30
    found = evaluate(all_good, examples(30), "en", baseline=folder)
    assert found.comparison.baseline == "version 1"
    assert found.comparison.gain > 20 and found.comparison.p_value < 0.05
    assert "against version 1" in found.summary()
    other = evaluate(all_good, examples(29), "en", baseline=folder)
    assert other.comparison is None
    assert evaluate(all_good, examples(3), "en", baseline=tmp_path).comparison is None


def test_each_of_several_corpora_and_held_out_test_sets_is_scored_by_name():
    def no_numbers(texts):
        return ["the sentence number here" if text == "文7" else f"{text} here" for text in texts]

    positions = {"good": [0, 2, 4], "empty": [], "bad.tsv": [1, 3]}
    report = evaluate(upper_case_odd, examples(5), "en", corpora=positions)
    good, bad = report.by_corpus
    assert (good.name, good.num_sentences) == ("good", 3)
    assert (bad.name, bad.num_sentences) == ("bad.tsv", 2)
    assert good.scores.bleu == pytest.approx(100) and bad.scores.bleu < 20
    assert good.exactness.numbers == (3, 3) and good.exactness.copies == (0, 0)
    assert "\nbad.tsv, 2 sentences: BLEU " in report.summary()
    # One corpus is not scored twice.
    assert not evaluate(upper_case_odd, examples(5), "en", corpora={"a": [*range(5)]}).by_corpus

    held_out = [HeldOut("own.tsv", examples(9)[7:]), HeldOut("two.tsv", examples(3))]
    report = evaluate(no_numbers, examples(4), "en", held_out=held_out)
    assert report.num_sentences == 4
    own, two = report.held_out
    assert (own.name, own.num_sentences, own.exactness.numbers) == ("own.tsv", 2, (1, 2))
    assert (two.name, two.num_sentences, two.exactness.numbers) == ("two.tsv", 3, (3, 3))
    assert "Held out, own.tsv, 2 sentences: BLEU " in report.summary()


def test_a_baseline_is_of_the_same_sentences_and_whole(tmp_path):
    with pytest.raises(ValueError, match="The baseline must be .*tsv`, which does not"):
        check_baseline(tmp_path, ["猫 が"])
    path = tmp_path / TRANSLATIONS
    path.write_text("猫 が\ta cat\tcats\n", encoding="utf-8")
    check_baseline(tmp_path, ["猫　が "])
    with pytest.raises(ValueError, match="same sentences, .* of other sentences."):
        check_baseline(tmp_path, ["犬"])
    for content in (b"", b"\xff", "猫".encode(), "猫\ta\tb\n犬".encode()):
        path.write_bytes(content)
        assert earlier_translations(tmp_path, ["猫"]) is None, content
        assert earlier_translations(tmp_path, ["猫", "犬"]) is None, content
