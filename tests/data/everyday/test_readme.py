"""The README of the corpus, against the corpus."""

import re
from pathlib import Path

from keras_attn_data import everyday
from keras_attn_data.everyday import grammar, lexicon

README = (Path(next(iter(everyday.__path__))) / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(\w+)` \| `?(.+?)`? \| `?(.+?)`? \|$", re.MULTILINE)


def test_the_table_has_every_pattern_with_a_pair_of_the_corpus(corpus):
    pairs = {(s.combination.split("|")[0], s.ja, s.en) for s in corpus}
    rows = ROW.findall(README)
    assert [name for name, _, _ in rows] == list(grammar.PATTERNS)
    assert [row for row in rows if row not in pairs] == []


def test_the_numbers_are_those_of_the_corpus(corpus):
    thousands = re.search(r"About (\d+),000 pairs", README)
    assert thousands and abs(int(thousands[1]) * 1000 - len(corpus)) < 1000
    share = re.search(r"each up to (\d+) pairs", README)
    assert share and int(share[1]) == grammar.SHARE
    words = re.search(r"more than ([\d,]+) words", README)
    assert words and int(words[1].replace(",", "")) <= len(lexicon.load().words)
    phrases = re.search(r"(\d+) set phrases in (\d+) wordings", README)
    wordings = sum(len(phrase.ja) for phrase in lexicon.load().set_phrases)
    assert phrases and abs(int(phrases[1]) - len(lexicon.load().set_phrases)) < 10
    assert abs(int(phrases[2]) - wordings) < 10
