"""A connection of the server: HTTP/1.1 by h11."""

from __future__ import annotations

from uvicorn.protocols.http.h11_impl import H11Protocol


class Connection(H11Protocol):
    """Connection that answers clients that close their side after a complete request.

    h11 also ignores offers to change to HTTP/2, which Java's `HttpClient` and `curl --http2` make.
    """

    def eof_received(self) -> bool:  # type: ignore[override]
        """Whether to keep the connection open to answer the last request."""
        is_waiting = (
            self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete
        )
        if is_waiting:
            self.cycle.keep_alive = False
        return is_waiting
