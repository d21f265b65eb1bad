"""Training speed by backend: `python benchmarks/train_backends.py --data everyday`.

Source and target tokens/s without padding of the configuration that `train.py` chooses for the
corpus, each with the batches of its backend: TensorFlow, JAX, and two JAX processes that share the
cores. A fourth, which trains on the rows of one of the two processes with the cores of one, shows
what a step of two processes takes beyond the computation. They take turns; the first turn, which
compiles each shape, is not counted.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from machine import describe_machine, num_cores

PAIRS = ("ja", "en")
ALONE = "one of the two, alone"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="everyday")
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--batches", type=int, default=20, help="batches of a turn")
    parser.add_argument("--turns", type=int, default=3, help="turns of each that are counted")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--half", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments)
        return 0
    print(describe_machine(("tensorflow", "keras", "jax")), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        take_turns(arguments, Path(folder))
    return 0


def take_turns(arguments: argparse.Namespace, folder: Path) -> None:
    """Start all processes, let them train by turns, and print medians."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    shared = {
        "KERAS_BACKEND": "jax",
        "KERAS_DISTRIBUTION_JOB_ADDRESSES": address,
        "KERAS_DISTRIBUTION_NUM_PROCESSES": "2",
    }
    half = max(1, num_cores() // 2)
    halves = [set(range(half)), set(range(num_cores() - half, num_cores()))]
    groups = {
        "TensorFlow": [start(folder, {"KERAS_BACKEND": "tensorflow"})],
        "JAX": [start(folder, {"KERAS_BACKEND": "jax"})],
        "two JAX processes": [
            start(folder, {**shared, "KERAS_DISTRIBUTION_PROCESS_ID": str(i)}, halves[i])
            for i in (0, 1)
        ],
        ALONE: [start(folder, {"KERAS_BACKEND": "jax"}, halves[0], "--half")],
    }
    seconds_of: dict[str, list[float]] = {name: [] for name in groups}
    tokens_of: dict[str, int] = {}
    first: dict[str, float] = {}
    for turn in range(arguments.turns + 1):
        for name, workers in groups.items():
            for worker in workers:
                print("go", file=worker.stdin, flush=True)
            answers = [answer(worker) for worker in workers]
            tokens_of[name], seconds = answers[0][0], max(seconds for _, seconds in answers)
            if turn:
                seconds_of[name].append(seconds)
            else:
                first[name] = seconds
    print(f"\n{'':<24}{'tokens/s':>10}{'ms a step':>11}{'first turn s':>14}")
    for name, found in seconds_of.items():
        middle = statistics.median(found)
        speed = "" if name == ALONE else f"{tokens_of[name] / middle:,.0f}"
        milliseconds = 1000 * middle / arguments.batches
        print(f"{name:<24}{speed:>10}{milliseconds:>11,.0f}{first[name]:>14.0f}", flush=True)
    started = sum(groups.values(), [])
    for worker in started:
        worker.stdin.close()
    for worker in started:  # two of them part only together
        worker.wait()


def start(
    folder: Path, environment: dict[str, str], cores: set[int] | None = None, *options: str
) -> subprocess.Popen:
    """Worker process with the arguments of this one."""
    return subprocess.Popen(
        [sys.executable, *sys.argv, "--worker", str(folder), *options],
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=(lambda: os.sched_setaffinity(0, cores)) if cores else None,
    )


def answer(worker: subprocess.Popen) -> tuple[int, float]:
    """Tokens and seconds of a turn."""
    for line in worker.stdout:
        if line.startswith("turn "):  # beside messages of the connection
            tokens, seconds = line.split()[1:]
            return int(tokens), float(seconds)
    raise RuntimeError("A worker has ended.")


def work(arguments: argparse.Namespace) -> None:
    """Train on the same batches for each line of the standard input."""
    import keras

    from keras_attn.translation import presets
    from keras_attn.translation.batching.batches import Batches
    from keras_attn.translation.corpus.load import load_corpus
    from keras_attn.translation.model import make_model
    from keras_attn.translation.runtime import allocator, threads
    from keras_attn.translation.tokenization import tokenizer
    from keras_attn.translation.training.callbacks import VariableValues
    from keras_attn.translation.training.jax import processes
    from keras_attn.translation.training.step import Trainer

    allocator.keep_freed_memory()
    threads.one_core_for_each_operation()
    processes.join()
    pairs = load_corpus(arguments.data, *PAIRS)
    fixed = presets.FIXED_SHAPES if keras.backend.backend() == "jax" else {}
    config = presets.for_corpus(pairs.num_train, precision=arguments.precision, **fixed)
    folder = Path(tempfile.mkdtemp(dir=arguments.worker))
    tokenizers = processes.by_first(lambda: tokenizer.load_or_train(folder, pairs.train, config))
    shard = processes.Shard(0, 2, 2) if arguments.half else processes.shard()
    batches = Batches(pairs.parts, tokenizers, config, shard)
    keras.utils.set_random_seed(config.seed)
    sizes = [one.vocab_size for one in tokenizers]
    trainer = Trainer(make_model(*sizes, config), config)
    tokens = sum(batches.num_tokens(step) for step in range(arguments.batches))
    for _ in sys.stdin:
        begin = time.perf_counter()
        trainer.fit(
            batches.dataset(),
            steps_per_epoch=arguments.batches,
            callbacks=[VariableValues()],
            shuffle=False,
            verbose=0,
        )
        print(f"turn {tokens} {time.perf_counter() - begin}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
