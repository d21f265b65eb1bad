"""Synthetic translation set of TensorFlow Datasets, in several sizes."""

from __future__ import annotations

import tensorflow_datasets as tfds

SIZES = (3_000, 10_000, 100_000, 200_000, 400_000, 800_000, 1_000_000, 1_600_000, 10_000_000)


class SyntheticPairs(tfds.core.GeneratorBasedBuilder):
    """Set `tfds:synthetic_pairs/SIZE`: pairs with 5 to 40 pieces on each side."""

    VERSION = tfds.core.Version("1.0.0")
    BUILDER_CONFIGS = [tfds.core.BuilderConfig(name=str(size)) for size in SIZES]  # noqa: RUF012

    def _info(self):
        features = tfds.features.Translation(languages=("ja", "en"))
        return tfds.core.DatasetInfo(builder=self, features=features)

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        for i in range(int(self.builder_config.name)):
            again = i % 7
            yield (
                i,
                {
                    "ja": f"{i}番の箱を開けて{'また閉めて' * again}中を見る。",
                    "en": f"I open box {i},{' close it again,' * again} and look into it.",
                },
            )
