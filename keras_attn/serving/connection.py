"""A connection of the server: HTTP/1.1 by h11."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


class Connection(H11Protocol):
    """Connection that answers clients that close their side after a complete request.

    Offers to change to HTTP/2, which Java's `HttpClient` and `curl --http2` make, and to WebSocket
    are ignored: the request is answered.

    A client that makes the server wait is disconnected after the seconds that an idle connection
    stays open, however slowly it sends or reads. The server waits from the end of an answer to the
    complete head of the next request, also for the rest of a refused body, and while the client
    does not read.
    """

    # Time since when the server waits for the client, or None while it does not.
    _since: float | None
    _timer: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = self.loop.time()
        self._hang_up_when_due()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._note_who_waits()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._note_who_waits()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._note_who_waits()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._note_who_waits()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Whether to keep the connection open to answer the last request."""
        is_waiting = self._is_answering and not self.cycle.more_body
        if is_waiting:
            self.cycle.keep_alive = False
        return is_waiting

    def _should_upgrade(self) -> bool:
        return False

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _note_who_waits(self) -> None:
        is_closing = self.transport.is_closing()
        if self._is_answering and not self.flow.write_paused and not is_closing:
            self._since = None
        elif self._since is None:
            self._since = self.loop.time()

    def _hang_up_when_due(self) -> None:
        """Disconnect a client that is waited for too long; one timer serves all requests."""
        waited = 0 if self._since is None else self.loop.time() - self._since
        if waited < self.timeout_keep_alive:
            seconds = self.timeout_keep_alive - waited
            self._timer = self.loop.call_later(seconds, self._hang_up_when_due)
        else:
            self.transport.abort()  # not `close`, which waits until all is written
