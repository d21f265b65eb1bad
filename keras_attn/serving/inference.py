"""Outputs of a model's signature within the limits of the server."""

import asyncio
import time
from collections.abc import Coroutine
from http import HTTPStatus
from typing import Any

import numpy as np
from starlette.requests import Request

from keras_attn.serving import body, glossary
from keras_attn.serving.batching import Batcher
from keras_attn.serving.body import Answer
from keras_attn.serving.errors import RequestError
from keras_attn.serving.metrics import Metrics
from keras_attn.serving.pieces import Tensors
from keras_attn.serving.servable import Servable
from keras_attn.serving.settings import Settings
from keras_attn.translation.config import Config
from keras_attn.translation.export.translator import check_sampling


def check_values(name: str, inputs: Tensors, config: Config | None) -> None:
    """Check the inputs of `sample`, `score`, `continue` and `head`, which no model checks."""
    sampling = ("temperature", "top_k", "top_p")
    if name == "sample" and inputs.keys() >= {*sampling}:
        try:
            check_sampling(*(inputs[one].item() for one in sampling))
        except ValueError as error:
            raise RequestError(str(error)) from error
    if name == "head" and config:
        sizes = {"layer": config.num_decoder_layers, "head": config.num_heads}
        for one, size in sizes.items():
            for number in np.ravel(inputs.get(one, ())):
                if not 0 <= number < size:
                    allowed = f"from 0 to {size - 1}"
                    raise RequestError(f"'{one}' must be {allowed}. Received: {number}.")
    rows = {one: len(array) for one, array in inputs.items() if array.ndim}
    if name in ("score", "continue", "head") and len({*rows.values()}) > 1:
        found = ", ".join(f"{number} in '{one}'" for one, number in rows.items())
        raise RequestError(f"The inputs must have as many rows each. Received: {found}.")


class Inference:
    """Computation of requests, of all models and protocols, in one queue, within `limits`."""

    def __init__(self, limits: Settings, metrics: Metrics):
        self.limits = limits
        self.batcher = Batcher(limits, metrics.batch_rows.observe)

    async def compute(self, servable: Servable, name: str, inputs: Tensors, client: str) -> Tensors:
        """Outputs of a signature, by name.

        `client` is an address. Each client gets the same share.
        """
        if name == glossary.SIGNATURE:
            glossary.check(inputs, self.limits)
        check_values(name, inputs, servable.config)
        num_rows = servable.signature(name).num_rows(inputs)
        if num_rows > self.limits.max_rows:
            raise RequestError(
                f"A request must have at most {self.limits.max_rows} texts. Received: {num_rows}.",
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            )
        self.check_lengths(inputs)
        return await self.batcher.predict(servable, name, inputs, num_rows, client)

    async def answer(
        self, request: Request, servable: Servable, name: str, inputs: Tensors, arrived: float
    ) -> Tensors:
        """Outputs of a signature for an HTTP request whose body has been read.

        The request `arrived` at this time of `time.monotonic`. If the client disconnects, the
        computation is cancelled.
        """
        request.state.rows = servable.signature(name).num_rows(inputs)
        client = body.client(request)
        asking = body.cancel_on_disconnect(request, self.compute(servable, name, inputs, client))
        return await self.in_time(asking, time.monotonic() - arrived)

    async def in_time(self, asking: Coroutine[Any, Any, Answer], waited: float = 0.0) -> Answer:
        """Await an answer for `max_seconds`, of which the client has `waited` already."""
        try:
            async with asyncio.timeout(self.limits.max_seconds - waited):
                return await asking
        except TimeoutError as error:
            raise RequestError(
                f"The answer took longer than {self.limits.max_seconds:g} seconds.",
                HTTPStatus.GATEWAY_TIMEOUT,
            ) from error

    def check_lengths(self, inputs: Tensors) -> None:
        """Check the lengths of texts."""
        limit = self.limits.max_characters
        for array in inputs.values():
            texts = array.flat if array.dtype == object else ()
            longest = max((len(text.decode("utf-8", "replace")) for text in texts), default=0)
            if longest > limit:
                raise RequestError(
                    f"A text must have at most {limit} characters. Received: {longest}.",
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                )
