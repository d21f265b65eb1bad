"""BLEU for minutes of training: `python benchmarks/time_to_bleu.py --peers ours torch`.

BLEU of greedy translations of the test split of `tatoeba` after so many minutes on this machine:
ours, a run of `train.py` for each number of minutes, for its schedule ends with the time; the
PyTorch loop (`torch_transformer.py`, bfloat16, averaged weights), whose schedule does not, in one
run that is stopped to translate. Results are added to a file, so that the hours may be spread over
days. Validation counts in our minutes; the loop has none.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from environments import python_of
from keras_attn_data import cache
from machine import describe_machine, num_cores
from peer import Peer
from training_peers import write_batches

from keras_attn.translation import batches, corpus, tokenizer
from keras_attn.translation.config import Config
from keras_attn.translation.corpus import Corpus
from keras_attn.translation.scores import bleu
from keras_attn.translation.tokenizer import EOS_ID

ROOT = Path(__file__).parents[1]
EPOCHS = 6  # of batches, before they come again


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="tatoeba")
    parser.add_argument("--peers", nargs="+", choices=("ours", "torch"), default=("ours", "torch"))
    parser.add_argument("--minutes", nargs="+", type=float, default=(10.0, 20.0, 40.0, 60.0))
    parser.add_argument("--results", type=Path, default=Path("time_to_bleu.json"))
    parser.add_argument("--environments", type=Path, default=cache.folder() / "environments")
    arguments = parser.parse_args()
    print(describe_machine(("tensorflow", "keras")), flush=True)
    minutes = sorted(arguments.minutes)
    if "ours" in arguments.peers:
        for number in minutes:
            add(arguments.results, "ours", number, train_ours(arguments.data, number))
    if "torch" in arguments.peers:
        pairs = corpus.load(arguments.data)
        python = python_of("torch", arguments.environments)
        for number, reached in train_torch(pairs, minutes, python).items():
            add(arguments.results, "torch", number, reached)
    return 0


def add(path: Path, name: str, minutes: float, reached: float) -> None:
    """Print what was reached and remember it."""
    print(f"{name:<10}{minutes:>6g} minutes: BLEU {reached:.1f}", flush=True)
    results = json.loads(path.read_text()) if path.is_file() else {}
    results.setdefault(name, {})[f"{minutes:g}"] = reached
    path.write_text(json.dumps(results, indent=2) + "\n")


def train_ours(data: str, minutes: float) -> float:
    with tempfile.TemporaryDirectory() as name:
        command = ["train.py", "--data", data, "--minutes", str(minutes), "--beam-size", "1"]
        subprocess.run([sys.executable, *command, "--out", name], cwd=ROOT, check=True)
        report = json.loads((Path(name) / "1" / "report.json").read_text())
    return report["scores"]["bleu"]


def train_torch(pairs: Corpus, minutes: list[float], python: Path) -> dict[float, float]:
    """BLEU after each number of minutes of one run."""
    config = Config.for_corpus(pairs.num_train, data=pairs.name, minutes=max(minutes))
    reached = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tokenizers = tokenizer.load_or_train(folder, pairs.train, config)
        made = batches.make(pairs.parts, tokenizers, config)
        stream = made.stream()
        files = [folder / f"{epoch}.npz" for epoch in range(EPOCHS)]
        for file in files:
            write_batches([tuple(next(stream)) for _ in range(made.steps_per_epoch)], file)
        sizes = {f"{side}_size": one.vocab_size for side, one in tokenizers._asdict().items()}
        peer = Peer(
            "torch", ["torch_translator.py", "bfloat16", str(num_cores())], num_cores(), python
        )
        fields = {**dataclasses.asdict(config), **sizes}
        peer.ask(load=[str(file) for file in files], config=fields)
        sources = tokenizers.source.encode([example.source for example in pairs.test])
        done = 0.0
        for number in minutes:
            steps = peer.ask(seconds=60 * (number - done))
            done = number
            said = peer.ask(translate=[[*ids, EOS_ID] for ids in sources])
            print(f"torch: {steps:,} batches more", flush=True)
            texts = tokenizers.target.decode(said)
            references = [example.references for example in pairs.test]
            reached[number] = bleu(texts, references, config.target)
        peer.end()
    return reached


if __name__ == "__main__":
    sys.exit(main())
