"""The translator in Ray Serve: several replicas, texts of many requests in one batch.

    pip install -e ".[ray]"
    python examples/ray_serve.py saved_models/ja-en --replicas 2
    python examples/ray_serve.py saved_models/ja-en --replicas 1 --max-replicas 8
    curl -d '{"instances": ["友達と映画を見ました。"]}' localhost:8000/v1/models/ja-en:predict
    {"predictions":["I watched a movie with my friend."]}

Path, requests and answers are those of TensorFlow Serving, so that its clients need not know the
difference. A header names the replica that answered, and how many texts it translated at once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ray
import tensorflow as tf
from ray import serve
from starlette.requests import Request
from starlette.responses import JSONResponse

from keras_attn.translation import Translator
from keras_attn.translation.decoding.search import ROWS
from keras_attn.translation.versions import newest_version


@serve.deployment
class Replica:
    """A process with the model: takes requests, puts their texts together, translates them.

    Args:
        folder: Of a version of the model.
        batch_size: Texts that are translated at once, at most.
        batch_wait: Seconds that a text waits for others.
        num_threads: Of TensorFlow. Replicas that each used all cores would only be in each
            other's way.
    """

    def __init__(self, folder: str, batch_size: int, batch_wait: float, num_threads: int):
        tf.config.threading.set_intra_op_parallelism_threads(num_threads)
        self._translator = Translator.load(folder)
        self._translate.set_max_batch_size(batch_size)
        self._translate.set_batch_wait_timeout_s(batch_wait)
        # The search is compiled for each of these numbers of texts: now, not while a user waits.
        for number in {*ROWS, batch_size}:
            self._translator(["a"] * number)

    async def __call__(self, request: Request) -> JSONResponse:
        try:
            texts = read_instances(await request.body())
        except ValueError as error:
            return JSONResponse({"error": str(error)}, status_code=400)
        found = await asyncio.gather(*map(self._translate, texts))
        headers = {
            "x-replica": serve.get_replica_context().replica_id.unique_id,
            "x-batch-size": str(max((size for _, size in found), default=0)),
        }
        return JSONResponse({"predictions": [text for text, _ in found]}, headers=headers)

    @serve.batch
    async def _translate(self, texts: list[str]) -> list[tuple[str, int]]:
        # In a thread of its own: meanwhile the texts of further requests become the next batch.
        translations = await asyncio.to_thread(self._translator, texts)
        return [(translation, len(texts)) for translation in translations]

    async def check_health(self) -> None:
        """Ray asks this of each replica, and replaces one that does not answer or raises."""
        if await asyncio.to_thread(self._translator, [""]) != [""]:
            raise RuntimeError("The model does not answer empty text with empty text.")


def read_instances(body: bytes) -> list[str]:
    """The texts of a request.

    Raises:
        ValueError: If the body is no JSON, or not of the form that is asked for.
    """
    try:
        request = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"The body must be JSON. {error}") from error
    texts = request.get("instances") if isinstance(request, dict) else None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError('The body must be {"instances": ["a text", "another", ...]}.')
    return texts


def number_of_replicas(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of a deployment that say how many replicas there are."""
    if arguments.max_replicas is None:
        return {"num_replicas": arguments.replicas}
    return {
        "autoscaling_config": {
            "min_replicas": arguments.replicas,
            "max_replicas": arguments.max_replicas,
            # One more when each has more than a batch to translate.
            "target_ongoing_requests": arguments.batch_size,
            "metrics_interval_s": 2,
            "look_back_period_s": 4,
            "upscale_delay_s": 4,
        }
    }


def deploy(arguments: argparse.Namespace) -> str:
    """Starts the replicas and the HTTP server in front of them; returns the path of the model."""
    application = Replica.options(
        **number_of_replicas(arguments),
        ray_actor_options={"num_cpus": arguments.cores},
        # Enough requests for a batch that is translated and one that gathers meanwhile.
        max_ongoing_requests=2 * arguments.batch_size,
    ).bind(
        # Found here and once: all replicas have the same version.
        str(newest_version(arguments.model).resolve()),
        arguments.batch_size,
        arguments.batch_wait,
        arguments.cores,
    )
    serve.start(http_options={"host": arguments.host, "port": arguments.port})
    path = f"/v1/models/{arguments.model.resolve().name}:predict"
    serve.run(application, name="translator", route_prefix=path)
    return path


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="an exported version, or the folder of versions")
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--max-replicas", type=int, help="more when they are busy, up to so many")
    parser.add_argument("--cores", type=int, default=1, help="of each replica")
    parser.add_argument("--batch-size", type=int, default=32, help="texts at once, at most")
    parser.add_argument("--batch-wait", type=float, default=0.002, help="seconds, for more texts")
    parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0 for requests from elsewhere")
    parser.add_argument("--port", type=int, default=8000)
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    # One of its own: without the word, Ray joins what already runs on this machine.
    ray.init("local", include_dashboard=False)
    try:
        path = deploy(arguments)
        print(f"http://{arguments.host}:{arguments.port}{path}, Ctrl-C to stop", flush=True)
        signal.pause()
    except KeyboardInterrupt:
        pass
    finally:
        serve.shutdown()
        ray.shutdown()


if __name__ == "__main__":
    main()
