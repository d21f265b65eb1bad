"""Process of one program in `decode.py`: `python decode_peer.py NAME WAY`.

Reads one JSON request from each line and writes one JSON line as answer. `{"load": folder}` loads
an exported model, `{"texts": [...]}` translates a batch of strings, `{}` does neither. Each answer
has the seconds and the peak memory of the process.
"""

import sys
import time
from pathlib import Path
from typing import Any

from machine import num_cores, resident_memory
from peer import answer_requests

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

    def __init__(self, compute_type: str, way: str):
        self._compute_type = compute_type
        self._num_workers = num_cores() if way == "workers" else 1
        self._num_threads = num_cores() // self._num_workers

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


def main() -> None:
    name, way = sys.argv[1:]
    is_ours = not name.startswith("ctranslate2")
    engine: Any = Ours(way) if is_ours else CTranslate2(name.split()[1], way)

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        start = time.perf_counter()
        if "load" in request:
            engine.load(Path(request["load"]))
        elif "texts" in request:
            found["texts"] = engine.translate(request["texts"])
        found["seconds"] = time.perf_counter() - start
        found["peak MiB"] = resident_memory(what="VmHWM") / 2**20
        return found

    answer_requests(answer)


if __name__ == "__main__":
    main()
