"""Sentences of the eight situations: form, wording, distance to the test sentences."""

import re
from collections import defaultdict
from pathlib import Path

import pytest
from keras_attn_data import situations
from keras_attn_data.everyday import grammar
from keras_attn_data.situations import sentences

from keras_attn.translation.corpus.splits import unseen

FOLDER = Path(next(iter(situations.__path__)))
JAPANESE = re.compile("[ぁ-ヿ一-鿿々]")
FAULTS = re.compile(
    r"  |[|{}_*=]|[ぁ-ヿ一-鿿]|(?<!\.)\.\.(?!\.)|\ba [aeio]|\b(a|an|the) (a|an|the)\b|"
    r"^\s|\s$|\bcannot\b"
)
# A mark of a list at the beginning of a line, an article before a letter or a word that sounds
# otherwise than it is written, or two in a title.
NO_FAULTS = re.compile(r"(^|>)・|\ba (one|eu|on-)|a A\b")


@pytest.fixture(scope="module")
def pairs():
    return list(sentences.pairs())


def test_the_readme_has_the_numbers(pairs):
    rows = len({pair.combination for pair in pairs})
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    found = re.search(r"- ([\d,]+) rows.*up to (\d+) pairs: ([\d,]+) pairs", readme)
    numbers = [int(number.replace(",", "")) for number in found.groups()]
    assert numbers == [rows, sentences.NUM_WORDINGS, len(list(grammar.unique(pairs)))]


def test_rows_have_two_columns_and_their_alternatives_fit(pairs):
    assert len(list(FOLDER.glob("*.tsv"))) == 11
    assert [pair for pair in pairs if not (JAPANESE.search(pair.ja) and pair.en)] == []


def test_english_has_no_typical_faults(pairs):
    assert [p for p in pairs if FAULTS.search(NO_FAULTS.sub("", p.en))] == []
    assert [p for p in pairs if re.search(r"[|{}=]|\([a-z]=", p.ja)] == []


def test_paired_alternatives_are_drawn_together_and_each_wording_once():
    line = "(x=右/左)に(曲がって|まがって)ください。\tPlease turn (x=right/left)."
    made = list(sentences.wordings(line))
    assert len(made) == sentences.NUM_WORDINGS == len(set(made))
    assert {("右" in pair.ja, "right" in pair.en) for pair in made} == {(True,) * 2, (False,) * 2}
    assert len({pair.combination for pair in made}) == 1
    with pytest.raises(ValueError, match="as many alternatives"):
        list(sentences.wordings("(x=右/左)\t(x=right/left/up)"))


def test_no_sentence_is_close_to_one_of_the_test_sentences(pairs):
    """Dice's coefficient of their pairs of characters, as the tables were filtered."""
    tests = [bigrams(example.source) for example in unseen("ja", "en")]
    assert len(tests) == 400
    having = defaultdict(set)
    for number, test in enumerate(tests):
        for one in test:
            having[one].add(number)
    first_wordings = {pair.combination: pair.ja for pair in reversed(pairs)}
    for text in first_wordings.values():
        mine = bigrams(text)
        # What is close shares a pair of characters that few test sentences have.
        rare = [having[one] for one in mine & having.keys() if len(having[one]) < 20]
        for test in (tests[number] for number in set().union(*rare)):
            assert 2 * len(mine & test) < 0.7 * (len(mine) + len(test)), text


def bigrams(text):
    letters = "".join(filter(str.isalnum, text))
    return {letters[i : i + 2] for i in range(len(letters) - 1)}
