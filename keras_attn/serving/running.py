"""A server that listens until it is told to stop."""

from __future__ import annotations

import socket
from pathlib import Path

import uvicorn

from keras_attn.serving import logs
from keras_attn.serving.app import Server
from keras_attn.serving.settings import Settings
from keras_attn.translation.versions import newest_version

# After SIGTERM, requests that have begun are given so many seconds to end.
GRACEFUL_SECONDS = 30


def run(folder: Path, settings: Settings) -> None:
    """Serve the versions of a model until SIGTERM or Ctrl-C; requests that have begun end first.

    Args:
        folder: Of the versions; its name is the model's.
        settings: How to serve.

    Raises:
        ValueError: If the folder holds no exported translator.
        OSError: If the address cannot be listened on.
    """
    folder = folder.resolve()
    if newest_version(folder) == folder:
        raise ValueError(
            "The model must be the folder of the versions, as `train.py --out` has it, not of one "
            f"of them. Received: {folder}. Give {folder.parent}."
        )
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    logs.write_to_stderr()
    config = uvicorn.Config(
        Server(folder, settings).app(),
        http="httptools",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACEFUL_SECONDS,
    )
    host, port = listening.getsockname()[:2]
    print(f"http://{f'[{host}]' if ':' in host else host}:{port}/", flush=True)
    uvicorn.Server(config).run(sockets=[listening])
