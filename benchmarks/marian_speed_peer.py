"""Process of one engine in `marian_speed.py`.

`python marian_speed_peer.py NAME WAY THREADS BEAM_SIZE`, in the environment "marian".
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from peer import translate_requests

LONGEST = 40  # pieces, with the start and the end


class Transformers:
    """transformers with PyTorch."""

    def __init__(self, num_threads: int, beam_size: int):
        import torch

        self._beam_size = beam_size
        torch.set_num_threads(num_threads)

    def load(self, folder: Path) -> None:
        from transformers import MarianMTModel, MarianTokenizer

        self._tokenizer = MarianTokenizer.from_pretrained(folder)
        self._model = MarianMTModel.from_pretrained(folder).eval()

    def translate(self, texts: list[str]) -> list[str]:
        inputs = self._tokenizer(texts, return_tensors="pt", padding=True)
        found = self._model.generate(**inputs, num_beams=self._beam_size, max_length=LONGEST)
        return self._tokenizer.batch_decode(found, skip_special_tokens=True)


class CTranslate2:
    """CTranslate2 with its own conversion of the folder, and sentencepiece for both sides."""

    def __init__(self, compute_type: str, way: str, num_threads: int, beam_size: int):
        self._beam_size = beam_size
        self._compute_type = compute_type
        self._num_workers = num_threads if way == "workers" else 1
        self._num_threads = num_threads // self._num_workers

    def load(self, folder: Path) -> None:
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


def make(name: str, way: str, num_threads: int, beam_size: int) -> Any:
    if name == "transformers":
        return Transformers(num_threads, beam_size)
    return CTranslate2(name.split()[1], way, num_threads, beam_size)


if __name__ == "__main__":
    translate_requests(make(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
