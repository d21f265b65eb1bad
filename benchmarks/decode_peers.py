"""Process of one program in `decode.py`: `python decode_peers.py NAME WAY THREADS`.

Reads one JSON request from each line and writes one JSON line as answer. `{"load": folder}` loads
an exported model, `{"texts": [...]}` translates a batch of strings, `{}` returns the peak memory.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from peer import translate_requests

from keras_attn.translation import versions

LONGEST = 128


class Ours:
    """Our SavedModel, called by signature like in TensorFlow Serving."""

    def __init__(self, way: str):
        import tensorflow as tf

        self._tf = tf
        self._load = versions.load if way == "shards" else tf.saved_model.load

    def load(self, folder: Path) -> None:
        self._loaded = self._load(versions.newest_version(folder))
        self._translate = self._loaded.signatures["serving_default"]

    def translate(self, texts: list[str]) -> list[str]:
        answer = self._translate(text=self._tf.constant(texts))["translation"]
        return [text.decode() for text in answer.numpy()]


class CTranslate2:
    """CTranslate2 with the same weights, and sentencepiece for both sides."""

    def __init__(self, compute_type: str, way: str, num_threads: int):
        self._compute_type = compute_type
        self._num_workers = num_threads if way == "workers" else 1
        self._num_threads = num_threads // self._num_workers

    def load(self, folder: Path) -> None:
        import ctranslate2
        import sentencepiece

        self._translator = ctranslate2.Translator(
            str(folder),
            compute_type=self._compute_type,
            inter_threads=self._num_workers,
            intra_threads=self._num_threads,
        )
        self._source, self._target = (
            sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{name}.model"))
            for name in ("source", "target")
        )
        # The beam size is in a file next to the model.
        self._beam_size = int((folder / "beam_size").read_text())

    def translate(self, texts: list[str]) -> list[str]:
        found = self._translator.translate_batch(
            self._source.encode(texts, out_type=str),
            # Texts of a like length go to one worker.
            max_batch_size=-(-len(texts) // self._num_workers),
            beam_size=self._beam_size,
            length_penalty=0,
            min_decoding_length=0,
            max_decoding_length=LONGEST,
        )
        return self._target.decode([result.hypotheses[0] for result in found])


class KerasHub:
    """KerasHub encoder and decoder layers with the same weights, and KerasHub samplers."""

    def __init__(self, num_threads: int):
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(num_threads)

    def load(self, folder: Path) -> None:
        import keras_hub_model

        self._translate = keras_hub_model.load(folder, LONGEST)

    def translate(self, texts: list[str]) -> list[str]:
        return self._translate(texts)


def make(name: str, way: str, num_threads: int) -> Any:
    if name == "keras_hub":
        return KerasHub(num_threads)
    if name.startswith("ctranslate2"):
        return CTranslate2(name.split()[1], way, num_threads)
    return Ours(way)


if __name__ == "__main__":
    translate_requests(make(sys.argv[1], sys.argv[2], int(sys.argv[3])))
