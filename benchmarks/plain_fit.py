"""Speed of plain Keras `fit` with these layers and with those of another commit, by turns.

`git worktree add OLD COMMIT && python benchmarks/plain_fit.py OLD`: a `Transformer` of 4+2 layers
of width 256 with 8,000 tokens is trained by `compile` and `fit` on batches of 128 x 16 tokens, with
each tree in a process of its own. Prints tokens a second and the median ratio, for each precision.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

from machine import describe_machine
from peer import Peer, answer_requests

NUM_BATCHES, BATCH_SIZE, LENGTH = 12, 128, 16
TOKENS = NUM_BATCHES * BATCH_SIZE * 2 * LENGTH  # of an epoch, source and target
PRECISIONS = ("float32", "mixed_bfloat16")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path, help="folder of another commit")
    parser.add_argument("--turns", type=int, default=5, help="measured turns (default: 5)")
    # Internal option: this script starts itself, so that each tree has a separate process.
    parser.add_argument("--one", choices=PRECISIONS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        answer_requests(epochs_of(arguments.old, arguments.one))
        return 0
    print(describe_machine(("tensorflow", "keras")))
    trees = [arguments.old, Path(__file__).parents[1]]
    for precision in PRECISIONS:
        peers = [
            Peer(str(tree), ["plain_fit.py", str(tree.resolve()), "--one", precision], 2)
            for tree in trees
        ]
        print(compare(precision, peers, arguments.turns), flush=True)
        for peer in peers:
            peer.end()
    return 0


def compare(precision: str, peers: list[Peer], num_turns: int) -> str:
    """A line with the tokens a second of both trees and the median ratio; turn 0 is not counted."""
    seconds: list[list[float]] = []
    for turn in range(num_turns + 1):
        order = peers if turn % 2 else peers[::-1]
        found = {peer: peer.ask(epoch=turn)["seconds"] for peer in order}
        seconds.append([found[peer] for peer in peers])
    old, new = zip(*seconds[1:], strict=True)
    ratio = statistics.median(a / b for a, b in zip(old, new, strict=True))
    speeds = [TOKENS / statistics.median(times) for times in (old, new)]
    return f"{precision}: {speeds[0]:,.0f} and {speeds[1]:,.0f} tokens/s, new / old {ratio:.2f}"


def epochs_of(tree: Path, precision: str):
    """Function that trains an epoch with the layers of a tree and returns the seconds."""
    sys.path.insert(0, str(tree))
    import time

    import keras
    import numpy as np

    from keras_attn import Transformer

    keras.utils.set_random_seed(1)
    model = Transformer.from_sizes(8000, 8000, 4, 2, 256, 1024, 4, dropout=0.1, dtype=precision)
    random = np.random.default_rng(0)
    shape = NUM_BATCHES * BATCH_SIZE, LENGTH
    source, target, labels = (random.integers(1, 8000, shape) for _ in range(3))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(1e-3), loss)

    def epoch(request: dict) -> dict:
        start = time.perf_counter()
        model.fit((source, target), labels, batch_size=BATCH_SIZE, epochs=1, verbose=0)
        return {"seconds": time.perf_counter() - start}

    return epoch


if __name__ == "__main__":
    sys.exit(main())
