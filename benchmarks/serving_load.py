"""Load test of the server: `python benchmarks/serving_load.py saved_models/ja-en`.

A separate process sends requests of one sentence over loopback; each connection sends the next
request as soon as it has an answer. Prints requests/s and latencies, and compares them, in turns,
with the same SavedModel called directly: with batches of 64 sentences, which is the limit, and with
as many sentences as there are connections, up to 64. Every answer is compared with the answer of
the SavedModel. With `--peer`, the server of another checkout is measured by turns. One connection
also sends sentences while others send texts of 4,980 characters.

Then holds many connections for `--minutes`. Prints the memory of the server, its open files and the
number of programs that XLA compiled after the warm-up, over time.
"""

import argparse
import contextlib
import os
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from machine import describe_machine, private_and_shared
from peer import Peer
from serving_peer import PERCENTILES, clients_of, direct_calls, running_server
from turns import Table, median_ratio, take_turns

ROWS = 64  # sentences in a batch of the limit
SAMPLES = 10  # lines of memory
COLUMNS = {"server": ">6", "long": ">6", "connections": ">12", "requests/s": ">12.0f"}
COLUMNS |= {"of the limit": ">14.0%", "of direct calls": ">17.0%"}
COLUMNS |= {"p50 ms": ">8.1f", "p95": ">8.1f", "p99": ">8.1f"}
COLUMNS |= {"errors": ">8", "other answers": ">15", "answers": ">10,"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="folder of all versions")
    parser.add_argument("--data", help="corpus of the sentences (default: training corpus)")
    parser.add_argument("--connections", nargs="+", type=int, default=[1, 8, 64, 256])
    parser.add_argument("--long", type=int, default=10, help="connections that send long texts")
    parser.add_argument("--peer", type=Path, help="another checkout of this repository")
    parser.add_argument("--seconds", type=float, default=15.0, help="length of a turn, in seconds")
    parser.add_argument("--turns", type=int, default=3, help="turns of each, after a warm-up turn")
    parser.add_argument("--minutes", type=float, default=3.0, help="length of the memory test")
    arguments = parser.parse_args()
    print(describe_machine(("tensorflow", "starlette", "uvicorn")), flush=True)
    direct, texts, expected = direct_calls(arguments.model, arguments.data)
    start = time.monotonic()
    with contextlib.ExitStack() as stack:
        programs = stack.enter_context(tempfile.TemporaryDirectory())
        flags = f"--xla_dump_to={programs}"  # several files for each program
        model = arguments.model
        server, url = stack.enter_context(running_server(model, XLA_FLAGS=flags))
        print(f"warm after {time.monotonic() - start:.0f} s", flush=True)
        clients = {"this": clients_of(url, model, texts, expected)}
        if arguments.peer:
            _, url = stack.enter_context(running_server(model, arguments.peer))
            clients["peer"] = clients_of(url, model, texts, expected)
        measure(direct, clients, arguments)
        direct.end()
        if arguments.minutes:
            request = {"connections": max(arguments.connections), "seconds": 60 * arguments.minutes}
            watch(clients["this"], request, server, programs)
        for one in clients.values():
            one.end()


def measure(direct: Peer, clients: dict[str, Peer], arguments: argparse.Namespace) -> None:
    """Print medians over turns; shares are relative to the direct calls of the same turn."""
    rows = sorted({1, ROWS, *(min(number, ROWS) for number in arguments.connections)})
    cases = [*((number, 0) for number in arguments.connections), (1, arguments.long)]
    requests: dict[Any, tuple[Peer, dict]] = {number: (direct, {"rows": number}) for number in rows}
    requests |= {
        (name, long, number): (peer, {"connections": number, "long": long})
        for number, long in cases
        for name, peer in clients.items()
    }
    seconds = arguments.seconds
    turns = take_turns(
        requests, lambda one, turn: one[0].ask(seconds=seconds, **one[1]), arguments.turns
    )
    limits = {number: [turn["sentences/s"] for turn in turns[number]] for number in rows}
    print("called directly")
    table = Table({"texts": ">12", "sentences/s": ">12.0f", "p50 ms": ">8.1f"})
    for number in rows:
        time_of_call = statistics.median(turn["p50 ms"] for turn in turns.pop(number))
        table.add(number, statistics.median(limits[number]), time_of_call)
    table = Table(COLUMNS)
    speeds = {case: [turn["requests"] / turn["seconds"] for turn in turns[case]] for case in turns}
    for (name, long, number), found in turns.items():
        speed = speeds[name, long, number]
        shares = (median_ratio(speed, limits[texts]) for texts in (ROWS, min(number, ROWS)))
        times = (statistics.median(turn[percent] for turn in found) for percent in PERCENTILES)
        sums = (sum(turn[what] for turn in found) for what in ("errors", "others", "requests"))
        table.add(name, long, number, statistics.median(speed), *shares, *times, *sums)
        if name == "peer":
            ratio = median_ratio(speeds["this", long, number], speed)
            print(f"{'this/peer':>30}{ratio:>6.2f}", flush=True)


def watch(clients: Peer, request: dict[str, Any], server: int, programs: str) -> None:
    """Print memory, open files and compiled programs of the server while clients ask."""
    found: dict[str, Any] = {}
    asking = threading.Thread(target=lambda: found.update(clients.ask(**request)))
    asking.start()
    compiled = count_programs(programs)
    print()
    columns = {"seconds": ">8.0f", "private MiB": ">12,.0f", "shared": ">8,.0f"}
    table = Table(columns | {"open files": ">12", "compiled since": ">16"})
    for sample in range(SAMPLES + 1):
        num_files = len(os.listdir(f"/proc/{server}/fd"))
        since = count_programs(programs) - compiled
        time_of_sample = request["seconds"] * sample / SAMPLES
        table.add(time_of_sample, *private_and_shared(server), num_files, since)
        asking.join(request["seconds"] / SAMPLES)
    asking.join()
    print(f"{found['requests']:,} requests of {request['connections']} connections, ", end="")
    print(f"{found['errors']} errors, {found['others']} other answers; ", end="")
    print(f"p50 {found['50']:.0f} ms, p99 {found['99']:.0f} ms")


def count_programs(folder: str) -> int:
    return len({name.split(".")[0] for name in os.listdir(folder)})


if __name__ == "__main__":
    main()
