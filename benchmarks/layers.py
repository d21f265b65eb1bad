"""Speed of multi-head attention compared with Keras and PyTorch: `python benchmarks/layers.py`.

Measures self-attention with biases in all projections: forward, and forward with backward. Each
library has a separate process with one thread for each core. They take turns, so that other load
on the machine affects all of them. A ratio above 1 means that `keras_attn` is faster. PyTorch is
skipped if it is not installed.
"""

import argparse
import importlib.util
import statistics
from typing import Any

from machine import describe_machine, num_cores
from peer import Peer
from turns import Table, take_turns

OURS = "keras_attn"
PASSES = ("forward", "forward+backward")
SHAPES = [(32, 64, 256, 4), (8, 512, 512, 8), (1, 4096, 512, 8)]
# Maximum relative difference of the sums that two libraries compute.
TOLERANCE = {"float32": 1e-3, "bfloat16": 3e-2}


def main() -> None:
    arguments = parse_arguments()
    peers = [OURS, "keras", *(["torch"] if importlib.util.find_spec("torch") else [])]
    print(describe_machine(("tensorflow", "keras", "torch", "numpy")))
    print(f"{num_cores()} threads; median of {arguments.repeats} turns; ", end="")
    print("causal mask" if arguments.causal else "no mask")
    print()
    columns = {"B, T, D, H": "<18", "dtype": "<10", "pass": "<18"}
    columns |= {f"{peer} ms": ">15.1f" for peer in peers}
    table = Table(columns | {f"{peer}/ours": ">12.2f" for peer in peers[1:]})
    processes = [Peer(peer, ["layers_peer.py", peer]) for peer in peers]
    found: list[float] = []
    for shape in arguments.shapes:
        for dtype in arguments.dtypes:
            check_agreement(processes, shape=shape, dtype=dtype, causal=arguments.causal)
            for name in PASSES:
                request = {"pass": name, "seconds": arguments.seconds}
                times = median_times(processes, request, arguments.repeats)
                ratios = [time / times[0] for time in times[1:]]
                sizes = ", ".join(map(str, shape))
                table.add(sizes, dtype, name, *(1000 * time for time in times), *ratios)
                found += ratios
    for process in processes:
        process.end()
    print(f"\nahead in {sum(ratio > 1 for ratio in found)} of {len(found)} comparisons")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--causal", action="store_true", help="with the causal mask")
    parser.add_argument("--dtypes", nargs="+", choices=TOLERANCE, default=list(TOLERANCE))
    parser.add_argument("--repeats", type=int, default=9, help="turns of each library")
    parser.add_argument("--seconds", type=float, default=0.3, help="minimum length of a turn")
    shapes = {"default": SHAPES, "metavar": "B,T,D,H", "help": "batch, length, width, heads"}
    parser.add_argument("--shapes", nargs="+", type=parse_shape, **shapes)
    return parser.parse_args()


def parse_shape(text: str) -> tuple[int, ...]:
    shape = tuple(int(size) for size in text.split(","))
    if len(shape) != 4:
        raise argparse.ArgumentTypeError(f"expected B,T,D,H. Received: {text}")
    return shape


def check_agreement(processes: list[Peer], **request: Any) -> None:
    """Build the layers and check that all libraries compute the same result, up to rounding."""
    ours, *others = [process.ask(**request) for process in processes]
    tolerance = TOLERANCE[request["dtype"]]
    for process, other in zip(processes[1:], others, strict=True):
        for name in PASSES:
            for mine, theirs in zip(ours[name], other[name], strict=True):
                if not abs(mine - theirs) <= tolerance * abs(theirs):
                    raise RuntimeError(
                        f"{process.name} computes a different {name}: "
                        f"{other[name]}, ours {ours[name]}, for {request}."
                    )


def median_times(processes: list[Peer], request: dict[str, Any], num_turns: int) -> list[float]:
    """Median seconds of a call, for each process."""
    programs = {process.name: process for process in processes}
    turns = take_turns(programs, lambda process, turn: process.ask(**request), num_turns)
    return [statistics.median(times) for times in turns.values()]


if __name__ == "__main__":
    main()
