"""Start of the server: `python benchmarks/serving_start.py saved_models/ja-en`.

Prints the seconds until the server is ready, the memory of the server then and at the end, and the
slowest of the requests of each kind that two clients send all the time from then on, one after the
other. No request should wait for a program that is compiled.
"""

import argparse
import json
import threading
import time
from pathlib import Path
from urllib.request import Request, urlopen

from machine import describe_machine, private_and_shared
from serving_peer import running_server

SHORT = "今日はいい天気です。"
LONG = "昨日の夜に友達と駅の近くの店で晩ご飯を食べながら、来年の旅行の計画について長い間話した" * 3
KINDS = {
    "short": ("serving_default", {"text": [SHORT]}),
    "long": ("serving_default", {"text": [LONG]}),
    "n-best": ("nbest", {"text": [SHORT]}),
    "attention": ("attend", {"text": [SHORT]}),
    "score": ("score", {"text": [SHORT], "translation": ["It is fine."]}),
    "glossary": ("glossary", {"text": [SHORT], "term": ["天気"], "term_translation": ["weather"]}),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="folder of all versions")
    parser.add_argument("--seconds", type=float, default=60.0, help="length, in seconds")
    arguments = parser.parse_args()
    print(describe_machine(("tensorflow",)), flush=True)
    start = time.monotonic()
    with running_server(arguments.model) as (server, url):
        print(f"ready after {time.monotonic() - start:.1f} s, {memory(server)}", flush=True)
        path = f"{url}v1/models/{arguments.model.resolve().name}:predict"
        slowest: dict[str, float] = {}
        end = time.monotonic() + arguments.seconds
        clients = [threading.Thread(target=ask_all, args=(path, slowest, end)) for _ in range(2)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        for kind, seconds in slowest.items():
            print(f"{kind:<12} slowest {seconds:.2f} s")
        print(f"at the end {memory(server)}")


def ask_all(path: str, slowest: dict[str, float], end: float) -> None:
    """Ask for each kind in turn until `end`, and keep the longest time of each kind."""
    while time.monotonic() < end:
        for kind, (name, inputs) in KINDS.items():
            body = json.dumps({"signature_name": name, "inputs": inputs}).encode()
            begin = time.monotonic()
            with urlopen(Request(path, body)) as response:
                response.read()
            slowest[kind] = max(slowest.get(kind, 0.0), time.monotonic() - begin)


def memory(process: int) -> str:
    private, shared = private_and_shared(process)
    return f"{private:,.0f} MiB private, {shared:,.0f} MiB shared with files"


if __name__ == "__main__":
    main()
