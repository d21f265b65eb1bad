"""TensorFlow Datasets builder of the everyday corpus."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow_datasets as tfds
from keras_attn_data.everyday import grammar

_DESCRIPTION = """
Japanese sentences of beginners' textbooks, first conversations and daily life with English
translations. The pairs are generated from tables written for this project; nothing is downloaded.
`combination` names the pattern and the content words of a pair. Put pairs of equal combination in
the same split, so that the test set holds only combinations that are not in training. `weight`
tells how often to show a pair in training. Licence: Apache-2.0.
"""


class Builder(tfds.core.GeneratorBasedBuilder):
    """Builder of the corpus: generates all pairs in seconds, offline, in one split, `train`."""

    VERSION = tfds.core.Version("3.0.0")
    RELEASE_NOTES = {
        "3.0.0": "Patterns as tables; reasons, conditions, sequences; office, school, travel.",
        "2.1.0": "Dates with times of day; larger weights of set phrases and first conversations.",
    }

    def _info(self) -> tfds.core.DatasetInfo:
        return tfds.core.DatasetInfo(
            builder=self,
            description=_DESCRIPTION,
            features=tfds.features.FeaturesDict(
                {
                    "ja": tfds.features.Text(),
                    "en": tfds.features.Text(),
                    "combination": tfds.features.Text(),
                    "weight": np.float32,
                }
            ),
            supervised_keys=("ja", "en"),
            license="Apache-2.0",
        )

    def _split_generators(self, dl_manager: tfds.download.DownloadManager) -> dict[str, Iterator]:
        del dl_manager
        return {"train": self._generate_examples()}

    def _generate_examples(self) -> Iterator[tuple[int, dict[str, Any]]]:
        return grammar.examples()
