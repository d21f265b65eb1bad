"""Load test of the server: `python benchmarks/serving_load.py saved_models/ja-en`.

A separate process sends requests of one sentence over loopback; each connection sends the next
request as soon as it has an answer. Prints requests/s and latencies, and compares them, in turns,
with the same SavedModel called directly: with batches of 64 sentences, which is the limit, and with
as many sentences as there are connections, up to 64. Then prints the memory of the server over many
requests. Every answer is compared with the answer of the SavedModel.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

from machine import describe_machine, num_cores
from peer import Peer

from keras_attn.translation import versions
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.load import load_corpus
from keras_attn.translation.versions import CONFIG, EXTRA

ROWS = 64  # sentences in a batch of the limit


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="folder of all versions")
    parser.add_argument("--data", help="corpus of the sentences (default: training corpus)")
    parser.add_argument("--connections", nargs="+", type=int, default=[1, 8, 64, 256])
    parser.add_argument("--seconds", type=float, default=15.0, help="length of a turn, in seconds")
    parser.add_argument("--turns", type=int, default=3, help="turns of each, after a warm-up turn")
    parser.add_argument("--requests", type=int, default=50_000, help="requests of the memory test")
    parser.add_argument(
        "--options", nargs="*", default=[], help="options of the server, without --"
    )
    arguments = parser.parse_args()
    print(describe_machine(("tensorflow", "starlette", "uvicorn")), flush=True)
    version = versions.newest_version(arguments.model)
    config = Config.load(version / EXTRA / CONFIG)
    pairs = load_corpus(arguments.data or config.data, config.source, config.target)
    texts = sorted({example.source for example in pairs.test + pairs.validation})
    direct = Peer("direct", ["serving_peer.py", "direct", str(version)], num_cores())
    expected = direct.ask(translate=texts)
    with subprocess.Popen(
        [
            sys.executable,
            *("-m", "keras_attn.serving", str(arguments.model), "--port", "0"),
            *(f"--{option}" for option in arguments.options),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        url = server.stdout.readline().strip()  # type: ignore[union-attr]
        start = time.monotonic()
        while not is_ready(url):
            time.sleep(0.5)
        print(f"warm after {time.monotonic() - start:.0f} s", flush=True)
        name = arguments.model.resolve().name
        clients = Peer("clients", ["serving_peer.py", "clients", url, name], num_cores())
        clients.ask(texts=texts, expected=expected)
        measure(direct, clients, texts, arguments)
        watch_memory(clients, server.pid, arguments.requests)
        clients.end()
        server.terminate()
    direct.end()
    return 0


def is_ready(url: str) -> bool:
    try:
        with urlopen(f"{url}healthz") as response:
            return response.status == 200
    except OSError:
        return False


def measure(direct: Peer, clients: Peer, texts: list[str], arguments: argparse.Namespace) -> None:
    """Print medians over turns; shares are relative to the direct calls of the same turn."""
    seconds = arguments.seconds
    rows = sorted({ROWS, *(min(number, ROWS) for number in arguments.connections)})
    called: dict[int, list[dict]] = {number: [] for number in rows}
    found: dict[int, list[dict]] = {number: [] for number in arguments.connections}
    for turn in range(arguments.turns + 1):
        calls = {number: direct.ask(rows=number, seconds=seconds) for number in called}
        answers = {number: clients.ask(connections=number, seconds=seconds) for number in found}
        if turn:  # the first turn compiles each shape
            for kept, new in ((called, calls), (found, answers)):
                for number, one in new.items():
                    kept[number].append(one)
    print(f"{'texts':>12}{'sentences/s':>12}{'p50 ms':>8}   called directly")
    for number, turns in called.items():
        speed, time_of_call = (
            statistics.median(turn[name] for turn in turns) for name in ("sentences/s", "p50 ms")
        )
        print(f"{number:>12}{speed:>12.0f}{time_of_call:>8.1f}")
    print(
        f"{'connections':>12}{'requests/s':>12}{'of the limit':>14}{'of direct calls':>17}", end=""
    )
    print("".join(f"{name:>8}" for name in ("p50 ms", "p95", "p99")), " errors  other answers")
    for number, turns in found.items():
        speeds = [turn["requests"] / turn["seconds"] for turn in turns]
        print(f"{number:>12}{statistics.median(speeds):>12.0f}", end="")
        for width, texts in ((14, ROWS), (17, min(number, ROWS))):
            limits = [turn["sentences/s"] for turn in called[texts]]
            share = [one / limit for one, limit in zip(speeds, limits, strict=True)]
            print(f"{statistics.median(share):>{width}.0%}", end="")
        for percentile in ("50", "95", "99"):
            print(f"{statistics.median(turn[percentile] for turn in turns):>8.1f}", end="")
        errors, others = (sum(turn[name] for turn in turns) for name in ("errors", "others"))
        total = sum(turn["requests"] for turn in turns)
        print(f"{errors:>8}{others:>8} of {total:,}", flush=True)


def watch_memory(clients: Peer, server: int, requests: int) -> None:
    done = 0
    print(f"{'requests':>12}{'MiB':>8}")
    while done < requests:
        answer = clients.ask(connections=64, requests=5000)
        done += answer["requests"]
        status = Path(f"/proc/{server}/status").read_text()
        (line,) = [line for line in status.splitlines() if line.startswith("VmRSS")]
        print(f"{done:>12,}{int(line.split()[1]) / 1024:>8,.0f}{answer['errors']:>4} errors")


if __name__ == "__main__":
    sys.exit(main())
