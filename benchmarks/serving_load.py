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
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from machine import describe_machine, private_and_shared
from peer import Peer
from serving_peer import clients_of, direct_calls, running_server

ROWS = 64  # sentences in a batch of the limit
SAMPLES = 10  # lines of memory


def main() -> int:
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
    return 0


def measure(direct: Peer, clients: dict[str, Peer], arguments: argparse.Namespace) -> None:
    """Print medians over turns; shares are relative to the direct calls of the same turn."""
    seconds = arguments.seconds
    rows = sorted({1, ROWS, *(min(number, ROWS) for number in arguments.connections)})
    called: dict[int, list[dict]] = {number: [] for number in rows}
    cases = [*((number, 0) for number in arguments.connections), (1, arguments.long)]
    found: dict[tuple, list[dict]] = {(name, *case): [] for case in cases for name in clients}
    for turn in range(arguments.turns + 1):
        calls = {number: direct.ask(rows=number, seconds=seconds) for number in called}
        answers = {
            (name, number, long): clients[name].ask(connections=number, long=long, seconds=seconds)
            for name, number, long in found
        }
        if turn:  # the first turn compiles each shape
            for rows_of_call, call in calls.items():
                called[rows_of_call].append(call)
            for case, answer in answers.items():
                found[case].append(answer)
    print(f"{'texts':>12}{'sentences/s':>12}{'p50 ms':>8}   called directly")
    for number, turns in called.items():
        speed, time_of_call = (
            statistics.median(turn[name] for turn in turns) for name in ("sentences/s", "p50 ms")
        )
        print(f"{number:>12}{speed:>12.0f}{time_of_call:>8.1f}")
    print(
        f"{'server':>6}{'long':>6}{'connections':>12}{'requests/s':>12}{'of the limit':>14}"
        f"{'of direct calls':>17}",
        end="",
    )
    print("".join(f"{name:>8}" for name in ("p50 ms", "p95", "p99")), " errors  other answers")
    for (name, number, long), turns in found.items():
        speeds = [turn["requests"] / turn["seconds"] for turn in turns]
        print(f"{name:>6}{long:>6}{number:>12}{statistics.median(speeds):>12.0f}", end="")
        for width, texts in ((14, ROWS), (17, min(number, ROWS))):
            limits = [turn["sentences/s"] for turn in called[texts]]
            share = [one / limit for one, limit in zip(speeds, limits, strict=True)]
            print(f"{statistics.median(share):>{width}.0%}", end="")
        for percentile in ("50", "95", "99"):
            print(f"{statistics.median(turn[percentile] for turn in turns):>8.1f}", end="")
        errors, others = (sum(turn[name] for turn in turns) for name in ("errors", "others"))
        total = sum(turn["requests"] for turn in turns)
        print(f"{errors:>8}{others:>8} of {total:,}", flush=True)
        if name == "peer":
            these = [turn["requests"] / turn["seconds"] for turn in found["this", number, long]]
            ratios = [this / peer for this, peer in zip(these, speeds, strict=True)]
            print(f"{'this/peer':>30}{statistics.median(ratios):>6.2f}", flush=True)


def watch(clients: Peer, request: dict[str, Any], server: int, programs: str) -> None:
    """Print memory, open files and compiled programs of the server while clients ask."""
    found: dict[str, Any] = {}
    asking = threading.Thread(target=lambda: found.update(clients.ask(**request)))
    asking.start()
    compiled = count_programs(programs)
    print(
        f"\n{'seconds':>8}{'private MiB':>12}{'shared':>8}{'open files':>12}{'compiled since':>16}"
    )
    for sample in range(SAMPLES + 1):
        private, shared = private_and_shared(server)
        num_files = len(os.listdir(f"/proc/{server}/fd"))
        print(
            f"{request['seconds'] * sample / SAMPLES:>8.0f}{private:>12,.0f}{shared:>8,.0f}"
            f"{num_files:>12}",
            end="",
        )
        print(f"{count_programs(programs) - compiled:>16}", flush=True)
        asking.join(request["seconds"] / SAMPLES)
    asking.join()
    print(f"{found['requests']:,} requests of {request['connections']} connections, ", end="")
    print(f"{found['errors']} errors, {found['others']} other answers; ", end="")
    print(f"p50 {found['50']:.0f} ms, p99 {found['99']:.0f} ms")


def count_programs(folder: str) -> int:
    return len({name.split(".")[0] for name in os.listdir(folder)})


if __name__ == "__main__":
    sys.exit(main())
