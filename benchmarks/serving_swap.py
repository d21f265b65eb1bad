"""Hot swap and shutdown under load: `python benchmarks/serving_swap.py saved_models/ja-en`.

32 clients of three protocols ask while versions of a model appear: whole ones, which are copies of
the given version, and between them broken ones. Then the server gets SIGTERM while the clients go
on. Prints the answers by protocol and version, errors, times, and what happened at the end. Every
answer is compared with the answer of the SavedModel.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import numpy as np
from machine import describe_machine
from protocol_clients import Clients

from keras_attn.translation import Translator, versions
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.load import load_corpus
from keras_attn.translation.versions import CONFIG, EXTRA

NUM_TEXTS = 200


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="folder of all versions")
    parser.add_argument("--data", help="corpus of the sentences (default: training corpus)")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--swaps", type=int, default=2, help="number of new whole versions")
    parser.add_argument("--seconds", type=float, default=10.0, help="seconds with each version")
    arguments = parser.parse_args()
    print(describe_machine(("tensorflow", "starlette", "uvicorn", "grpcio")), flush=True)
    version = versions.newest_version(arguments.model)
    config = Config.load(version / EXTRA / CONFIG)
    pairs = load_corpus(arguments.data or config.data, config.source, config.target)
    texts = sorted({pair.source for pair in pairs.test})[:NUM_TEXTS]
    expected = dict(zip(texts, Translator.load(version)(texts), strict=True))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "ja-en"

        def write(number: int) -> None:
            shutil.copytree(version, folder / f".{number}")
            (folder / f".{number}").rename(folder / str(number))

        write(1)
        grpc_port = free_port()
        with subprocess.Popen(
            [
                *(sys.executable, "-m", "keras_attn.serving", str(folder), "--port", "0"),
                *("--grpc-port", str(grpc_port)),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as server:
            url = server.stdout.readline().strip()  # type: ignore[union-attr]
            wait_until(lambda: served(url) == 1)
            address = urlsplit(url)
            with Clients(
                address.hostname or "",
                address.port or 0,
                grpc_port,
                folder.name,
                texts,
                lambda version, text, translation: translation == expected[text],
                arguments.clients,
            ) as clients:
                time.sleep(arguments.seconds)
                swap(clients, folder, write, url, arguments.swaps, arguments.seconds)
                print_answers(clients)
                drain(clients, server)
    return 0


def swap(
    clients: Clients,
    folder: Path,
    write: Callable[[int], None],
    url: str,
    num_swaps: int,
    seconds: float,
) -> None:
    """Write broken and whole versions in turn, and wait for each to be skipped or served."""
    for number in range(2, 2 + 2 * num_swaps, 2):
        (folder / str(number)).mkdir()
        (folder / str(number) / "saved_model.pb").write_bytes(b"half a model")
        wait_until(lambda number=number: state(url, folder.name, number) == "END")  # type: ignore[misc]
        time.sleep(seconds)
        write(number + 1)
        wait_until(lambda number=number: served(url) == number + 1)  # type: ignore[misc]
        time.sleep(seconds)
        print(f"version {number} skipped, {number + 1} served; {len(clients.errors)} errors")


def print_answers(clients: Clients) -> None:
    for (protocol, version), count in sorted(clients.counts().items(), key=str):
        which = "" if version is None else f"version {version}"
        print(f"{protocol:<26}{which:<12}{count:>8,} answers")
    times = [1000 * answer.seconds for answer in clients.answers]
    print(f"p50 {np.percentile(times, 50):.0f} ms, p99 {np.percentile(times, 99):.0f} ms, ", end="")
    print(f"slowest {max(times):.0f} ms; {len(clients.errors)} errors")


def drain(clients: Clients, server: subprocess.Popen[str]) -> None:
    """Print what clients that go on see after SIGTERM, and the seconds until the server ends."""
    num_answers, num_errors = len(clients.answers), len(clients.errors)
    start = time.monotonic()
    server.send_signal(signal.SIGTERM)
    code = server.wait()
    seconds = time.monotonic() - start
    clients.join()
    print(f"ended {seconds:.1f} s after SIGTERM with code {code}")
    print(f"{len(clients.answers) - num_answers} answers after SIGTERM; then, to each client:")
    for error in sorted(set(clients.errors[num_errors:])):
        print(f"  {clients.errors.count(error):>3} {error[:150]}")


def served(url: str) -> int | None:
    """Version that is served and warm."""
    try:
        with urlopen(f"{url}healthz") as response:
            (version,) = json.load(response)["models"].values()
            return version
    except OSError:
        return None


def state(url: str, model: str, version: int) -> str:
    """State of a version, empty before the server has seen it."""
    try:
        with urlopen(f"{url}v1/models/{model}/versions/{version}") as response:
            return json.load(response)["model_version_status"][0]["state"]
    except OSError:
        return ""


def wait_until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.1)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


if __name__ == "__main__":
    sys.exit(main())
