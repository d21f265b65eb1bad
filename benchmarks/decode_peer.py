"""Process of one program in `decode.py`: `python decode_peer.py NAME WAY`.

Reads one JSON request from each line and writes one JSON line as answer. `{"load": folder}` loads
an exported model, `{"texts": [...]}` translates a batch of strings, `{}` does neither. Each answer
has the seconds and the peak memory of the process. With `"count": true`, CTranslate2 adds its
row-steps, and takes a little longer.
"""

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from machine import num_cores, process_memory
from peer import answer_requests

from keras_attn.translation import versions

Translate = Callable[[list[str], bool], dict[str, Any]]


def load_ours(folder: Path, way: str) -> Translate:
    """Our SavedModel, called by signature like in TensorFlow Serving."""
    import tensorflow as tf

    load = versions.load if way == "shards" else tf.saved_model.load
    loaded = load(versions.newest_version(folder))

    def translate(texts: list[str], count: bool) -> dict[str, Any]:
        found = loaded.signatures["serving_default"](text=tf.constant(texts))["translation"]
        return {"texts": [text.decode() for text in found.numpy()]}

    return translate


def load_ctranslate2(folder: Path, way: str, compute_type: str) -> Translate:
    """CTranslate2 with the same weights, and sentencepiece for both sides."""
    import ctranslate2
    import sentencepiece

    num_workers = num_cores() if way == "workers" else 1
    translator = ctranslate2.Translator(
        str(folder),
        compute_type=compute_type,
        inter_threads=num_workers,
        intra_threads=num_cores() // num_workers,
    )
    source, target = (
        sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{name}.model"))
        for name in ("source", "target")
    )
    # Beam size and length penalty; all other settings are CTranslate2's defaults.
    search = json.loads((folder / "search.json").read_text())

    def translate(texts: list[str], count: bool) -> dict[str, Any]:
        found = translator.translate_batch(
            source.encode(texts, out_type=str),
            # Texts of a like length go to one worker.
            max_batch_size=-(-len(texts) // num_workers),
            num_hypotheses=search["beam_size"] if count else 1,
            **search,
        )
        answer = {"texts": target.decode([result.hypotheses[0] for result in found])}
        if count:
            # A search ends when it has `beam_size` hypotheses, with the last EOS or 256 tokens.
            lengths = (max(map(len, result.hypotheses)) for result in found)
            answer["row-steps"] = sum(min(length + 1, 256) for length in lengths)
        return answer

    return translate


def main() -> None:
    name, way = sys.argv[1:]
    load: Any = partial(load_ctranslate2, compute_type=name.split()[-1])
    if not name.startswith("ctranslate2"):
        import tensorflow  # noqa: F401  # before the time of loading

        load = load_ours
    translate: Any = None

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        nonlocal translate
        found: dict[str, Any] = {}
        start = time.perf_counter()
        if "load" in request:
            translate = load(Path(request["load"]), way)
        elif "texts" in request:
            found = translate(request["texts"], request.get("count", False))
        found["seconds"] = time.perf_counter() - start
        found["peak MiB"] = process_memory(what="VmHWM") / 2**20
        return found

    answer_requests(answer)


if __name__ == "__main__":
    main()
