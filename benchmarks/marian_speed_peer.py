"""Process of one engine in `marian_speed.py`: `python marian_speed_peer.py NAME WAY THREADS`.

Runs in the environment "marian" and answers requests like `decode_peers.py`; a request to load has
the beam size too.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from machine import memory_of_this_process
from peer import answer_requests

LONGEST = 40  # pieces, with the start and the end


class Transformers:
    """transformers with PyTorch."""

    def __init__(self, num_threads: int):
        import torch

        torch.set_num_threads(num_threads)

    def load(self, folder: Path, beam_size: int) -> None:
        from transformers import MarianMTModel, MarianTokenizer

        self._tokenizer = MarianTokenizer.from_pretrained(folder)
        self._model = MarianMTModel.from_pretrained(folder).eval()
        self._beam_size = beam_size

    def translate(self, texts: list[str]) -> list[str]:
        inputs = self._tokenizer(texts, return_tensors="pt", padding=True)
        found = self._model.generate(**inputs, num_beams=self._beam_size, max_length=LONGEST)
        return self._tokenizer.batch_decode(found, skip_special_tokens=True)


class CTranslate2:
    """CTranslate2 with its own conversion of the folder, and sentencepiece for both sides."""

    def __init__(self, compute_type: str, way: str, num_threads: int):
        self._compute_type = compute_type
        self._num_workers = num_threads if way == "workers" else 1
        self._num_threads = num_threads // self._num_workers

    def load(self, folder: Path, beam_size: int) -> None:
        import ctranslate2
        import sentencepiece

        self._translator = ctranslate2.Translator(
            str(folder / "ctranslate2"),
            compute_type=self._compute_type,
            inter_threads=self._num_workers,
            intra_threads=self._num_threads,
        )
        self._source, self._target = (
            sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{name}.spm"))
            for name in ("source", "target")
        )
        self._beam_size = beam_size

    def translate(self, texts: list[str]) -> list[str]:
        pieces = self._source.encode(texts, out_type=str)
        found = self._translator.translate_batch(
            [[*row, "</s>"] for row in pieces],
            # Texts of a like length go to one worker.
            max_batch_size=-(-len(texts) // self._num_workers),
            beam_size=self._beam_size,
            max_decoding_length=LONGEST - 2,
        )
        return self._target.decode([result.hypotheses[0] for result in found])


def main() -> int:
    name, way, num_threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if name == "transformers":
        engine: Any = Transformers(num_threads)
    else:
        engine = CTranslate2(name.split()[1], way, num_threads)

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        start = time.perf_counter()
        if "load" in request:
            engine.load(Path(request["load"]), request["beam_size"])
        elif "texts" in request:
            found["texts"] = engine.translate(request["texts"])
        found["seconds"] = time.perf_counter() - start
        found["peak MiB"] = memory_of_this_process("VmHWM") / 2**20
        return found

    answer_requests(answer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
