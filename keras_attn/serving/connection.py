"""A connection of the server: HTTP/1.1 by h11."""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class Connection(H11Protocol):
    """Connection that answers clients that close their side after a complete request.

    Offers to change to HTTP/2, which Java's `HttpClient` and `curl --http2` make, and to WebSocket
    are ignored: the request is answered. A client whose request has no complete head after as many
    seconds as an idle connection stays open is hung up on, however slowly it sends.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Whether to keep the connection open to answer the last request."""
        is_waiting = (
            self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete
        )
        if is_waiting:
            self.cycle.keep_alive = False
        return is_waiting

    def _should_upgrade(self) -> bool:
        return False

    def _await_head(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._cancel_deadline()
        elif self._deadline is None:
            seconds, close = self.timeout_keep_alive, self.timeout_keep_alive_handler
            self._deadline = self.loop.call_later(seconds, close)

    def _cancel_deadline(self) -> None:
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None
