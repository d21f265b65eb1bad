"""Settings of the server."""

import re
from dataclasses import dataclass
from typing import Any

from keras_attn.options import faults, must_be, option
from keras_attn.translation.runtime import threads

_ORIGIN = re.compile(r"https?://[^/\s]+")
_PORT: dict[str, Any] = {"metavar": "PORT", "least": 0, "most": 2**16 - 1}


@dataclass(frozen=True)
class Settings:
    """Address, batch sizes and limits of a server; each field has its help text and its range."""

    host: str = option("127.0.0.1", "address to listen on", "ADDRESS")
    port: int = option(8501, "port to listen on; 0 for any free port", **_PORT)
    grpc_port: int = option(0, "port of TensorFlow Serving's gRPC services; 0 for none", **_PORT)
    batch_rows: int = option(64, "maximum number of texts in a batch", "TEXTS")
    batch_characters: int = option(
        3000,
        "maximum number of characters in a batch of several texts; between the batches of a large "
        "request, those of other requests are computed",
        "CHARACTERS",
    )
    batch_wait: float = option(
        0.01,
        "seconds that a request waits for other requests to share its batch, while a thread is "
        "free; longer while requests keep coming",
        "SECONDS",
        least=0,
    )
    # Up to 4 cores work on one batch.
    threads: int = option(
        max(1, threads.num_cores() // threads.MAX_CORES),
        "number of batches translated at the same time",
        "BATCHES",
        default_text="one for every 4 cores",
    )
    queue_rows: int = option(
        1024, "maximum number of waiting texts; further requests get status 503", "TEXTS"
    )
    max_body: int = option(2**20, "maximum size of the body of a request, in bytes", "BYTES")
    max_rows: int = option(256, "maximum number of texts in a request", "TEXTS")
    max_characters: int = option(5000, "maximum length of a text, in characters", "CHARACTERS")
    max_cells: int = option(
        2**22,
        "maximum number of values in the outputs of a request of several texts, such as attention "
        "weights",
        "VALUES",
    )
    max_stream_characters: int = option(
        50_000, "maximum length of a text that is streamed, in characters", "CHARACTERS"
    )
    max_terms: int = option(100, "maximum number of terms in a glossary", "TERMS")
    max_term_characters: int = option(
        100,
        "maximum length of a term in a glossary and of its translation, in characters",
        "CHARACTERS",
    )
    max_seconds: float = option(
        60.0,
        "maximum time from the start of reading a request to its answer, in seconds",
        "SECONDS",
        above=0,
    )
    poll_seconds: float = option(1.0, "seconds between checks for new versions", "SECONDS", above=0)
    keep_alive: int = option(
        75,
        "seconds that a connection stays open without a request, or without a client that reads; a "
        "proxy must close its connections earlier, because it would send requests to a closed one",
        "SECONDS",
    )
    root_path: str = option(
        "",
        "path under which a proxy offers the server, such as /translate, if the proxy removes it",
        "PATH",
    )
    cors_origin: str = option(
        "",
        "origins whose pages may send requests, separated by commas; * for all",
        "ORIGINS",
    )

    @property
    def cors_origins(self) -> list[str]:
        """Origins in `cors_origin`."""
        return [origin.strip() for origin in self.cors_origin.split(",") if origin.strip()]

    def validate(self) -> None:
        """Raise one `ValueError` that names every setting that cannot be used."""
        found = faults(self)
        if self.root_path and not self.root_path.startswith("/"):
            found["root_path"] = must_be(self, 'a path that begins with "/"', "root_path")
        if any(one != "*" and not _ORIGIN.fullmatch(one) for one in self.cors_origins):
            allowed = '"*" or origins such as "https://example.com", separated by commas'
            found["cors_origin"] = must_be(self, allowed, "cors_origin")
        are_allowed = found.keys().isdisjoint(("queue_rows", "max_rows"))
        if are_allowed and self.queue_rows < self.max_rows:
            allowed = "at least `max_rows`, the size of the largest request"
            found["queue_rows"] = must_be(self, allowed, "queue_rows", "max_rows")
        if found:
            raise ValueError("The server cannot be started. " + " ".join(found.values()))
