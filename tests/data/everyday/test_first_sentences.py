"""Tests of the sentences that people type first: set phrases, figures, and text to copy."""

import re
import unicodedata
from pathlib import Path

import pytest
from keras_attn_data.everyday import lexicon

from keras_attn.translation.corpus.cleaning import Pair
from keras_attn.translation.corpus.splits import normalise, split

SENTENCES = Path(__file__).parents[1]
COPIED = re.compile(
    r"<[^<>]+>|https?://[!-~]+|[\w.-]+@[\w.-]+\.\w+|[#@]\w+|\$?\{+\w+\}+|"
    r"%(?:\(\w+\))?(?:\d\$)?[sdi@]|[\w-]+\.(?:pdf|exe|yaml|zip|txt|csv|png|jpg|docx|xlsx|mp3)",
    re.ASCII,
)


def literals(text):
    """Literal texts without the punctuation of the sentence, sorted."""
    return sorted(literal.rstrip(".,") for literal in COPIED.findall(text))


@pytest.fixture(scope="module")
def english(corpus):
    return {s.ja: s.en for s in corpus}


def lines(name):
    text = (SENTENCES / f"{name}.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]


def test_set_phrases_have_their_usual_english(english):
    usual = {
        "おはようございます。": "Good morning.",
        "ありがとうございます": "Thank you.",
        "有難う": "Thank you.",
        "お元気ですか?": "How are you?",
        "また明日!": "See you tomorrow!",
        "トイレはどこですか。": "Where is the restroom?",
        "助けてください!": "Help!",
    }
    assert {ja: english[ja] for ja in usual} == usual


def test_every_wording_of_every_set_phrase_is_in_the_corpus(english):
    missing = [
        ja
        for phrase in lexicon.load().set_phrases
        for ja in phrase.ja
        if not any(ja + mark in english for mark in ("。", "", "!", "?"))
    ]
    assert missing == []
    assert len(lexicon.load().set_phrases) > 250


def test_set_phrases_are_all_in_training(corpus):
    pairs = [Pair(s.ja, s.en) for s in corpus]
    training = set(split(pairs, [s.combination for s in corpus]).train)
    phrases = {phrase.kind for phrase in lexicon.load().set_phrases}
    assert len(phrases) == 10
    held_out = [
        s.ja
        for s, pair in zip(corpus, pairs, strict=True)
        if s.combination in phrases and pair not in training
    ]
    assert held_out == []


def test_figures_are_written_in_every_way(corpus):
    ways = "1900円 1,900円 千九百円 1万円 15万円 二百五十万円 三時 3時 090-".split()
    for ja in ways:
        form = re.sub(r"\d", r"\\d", ja)
        form = re.sub(r"千九百|二百五十", "[一二三四五六七八九十百千]+", form)
        assert sum(bool(re.search(form, s.ja)) for s in corpus) > 5, ja


def test_prices_in_kanji_and_digits_have_the_same_english(corpus):
    yen = re.compile(r"^(?:これは)?([\d,]+|[\d,]+万\d*)円です")
    for s in corpus:
        if (match := yen.match(s.ja)) and s.en.startswith(("It's ", "This is ")):
            whole, _, rest = match[1].replace(",", "").partition("万")
            value = int(whole) * 10_000 + int(rest or 0) if "万" in match[1] else int(whole)
            assert f"{value:,} yen" in s.en, s


def test_copied_text_is_equal_in_both_languages(corpus):
    copied = [s for s in corpus if s.combination.startswith("copied")]
    assert 700 <= len(copied) <= 1800
    for s in copied:
        assert literals(s.ja) == literals(s.en), s
    assert len({literal for s in copied for literal in literals(s.ja)}) > 600


def test_copied_addresses_are_in_domains_for_examples(corpus):
    domain = re.compile(r"(?:https?://|\w@)([\w.-]+)")
    for s in corpus:
        for host in domain.findall(s.en):
            assert host.rstrip(".").endswith(("example.com", "example.org", "example.net")), s


@pytest.mark.parametrize(
    ("name", "count"), [("first_sentences", 60), ("numerals", 60), ("copied", 40)]
)
def test_test_sentences_are_distinct_and_have_english(name, count):
    rows = lines(name)
    assert len(rows) == count == len({row[0] for row in rows})
    assert all(len(row) >= 2 and all(row) for row in rows)
    assert all(unicodedata.is_normalized("NFKC", text) for row in rows for text in row)


@pytest.mark.parametrize("name", ["numerals", "copied"])
def test_the_corpus_does_not_hold_the_test_sentences(corpus, name):
    known = {normalise(s.ja) for s in corpus}
    assert [row[0] for row in lines(name) if normalise(row[0]) in known] == []


def test_first_sentences_that_the_corpus_holds_have_an_accepted_english(english):
    held = [row for row in lines("first_sentences") if row[0] in english]
    assert len(held) >= 20
    assert [(row[0], english[row[0]]) for row in held if english[row[0]] not in row[1:]] == []


def test_text_to_copy_is_equal_in_both_languages():
    faults = [row for row in lines("copied") if not literals(row[0]) == literals(row[1]) != []]
    assert not faults, faults
