import time

import pytest
import tensorflow_datasets as tfds

from keras_attn.translation.cleaning import Pair
from keras_attn.translation.reading import TranslationSet, read

LINES = [f"箱{i}を開ける\tI open box {i}." for i in range(307)]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_ATTN_CACHE", str(tmp_path / "cache"))


def test_lines_of_a_file_are_pairs_and_broken_ones_are_named(tmp_path):
    path = tmp_path / "own.tsv"
    path.write_bytes("川\tRiver.\n\nno tab\n山\tMountain.\tmore\n".encode() + b"\xff\t\xfe\n")
    found = read(str(path), "ja", "en")
    assert found.pairs == [Pair("川", "River."), Pair("", ""), Pair("山", "Mountain.")]
    assert list(found.broken) == [3, 5] and found.combinations is None


class MadeUpTranslations(tfds.core.GeneratorBasedBuilder):
    """A translation set of TensorFlow Datasets, known to it by its class."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return self.dataset_info_from_configs(
            features=tfds.features.Translation(languages=("ja", "en"))
        )

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        for i, line in enumerate(LINES):
            yield i, dict(zip(("ja", "en"), line.split("\t"), strict=True))


class MadeUpUnreachable(MadeUpTranslations):
    VERSION = tfds.core.Version("1.0.0")

    def _split_generators(self, dl_manager):
        raise ConnectionError("no route to host")


class MadeUpWithoutNetwork(MadeUpTranslations):
    VERSION = tfds.core.Version("1.0.0")

    def _split_generators(self, dl_manager):
        dl_manager.download("http://localhost:9/sentences.tsv")  # where nobody answers


def test_without_a_network_it_says_at_once_what_was_tried(cache):
    start = time.monotonic()
    with pytest.raises(OSError, match="cannot be fetched into .*localhost.*/sentences.tsv"):
        TranslationSet("made_up_without_network", "ja", "en")
    assert time.monotonic() - start < 20


def test_translation_set_of_tensorflow_datasets_is_read(cache):
    found = TranslationSet("made_up_translations", "ja", "en")
    assert len(found) == 307
    assert sorted(found.read(0, 1)) == sorted(Pair(*line.split("\t")) for line in LINES)
    swapped = TranslationSet("made_up_translations", "en", "ja")
    assert swapped.read(0, 1)[0].source.startswith("I open box")


@pytest.mark.parametrize("num_parts", [1, 2, 5, 300, 400])
def test_the_parts_of_a_set_are_its_slices(cache, num_parts):
    found = TranslationSet("made_up_translations", "ja", "en")
    parts = [found.read(part, num_parts) for part in range(num_parts)]
    assert [pair for part in parts for pair in part] == found.read(0, 1)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_set_that_is_not_there_has_other_languages_or_cannot_be_fetched(cache):
    with pytest.raises(ValueError, match="no set of this name. Received: data='tfds:nothing_of"):
        TranslationSet("nothing_of_this_name", "ja", "en")
    with pytest.raises(ValueError, match="texts in `fr` and `en`. Received: a set of en, ja"):
        TranslationSet("made_up_translations", "fr", "en")
    with pytest.raises(OSError, match="cannot be fetched into .*ConnectionError: no route to host"):
        TranslationSet("made_up_unreachable", "ja", "en")
