"""The API of LibreTranslate: translation, languages, and detection by script.

https://docs.libretranslate.com: a client for it needs the address of this server only. Members of a
request are JSON, a form, or in the query. Text in HTML is translated between its tags (`markup`).

Two members of a request for translation are this server's own: `glossary`, as in `glossary.py`, and
`scores`, which adds `scores` (of the translation and its alternatives), `isUncertain` and
`isOtherLanguage`.
"""

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from email.message import Message
from email.parser import BytesHeaderParser
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import numpy as np
import tensorflow as tf
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from keras_attn.languages import read_language
from keras_attn.serving import body, glossary, markup
from keras_attn.serving.apis.api import Api
from keras_attn.serving.errors import RequestError
from keras_attn.serving.models import LanguagePair
from keras_attn.serving.pieces import Tensors, num_bytes
from keras_attn.serving.servable import DEFAULT_SIGNATURE
from keras_attn.serving.settings import Settings
from keras_attn.serving.tensors import as_json, shown, to_array, to_json
from keras_attn.translation.corpus.cleaning import share_of_script

AUTO = "auto"
NBEST = "nbest"
# Outputs of `nbest` that are members of responses too.
_FLAGS = {"isUncertain": "is_uncertain", "isOtherLanguage": "is_other_language"}


class LibreTranslate(Api):
    """Routes of LibreTranslate's API, without that of health."""

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/translate", self._translate, methods=["POST"]),
            Route("/detect", self._detect, methods=["POST"]),
            Route("/languages", self._languages),
        ]

    async def _translate(self, request: Request) -> Response:
        arrived = time.monotonic()
        translators = self._models.translators()
        parsed = await parse_body(request, self._settings, parse_request, translators)
        name, inputs = parsed.signature, parsed.inputs
        with translators[parsed.pair].use(None) as servable:
            outputs = await self._inference.answer(request, servable, name, inputs, arrived)
        size = num_bytes(outputs)
        response = await body.off_loop(size, to_response, parsed, outputs, translators)
        return Response(response, media_type="application/json")

    async def _detect(self, request: Request) -> Response:
        translators = self._models.translators()
        return JSONResponse(await parse_body(request, self._settings, detect, translators))

    async def _languages(self, request: Request) -> Response:
        return JSONResponse(languages(self._models.translators()))


async def parse_body(
    request: Request, settings: Settings, parse: Callable[..., body.Answer], *arguments: Any
) -> body.Answer:
    """`parse(members, *arguments)` of the members of the query and of the body."""
    content = await body.read(request, settings)
    query = request.scope["query_string"]
    media_type = request.headers.get("content-type", "")

    def parse_content() -> body.Answer:
        return parse({**form(query), **_read(content, media_type, bool(query))}, *arguments)

    return await body.off_loop(len(content), parse_content)


def _read(content: bytes, media_type: str, has_query: bool) -> Mapping[str, Any]:
    """Members of a body: JSON, a form of either kind, or nothing with a query."""
    if media_type.startswith("application/x-www-form-urlencoded"):
        return form(content)
    if media_type.startswith("multipart/form-data"):
        return _grouped(
            (
                str(part.get_param("name", "", "content-disposition")),
                bytes(part.get_payload(decode=True)).decode("utf-8", "replace"),
            )
            for part in _parts(content, media_type)
        )
    return {} if has_query and not content.strip() else body.parse_json(content)


def _parts(content: bytes, media_type: str) -> Iterator[Message]:
    """Parts of a multipart form; a form in a part is text, which `email` would take minutes for."""
    read = BytesHeaderParser().parsebytes
    head = read(f"Content-Type: {media_type}\r\n\r\n".encode("latin-1", "replace"))
    boundary = re.escape(head.get_boundary("").encode("latin-1", "replace"))
    parts = re.split(rb"(?:\A|\r?\n)--" + boundary + rb"(?:--)?[ \t]*(?=\r?\n|\Z)", content)
    for part in parts[1:]:
        yield read(part.removeprefix(b"\r").removeprefix(b"\n"))


class TranslateRequest(NamedTuple):
    """A request for translation."""

    texts: list[str]
    is_list: bool  # and so is the response
    pair: LanguagePair
    alternatives: int  # number for each text
    has_scores: bool
    inputs: Tensors
    detects: bool
    pages: list[markup.Markup]  # around each text, if they are in HTML

    @property
    def signature(self) -> str:
        """Name of the signature that computes the response."""
        if glossary.TERM in self.inputs:
            return glossary.SIGNATURE
        return NBEST if self.alternatives or self.has_scores else DEFAULT_SIGNATURE


def form(content: bytes) -> dict[str, Any]:
    """Members of an HTML form; a member that is given several times is a list."""
    return _grouped(parse_qsl(content.decode("utf-8", "replace"), keep_blank_values=True))


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    members: dict[str, list[str]] = {}
    for name, text in pairs:
        members.setdefault(name, []).append(text)
    return {name: texts if len(texts) > 1 else texts[0] for name, texts in members.items()}


def parse_request(document: Mapping[str, Any], pairs: Collection[LanguagePair]) -> TranslateRequest:
    """Read a request for translation by one of the translators, JSON or a form."""
    texts, is_list = _texts(document)
    pages = [markup.parse(text) for text in texts] if document.get("format") == "html" else []
    texts = [page.text for page in pages] or texts
    pair = _pair(document, texts, pairs)
    if document.get("format", "text") not in ("text", "html"):
        raise RequestError(f"{shown(document['format'])} format is not supported")
    try:
        alternatives = int(document.get("alternatives", 0))
    except (TypeError, ValueError, OverflowError):  # OverflowError: Infinity
        alternatives = -1
    if alternatives < 0:
        raise RequestError("Invalid request: alternatives parameter is not a number of at least 0")
    has_scores = document.get("scores", False)
    if has_scores in ("true", "false"):  # of a form
        has_scores = has_scores == "true"
    if not isinstance(has_scores, bool):
        raise RequestError(f"'scores' must be true or false. Received: {shown(has_scores)}.")
    terms = glossary.from_member(document)
    if terms and (alternatives or has_scores):
        raise RequestError(
            "A request with 'glossary' must have neither 'alternatives' nor 'scores': the model "
            "gives one translation with a glossary."
        )
    is_auto = document["source"] == AUTO
    inputs = {"text": to_array(texts, tf.string), **terms}
    return TranslateRequest(texts, is_list, pair, alternatives, has_scores, inputs, is_auto, pages)


def _pair(
    document: Mapping[str, Any], texts: list[str], pairs: Collection[LanguagePair]
) -> LanguagePair:
    """Source and target language of a request; `auto` is the source with the most letters."""
    known = {"source": {AUTO, *(source for source, _ in pairs)}, "target": {t for _, t in pairs}}
    offer = "This server translates " + ", ".join(f"{source} to {to}" for source, to in pairs) + "."
    for name, languages_known in known.items():
        if name not in document:
            raise RequestError(f"Invalid request: missing {name} parameter")
        language = document[name]
        if not isinstance(language, str) or language not in languages_known:
            raise RequestError(f"{shown(language)} is not supported as {name} language. {offer}")
    target = document["target"]
    sources = [s for s, t in pairs if t == target and document["source"] in (AUTO, s)]
    if not sources:
        raise RequestError(
            f"{target} is not available as a target language from {document['source']}. {offer}"
        )
    text = " ".join(texts)
    return max(sources, key=lambda source: share_of_script(text, source)), target


def _texts(document: Mapping[str, Any]) -> tuple[list[str], bool]:
    if "q" not in document:
        raise RequestError("Invalid request: missing q parameter")
    texts = document["q"] if isinstance(document["q"], list) else [document["q"]]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise RequestError(
            f"'q' must be a text or a list of texts. Received: {shown(document['q'])}."
        )
    return texts, isinstance(document["q"], list)


def to_response(
    parsed: TranslateRequest, outputs: Tensors, pairs: Collection[LanguagePair]
) -> bytes:
    """Body of the response to a request for translation."""
    found: dict[str, Any] = {}
    if parsed.signature == NBEST:
        # A text that the search could not translate in another way has fewer hypotheses.
        kept = [np.isfinite(row)[: 1 + parsed.alternatives] for row in outputs["scores"]]
        rows, scores = (
            [
                to_json(row[: len(is_kept)][is_kept], name)
                for row, is_kept in zip(outputs[name], kept, strict=True)
            ]
            for name in ("translations", "scores")
        )
        if parsed.has_scores:
            found |= {"scores": scores, **flags(outputs)}
    else:
        rows = [[text] for text in to_json(outputs["translation"], "translation")]
    if parsed.pages:
        rows = [[p.filled(text) for text in row] for p, row in zip(parsed.pages, rows, strict=True)]
    found["translatedText"] = [row[0] if row else "" for row in rows]
    if parsed.alternatives:
        found["alternatives"] = [row[1:] for row in rows]
    if parsed.detects:
        found["detectedLanguage"] = [detected(text, pairs)[0] for text in parsed.texts]
    if not parsed.is_list:
        found = {name: values[0] for name, values in found.items()}
    return as_json(found)


def flags(outputs: Tensors) -> dict[str, list[bool]]:
    """Whether the model is unsure of each text, and whether the text is in another language.

    Outputs of an older version lack one or both.
    """
    return {name: outputs[of].tolist() for name, of in _FLAGS.items() if of in outputs}


def languages(pairs: Collection[LanguagePair]) -> list[dict[str, Any]]:
    """Languages of the translators, and into which each is translated."""
    return [
        {
            "code": code,
            "name": read_language(code).name,
            "targets": [target for source, target in pairs if source == code],
        }
        for code in _codes(pairs)
    ]


def detect(document: Mapping[str, Any], pairs: Collection[LanguagePair]) -> list[dict[str, Any]]:
    """Response to a request for the language of a text, most likely first."""
    texts, _ = _texts(document)
    return detected(" ".join(texts), pairs)


def detected(text: str, pairs: Collection[LanguagePair]) -> list[dict[str, Any]]:
    """Languages of the translators by the share of letters in their scripts, in percent.

    Languages that are written in the same letters share the percents of these letters.

    Example:

    >>> detected("犬です dog", [("ja", "en")])
    [{'confidence': 50, 'language': 'ja'}, {'confidence': 50, 'language': 'en'}]
    """
    shares = {code: share_of_script(text, code) for code in _codes(pairs)}
    total = max(1, sum(shares.values()))
    found = [
        {"confidence": round(100 * share / total), "language": code}
        for code, share in shares.items()
    ]
    return sorted(found, key=lambda one: -one["confidence"])


def _codes(pairs: Collection[LanguagePair]) -> list[str]:
    """Languages of pairs, sources first."""
    return list(dict.fromkeys([source for source, _ in pairs] + [target for _, target in pairs]))
