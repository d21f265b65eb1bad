import time

import pytest
from keras_attn_data.jmdict import readings

from keras_attn.translation.corpus import sources
from keras_attn.translation.corpus.pairs import Pair
from keras_attn.translation.corpus.sources import TranslationSet

PAIRS = [Pair(f"箱{i}を開ける", f"I open box {i}.") for i in range(57)]


def test_without_a_network_it_says_at_once_what_was_tried(translation_set):
    def fetch(manager):
        manager.download("http://localhost:9/sentences.tsv")  # where nobody answers

    start = time.monotonic()
    with pytest.raises(OSError, match="cannot be downloaded to .*localhost.*/sentences.tsv"):
        TranslationSet(translation_set([], fetch), "ja", "en")
    assert time.monotonic() - start < 20


def test_translation_set_of_tensorflow_datasets_is_read_and_its_parts_are_its_slices(
    translation_set, capsys
):
    name = translation_set(PAIRS)
    found = TranslationSet(name, "ja", "en")
    assert capsys.readouterr() == ("", f"Preparing {name} (57 pairs)\n")
    assert len(found) == 57
    assert sorted(found.read(0, 1)) == sorted(PAIRS)
    swapped = TranslationSet(name, "en", "ja")
    assert swapped.read(0, 1)[0].source.startswith("I open box")
    assert capsys.readouterr() == ("", "")
    parts = [found.read(part, 5) for part in range(5)]
    assert [pair for part in parts for pair in part] == found.read(0, 1)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_set_that_is_missing_or_has_other_languages_or_splits_is_refused(translation_set):
    with pytest.raises(ValueError, match="no set of this name. Received: data='tfds:nothing_of"):
        TranslationSet("nothing_of_this_name", "ja", "en")
    with pytest.raises(ValueError, match="texts in `fr` and `en`. Received: a set of en, ja"):
        TranslationSet(translation_set(PAIRS), "fr", "en")
    with pytest.raises(ValueError, match="must have a split `train`. Received: a set of test."):
        TranslationSet(translation_set(PAIRS, split="test"), "ja", "en")


def test_readings_are_those_of_the_dictionary_if_it_is_trained_on(monkeypatch):
    monkeypatch.setattr(readings, "readings", lambda: {"薔薇": "ばら"})
    assert sources.readings("tatoeba + everyday=0.4") == {}
    assert sources.readings("tatoeba + jmdict=0.5") == {"薔薇": "ばら"}
