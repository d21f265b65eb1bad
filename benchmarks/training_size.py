"""Cost of training by size of the model: `python benchmarks/training_size.py --widths 128 256 512`.

Source and target tokens/s of the training step of `train.py` for each combination of the given
sizes, compared with a PyTorch loop (`--programs ours torch`), which is compiled on a graphics card.
Batches are synthetic, without padding. "Estimated" are the tokens/s by which `train.py` chooses the
sizes of a model. "Of the peak" is the share of useful operations (`train_throughput.py`) in the
speed of a large product of the same precision. Programs run one after another.
"""

import argparse
import dataclasses
import itertools
import statistics
import tempfile
from pathlib import Path

import numpy as np
from machine import describe_machine
from operations import operations
from training_peer import Batch, product_of, start, write_batches
from turns import Table

from keras_attn.translation import presets
from keras_attn.translation.config import PRECISIONS, Config
from keras_attn.translation.special_ids import BOS_ID, EOS_ID

NUM_BATCHES = 8
SIZE_OF_PRODUCT = {"tensorflow": 2048, "jax": 8192}  # rows and columns
COLUMNS = {"width": ">7", "layers": ">8", "length": ">8", "batch": ">9,", "  program": "<11"}
COLUMNS |= {"tokens/s": ">10,.0f", "estimated": ">11,.0f", "ms a step": ">11,.1f"}
COLUMNS |= {"of the peak": ">13.1%", "MiB": ">8,.0f", "first step s": ">14.1f"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sizes = {"nargs": "+", "type": int}
    parser.add_argument("--widths", **sizes, default=[Config.num_hiddens])
    parser.add_argument("--depths", **sizes, default=[4], help="layers of the encoder")
    parser.add_argument("--decoder-depth", type=int, help="default: half of the encoder's")
    parser.add_argument("--lengths", **sizes, default=[16], help="tokens of each sentence")
    parser.add_argument("--batch-tokens", **sizes, default=[Config.batch_tokens])
    parser.add_argument("--turns", type=int, default=3, help="turns of 8 batches")
    parser.add_argument("--programs", nargs="+", choices=("ours", "torch"), default=["ours"])
    parser.add_argument("--precision", choices=PRECISIONS, default="float32")
    parser.add_argument("--backend", choices=SIZE_OF_PRODUCT, default="tensorflow")
    arguments = parser.parse_args()
    print(describe_machine(("tensorflow", "jax", "keras")))
    table = Table(COLUMNS)
    for width, depth, length, batch_tokens in itertools.product(
        arguments.widths, arguments.depths, arguments.lengths, arguments.batch_tokens
    ):
        config = Config(
            num_hiddens=width,
            ffn_num_hiddens=4 * width,
            num_heads=width // 64,
            num_encoder_layers=depth,
            num_decoder_layers=arguments.decoder_depth or max(1, depth // 2),
            batch_tokens=batch_tokens,
            max_length=512,
            precision=arguments.precision,
            **(presets.ON_ACCELERATOR if arguments.backend == "jax" else {}),
        )
        layers = f"{depth}+{config.num_decoder_layers}"
        for program in arguments.programs:
            measured = measure(program, config, length, arguments)
            table.add(width, layers, length, batch_tokens, f"  {program}", *measured)


def measure(
    program: str, config: Config, length: int, arguments: argparse.Namespace
) -> list[float | str]:
    """Last cells of a row; a training that needs too much memory gives its error."""
    batches = [make_batch(config, length, seed) for seed in range(NUM_BATCHES)]
    precision, backend = arguments.precision, arguments.backend
    peaks = {}
    for each in {"float32", precision}:
        product = product_of(each, backend)
        peaks[each] = product.ask(product=SIZE_OF_PRODUCT[backend])
        product.end()
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = write_batches(batches, Path(folder) / "batches.pickle")
            peer = start(program, precision, [file], dataclasses.asdict(config), backend)
            first = peer.ask(steps=1)["seconds"]
            turns = [peer.ask(steps=NUM_BATCHES) for _ in range(arguments.turns + 1)][1:]
    except RuntimeError as error:
        return [f" {str(error)[-300:]}"]
    peer.end()
    seconds = statistics.median(turn["seconds"] for turn in turns)
    tokens = sum(batch[part].size for batch in batches for part in (0, 2))
    return [
        tokens / seconds,
        1 / presets.seconds_of_a_token(config, peaks),
        1000 * seconds / NUM_BATCHES,
        operations(batches, config, program) / seconds / peaks[precision],
        turns[-1]["memory"] / 2**20,
        first,
    ]


def make_batch(config: Config, length: int, seed: int) -> Batch:
    """Batch of random tokens, few of them frequent, all sentences of the same length."""
    random = np.random.default_rng(seed)
    shape = (config.batch_tokens // (2 * length), length)
    ids = EOS_ID + 1 + (config.vocab_size - EOS_ID - 1) * random.random((2, *shape)) ** 4
    source, target = ids.astype(np.int32)
    source[:, -1] = target[:, -1] = EOS_ID
    begin = np.full((shape[0], 1), BOS_ID, np.int32)
    return source, np.concatenate([begin, target[:, :-1]], axis=1), target


if __name__ == "__main__":
    main()
