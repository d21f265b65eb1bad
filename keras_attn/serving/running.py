"""Start and graceful shutdown of the server."""

import asyncio
import logging
import os
import signal
import socket
import sys
from pathlib import Path

import uvicorn

from keras_attn.serving import models
from keras_attn.serving.app import Server
from keras_attn.serving.connection import Connection
from keras_attn.serving.settings import Settings

_log = logging.getLogger(__name__)
# Seconds that running requests may take to finish after SIGTERM.
GRACEFUL_SECONDS = 60
# Seconds after SIGTERM in which requests that are on their way are answered.
ON_THE_WAY_SECONDS = 1.0


def run(path: Path, settings: Settings) -> None:
    """Serve one or several models until SIGTERM, Ctrl-C or the end of the terminal.

    Requests that have begun are answered. `path` is as for `Models`.
    """
    path = Path(os.path.abspath(path))  # a symbolic link keeps its name
    models.check(path)
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    if settings.grpc_port:
        # Found out now, in a sentence: gRPC starts to listen within the server.
        socket.create_server((settings.host, settings.grpc_port), family=family).close()
    listening = socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    config = uvicorn.Config(
        Server(path, settings).app(),
        http=Connection,
        root_path=settings.root_path.rstrip("/"),
        timeout_keep_alive=settings.keep_alive,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACEFUL_SECONDS,
    )
    server = _Server(config)
    if hasattr(signal, "SIGHUP"):
        # The terminal is closed. Without a terminal, the signal means "read the settings again":
        # new models and versions are found without it.
        closes = sys.stdin is not None and sys.stdin.isatty()
        signal.signal(signal.SIGHUP, server.handle_exit if closes else signal.SIG_IGN)
    host, port = listening.getsockname()[:2]
    try:
        print(f"http://{f'[{host}]' if ':' in host else host}:{port}/", flush=True)
    except OSError as error:  # a full disk
        _log.warning("The address cannot be written.", extra={"port": port, "error": str(error)})
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    server.run(sockets=[listening])


class _Server(uvicorn.Server):
    """Server that tells clients to close their connections before it stops to listen.

    uvicorn closes idle connections at once, and a request that a client sends at this moment is
    lost. A client that is answered with `Connection: close` sends the next request elsewhere.
    """

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        headers = [*self.server_state.default_headers, (b"connection", b"close")]
        self.server_state.default_headers = headers
        for connection in self.server_state.connections:
            if isinstance(connection, Connection) and connection.cycle:
                connection.cycle.default_headers = headers  # of a request that is being answered
        await asyncio.sleep(ON_THE_WAY_SECONDS)
        await super().shutdown(sockets)
