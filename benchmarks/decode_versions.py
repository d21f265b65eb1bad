"""Decoding speed of exported versions, by turns: `python benchmarks/decode_versions.py OLD NEW`.

Each version is loaded by a process of its own. All translate the same sentences of the `tatoeba`
test split, one after the other, from strings to strings. For each batch size, prints the
milliseconds of the first version, the speed of the others relative to it (median over the turns),
and the share of their translations that are those of the first.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

from machine import describe_machine
from peer import Peer

from keras_attn.translation.corpus.load import load_corpus
from keras_attn.translation.runtime import threads

BATCH_SIZES = (1, 8, 32, 128)
# A turn translates about this many sentences, and at least two batches.
SENTENCES = 16


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("versions", type=Path, nargs="+", help="folders of exported versions")
    parser.add_argument("--turns", type=int, default=9, help="measured turns (default: 9)")
    arguments = parser.parse_args()
    print(describe_machine(("tensorflow",)))
    sentences = [example.source for example in load_corpus("tatoeba").test]
    cores = threads.num_cores()
    peers = [
        Peer(str(version), ["decode_peers.py", "ours", "shards", str(cores)], cores)
        for version in arguments.versions
    ]
    for peer in peers:
        peer.ask(load=peer.name)
    for size in BATCH_SIZES:
        print(compare(peers, batches_of(sentences, size), arguments.turns), flush=True)
    for peer in peers:
        peer.end()
    return 0


def batches_of(sentences: list[str], size: int) -> list[list[str]]:
    return [sentences[i : i + size] for i in range(0, len(sentences) - size + 1, size)]


def compare(peers: list[Peer], batches: list[list[str]], num_turns: int) -> str:
    """A line with the speed of each peer for batches of one size."""
    size = len(batches[0])
    each = max(SENTENCES // size, 2)
    seconds: dict[Peer, list[float]] = {peer: [] for peer in peers}
    texts: dict[Peer, list[str]] = {peer: [] for peer in peers}
    for turn in range(num_turns + 1):
        chosen = [batches[(turn * each + i) % len(batches)] for i in range(each)]
        for peer in peers if turn % 2 else peers[::-1]:
            answers = [peer.ask(texts=batch) for batch in chosen]
            texts[peer] += [text for answer in answers for text in answer["texts"]]
            if turn:  # the first warms up
                seconds[peer].append(sum(answer["seconds"] for answer in answers) / each)
    first, *others = peers
    line = f"{size:>4} texts {statistics.median(seconds[first]) * 1000:8.1f} ms"
    for peer in others:
        ratios = [a / b for a, b in zip(seconds[first], seconds[peer], strict=True)]
        equal = [a == b for a, b in zip(texts[first], texts[peer], strict=True)]
        line += f" | {statistics.median(ratios):.2f}, {sum(equal) / len(equal):.1%} the same"
    return line


if __name__ == "__main__":
    sys.exit(main())
