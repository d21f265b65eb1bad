"""Dynamic batching of concurrent requests, in pieces.

A model takes about as long for a few rows as for one row. Requests are cut into pieces, one of
which waits at a time. A free thread takes the piece whose turn it is, and as many pieces for the
same signature of the same version as fit into a batch. Requests with different glossaries are never
in one batch.

Turns are by arrival, but a piece waits longer the larger it is, and the more characters of its
client were computed than of other clients that wait. So short texts pass between the pieces of long
ones, and clients get equal shares, however much they send.

Clients that wait for a response before their next request come back together. So a free thread
waits, up to `batch_wait` seconds and as long as requests keep coming, until as many rows are there
as at the end of the last batch. A lone client never waits.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http import HTTPStatus

import numpy as np

from keras_attn.serving import pieces
from keras_attn.serving.errors import RETRY_AFTER, RequestError
from keras_attn.serving.pieces import Piece, Tensors
from keras_attn.serving.servable import Servable, Signature
from keras_attn.serving.settings import Settings

# Seconds that pieces may be overtaken: for each character, and at most. On two cores, a character
# takes 0.0001 s.
SECONDS_PER_CHARACTER = 0.002
MOST_SECONDS = 20.0
# Part of `batch_wait` in which no client is answered and no request comes before a batch starts
# that is smaller than expected.
PAUSE = 0.25


@dataclass(eq=False)
class _Client:
    """Client with requests in progress, and the characters computed for it.

    A new client begins with the least of the others.
    """

    computed: int
    num_requests: int = 0


@dataclass(eq=False)
class _Request:
    """Request in progress, the number of rows that no thread has taken, and one of its pieces.

    The piece is in the queue `since` a time, or computed, with a future for its outputs.
    """

    servable: Servable
    name: str
    signature: Signature
    client: _Client
    num_waiting: int
    piece: Piece = field(init=False)
    since: float = field(init=False)
    outputs: asyncio.Future[Tensors] = field(init=False)

    def can_join(self, other: "_Request") -> bool:
        if self.servable is not other.servable or self.name != other.name:
            return False
        return self.signature.joins_rows and all(
            np.array_equal(self.piece.inputs[shared], other.piece.inputs[shared])
            for shared in self.signature.shared
        )


class Batcher:
    """Bounded queue of requests, and threads that compute them in batches.

    `on_batch` is called with the number of rows of each batch.
    """

    def __init__(self, settings: Settings, on_batch: Callable[[int], None] = lambda rows: None):
        self.num_rows = 0  # waiting, also of pieces that are not in the queue yet
        self._settings = settings
        self._on_batch = on_batch
        self._clients: dict[str, _Client] = {}
        self._queue: list[_Request] = []
        self._num_queued = 0  # rows of pieces in the queue
        self._last_event = 0.0  # time when a piece last joined the queue, or a client was answered
        self._num_running = 0
        self._running: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        # Rows that are waited for: those of the last batch, and those that waited at its end.
        self._num_expected = settings.batch_rows
        self._threads = ThreadPoolExecutor(settings.threads, thread_name_prefix="batch")

    async def predict(
        self, servable: Servable, name: str, inputs: Tensors, num_rows: int, address: str = ""
    ) -> Tensors:
        """Outputs of a signature, computed in pieces, possibly in batches with other requests.

        `address` is that of the client. If the caller is cancelled, no further piece is computed.
        """
        limits, signature = self._settings, servable.signature(name)
        if self.num_rows + num_rows > limits.queue_rows:
            raise RequestError(
                "The server is busy: its queue is full. Try again later.",
                HTTPStatus.SERVICE_UNAVAILABLE,
                RETRY_AFTER,
            )
        if (client := self._clients.get(address)) is None:
            least = min((other.computed for other in self._clients.values()), default=0)
            client = self._clients[address] = _Client(least)
        client.num_requests += 1
        request = _Request(servable, name, signature, client, num_rows)
        self.num_rows += num_rows
        try:
            found: list[Tensors] = []
            for piece in pieces.cut(signature, inputs, num_rows, limits):
                found.append(await self._outputs(request, piece))
                pieces.check_cells(found, num_rows, limits)
            return pieces.joined(found)
        finally:
            self._last_event = time.monotonic()
            self.num_rows -= request.num_waiting
            client.num_requests -= 1
            if not client.num_requests:
                del self._clients[address]

    async def _outputs(self, request: _Request, piece: Piece) -> Tensors:
        request.piece, request.since = piece, time.monotonic()
        request.outputs = asyncio.get_running_loop().create_future()
        self._queue.append(request)
        self._num_queued += piece.num_rows
        self._last_event = request.since
        self._run_when_due()
        try:
            return await request.outputs
        except asyncio.CancelledError:
            if request in self._queue:
                self._queue.remove(request)
                self._num_queued -= piece.num_rows
            raise

    def close(self) -> None:
        """Wait for running batches and stop the threads."""
        self._threads.shutdown()

    def _run_when_due(self) -> None:
        """Start full batches on free threads, and a smaller one when it has waited long enough."""
        while self._has_free_thread and self._num_queued >= self._settings.batch_rows:
            self._run()
        if not self._has_free_thread or not self._queue:
            return
        loop = asyncio.get_running_loop()
        if self._num_queued >= self._num_expected:
            # Not at once: further requests may be about to be read.
            loop.call_soon(self._run_after_wait)
        elif not self._timer:
            self._timer = loop.call_later(self._settings.batch_wait, self._run_if_no_more_come)

    def _run_if_no_more_come(self) -> None:
        """Start a batch, but not while clients are answered and their next requests are read."""
        pause = self._last_event + PAUSE * self._settings.batch_wait - time.monotonic()
        if pause > 0 and self._num_queued < self._num_expected:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(pause, self._run_if_no_more_come)
        else:
            self._run_after_wait()

    def _run_after_wait(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self._has_free_thread and self._queue:
            self._run()
            self._run_when_due()  # other requests may not have fitted into this batch

    @property
    def _has_free_thread(self) -> bool:
        return self._num_running < self._settings.threads

    def _run(self) -> None:
        self._num_running += 1
        task = asyncio.get_running_loop().create_task(self._compute(self._next_batch()))
        self._running.add(task)  # asyncio holds only weak references to tasks
        task.add_done_callback(self._running.discard)

    def _next_batch(self) -> list[_Request]:
        """Piece whose turn it is, and the next pieces that fit into a batch with it."""
        least = min(client.computed for client in self._clients.values())

        def turn(waiting: _Request) -> float:
            more = waiting.client.computed - least
            seconds = SECONDS_PER_CHARACTER * (waiting.piece.size + more)
            return waiting.since + min(seconds, MOST_SECONDS)

        first, *others = sorted(self._queue, key=turn)
        batch, left = [first], list[_Request]()
        num_rows, size = first.piece.num_rows, first.piece.size
        for waiting in others:
            piece = waiting.piece
            fits = (
                num_rows + piece.num_rows <= self._settings.batch_rows
                and size + piece.size <= self._settings.batch_characters
            )
            if fits and first.can_join(waiting):
                batch.append(waiting)
                num_rows += piece.num_rows
                size += piece.size
            else:
                left.append(waiting)
        self._queue = left
        self._num_queued -= num_rows
        self.num_rows -= num_rows
        for waiting in batch:
            waiting.num_waiting -= waiting.piece.num_rows
            waiting.client.computed += waiting.piece.size
        return batch

    async def _compute(self, batch: list[_Request]) -> None:
        num_rows = sum(waiting.piece.num_rows for waiting in batch)
        self._on_batch(num_rows)
        try:
            loop = asyncio.get_running_loop()
            answers = await loop.run_in_executor(self._threads, _answers, batch)
            for waiting, answer in zip(batch, answers, strict=True):
                if waiting.outputs.done():  # the caller was cancelled
                    continue
                if isinstance(answer, Exception):
                    waiting.outputs.set_exception(answer)
                else:
                    waiting.outputs.set_result(answer)
        finally:
            self._num_running -= 1
            self._num_expected = num_rows + self._num_queued
            self._run_when_due()


def _answers(batch: list[_Request]) -> list[Tensors | Exception]:
    """Outputs, or exception, of each piece."""
    try:
        return list(_separated(batch))
    except Exception as error:
        if len(batch) == 1:
            return [error]
        # At least one piece is invalid. Compute them one by one, so that only this one fails.
        return [_answers([waiting])[0] for waiting in batch]


def _separated(batch: list[_Request]) -> Iterator[Tensors]:
    """Outputs of each piece, computed by one call of the model."""
    request, inputs = batch[0], batch[0].piece.inputs
    if len(batch) > 1:
        inputs = {
            name: array
            if name in request.signature.shared
            else np.concatenate([waiting.piece.inputs[name] for waiting in batch])
            for name, array in inputs.items()
        }
    outputs = request.servable.predict(request.name, inputs)
    if len(batch) == 1:
        yield outputs
        return
    start = 0
    for waiting in batch:
        end = start + waiting.piece.num_rows
        yield {name: rows[start:end] for name, rows in outputs.items()}
        start = end
