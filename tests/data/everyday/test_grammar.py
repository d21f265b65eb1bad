"""The corpus as a whole: size, balance, combinations, repeatability, clean text."""

import hashlib
import os
import random
import re
import subprocess
import sys
import unicodedata
from collections import Counter

from keras_attn_data.everyday import grammar, lexicon
from keras_attn_data.everyday.drawing import Draw

from keras_attn.translation import presets

TOPICS = {
    "particles": {"going", "going_to_do", "where_place_is"},
    "tense": {"past_action", "future_action", "right_now"},
    "habits": {"habit", "frequency"},
    "adjectives": {"thing_is", "person_is", "two_adjectives"},
    "counters": {"counted_things", "living_things", "bought_counted"},
    "numbers": {"price", "age"},
    "dates and times": {"date", "weekday", "at_time", "event_time"},
    "comparison": {"this_than_that", "best_liked", "which_is_liked"},
    "wanting": {"want_thing", "want_to_do"},
    "ability": {"able"},
    "giving and receiving": {"give", "given_to_me", "receive", "favour_for_me", "have_it_done"},
    "reasons": {"hindered", "because_it_is"},
    "conditions": {"if_weather", "if_time"},
    "quotation": {"said_request", "said_plan", "think_is"},
    "relative clauses": {"thing_somebody_did", "person_doing", "place_where"},
    "questions": {"where_or_when", "what_did", "why_did"},
    "set phrases": {"greeting", "thanks", "wishes", "acquaintance", "conversation", "emergency"},
    "introductions": {"my_name", "nationality", "home_town", "my_job", "my_age", "hobby"},
    "shops and restaurants": {"ordering", "shopping", "trying_on", "party_of", "nights", "amount"},
    "places": {"where_is", "nearby", "way_to", "which_side", "been_there"},
    "text to copy": {"copied_address", "copied_placeholder", "copied_tag"},
}


def test_the_lexicon_has_at_least_800_words():
    assert len(lexicon.load().words) >= 800


def test_there_are_80000_to_95000_pairs_which_is_a_small_corpus(corpus):
    assert 80_000 <= len(corpus) <= 95_000
    assert len(corpus) < presets.SMALL_CORPUS_PAIRS


def test_one_japanese_sentence_has_one_english(corpus):
    assert len({s.ja for s in corpus}) == len(corpus)


def test_patterns_agree_on_the_english_of_a_japanese_sentence():
    english = {}
    for name, pattern in grammar.PATTERNS.items():
        draw = Draw(random.Random(f"agreement {name}"))
        for pair in (pair for _ in range(300) for pair in pattern(draw).pairs):
            assert english.setdefault(pair.ja, pair.en) == pair.en, pair.ja


def test_every_topic_is_covered_and_no_pattern_dominates(corpus):
    counts = Counter(s.combination.split("|")[0] for s in corpus)
    rare = {pattern for topic in TOPICS.values() for pattern in topic if counts[pattern] < 50}
    assert not rare, rare
    assert max(counts.values()) < 0.03 * len(corpus)


def test_polite_and_plain_negative_and_question_are_all_common(corpus):
    total = len(corpus)
    polite = sum(
        bool(re.search(r"(です|ます|ました|ません|でした|ください)(か|よ|ね)?[。?]?$", s.ja))
        for s in corpus
    )
    negative = sum("n't" in s.en or " not " in s.en or "never" in s.en for s in corpus)
    questions = sum(s.en.endswith("?") for s in corpus)
    assert 0.4 * total < polite < 0.85 * total
    assert negative > 0.08 * total
    assert questions > 0.08 * total


def _groups(corpus):
    """Sizes of the groups that must stay in one split: linked by combination or by a side."""
    parent: dict[str, str] = {}

    def root(key):
        while parent.setdefault(key, key) != key:
            parent[key] = key = parent[parent[key]]
        return key

    for s in corpus:
        for side in (f"ja {s.ja}", f"en {s.en.casefold()}"):
            parent[root(side)] = root(s.combination)
    return Counter(root(s.combination) for s in corpus)


def test_groups_that_must_stay_together_are_many_and_small(corpus):
    groups = _groups(corpus)
    assert len(groups) >= 20_000
    assert max(groups.values()) < 0.01 * len(corpus)


def test_the_corpus_does_not_depend_on_the_hash_seed(corpus):
    script = (
        "import hashlib, keras_attn_data.everyday.grammar as g\n"
        "print(hashlib.sha256(repr(list(map(tuple, g.pairs()))).encode()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "31", "PYTHONIOENCODING": "utf-8"}
    result = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    expected = hashlib.sha256(repr(list(map(tuple, corpus))).encode()).hexdigest()
    assert result.stdout.strip() == expected


def test_english_text_is_whole(corpus):
    for s in corpus:
        assert re.fullmatch(r"[\x20-\x7e]+", s.en), s
        assert s.en == s.en.strip(), s
    for s in _own_words(corpus):
        assert re.fullmatch(r"[A-Z0-9].*[.?!](\")?", s.en), s
        assert s.en.count('"') in (0, 2), s


def _own_words(corpus):
    """Pairs without text that is copied."""
    return [s for s in corpus if not s.combination.startswith("copied")]


def test_english_text_has_no_broken_phrases(corpus):
    fault = re.compile(
        r"  |[{}|_]|\ba (?!u|one-)[aeiou]|\b(a|the) (a|an|the)\b|\.\.|!!|\?\?|!\?|\?!"
    )
    broken = [s.en for s in _own_words(corpus) if fault.search(s.en)]
    assert broken == []


def test_english_verbs_agree_with_pronouns(corpus):
    wrong = re.compile(r"^(I (is|are|has|does)|(He|She|It) (are|am|have|do)|We (is|am|has|does))\b")
    assert [s.en for s in corpus if wrong.search(s.en)] == []


def test_japanese_text_is_whole(corpus):
    for s in _own_words(corpus):
        assert s.ja[-1] in "。?!" or not re.search(r"[、,]$", s.ja), s
        assert s.ja.count("「") == s.ja.count("」"), s
        assert not re.search(r"\s|[{}|_]|、、|。。|をを|がが|、。", s.ja), s


def test_text_is_in_unicode_normal_form(corpus):
    for s in corpus:
        assert unicodedata.is_normalized("NFKC", s.ja)
        assert unicodedata.is_normalized("NFKC", s.en)
