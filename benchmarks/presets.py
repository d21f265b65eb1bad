"""Options for a small corpus: `python benchmarks/presets.py --pairs 5000 --try "" ...`.

Trains on `--pairs` pairs of the training split of `tatoeba` for `--steps` steps with each set of
options. All models are scored on the same sentences of the test split of `tatoeba`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from machine import describe_machine

from keras_attn.translation.corpus.load import load_corpus

ROOT = Path(__file__).parents[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=5000)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--sentences", type=int, default=1000, help="test sentences")
    parser.add_argument("--try", dest="tries", nargs="+", default=[""], help="options of train.py")
    arguments = parser.parse_args()
    print(describe_machine(("tensorflow", "keras")))
    print(f"{arguments.pairs:,} pairs of tatoeba, {arguments.steps:,} steps", flush=True)
    pairs = load_corpus("tatoeba")
    chosen = random.Random(0).sample(pairs.train, arguments.pairs)
    tested = random.Random(1).sample(pairs.test, min(arguments.sentences, len(pairs.test)))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "train.tsv", chosen)
        write(folder / "test.tsv", [(e.source, text) for e in tested for text in e.references])
        for number, options in enumerate(arguments.tries):
            found = score(folder, folder / str(number), arguments.steps, shlex.split(options))
            print(
                f"BLEU {found['bleu']:5.1f} ± {found['bleu_interval']:.1f}  {options}", flush=True
            )
    return 0


def write(path: Path, pairs) -> None:
    path.write_text("".join("\t".join(pair) + "\n" for pair in pairs), encoding="utf-8")


def score(folder: Path, out: Path, steps: int, options: list[str]) -> dict:
    run = ["train.py", "--data", folder / "train.tsv", "--out", out, "--steps", steps, *options]
    python(folder, *run)
    told = ["evaluate", out, folder / "test.tsv", "--all", "--out", out / "report"]
    python(folder, "-m", "keras_attn.translation", *told)
    return json.loads((out / "report" / "report.json").read_text(encoding="utf-8"))["scores"]


def python(folder: Path, *command) -> None:
    with (folder / "log").open("w") as log:
        subprocess.run(
            [sys.executable, *map(str, command)],
            cwd=ROOT,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
            stdout=log,
            stderr=log,
            check=True,
        )


if __name__ == "__main__":
    sys.exit(main())
