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
import tempfile
from importlib.util import find_spec
from pathlib import Path

import training_peer
from machine import describe_machine
from operations import operations
from peer import Peer
from training_peer import Batch, product_of, write_batches
from turns import Table, median_ratio, take_turns

from keras_attn.translation.batching.batches import Batches
from keras_attn.translation.batching.masking import MaskedParts
from keras_attn.translation.config import PRECISIONS, Config
from keras_attn.translation.corpus.load import load_corpus
from keras_attn.translation.special_ids import PAD_ID
from keras_attn.translation.tokenization import tokenizer

PEERS = ("ours", "keras_hub", "torch")
PRODUCT = 2048  # rows and columns


def main() -> None:
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
        stream = Batches(MaskedParts(pairs.parts, config), tokenizers, config).stream()
        some: list[Batch] = [tuple(next(stream)) for _ in range(arguments.batches)]
        vocab_size = max(one.vocab_size for one in tokenizers)
        config = dataclasses.replace(config, vocab_size=vocab_size)
        peers = start(arguments, write_batches(some, folder / "batches.pickle"), config)
        compare(peers, some, config, arguments.turns)
        for peer in peers.values():
            peer.end()


def start(arguments: argparse.Namespace, batches_file: str, config: Config) -> dict[str, Peer]:
    """Start one process for each program and precision, and run the first training step."""
    peers = {}
    print()
    table = Table({"": "<20", "first step s": ">14.1f"})
    for name in arguments.peers:
        if name == "keras_hub" and find_spec(name) is None:
            continue
        for precision in arguments.precisions:
            fields = dataclasses.asdict(config)
            peer = training_peer.start(name, precision, [batches_file], fields)
            table.add(peer.name, peer.ask(steps=1)["seconds"])
            peers[peer.name] = peer
    return peers


def compare(peers: dict[str, Peer], some: list[Batch], config: Config, num_turns: int) -> None:
    """Train in turns, with a matrix product in each turn, and print medians."""
    precisions = sorted({"float32", *(name.split()[1] for name in peers)}, reverse=True)
    products = {precision: product_of(precision) for precision in precisions}
    requests = {name: (product, {"product": PRODUCT}) for name, product in products.items()}
    requests |= {name: (peer, {"steps": len(some)}) for name, peer in peers.items()}
    turns = take_turns(requests, lambda one, turn: one[0].ask(**one[1]), num_turns)
    tokens = sum(int((part != PAD_ID).sum()) for batch in some for part in (batch[0], batch[2]))
    peak = {name: statistics.median(turns[name]) for name in products}
    speeds = {name: [tokens / turn["seconds"] for turn in turns[name]] for name in peers}
    costs = {name: operations(some, config, name.split()[0]) / tokens for name in peers}
    print(f"\n{tokens:,} tokens in {len(some)} batches; million operations each:", end=" ")
    print(", ".join(f"{name} {cost / 1e6:.1f}" for name, cost in costs.items()))
    print(", ".join(f"product in {name}: {peak[name] / 1e9:.0f} G/s" for name in products), "\n")
    others = [name for name in peers if not name.startswith("ours")]
    columns = {"": "<20", "tokens/s": ">10,.0f", "of float32 peak": ">17.0%", "MiB": ">8,.0f"}
    table = Table(columns | {f"x {other}": ">20.2f" for other in others})
    for name in peers:
        speed = statistics.median(speeds[name])
        ratios = (median_ratio(speeds[name], speeds[other]) for other in others)
        memory = turns[name][-1]["memory"] / 2**20
        table.add(name, speed, speed * costs[name] / peak["float32"], memory, *ratios)
    for product in products.values():
        product.end()


if __name__ == "__main__":
    main()
