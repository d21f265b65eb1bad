"""Start and graceful shutdown of the server."""

import asyncio
import socket
from pathlib import Path

import uvicorn

from keras_attn.serving import models
from keras_attn.serving.app import Server
from keras_attn.serving.connection import Connection
from keras_attn.serving.settings import Settings

# Seconds that running requests may take to finish after SIGTERM.
GRACEFUL_SECONDS = 60
# Seconds after SIGTERM in which requests that are on their way are answered.
ON_THE_WAY_SECONDS = 1.0


def run(path: Path, settings: Settings) -> None:
    """Serve one or several models until SIGTERM or Ctrl-C, then finish running requests.

    Args:
        path: Folder of all versions of a model, whose name is the name of the model; folder of such
            folders; or file `models.config`.
        settings: Settings of the server.

    Raises:
        ValueError: If there is no exported translator, the file is invalid, or the path is the
            folder of one version.
        OSError: If the server cannot listen on the address, for example because it is in use.
    """
    path = path.resolve()
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
    host, port = listening.getsockname()[:2]
    print(f"http://{f'[{host}]' if ':' in host else host}:{port}/", flush=True)
    _Server(config).run(sockets=[listening])


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
