"""Memory of reading a corpus in parts: `python benchmarks/streaming_memory.py`.

Makes translation sets of TensorFlow Datasets of several sizes, reads each as training does, from
the shards to the last batch of an epoch of every part, in a process of its own, and prints the
highest memory of each.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path

import synthetic_pairs
from machine import describe_machine

from keras_attn.translation import batches, corpus, tokenizer
from keras_attn.translation.config import Config
from keras_attn.translation.reading import TranslationSet


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--pairs",
        type=int,
        nargs="+",
        default=(200_000, 400_000, 800_000, 1_600_000),
        choices=synthetic_pairs.SIZES,
    )
    # What this script calls itself with, so that each step has a process of its own.
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        STEPS[arguments.step](arguments.pairs[0])
        return 0
    print(describe_machine(("tensorflow", "tensorflow-datasets", "sentencepiece")), flush=True)
    print("    pairs  parts  batches  peak GiB  seconds", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for num_pairs in arguments.pairs:
            for step in STEPS:
                subprocess.run(
                    [sys.executable, __file__, "--step", step, "--pairs", str(num_pairs)],
                    env={**os.environ, "KERAS_ATTN_CACHE": folder, "TF_CPP_MIN_LOG_LEVEL": "3"},
                    check=True,
                )
    return 0


def make(num_pairs: int) -> None:
    """Write a set of so many pairs."""
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        TranslationSet(f"synthetic_pairs/{num_pairs}", "ja", "en")


def read(num_pairs: int) -> None:
    """Read it as training does and print what that took."""
    start = time.monotonic()
    pairs = corpus.load(f"tfds:synthetic_pairs/{num_pairs}")
    config = Config(vocab_size=2000)
    with tempfile.TemporaryDirectory() as folder:
        tokenizers = tokenizer.load_or_train(Path(folder), pairs.train, config)
    batched = batches.make(pairs.parts, tokenizers, config)
    num_steps = batched.steps_per_epoch * len(pairs.parts)
    for _, _batch in zip(range(num_steps), batched.stream(), strict=False):
        pass
    seconds = time.monotonic() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{num_pairs:>9,} {len(pairs.parts):>6} {num_steps:>8,} {peak:>9.2f} {seconds:>8.0f}",
        flush=True,
    )


STEPS = {"make": make, "read": read}

if __name__ == "__main__":
    sys.exit(main())
