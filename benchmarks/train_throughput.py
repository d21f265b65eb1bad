"""Training speed: `python benchmarks/train_throughput.py --data tatoeba`.

Source and target tokens/s without padding, on real batches in training order and at equal sizes:

- ours: Muon, weights averaged every eighth batch;
- KerasHub blocks with Keras `fit`, if installed: Adam, weights averaged after each batch;
- a loop with PyTorch `nn.Transformer`, in a separate environment: Adam, weights averaged after each
  batch.

They take turns. Useful operations are the matrix products that real tokens need, forward and
backward. Their share is relative to the speed of a large float32 matrix product, measured in the
same turns.
"""

import argparse
import dataclasses
import statistics
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from keras_attn_data import cache
from machine import describe_machine, num_cores
from operations import logits_of_a_token, operations
from peer import Peer, python_of
from training_peer import RECIPE, Batch, write_batches

from keras_attn.translation.batching.batches import Batches
from keras_attn.translation.config import PRECISIONS, Config
from keras_attn.translation.corpus.load import load_corpus
from keras_attn.translation.special_ids import PAD_ID
from keras_attn.translation.tokenization import tokenizer

PEERS = ("ours", "keras_hub", "torch")
PRODUCT = 2048  # rows and columns


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="tatoeba")
    parser.add_argument("--batches", type=int, default=24, help="batches of a turn")
    parser.add_argument("--turns", type=int, default=5, help="turns of each, after a warm-up turn")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=PEERS)
    # On a processor without bfloat16, a PyTorch step took 13 times as long as in float32.
    parser.add_argument("--precisions", nargs="+", choices=PRECISIONS, default=PRECISIONS)
    arguments = parser.parse_args()
    print(describe_machine(("tensorflow", "keras", "keras-hub", "numpy")), flush=True)
    config = Config(data=arguments.data)
    pairs = load_corpus(config.data, config.source, config.target)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tokenizers = tokenizer.load_or_train(folder, pairs.train, config)
        stream = Batches(pairs.parts, tokenizers, config).stream()
        some: list[Batch] = [tuple(next(stream)) for _ in range(arguments.batches)]
        vocab_size = max(one.vocab_size for one in tokenizers)
        config = dataclasses.replace(config, vocab_size=vocab_size)
        peers = start(arguments, write_batches(some, folder / "batches.npz"), config)
        take_turns(peers, some, config, arguments.turns)
        for peer in peers.values():
            peer.end()
    return 0


def start(arguments: argparse.Namespace, batches_file: str, config: Config) -> dict[str, Peer]:
    """Start one process for each program and precision, and run the first training step."""
    peers = {}
    print(f"\n{'':<20}{'first step s':>14}")
    for name in arguments.peers:
        if name == "keras_hub" and find_spec(name) is None:
            continue
        python = python_of("torch", cache.folder() / "environments") if name == "torch" else None
        for precision in arguments.precisions:
            command = ["training_peer.py", name, precision]
            peer = Peer(name, command, num_cores(), python)
            recipe = {} if name == "ours" else RECIPE
            peer.ask(load=[batches_file], config={**dataclasses.asdict(config), **recipe})
            print(f"{name + ' ' + precision:<20}{peer.ask(steps=1)['seconds']:>14.1f}", flush=True)
            peers[f"{name} {precision}"] = peer
    return peers


def take_turns(peers: dict[str, Peer], some: list[Batch], config: Config, num_turns: int) -> None:
    """Train in turns, with a matrix product in each turn, and print medians."""
    products = {
        precision: Peer(precision, ["training_peer.py", "product", precision], num_cores())
        for precision in sorted({"float32", *(name.split()[1] for name in peers)}, reverse=True)
    }
    speeds: dict[str, list[float]] = {name: [] for name in (*peers, *products)}
    memory = dict.fromkeys(peers, 0)
    tokens = sum(int((part != PAD_ID).sum()) for batch in some for part in (batch[0], batch[2]))
    for turn in range(num_turns + 1):  # the first turn compiles each shape
        for precision, product in products.items():
            speeds[precision] += [product.ask(product=PRODUCT)] if turn else []
        for name, peer in peers.items():
            answer = peer.ask(steps=len(some))
            speeds[name] += [tokens / answer["seconds"]] if turn else []
            memory[name] = answer["memory"]
    peak = {name: statistics.median(speeds[name]) for name in products}
    costs = {
        name: operations(some, config, logits_of_a_token(name.split()[0], config)) / tokens
        for name in peers
    }
    print(f"\n{tokens:,} tokens in {len(some)} batches; million operations each:", end=" ")
    print(", ".join(f"{name} {cost / 1e6:.1f}" for name, cost in costs.items()))
    print(", ".join(f"product in {name}: {peak[name] / 1e9:.0f} G/s" for name in products))
    ratios = "".join(f"{'x ' + name:>20}" for name in peers if not name.startswith("ours"))
    print(f"\n{'':<20}{'tokens/s':>10}{'of float32 peak':>17}{'MiB':>8}{ratios}")
    for name in peers:
        cost = costs[name] / peak["float32"]
        print(row(name, peers, speeds, cost, memory[name]), flush=True)
    for product in products.values():
        product.end()


def row(
    name: str, peers: dict[str, Peer], speeds: dict[str, list[float]], cost: float, memory: int
) -> str:
    """Medians of one program; ratios to other programs are taken within a turn."""
    speed = statistics.median(speeds[name])
    line = f"{name:<20}{speed:>10,.0f}{speed * cost:>17.0%}{memory / 2**20:>8,.0f}"
    for other in peers:
        if not other.startswith("ours"):
            pairs = zip(speeds[name], speeds[other], strict=True)
            line += f"{statistics.median(a / b for a, b in pairs):>20.2f}"
    return line


if __name__ == "__main__":
    sys.exit(main())
