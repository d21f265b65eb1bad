"""Everything that decides how a model is served, in one dataclass."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Address, batches and limits of a server.

    Args:
        host: Address to listen on.
        port: Port to listen on; 0 for any that is free.
        batch_rows: Rows of several requests that the model computes at once, at most.
        batch_wait: Seconds that a request waits for others to join it, when the model is free.
        threads: Batches that the model computes at the same time.
        queue_rows: Rows that may wait; requests beyond are answered 503.
        max_body: Bytes of a request's body.
        max_rows: Rows of a request.
        max_characters: Characters of a text.
        max_seconds: From the first byte of a request's body to its answer.
        poll_seconds: Between two looks for new versions of the model.
    """

    host: str = "127.0.0.1"
    port: int = 8501
    batch_rows: int = 64
    batch_wait: float = 0.002
    threads: int = 2
    queue_rows: int = 1024
    max_body: int = 2**20
    max_rows: int = 256
    max_characters: int = 5000
    max_seconds: float = 60.0
    poll_seconds: float = 1.0

    def validate(self) -> None:
        """Raise one `ValueError` that names every value that cannot be used."""
        faults = [
            f"`{name}` must be a whole number of at least 1. Received: {name}={value!r}."
            for name, value in dataclasses.asdict(self).items()
            if name not in ("host", "port") and isinstance(value, int) and value < 1
        ]
        faults += [
            f"`{name}` must be above 0. Received: {name}={getattr(self, name)!r}."
            for name in ("max_seconds", "poll_seconds")
            if not getattr(self, name) > 0
        ]
        if not self.batch_wait >= 0:
            faults.append(f"`batch_wait` must be at least 0. Received: {self.batch_wait!r}.")
        if not 0 <= self.port < 2**16:
            faults.append(f"`port` must be from 0 to 65535. Received: port={self.port!r}.")
        if self.queue_rows < self.max_rows:
            faults.append(
                "`queue_rows` must hold the greatest request, `max_rows`. "
                f"Received: queue_rows={self.queue_rows}, max_rows={self.max_rows}."
            )
        if faults:
            raise ValueError("The server cannot be started. " + " ".join(faults))
