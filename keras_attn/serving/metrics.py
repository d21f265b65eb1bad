"""Prometheus metrics of the server."""

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """Metrics of one server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)  # memory, processor time, open files
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
            "Rows of each batch.",
            buckets=ROWS,
            registry=self._registry,
        )
        self.queue_rows = Gauge(
            "keras_attn_queue_rows", "Rows waiting in the queue.", registry=self._registry
        )
        self.version = Gauge(
            "keras_attn_model_version",
            "Number of the served version of each model.",
            ("model",),
            registry=self._registry,
        )

    def answered(self, kind: str, status: int, seconds: float) -> None:
        """Count an answered request of a kind such as `"/v1/"`."""
        self._requests.labels(kind, str(status)).inc()
        self._seconds.labels(kind).observe(seconds)

    def page(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        return generate_latest(self._registry)
