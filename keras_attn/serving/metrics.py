"""What a server counts, for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """Counters of one server.

    Attributes:
        batch_rows: Rows of the batches that the model computed.
        queue_rows: Rows that wait now.
        version: The version that is served, 0 for none.
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "keras_attn_requests",
            "Requests answered, by kind and HTTP status.",
            ("kind", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "keras_attn_request_seconds",
            "Time from the first byte of a request to its answer.",
            ("kind",),
            buckets=SECONDS,
            registry=self._registry,
        )
        self.batch_rows = Histogram(
            "keras_attn_batch_rows",
            "Rows that the model computed at once.",
            buckets=ROWS,
            registry=self._registry,
        )
        self.queue_rows = Gauge(
            "keras_attn_queue_rows", "Rows that wait for the model.", registry=self._registry
        )
        self.version = Gauge(
            "keras_attn_model_version", "Version that is served.", registry=self._registry
        )

    def answered(self, kind: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(kind, str(status)).inc()
        self._seconds.labels(kind).observe(seconds)

    def page(self) -> bytes:
        """All of them in Prometheus's text format."""
        return generate_latest(self._registry)
