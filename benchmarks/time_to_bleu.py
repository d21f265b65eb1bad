"""BLEU by training time: `python benchmarks/time_to_bleu.py --minutes 10 20`.

Prints BLEU of greedy translations of the test split of `tatoeba` after several training times:

- ours: one run of `train.py` for each time, because the learning-rate schedule ends with the time.
  Validation counts as training time and selects the weights of the best epoch. BLEU of the exported
  model with beam search is printed too.
- PyTorch (`torch_transformer.py`, averaged weights): one run, paused to translate. No validation;
  the last weights translate.

The loop uses the recipe with which ours started: 4+2 layers, Adam, warm-up, dropout, label
smoothing and averaged weights. Results are added to a file with the machine, so that the runs may
be spread over days. `--png` draws the results of machines like this one (extra `plots`).
"""

import argparse
import dataclasses
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from decode import load
from machine import describe_machine
from training_peer import start, write_batches

from keras_attn.translation.batching.batches import Batches
from keras_attn.translation.batching.masking import MaskedParts
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.load import Corpus, load_corpus
from keras_attn.translation.evaluation.metrics import bleu
from keras_attn.translation.runtime import precision
from keras_attn.translation.special_ids import EOS_ID
from keras_attn.translation.tokenization import tokenizer
from keras_attn.translation.training.validation import translate_with

ROOT = Path(__file__).parents[1]
EPOCHS = 6  # of batches, before they repeat
NAMES = {"ours": "keras_attn", "torch": "PyTorch loop"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="tatoeba")
    parser.add_argument("--peers", nargs="*", choices=tuple(NAMES), default=tuple(NAMES))
    parser.add_argument("--minutes", nargs="+", type=float, default=(10.0, 20.0, 40.0, 60.0))
    parser.add_argument("--results", type=Path, default=Path("time_to_bleu.json"))
    parser.add_argument("--png", type=Path, help="image to write, of the results of this machine")
    arguments = parser.parse_args()
    print(machine(), flush=True)
    minutes = sorted(arguments.minutes)
    if "ours" in arguments.peers:
        for number in minutes:
            add(arguments.results, "ours", number, **train_ours(arguments.data, number))
    if "torch" in arguments.peers:
        pairs = load_corpus(arguments.data)
        references = [example.references for example in pairs.test]
        found = train_torch(pairs, minutes)
        for number, translations in zip(minutes, found, strict=True):
            add(arguments.results, "torch", number, bleu(translations, references, "en"))
    if arguments.png:
        draw(json.loads(arguments.results.read_text()), arguments.png)


def add(path: Path, name: str, minutes: float, reached: float, **more: float) -> None:
    """Print a result and append it to the results file."""
    found = {"bleu": reached, **more}
    said = ", ".join(f"{what} {number:.1f}" for what, number in found.items())
    print(f"{name:<10}{minutes:>6g} minutes: {said}", flush=True)
    results = json.loads(path.read_text()) if path.is_file() else []
    place = {"name": name, "minutes": minutes, "machine": machine()}
    results = [one for one in results if any(one[key] != place[key] for key in place)]
    results.append({**place, **found})
    path.write_text(json.dumps(results, indent=2) + "\n")


def machine() -> str:
    return describe_machine(("tensorflow", "keras"))


def train_ours(data: str, minutes: float) -> dict[str, float]:
    """Train ours; score greedy search, like the peers, and the search of the exported model."""
    with tempfile.TemporaryDirectory() as name:
        command = ["train.py", "--data", data, "--minutes", str(minutes), "--out", name]
        subprocess.run([sys.executable, *command], cwd=ROOT, check=True)
        version = Path(name) / "1"
        report = json.loads((version / "report.json").read_text())
        model, tokenizers, config = load(version)
        translate = translate_with(model, tokenizers, config)
        examples = load_corpus(data, config.source, config.target).test
        said = translate([example.source for example in examples])
    reached = bleu(said, [example.references for example in examples], config.target)
    return {"reached": reached, "bleu_of_export": report["scores"]["bleu"]}


def train_torch(pairs: Corpus, minutes: list[float]) -> Iterator[list[str]]:
    """Translations of the test split after each number of minutes of one run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = Config(data=pairs.name, minutes=minutes[-1])
        tokenizers = tokenizer.load_or_train(folder, pairs.train, config)
        vocab_size = max(one.vocab_size for one in tokenizers)
        made = Batches(MaskedParts(pairs.parts, config), tokenizers, config)
        stream, steps = made.stream(), made.steps_per_epoch
        files = [
            write_batches([tuple(next(stream)) for _ in range(steps)], folder / f"{epoch}.pickle")
            for epoch in range(EPOCHS)
        ]
        faster = precision.fastest(precision.measure_speeds())
        fields = {**dataclasses.asdict(config), "vocab_size": vocab_size}
        peer = start("torch", faster, files, fields)
        sources = tokenizers.source.encode([example.source for example in pairs.test])
        done = 0.0
        for number in minutes:
            steps = peer.ask(seconds=60 * (number - done))
            done = number
            said = peer.ask(translate=[[*ids, EOS_ID] for ids in sources])
            print(f"torch: {steps:,} batches more", flush=True)
            yield tokenizers.target.decode(said)
        peer.end()


def draw(results: list[dict[str, Any]], path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    here = [one for one in results if one["machine"] == machine()]
    for name, label in NAMES.items():
        points = sorted((one["minutes"], one["bleu"]) for one in here if one["name"] == name)
        if points:
            axes.plot(*zip(*points, strict=True), marker="o", markersize=4, label=label)
    axes.set_xlabel("minutes of training")
    axes.set_ylabel("BLEU of the test split, greedy")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
