"""Dynamic batching of concurrent requests.

A model takes about as long for a few rows as for one row. Requests wait in a queue; a free thread
takes as many requests for the same signature of the same version as fit into a batch. Requests with
different glossaries are never in one batch.

Clients that wait for their answer before they ask again come back together. So a free thread waits,
up to `batch_wait` seconds, until as many rows are there as at the end of the last batch. A lone
client never waits.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http import HTTPStatus

import numpy as np

from keras_attn.serving.errors import RETRY_AFTER, RequestError
from keras_attn.serving.servable import Servable
from keras_attn.serving.settings import Settings

Tensors = dict[str, np.ndarray]


@dataclass(eq=False)
class _Request:
    """Request in the queue: inputs, and a future for the outputs."""

    servable: Servable
    signature: str
    inputs: Tensors
    num_rows: int
    answer: asyncio.Future[Tensors] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    @property
    def num_characters(self) -> int:
        """Number of characters of all texts of the request."""
        texts = (
            text for array in self.inputs.values() if array.dtype == object for text in array.flat
        )
        return sum(len(text.decode("utf-8", "replace")) for text in texts)

    def can_join(self, other: _Request) -> bool:
        if self.servable is not other.servable or self.signature != other.signature:
            return False
        signature = self.servable.signature(self.signature)
        return signature.joins_rows and all(
            np.array_equal(self.inputs[name], other.inputs[name]) for name in signature.shared
        )


class Batcher:
    """Bounded queue of requests, and threads that compute them in batches.

    Args:
        settings: Settings of the server: batch size, queue size, number of threads.
        on_batch: Function called with the number of rows of each batch. Defaults to no function.
    """

    def __init__(self, settings: Settings, on_batch: Callable[[int], None] = lambda rows: None):
        self._settings = settings
        self._on_batch = on_batch
        self._waiting: deque[_Request] = deque()
        self._num_running = 0
        self._running: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        # Rows that are waited for: those of the last batch, and those that waited at its end.
        self._num_expected = settings.batch_rows
        self._threads = ThreadPoolExecutor(settings.threads, thread_name_prefix="batch")

    @property
    def num_rows(self) -> int:
        """Number of waiting rows."""
        return sum(request.num_rows for request in self._waiting)

    async def predict(
        self, servable: Servable, signature: str, inputs: Tensors, num_rows: int
    ) -> Tensors:
        """Compute the outputs of a signature, possibly in a batch with other requests.

        If the caller is cancelled while the request waits, the request leaves the queue.

        Args:
            servable: Version of the model.
            signature: Name of the signature.
            inputs: Inputs of the signature, by name.
            num_rows: Number of rows of the inputs.

        Raises:
            RequestError: If the queue is full, or if the model refuses the inputs.
        """
        if self.num_rows + num_rows > self._settings.queue_rows:
            raise RequestError(
                "The server is busy: its queue is full. Try again later.",
                HTTPStatus.SERVICE_UNAVAILABLE,
                RETRY_AFTER,
            )
        request = _Request(servable, signature, inputs, num_rows)
        self._waiting.append(request)
        self._run_when_due()
        try:
            return await request.answer
        finally:
            if request in self._waiting:
                self._waiting.remove(request)

    def close(self) -> None:
        """Wait for running batches and stop the threads."""
        self._threads.shutdown()

    def _run_when_due(self) -> None:
        """Start full batches on free threads, and a smaller one when it has waited long enough."""
        while self._has_free_thread and self.num_rows >= self._settings.batch_rows:
            self._run()
        if not self._has_free_thread or not self._waiting:
            return
        loop = asyncio.get_running_loop()
        if self.num_rows >= self._num_expected:
            # Not at once: further requests may be about to be read.
            loop.call_soon(self._run_after_wait)
        elif not self._timer:
            self._timer = loop.call_later(self._settings.batch_wait, self._run_after_wait)

    def _run_after_wait(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self._has_free_thread and self._waiting:
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
        """Oldest request, and the waiting requests that fit into a batch with it."""
        first = self._waiting.popleft()
        batch, left = [first], deque[_Request]()
        num_rows, num_characters = first.num_rows, first.num_characters
        for request in self._waiting:
            fits = (
                num_rows + request.num_rows <= self._settings.batch_rows
                and num_characters + request.num_characters <= self._settings.batch_characters
            )
            if fits and first.can_join(request):
                batch.append(request)
                num_rows += request.num_rows
                num_characters += request.num_characters
            else:
                left.append(request)
        self._waiting = left
        return batch

    async def _compute(self, batch: list[_Request]) -> None:
        self._on_batch(sum(request.num_rows for request in batch))
        try:
            loop = asyncio.get_running_loop()
            answers = await loop.run_in_executor(self._threads, _answers, batch)
            for request, answer in zip(batch, answers, strict=True):
                if request.answer.done():  # the caller was cancelled
                    continue
                if isinstance(answer, Exception):
                    request.answer.set_exception(answer)
                else:
                    request.answer.set_result(answer)
        finally:
            self._num_running -= 1
            self._num_expected = sum(request.num_rows for request in batch) + self.num_rows
            self._run_when_due()


def _answers(batch: list[_Request]) -> list[Tensors | Exception]:
    """Outputs, or exception, of each request."""
    try:
        return list(_joined(batch))
    except Exception as error:
        if len(batch) == 1:
            return [error]
        # At least one request is invalid. Compute them one by one, so that only this one fails.
        return [_answers([request])[0] for request in batch]


def _joined(batch: list[_Request]) -> Iterator[Tensors]:
    """Outputs of each request, computed by one call of the model."""
    first = batch[0]
    if len(batch) == 1:
        yield first.servable.predict(first.signature, first.inputs)
        return
    shared = first.servable.signature(first.signature).shared
    inputs = {
        name: array
        if name in shared
        else np.concatenate([request.inputs[name] for request in batch])
        for name, array in first.inputs.items()
    }
    outputs = first.servable.predict(first.signature, inputs)
    start = 0
    for request in batch:
        end = start + request.num_rows
        yield {name: rows[start:end] for name, rows in outputs.items()}
        start = end
