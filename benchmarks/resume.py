"""Reproducibility of resumed training: `python benchmarks/resume.py tatoeba`.

Trains twice for the same number of steps: once without interruption, and once killed at random
moments and resumed. Compares all weights of the two exported models bit for bit.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from keras_attn.translation import named_weights

ROOT = Path(__file__).parents[1]
# Save every few seconds, because starting a training takes longer than the steps between kills.
TRAINING = (
    "import sys; from keras_attn.translation.training import callbacks; import train; "
    "callbacks.CHECKPOINT_SECONDS = 5.0; sys.exit(train.main(['train', *sys.argv[1:]]))"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", help="everyday, tatoeba or a TSV file")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0, help="random seed of the kill times")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        undisturbed, killed = Path(folder, "undisturbed"), Path(folder, "killed")
        start = time.monotonic()
        if start_training(arguments, undisturbed).wait():
            return 1
        seconds = time.monotonic() - start
        print(f"without interruption: {seconds:.0f} s", flush=True)
        moments = random.Random(arguments.seed)
        for kill in range(1, arguments.kills + 1):
            process = start_training(arguments, killed)
            try:
                process.wait(timeout=moments.uniform(0.3, 1.0) * seconds / 3)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                print(f"kill {kill}: {last_checkpoint(killed)}", flush=True)
            else:
                print(f"training ended before kill {kill}")
                break
        if not list(killed.glob("[0-9]*")) and start_training(arguments, killed).wait():
            return 1
        weights, others = (named_weights.of_version(path / "1") for path in (undisturbed, killed))
        different = [name for name in weights if (weights[name] != others[name]).any()]
    print(f"different weights: {len(different)} {different[:5]}")
    return len(different) > 0


def start_training(arguments: argparse.Namespace, out: Path) -> subprocess.Popen:
    options = ["--data", arguments.data, "--steps", arguments.steps, "--out", out]
    return subprocess.Popen(
        [sys.executable, "-c", TRAINING, *map(str, options)],
        cwd=ROOT,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def last_checkpoint(out: Path) -> str:
    found = list((out / "training").glob("checkpoint-*.index"))
    return max(found, key=lambda path: path.stat().st_mtime).stem if found else "no checkpoint yet"


if __name__ == "__main__":
    sys.exit(main())
