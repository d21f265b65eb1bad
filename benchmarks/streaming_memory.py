"""Memory and speed of reading a corpus: `python benchmarks/streaming_memory.py --png FILE`.

Makes translation sets of TensorFlow Datasets of several sizes. A separate process reads each set
like in training, from the shards to the last batch of one epoch of each part. Prints the peak
memory and the speed in source and target tokens/s of the first epoch, without training the
tokenizers. For the cost by width, depth and length of the model, see `training_cost.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import synthetic_pairs
from machine import describe_machine

from keras_attn.translation.batching.batches import Batches
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.load import load_corpus
from keras_attn.translation.corpus.sources import TranslationSet
from keras_attn.translation.special_ids import PAD_ID
from keras_attn.translation.tokenization import tokenizer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--pairs",
        type=int,
        nargs="+",
        default=(200_000, 400_000, 800_000, 1_600_000),
        choices=synthetic_pairs.SIZES,
    )
    parser.add_argument("--png", type=Path, help="image file to write (extra `plots`)")
    # Internal option: this script starts itself, so that each step has a separate process.
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        STEPS[arguments.step](arguments.pairs[0])
        return 0
    print(describe_machine(("tensorflow", "tensorflow-datasets", "sentencepiece")), flush=True)
    print("     pairs  parts  batches   tokens/s  peak GiB", flush=True)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for num_pairs in arguments.pairs:
            call("make", num_pairs, folder)
            found.append(json.loads(call("read", num_pairs, folder)))
            print(
                "{pairs:>10,} {parts:>6} {batches:>8,} {speed:>10,.0f} {memory:>9.2f}".format(
                    **found[-1]
                ),
                flush=True,
            )
    if arguments.png:
        draw(found, arguments.png)
    return 0


def call(step: str, num_pairs: int, folder: str) -> str:
    """Run a step in a separate process and return its output."""
    command = [sys.executable, __file__, "--step", step, "--pairs", str(num_pairs)]
    environment = {**os.environ, "KERAS_ATTN_CACHE": folder, "TF_CPP_MIN_LOG_LEVEL": "3"}
    return subprocess.run(
        command, env=environment, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def make(num_pairs: int) -> None:
    """Write a translation set of the given number of pairs."""
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        TranslationSet(f"synthetic_pairs/{num_pairs}", "ja", "en")


def read(num_pairs: int) -> None:
    """Read a set like in training; print speed and peak memory."""
    pairs = load_corpus(f"tfds:synthetic_pairs/{num_pairs}")
    config = Config(vocab_size=2000)
    with tempfile.TemporaryDirectory() as folder:
        tokenizers = tokenizer.load_or_train(Path(folder), pairs.train, config)
    start = time.monotonic()
    batched = Batches(pairs.parts, tokenizers, config)
    num_steps = batched.steps_per_epoch * len(pairs.parts)
    num_tokens = 0
    for _, batch in zip(range(num_steps), batched.stream(), strict=False):
        num_tokens += sum(int(np.count_nonzero(batch[part] != PAD_ID)) for part in (0, 2))
    speed = num_tokens / (time.monotonic() - start)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    found = {"pairs": num_pairs, "parts": len(pairs.parts), "batches": num_steps}
    print(json.dumps({**found, "speed": speed, "memory": memory}))


def draw(found: list[dict[str, Any]], path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, both = plt.subplots(1, 2, figsize=(6.4, 2.6), layout="constrained")
    pairs = [one["pairs"] for one in found]
    for axes, what, label in zip(both, ("speed", "memory"), ("tokens/s", "GiB"), strict=True):
        axes.semilogx(pairs, [one[what] for one in found], marker="o", markersize=3)
        axes.set_xlabel("pairs of the corpus")
        axes.set_ylabel(f"{label}, reading")
        axes.set_ylim(bottom=0)
    figure.savefig(path, dpi=120)


STEPS = {"make": make, "read": read}

if __name__ == "__main__":
    sys.exit(main())
