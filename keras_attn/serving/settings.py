"""Settings of the server."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass

from keras_attn.translation.runtime import threads

_ORIGIN = re.compile(r"https?://[^/\s]+")


@dataclass(frozen=True)
class Settings:
    """Address, batch sizes and limits of a server.

    Args:
        host: Address to listen on. Defaults to `"127.0.0.1"`.
        port: Port to listen on, 0 to 65535; 0 for any free port. Defaults to 8501.
        grpc_port: Port for TensorFlow Serving's gRPC, 0 to 65535; 0 for no gRPC. Defaults to 0.
        batch_rows: Maximum number of rows in a batch, at least 1. Defaults to 64.
        batch_characters: Maximum number of characters in a batch of several requests, at least 1,
            so that short texts do not wait for many long ones. Defaults to 10,000.
        batch_wait: Maximum number of seconds that a request waits for others to share its batch,
            while a thread is free; at least 0. Defaults to 0.01.
        threads: Number of batches computed at the same time, at least 1. Defaults to one for every
            4 cores, because up to 4 cores work on one batch.
        queue_rows: Maximum number of waiting rows, at least `max_rows`. Further requests get status
            503. Defaults to 1024.
        max_body: Maximum size of the body of a request, in bytes. Defaults to 1 MiB.
        max_rows: Maximum number of rows in a request, at least 1. Defaults to 256.
        max_characters: Maximum length of a text, in characters. Defaults to 5000.
        max_terms: Maximum number of terms in a glossary, at least 1. Defaults to 100.
        max_term_characters: Maximum length of a term in a glossary and of its translation, in
            characters. Defaults to 100.
        max_seconds: Maximum time from the start of reading the body of a request to the answer, in
            seconds. Defaults to 60.
        poll_seconds: Seconds between checks for new versions, above 0. Defaults to 1.
        keep_alive: Seconds that an idle connection stays open, at least 1. Longer than those of the
            proxy before the server, so that the proxy never sends a request to a closed connection.
            Defaults to 75.
        root_path: Path under which a proxy offers the server, for example `"/translate"`, if the
            proxy removes it from the requests. Defaults to `""`.
        cors_origin: Origins whose pages may ask the server from a browser, separated by commas;
            `"*"` for all. Defaults to `""`, none.
    """

    host: str = "127.0.0.1"
    port: int = 8501
    grpc_port: int = 0
    batch_rows: int = 64
    batch_characters: int = 10_000
    batch_wait: float = 0.01
    threads: int = max(1, threads.num_cores() // threads.MAX_CORES)
    queue_rows: int = 1024
    max_body: int = 2**20
    max_rows: int = 256
    max_characters: int = 5000
    max_terms: int = 100
    max_term_characters: int = 100
    max_seconds: float = 60.0
    poll_seconds: float = 1.0
    keep_alive: int = 75
    root_path: str = ""
    cors_origin: str = ""

    @property
    def cors_origins(self) -> list[str]:
        """Origins in `cors_origin`."""
        return [origin.strip() for origin in self.cors_origin.split(",") if origin.strip()]

    def validate(self) -> None:
        """Check all settings.

        Raises:
            ValueError: If a setting is invalid; the message lists all invalid settings.
        """
        faults = [
            f"`{name}` must be a whole number of at least 1. Received: {name}={value!r}."
            for name, value in dataclasses.asdict(self).items()
            if name not in ("host", "port", "grpc_port") and isinstance(value, int) and value < 1
        ]
        faults += [
            f"`{name}` must be above 0. Received: {name}={getattr(self, name)!r}."
            for name in ("max_seconds", "poll_seconds")
            if not getattr(self, name) > 0
        ]
        if not self.batch_wait >= 0:
            faults.append(f"`batch_wait` must be at least 0. Received: {self.batch_wait!r}.")
        faults += [
            f"`{name}` must be from 0 to 65535. Received: {name}={getattr(self, name)!r}."
            for name in ("port", "grpc_port")
            if not 0 <= getattr(self, name) < 2**16
        ]
        if self.root_path and not self.root_path.startswith("/"):
            faults.append(
                f'`root_path` must begin with "/". Received: root_path={self.root_path!r}.'
            )
        faults += [
            '`cors_origin` must be "*" or origins such as "https://example.com", separated by '
            f"commas. Received: {origin!r}."
            for origin in self.cors_origins
            if origin != "*" and not _ORIGIN.fullmatch(origin)
        ]
        if self.queue_rows < self.max_rows:
            faults.append(
                "`queue_rows` must be at least `max_rows`, the size of the largest request. "
                f"Received: queue_rows={self.queue_rows}, max_rows={self.max_rows}."
            )
        if faults:
            raise ValueError("The server cannot be started. " + " ".join(faults))
