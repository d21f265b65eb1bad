"""Training cost by model size: `python benchmarks/training_cost.py --png FILE`.

Source and target tokens/s and peak memory of a process that trains like `train.py`, by width, depth
and length; all other settings are the defaults of `Config`. Batches are synthetic, without padding.
Also prints the useful operations/s (see `train_throughput.py`) as a share of the speed of a large
matrix product. For the cost by corpus size, see `streaming_memory.py`.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from machine import describe_machine, num_cores
from operations import logits_of_a_token, operations
from peer import Peer
from train_throughput import PRODUCT
from training_peers import Batch, write_batches

from keras_attn.translation.config import Config
from keras_attn.translation.runtime import precision
from keras_attn.translation.special_ids import BOS_ID, EOS_ID

WIDTHS = (128, 256, 384, 512, 768, 1024)
DEPTHS = (1, 2, 4, 8, 16)  # encoder layers; the decoder has half as many, at least 1
LENGTHS = (16, 32, 64, 128, 256, 512)
USUAL_LENGTH = 16
NUM_BATCHES = 8
TURNS = 3


class Point(NamedTuple):
    """Result for one size."""

    size: int
    tokens_per_second: float
    share: float
    memory: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--png", type=Path, help="image file to write")
    arguments = parser.parse_args()
    print(describe_machine(("tensorflow", "keras")), flush=True)
    fastest = precision.fastest()
    usual = Config(max_length=max(LENGTHS))
    curves: dict[str, list[Point]] = {}
    for name, sizes in (("width", WIDTHS), ("depth", DEPTHS), ("length", LENGTHS)):
        print(f"\n{name:>8}{'tokens/s':>10}{'of the peak':>13}{'MiB':>8}", flush=True)
        curves[name] = []
        for size in sizes:
            point = measure(*settings(usual, name, size), fastest, size)
            curves[name].append(point)
            print(
                f"{size:>8}{point.tokens_per_second:>10,.0f}{point.share:>13.0%}"
                f"{point.memory / 2**20:>8,.0f}",
                flush=True,
            )
    if arguments.png:
        draw(curves, arguments.png)
    return 0


def settings(usual: Config, name: str, size: int) -> tuple[Config, int]:
    """Configuration, and length of both sides, for one size."""
    if name == "width":
        sizes = {"num_hiddens": size, "ffn_num_hiddens": 4 * size, "num_heads": size // 64}
        return dataclasses.replace(usual, **sizes), USUAL_LENGTH
    if name == "depth":
        sizes = {"num_encoder_layers": size, "num_decoder_layers": max(1, size // 2)}
        return dataclasses.replace(usual, **sizes), USUAL_LENGTH
    return usual, size


def measure(config: Config, length: int, dtype: str, size: int) -> Point:
    """Train in turns with a matrix product."""
    some = [make_batch(config, length, seed) for seed in range(NUM_BATCHES)]
    fields: dict[str, Any] = dataclasses.asdict(config)
    ours, product = (
        Peer(name, ["training_peers.py", name, dtype], num_cores()) for name in ("ours", "product")
    )
    with tempfile.TemporaryDirectory() as name:
        write_batches(some, Path(name) / "batches.npz")
        ours.ask(load=str(Path(name) / "batches.npz"), config=fields)
    ours.ask(steps=NUM_BATCHES)
    seconds, peaks, memory = [], [], 0
    for _ in range(TURNS):
        peaks.append(product.ask(product=PRODUCT))
        answer = ours.ask(steps=NUM_BATCHES)
        seconds.append(answer["seconds"])
        memory = answer["memory"]
    ours.end()
    product.end()
    tokens = sum(batch[part].size for batch in some for part in (0, 2))
    speed = tokens / statistics.median(seconds)
    cost = operations(some, fields, logits_of_a_token(ours.name, config.vocab_size))
    share = cost / tokens * speed / statistics.median(peaks)
    return Point(size, speed, share, memory)


def make_batch(config: Config, length: int, seed: int) -> Batch:
    """Batch of random pieces, all of the same length."""
    random = np.random.default_rng(seed)
    shape = (config.batch_tokens // (2 * length), length)
    source, target = (
        random.integers(EOS_ID + 1, config.vocab_size, shape).astype(np.int32) for _ in range(2)
    )
    source[:, -1] = target[:, -1] = EOS_ID
    begin = np.full((shape[0], 1), BOS_ID, np.int32)
    return source, np.concatenate([begin, target[:, :-1]], axis=1), target


def draw(curves: dict[str, list[Point]], path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, (speeds, memories) = plt.subplots(
        2, len(curves), figsize=(7.2, 4.4), layout="constrained", sharex="col", sharey="row"
    )
    for above, below, (name, points) in zip(speeds, memories, curves.items(), strict=True):
        sizes = [point.size for point in points]
        above.loglog(sizes, [point.tokens_per_second for point in points], marker="o", markersize=3)
        below.loglog(
            sizes, [point.memory / 2**30 for point in points], marker="o", markersize=3, base=2
        )
        below.set_xlabel(name)
        below.set_xticks(sizes, [str(size) for size in sizes], rotation=60)
        below.yaxis.set_major_formatter("{x:g}")
    speeds[0].set_ylabel("tokens/s")
    memories[0].set_ylabel("GiB at most")
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    sys.exit(main())
