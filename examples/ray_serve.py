"""Translation server with Ray Serve: several replicas, batches of texts from many requests.

    pip install -e ".[ray]"
    python examples/ray_serve.py saved_models/ja-en --replicas 2
    python examples/ray_serve.py saved_models/ja-en --replicas 1 --max-replicas 8
    curl -d '{"instances": ["友達と映画を見ました。"]}' localhost:8000/v1/models/ja-en:predict
    {"predictions":["I watched a movie with my friend."]}

Path, requests and responses have the format of TensorFlow Serving, so clients of TensorFlow Serving
work unchanged. Headers of the response name the replica and the size of the batch.
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
from ray import serve
from starlette.requests import Request
from starlette.responses import JSONResponse

from keras_attn.translation import Translator
from keras_attn.translation.versions import newest_version


@serve.deployment
class Replica:
    """Process that translates texts of several requests in batches.

    Args:
        folder: Folder of an exported version.
        batch_size: Maximum number of texts in a batch.
        batch_wait: Maximum seconds that a text waits for further texts of the batch.
        cores: Number of cores that share a batch. Use fewer than all if several replicas share a
            machine.
    """

    def __init__(self, folder: str, batch_size: int, batch_wait: float, cores: int):
        self._translator = Translator.load(folder, cores)
        self._translate.set_max_batch_size(batch_size)
        self._translate.set_batch_wait_timeout_s(batch_wait)
        # Compile the search now, not during the first requests.
        for number in {1, batch_size}:
            self._translator(["aあ"] * number)

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
        # In a separate thread, so that texts of further requests can form the next batch meanwhile.
        translations = await asyncio.to_thread(self._translator, texts)
        return [(translation, len(texts)) for translation in translations]

    async def check_health(self) -> None:
        """Translate empty text; Ray replaces a replica whose check fails or does not return."""
        if await asyncio.to_thread(self._translator, [""]) != [""]:
            raise RuntimeError("The model does not answer empty text with empty text.")


def read_instances(body: bytes) -> list[str]:
    """Texts of a request.

    Raises:
        ValueError: If the body is not JSON, has no list of strings `instances`, or has a glossary
            or the name of another signature, which this example does not use.
    """
    try:
        request = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"The body must be JSON. {error}") from error
    texts = request.get("instances") if isinstance(request, dict) else None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError('The body must be {"instances": ["a text", "another", ...]}.')
    if request.get("glossary") or request.get("signature_name", "") not in ("", "serving_default"):
        raise ValueError(
            "The body must have neither 'glossary' nor 'signature_name': this server gives the "
            "best translation alone."
        )
    return texts


def number_of_replicas(arguments: argparse.Namespace) -> dict[str, Any]:
    """Options of a deployment for the number of replicas."""
    if arguments.max_replicas is None:
        return {"num_replicas": arguments.replicas}
    return {
        "autoscaling_config": {
            "min_replicas": arguments.replicas,
            "max_replicas": arguments.max_replicas,
            # Add a replica when each has more requests than one batch.
            "target_ongoing_requests": arguments.batch_size,
            "metrics_interval_s": 2,
            "look_back_period_s": 4,
            "upscale_delay_s": 4,
        }
    }


def deploy(arguments: argparse.Namespace) -> str:
    """Start the replicas and the HTTP server; return the URL path of the model."""
    application = Replica.options(
        **number_of_replicas(arguments),
        ray_actor_options={"num_cpus": arguments.cores},
        # Requests for two batches: one in translation, one that is being collected.
        max_ongoing_requests=2 * arguments.batch_size,
    ).bind(
        # Resolved once, so that all replicas load the same version.
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
    parser.add_argument("model", type=Path, help="folder of an exported version or of all versions")
    parser.add_argument("--replicas", type=int, default=2, help="number of replicas")
    parser.add_argument("--max-replicas", type=int, help="maximum number of replicas under load")
    parser.add_argument("--cores", type=int, default=1, help="number of cores of each replica")
    parser.add_argument("--batch-size", type=int, default=32, help="maximum texts in a batch")
    parser.add_argument("--batch-wait", type=float, default=0.002, help="seconds to wait for texts")
    parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0: all interfaces")
    parser.add_argument("--port", type=int, default=8000)
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    # "local" starts a new cluster; without it, Ray joins a cluster that runs on this machine.
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
