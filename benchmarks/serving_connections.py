"""Memory of a server with many connections: `python benchmarks/serving_connections.py MODEL`.

A separate process holds 256 connections over loopback, each of which sends the next request as soon
as it has an answer. Prints the memory and the open files of the server over time. Every answer is
compared with the answer of the SavedModel.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from machine import describe_machine, num_cores
from peer import Peer
from serving_load import is_ready

from keras_attn.translation import versions
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.load import load_corpus
from keras_attn.translation.versions import CONFIG, EXTRA

SAMPLES = 10  # lines of memory


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="folder of all versions")
    parser.add_argument("--data", help="corpus of the sentences (default: training corpus)")
    parser.add_argument("--connections", type=int, default=256)
    parser.add_argument("--minutes", type=float, default=10.0)
    arguments = parser.parse_args()
    print(describe_machine(("tensorflow", "starlette", "uvicorn")), flush=True)
    version = versions.newest_version(arguments.model)
    config = Config.load(version / EXTRA / CONFIG)
    pairs = load_corpus(arguments.data or config.data, config.source, config.target)
    texts = sorted({pair.source for pair in pairs.test})
    direct = Peer("direct", ["serving_peer.py", "direct", str(version)], num_cores())
    expected = direct.ask(translate=texts)
    direct.end()
    with subprocess.Popen(
        [sys.executable, "-m", "keras_attn.serving", str(arguments.model), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        url = server.stdout.readline().strip()  # type: ignore[union-attr]
        while not is_ready(url):
            time.sleep(0.5)
        name = arguments.model.resolve().name
        clients = Peer("clients", ["serving_peer.py", "clients", url, name], num_cores())
        clients.ask(texts=texts, expected=expected)
        found: dict[str, Any] = {}
        seconds = 60 * arguments.minutes
        asking = threading.Thread(
            target=lambda: found.update(
                clients.ask(connections=arguments.connections, seconds=seconds)
            )
        )
        asking.start()
        print(f"{'seconds':>8}{'MiB':>8}{'open files':>12}")
        for sample in range(SAMPLES + 1):
            print_usage(server.pid, seconds * sample / SAMPLES)
            asking.join(seconds / SAMPLES)
        asking.join()
        print(
            f"{found['requests']:,} requests of {arguments.connections} connections, "
            f"{found['errors']} errors, {found['others']} other answers; "
            f"p50 {found['50']:.0f} ms, p99 {found['99']:.0f} ms"
        )
        clients.end()
        server.terminate()
    return 0


def print_usage(server: int, seconds: float) -> None:
    status = Path(f"/proc/{server}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmRSS")]
    num_files = len(list(Path(f"/proc/{server}/fd").iterdir()))
    print(f"{seconds:>8.0f}{int(line.split()[1]) / 1024:>8,.0f}{num_files:>12}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
