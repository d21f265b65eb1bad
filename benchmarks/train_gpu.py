"""Training speed on a graphics card: `python benchmarks/train_gpu.py`.

Source and target tokens/s of ours on JAX and of a PyTorch loop with `torch.compile`, both in
bfloat16, by model size and batch size. Batches are synthetic, without padding. "Of the peak" is the
share of useful operations (`train_throughput.py`) in the speed of a large bfloat16 product of JAX.

The programs run one after another, each with the whole memory of the card. A size whose batches
need too much memory ends with its error.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import sys
import tempfile
from pathlib import Path

from environments import python_of
from keras_attn_data import cache
from machine import describe_machine, num_cores
from operations import operations
from peer import Peer
from training_cost import make_batch
from training_peers import write_batches

from keras_attn.translation.config import Config

LENGTH = 32  # tokens of each sentence
NUM_BATCHES = 4
PRODUCT = 8192  # rows and columns
SIZES = {
    f"{encoder}+{decoder} x {width}": Config(
        num_encoder_layers=encoder,
        num_decoder_layers=decoder,
        num_hiddens=width,
        ffn_num_hiddens=4 * width,
        num_heads=width // 64,
    )
    for encoder, decoder, width in ((4, 2, 256), (6, 6, 512), (6, 6, 1024))
}
PROGRAMS = ("ours", "torch")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument(
        "--batch-tokens", nargs="+", type=int, default=[2**n for n in range(12, 18)]
    )
    parser.add_argument("--steps", type=int, default=20, help="steps of a turn")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=PROGRAMS)
    parser.add_argument("--environments", type=Path, default=cache.folder() / "environments")
    parser.add_argument("--torch-python", type=Path, help="a Python with PyTorch; else one is made")
    arguments = parser.parse_args()
    print(describe_machine(("jax", "keras", "torch")), flush=True)
    start("ours", arguments).end()  # a fault of the installation shows before the long part
    peak = 0.0
    print(f"{'':<28}{'tokens/s':>12}{'ms a step':>11}{'of the peak':>13}{'first step s':>14}")
    for program in arguments.programs:
        for name in arguments.sizes:
            peer = start(program, arguments)
            if not peak:
                peak = peer.ask(product=PRODUCT)
                print(f"A product makes {peak / 1e12:.0f} T operations/s.", flush=True)
            for batch_tokens in arguments.batch_tokens:
                label = f"{program} {name}, {batch_tokens:,}"
                try:
                    line = measure(peer, SIZES[name], batch_tokens, arguments, peak)
                except RuntimeError as error:
                    print(f"{label:<28} {str(error)[-300:]}", flush=True)
                    break
                print(f"{label:<28}{line}", flush=True)
            else:
                peer.end()
    return 0


def start(program: str, arguments: argparse.Namespace) -> Peer:
    """Process of a program."""
    python = None
    if program == "torch":
        python = arguments.torch_python or python_of("torch", arguments.environments)
    command = ["training_peers.py", program, "bfloat16"]
    return Peer(program, command, num_cores(), python, backend="jax")


def measure(
    peer: Peer, sizes: Config, batch_tokens: int, arguments: argparse.Namespace, peak: float
) -> str:
    """Cells of a line for one size."""
    # All logits: a large batch has nearly every piece among its targets.
    config = dataclasses.replace(sizes, batch_tokens=batch_tokens, sampled_softmax_fraction=1.0)
    fields = dataclasses.asdict(config)
    batches = [make_batch(config, LENGTH, seed) for seed in range(NUM_BATCHES)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "batches.npz"
        write_batches(batches, path)
        peer.ask(load=str(path), config=fields)
    first = peer.ask(steps=1)["seconds"]
    peer.ask(steps=NUM_BATCHES)
    found = [peer.ask(steps=arguments.steps)["seconds"] for _ in range(arguments.turns)]
    seconds = statistics.median(found) / arguments.steps
    tokens = sum(batch[part].size for batch in batches for part in (0, 2)) / NUM_BATCHES
    share = operations(batches, fields, config.vocab_size) / NUM_BATCHES / seconds / peak
    return f"{tokens / seconds:>12,.0f}{1000 * seconds:>11,.1f}{share:>13.1%}{first:>14.1f}"


if __name__ == "__main__":
    sys.exit(main())
