"""Memory of long attention: `python benchmarks/attention_memory.py`.

Peak resident memory of one forward and backward pass of self-attention, minus the memory of a
process that runs the same layer on 64 positions. Each measurement has a separate process. Compared:
our layer with the path that it chooses, our layer with all attention weights in memory (because
scores are requested), and the layer of Keras. A process that needs more than `--limit` GiB is
stopped and reported.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np
from layers_peer import make_layer
from machine import available_memory, describe_machine, process_memory

GIB = 2**30
SHORT = 64
# Memory reserved for the rest of the system.
RESERVE = 2 * GIB
SIGNS_OF_NO_MEMORY = "OOM ResourceExhausted bad_alloc MemoryError allocate pthread_create".split()
PATHS = {"chosen": "keras_attn", "plain": "keras_attn, with scores", "keras": "keras"}


def main() -> None:
    arguments = parse_arguments()
    if arguments.measure:
        return measure(arguments)
    print(describe_machine(("tensorflow", "keras", "numpy")))
    sizes = f"(1, {arguments.length}, {arguments.width}, {arguments.heads})"
    print(f"{sizes}, {arguments.dtype}, forward and backward\n")
    for path in arguments.paths:
        label = PATHS[path]
        limit = min(arguments.limit, (available_memory() - RESERVE) / GIB)
        baseline = run_child(path, SHORT, limit)
        peak = run_child(path, arguments.length, limit)
        if baseline is None or peak is None:
            print(f"{label:<26}needs more than {limit:.1f} GiB: stopped there")
        else:
            (memory, seconds), (memory_before, _) = peak, baseline
            gained = (memory - memory_before) / GIB
            print(f"{label:<26}{gained:8.2f} GiB {seconds:8.1f} s with tracing", flush=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--length", type=int, default=16384)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--causal", action="store_true", help="with the causal mask")
    parser.add_argument("--limit", type=float, default=12.0, help="GiB that a process may take")
    parser.add_argument("--paths", nargs="+", choices=PATHS, default=list(PATHS))
    parser.add_argument("--measure", choices=PATHS, help=argparse.SUPPRESS)
    return parser.parse_args()


def run_child(path: str, length: int, limit: float) -> tuple[float, float] | None:
    """Peak bytes and seconds of a pass in a new process; None if memory is insufficient."""
    command = [sys.executable, __file__, *sys.argv[1:], "--measure", path]
    command += ["--length", str(length), "--limit", str(limit)]
    environment = {"KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "2"}
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        memory, seconds = done.stdout.split()[-2:]
        return float(memory), float(seconds)
    if any(sign in done.stderr for sign in SIGNS_OF_NO_MEMORY):
        return None
    raise RuntimeError(f"{path} at length {length} failed: {done.stderr[-2000:]}")


def measure(arguments: argparse.Namespace) -> None:
    """Run a pass; print the peak resident bytes of this process and the seconds of the pass."""
    run = make_pass(arguments)
    run(SHORT)
    # Address space that TensorFlow has reserved already does not count against the limit.
    limit = process_memory(what="VmSize") + int(arguments.limit * GIB)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    start = time.monotonic()
    if arguments.length != SHORT:
        run(arguments.length)
    seconds = time.monotonic() - start
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, seconds)


def make_pass(arguments: argparse.Namespace) -> Any:
    """Function that runs a forward and backward pass on an input of a given length."""
    import tensorflow as tf

    width, dtype = arguments.width, arguments.dtype
    layer = make_layer(arguments.measure, width, arguments.heads, dtype)
    options = {"use_causal_mask": arguments.causal, "training": True}
    if arguments.measure == "plain":
        options["return_attention_scores"] = True

    @tf.function
    def forward_and_backward(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            output = layer(x, x, **options)
            output = output[0] if isinstance(output, tuple) else output
        variables = [v.value for v in layer.trainable_variables]
        return output, tape.gradient(output, [x, *variables])

    def run(length: int) -> None:
        x = np.random.default_rng(0).normal(size=(1, length, width)).astype("float32")
        forward_and_backward(tf.constant(x, dtype))

    return run


if __name__ == "__main__":
    main()
