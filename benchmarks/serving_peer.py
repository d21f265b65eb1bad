"""A server, and processes that call it or its SavedModel, for `serving_load.py`.

`python serving_peer.py direct VERSION` calls the SavedModel; `python serving_peer.py clients URL
NAME` opens connections to a server. Reads one JSON request from each line and writes one JSON line
as answer.
"""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import numpy as np
from peer import Peer, answer_requests

from keras_attn.translation import versions
from keras_attn.translation.config import Config

LONG = 4980  # characters of a long text
PERCENTILES = ("50", "95", "99")  # of the latency


@contextlib.contextmanager
def running_server(
    model: Path, checkout: Path | None = None, **environment: str
) -> Iterator[tuple[int, str]]:
    """Process id and URL of a warm server of a folder of versions.

    `checkout` is the folder of the code. Defaults to the working directory.
    """
    command = [sys.executable, "-m", "keras_attn.serving", str(model.resolve()), "--port", "0"]
    with subprocess.Popen(
        command,
        cwd=checkout,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        url = server.stdout.readline().strip()  # type: ignore[union-attr]
        try:
            while not _is_ready(url):
                time.sleep(0.5)
            yield server.pid, url
        finally:
            server.terminate()


def _is_ready(url: str) -> bool:
    try:
        with urlopen(f"{url}healthz") as response:
            return response.status == 200
    except OSError:
        return False


def direct_calls(model: Path, data: str | None) -> tuple[Peer, list[str], list[str]]:
    """Process that calls the newest version, held-out texts of a corpus, and translations."""
    from keras_attn.translation.corpus.load import load_corpus

    version = versions.newest_version(model)
    config = Config.load(version / versions.EXTRA / versions.CONFIG)
    pairs = load_corpus(data or config.data, config.source, config.target)
    texts = sorted({example.source for example in pairs.test + pairs.validation})
    direct = Peer("direct", ["serving_peer.py", "direct", str(version)])
    return direct, texts, direct.ask(translate=texts)


def clients_of(url: str, model: Path, texts: list[str], expected: list[str]) -> Peer:
    """Process with connections to a server."""
    name = model.resolve().name
    clients = Peer("clients", ["serving_peer.py", "clients", url, name])
    clients.ask(texts=texts, expected=expected)
    return clients


def main() -> None:
    {"direct": answer_directly, "clients": answer_as_clients}[sys.argv[1]](*sys.argv[2:])


def answer_directly(version: str) -> None:
    """`{"translate": [...]}` returns translations; `{"rows": N, "seconds": S}`, speed and time."""
    import tensorflow as tf

    loaded = versions.load(Path(version))
    translate = loaded.signatures["serving_default"]
    texts: list[str] = []

    def answer(request: dict[str, Any]) -> Any:
        nonlocal texts
        if "translate" in request:
            texts = request["translate"]
            parts = [texts[i : i + 64] for i in range(0, len(texts), 64)]
            found = [translate(text=tf.constant(part))["translation"].numpy() for part in parts]
            return [text.decode() for part in found for text in part]
        rows = request["rows"]
        order = np.random.default_rng(0).permutation(len(texts))
        batches = [
            tf.constant([texts[j] for j in order[i : i + rows]])
            for i in range(0, len(order) - rows, rows)
        ]
        start, seconds = time.monotonic(), []
        for batch in cycle(batches):
            began = time.monotonic()
            translate(text=batch)["translation"].numpy()
            seconds.append(time.monotonic() - began)
            if time.monotonic() - start > request["seconds"]:
                break
        return {
            "sentences/s": rows * len(seconds) / sum(seconds),
            "p50 ms": 1000 * float(np.median(seconds)),
        }

    answer_requests(answer)


def answer_as_clients(url: str, name: str) -> None:
    """`{"texts": ..., "expected": ...}`, then `{"connections": N, "long": L, "seconds": S}`."""
    address = urlsplit(url)
    head = f"POST /v1/models/{name}:predict HTTP/1.1\r\nHost: {address.netloc}\r\n"
    requests: list[tuple[bytes, str]] = []
    long = b""

    def request_for(text: str) -> bytes:
        body = json.dumps({"instances": [text]}).encode()
        return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body

    def answer(request: dict[str, Any]) -> Any:
        nonlocal long
        if "texts" in request:
            for text, expected in zip(request["texts"], request["expected"], strict=True):
                requests.append((request_for(text), expected))
            np.random.default_rng(1).shuffle(requests)
            long = request_for("".join(islice(cycle(request["texts"]), LONG))[:LONG])
            return None
        return asyncio.run(load(address.hostname, address.port, requests, long, request))

    answer_requests(answer)


async def load(
    host: str | None,
    port: int | None,
    requests: list[tuple[bytes, str]],
    long: bytes,
    asked: dict[str, Any],
) -> dict[str, Any]:
    """Results of concurrent connections for some seconds, without those that send long texts."""
    following, seconds = cycle(requests), []
    counts = {"errors": 0, "others": 0}
    start = time.monotonic()

    async def connection(is_long: bool) -> None:
        reader, writer = await asyncio.open_connection(host, port)
        while time.monotonic() - start < asked["seconds"]:
            sent, expected = (long, "") if is_long else next(following)
            began = time.monotonic()
            writer.write(sent)
            lines = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
            (length,) = [line for line in lines if line.startswith(b"content-length:")]
            body = json.loads(await reader.readexactly(int(length.split(b":")[1])))
            if not is_long:
                seconds.append(time.monotonic() - began)
                counts["errors"] += "predictions" not in body
                counts["others"] += body.get("predictions") != [expected]
        writer.close()

    kinds = [False] * asked["connections"] + [True] * asked.get("long", 0)
    await asyncio.gather(*map(connection, kinds))
    taken = time.monotonic() - start
    milliseconds = {name: 1000 * float(np.percentile(seconds, int(name))) for name in PERCENTILES}
    return {"requests": len(seconds), "seconds": taken, **milliseconds, **counts}


if __name__ == "__main__":
    main()
