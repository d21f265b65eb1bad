"""Translation of a long text sentence by sentence, as server-sent events.

The sentences are those of the graph, and their translations are joined as in the graph, so the last
event has the translation that a request for the whole text gets. The first sentence is translated
alone, then twice as many each time: the first translation comes soon, and further sentences share
batches.

https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

import asyncio
import json
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any

import tensorflow as tf
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from keras_attn.languages import read_language
from keras_attn.serving import body
from keras_attn.serving.apis import libretranslate
from keras_attn.serving.apis.api import Api
from keras_attn.serving.apis.libretranslate import TranslateRequest
from keras_attn.serving.errors import RequestError
from keras_attn.serving.pieces import Tensors
from keras_attn.serving.tensors import to_array, to_json
from keras_attn.serving.versions import Versions
from keras_attn.translation.text import sentences

# A proxy must not hold events back.
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class Streaming(Api):
    """Route of the stream."""

    def routes(self) -> list[BaseRoute]:
        return [Route("/translate/stream", self._stream, methods=["POST"])]

    async def _stream(self, request: Request) -> Response:
        translators = self._models.translators()
        wanted = await libretranslate.parse_body(
            request, self._settings, libretranslate.parse_request, translators
        )
        limits, length = self._settings, len(wanted.texts[0])
        if wanted.is_list or wanted.alternatives or wanted.pages:
            raise RequestError(
                "A stream is for the translation of one text: 'q' must be a text, without "
                "'alternatives' and not in HTML."
            )
        if length > limits.max_stream_characters:
            raise RequestError(
                f"A text that is streamed must have at most {limits.max_stream_characters} "
                f"characters. Received: {length}.",
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            )
        found = self._events(wanted, translators[wanted.pair], body.client(request))
        # An error before the first event has a status of its own.
        first = await body.cancel_on_disconnect(request, anext(found))
        return StreamingResponse(
            with_first(first, found), headers=HEADERS, media_type="text/event-stream"
        )

    async def _events(
        self, wanted: TranslateRequest, versions: Versions, client: str
    ) -> AsyncIterator[bytes]:
        """An event `sentence` for each sentence, in order, and an event `done`.

        All sentences are translated by one version. An error after the first sentence is an event
        `error`, the last one.
        """
        texts, around = await asyncio.to_thread(split, wanted.texts[0], wanted.pair[1])
        self._inference.check_lengths({"text": to_array(texts, tf.string)})
        translated = ""
        start, size = 0, 1
        with versions.use(None) as servable:
            while start < len(texts):
                window = texts[start : start + size]
                inputs = {**wanted.inputs, "text": to_array(window, tf.string)}
                asking = self._inference.compute(servable, wanted.signature, inputs, client)
                try:
                    outputs = await self._inference.in_time(asking)
                except RequestError as error:
                    if not start:
                        raise
                    yield event("error", error=error.message)
                    return
                for found in _translations(outputs):
                    parts = {"before": around[start], **found}
                    yield event("sentence", index=start, source=texts[start], **parts)
                    translated += parts["before"] + parts["translation"]
                    start += 1
                size = min(2 * size, self._settings.batch_rows, self._settings.max_rows)
        yield event("done", translatedText=translated + around[-1])


def split(text: str, target: str) -> tuple[list[str], list[str]]:
    """Sentences of a text, and the text before each of their translations and after the last.

    The target language determines the space between sentences.

    Example:

    >>> split("犬だ。猫だ！\\n鳥だ。", "en")
    (['犬だ。', '猫だ！', '鳥だ。'], ['', ' ', '\\n', ''])
    """
    found = sentences.split(tf.constant(to_array([text], tf.string)))
    # No sentence holds a separator, so this marks the places of the translations.
    marks = tf.where(found.text == "", "", sentences.SEPARATOR)[:, None]
    between = read_language(target).joiner
    (whole,) = sentences.join(found, marks, tf.constant(1), between).numpy()[0]
    around = whole.decode("utf-8", "replace").split(sentences.SEPARATOR)
    return [one.decode("utf-8", "replace") for one in found.text.numpy() if one], around


def _translations(outputs: Tensors) -> list[dict[str, Any]]:
    """Best translation of each sentence, with score and flags if the outputs have them."""
    if "scores" not in outputs:
        texts = to_json(outputs["translation"], "translation")
        return [{"translation": text} for text in texts]
    best = {
        "translation": to_json(outputs["translations"][:, 0], "translations"),
        "score": to_json(outputs["scores"][:, 0], "scores"),
        **libretranslate.flags(outputs),
    }
    return [dict(zip(best, found, strict=True)) for found in zip(*best.values(), strict=True)]


async def with_first(first: bytes, others: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Events, the first of which has been read already."""
    yield first
    async for one in others:
        yield one


def event(name: str, **data: Any) -> bytes:
    """Server-sent event with JSON data."""
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
