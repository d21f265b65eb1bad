"""Translation time by length: `python benchmarks/decode_length.py MODEL --png FILE`.

Uses the weights of an exported translator with more positions. Sources are random pieces, and
translations are forced to the length of the source. Prints milliseconds for each sentence; `--png`
draws them (extra `plots`).
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import tensorflow as tf
from decode import load_model
from machine import describe_machine

from keras_attn.translation import versions
from keras_attn.translation.config import Config
from keras_attn.translation.decoding.search import Search
from keras_attn.translation.special_ids import EOS_ID
from keras_attn.translation.versions import CONFIG, EXTRA

LENGTHS = (8, 16, 32, 64, 128, 192, 256, 384, 500)
SERIES = [(batch_size, beam_size) for batch_size in (1, 32) for beam_size in (1, 4)]
REPEATS = 3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "model", type=Path, help="folder of an exported version, or of all versions"
    )
    parser.add_argument("--png", type=Path, help="image file to write")
    arguments = parser.parse_args()
    print(describe_machine(("tensorflow",)), flush=True)
    version = versions.newest_version(arguments.model)
    config = dataclasses.replace(
        Config.load(version / EXTRA / CONFIG),
        max_length=512,
        length_penalty=0.0,
        min_length_ratio=1.0,
        max_length_ratio=1.0,
        no_repeat_ngram=0,
    )
    model = load_model(version)
    print("milliseconds a sentence\n\npieces" + "".join(f"{name(*s):>22}" for s in SERIES))
    searches = {k: Search(model, dataclasses.replace(config, beam_size=k)) for k in (1, 4)}
    found: list[list[float]] = []
    for length in LENGTHS:
        found.append([seconds(searches[k], length, b) / b * 1000 for b, k in SERIES])
        print(f"{length:>6}" + "".join(f"{ms:>22.1f}" for ms in found[-1]), flush=True)
    if arguments.png:
        draw(np.array(found), arguments.png)
    return 0


def name(batch_size: int, beam_size: int) -> str:
    texts = "one text" if batch_size == 1 else f"{batch_size} texts"
    return f"{texts}, {'greedy' if beam_size == 1 else f'beam {beam_size}'}"


def seconds(search: Search, length: int, batch_size: int) -> float:
    """Median time for a batch of sources of `length` pieces."""
    random = np.random.default_rng(length)
    sources = random.integers(EOS_ID + 1, 2000, (batch_size, length)).astype(np.int32)
    sources[:, -1] = EOS_ID
    function = tf.function(search)
    times = []
    for _ in range(REPEATS + 1):
        start = time.perf_counter()
        function(tf.constant(sources)).tokens.numpy()
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def draw(found: np.ndarray, path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    for series, values in zip(SERIES, found.T, strict=True):
        axes.plot(LENGTHS, values, marker="o", markersize=3, label=name(*series))
    axes.set_xlabel("pieces of the source, and as many of the translation")
    axes.set_ylabel("ms a sentence")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    sys.exit(main())
