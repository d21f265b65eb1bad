"""BLEU by training time: `python benchmarks/time_to_bleu.py --peers ours torch joeynmt`.

Prints BLEU of greedy translations of the test split of `tatoeba` after several training times:

- ours: one run of `train.py` for each time, because the learning-rate schedule ends with the time.
  Validation counts as training time and selects the weights of the best epoch. BLEU of the exported
  model with beam search is printed too.
- PyTorch (`torch_transformer.py`, averaged weights): one run, paused to translate. No validation;
  the last weights translate.
- JoeyNMT: one run, paused to translate. Validates ten sentences every few minutes; the last weights
  translate.

The peers use the recipe with which ours started: 4+2 layers, Adam, warm-up, dropout, label
smoothing, and averaged weights in the PyTorch loop. Results are appended to a file with the
machine, so that the runs may be spread over days. `--png` draws the results of machines like this
one (extra `plots`).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joeynmt_training
import search_settings
from environments import python_of
from keras_attn_data import cache
from machine import describe_machine, num_cores
from peer import Peer
from training_peers import RECIPE, write_batches

from keras_attn.translation.batching.batches import Batches
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.load import Corpus, load_corpus
from keras_attn.translation.evaluation.metrics import bleu
from keras_attn.translation.runtime import precision
from keras_attn.translation.special_ids import EOS_ID
from keras_attn.translation.tokenization import tokenizer
from keras_attn.translation.tokenization.tokenizer import Tokenizers

ROOT = Path(__file__).parents[1]
EPOCHS = 6  # of batches, before they repeat
JOEYNMT_CHECKPOINTS = 20  # updates between validations, a few minutes at most
NAMES = {"ours": "keras_attn", "torch": "PyTorch loop", "joeynmt": "JoeyNMT 2.3"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="tatoeba")
    parser.add_argument("--peers", nargs="*", choices=tuple(NAMES), default=tuple(NAMES))
    parser.add_argument("--minutes", nargs="+", type=float, default=(10.0, 20.0, 40.0, 60.0))
    parser.add_argument("--results", type=Path, default=Path("time_to_bleu.json"))
    parser.add_argument(
        "--png", type=Path, help="image file to write, with the results of this machine"
    )
    parser.add_argument("--environments", type=Path, default=cache.folder() / "environments")
    arguments = parser.parse_args()
    print(machine(), flush=True)
    minutes = sorted(arguments.minutes)
    if "ours" in arguments.peers:
        for number in minutes:
            add(arguments.results, "ours", number, **train_ours(arguments.data, number))
    for name, train in (("torch", train_torch), ("joeynmt", train_joeynmt)):
        if name in arguments.peers:
            pairs = load_corpus(arguments.data)
            python = python_of(name, arguments.environments)
            for number, translations in zip(minutes, train(pairs, minutes, python), strict=True):
                references = [example.references for example in pairs.test]
                add(arguments.results, name, number, bleu(translations, references, "en"))
    if arguments.png:
        draw(json.loads(arguments.results.read_text()), arguments.png)
    return 0


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
        report = json.loads((Path(name) / "1" / "report.json").read_text())
        model, tokenizers, config = search_settings.load(Path(name))
    greedy = dataclasses.replace(config, beam_size=1)
    examples = load_corpus(data, config.source, config.target).test
    said = search_settings.translate([e.source for e in examples], model, tokenizers, greedy)
    reached = bleu(said, [example.references for example in examples], config.target)
    return {"reached": reached, "bleu_of_export": report["scores"]["bleu"]}


def train_torch(pairs: Corpus, minutes: list[float], python: Path) -> Iterator[list[str]]:
    """Translations of the test split after each number of minutes of one run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config, tokenizers, fields = prepare(pairs, folder, minutes[-1])
        made = Batches(pairs.parts, tokenizers, config)
        stream = made.stream()
        files = [folder / f"{epoch}.npz" for epoch in range(EPOCHS)]
        for file in files:
            write_batches([tuple(next(stream)) for _ in range(made.steps_per_epoch)], file)
        command = ["torch_translator.py", precision.fastest(), str(num_cores())]
        peer = Peer("torch", command, num_cores(), python)
        peer.ask(load=[str(file) for file in files], config=fields)
        sources = tokenizers.source.encode([example.source for example in pairs.test])
        done = 0.0
        for number in minutes:
            steps = peer.ask(seconds=60 * (number - done))
            done = number
            said = peer.ask(translate=[[*ids, EOS_ID] for ids in sources])
            print(f"torch: {steps:,} batches more", flush=True)
            yield tokenizers.target.decode(said)
        peer.end()


def train_joeynmt(pairs: Corpus, minutes: list[float], python: Path) -> Iterator[list[str]]:
    """Translations of the test split after each number of minutes of one run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _, tokenizers, fields = prepare(pairs, folder, minutes[-1])
        dev, test = (
            [(example.source, example.references[0]) for example in examples]
            for examples in (pairs.validation[:10], pairs.test)
        )
        configuration = joeynmt_training.prepare(
            folder / "joeynmt",
            {"train": pairs.train, "dev": dev, "test": test},
            tokenizers,
            fields,
            updates=1_000_000,
            validate_every=JOEYNMT_CHECKPOINTS,
        )
        yield from joeynmt_training.translations_after(python, configuration, num_cores(), minutes)


def prepare(
    pairs: Corpus, folder: Path, minutes: float
) -> tuple[Config, Tokenizers, dict[str, Any]]:
    """Initial recipe of ours, tokenizers, and the fields of both that a peer needs."""
    config = Config(data=pairs.name, minutes=minutes)
    tokenizers = tokenizer.load_or_train(folder, pairs.train, config)
    sizes = {f"{side}_size": one.vocab_size for side, one in tokenizers._asdict().items()}
    return config, tokenizers, {**dataclasses.asdict(config), **sizes, **RECIPE, "beam_size": 1}


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
    sys.exit(main())
