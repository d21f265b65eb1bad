"""OpenAPI document of the server's HTTP routes.

https://spec.openapis.org/oas/v3.1.1
"""

from collections.abc import Mapping, Sequence
from typing import Any

from keras_attn import __version__
from keras_attn.serving.schemas import SCHEMAS, TEXT, Schema, reference

_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"
_TENSORFLOW, _KSERVE, _LIBRE = "TensorFlow Serving", "Open Inference Protocol", "LibreTranslate"
_HEALTH, _PAGE = "Health", "Page"
_ONE_MODEL, _ONE_VERSION = ("model",), ("model", "version")
_TEXT = "友達と映画を見ました。"
_TERMS = {"木村": "Kimura"}
_PAIR = {"source": "ja", "target": "en"}
_SIGNATURES = (
    "Signatures of a translator: `serving_default` (text to translation), `nbest` (translations, "
    "scores, is_uncertain, is_other_language), `glossary` (text, term, term_translation), "
    "`attend`, `continue` (text, prefix_pieces), `sample`, `score`. The metadata list the inputs "
    "and outputs of each. A score of `-Infinity` marks a place without a translation."
)

# Statuses of errors, and the names of their responses.
_ERRORS = {
    400: ("BadRequest", "The request is invalid; the sentence says why."),
    404: ("NotFound", "There is no such model, version or file, or no translator."),
    408: ("TooSlow", "The body of the request did not arrive in time."),
    413: ("TooLarge", "The body, the number of texts or a text exceeds a limit."),
    415: ("UnsupportedMediaType", "The body has an encoding that is not supported."),
    503: ("Busy", "The queue is full, or a model is being loaded."),
    504: ("TooLate", "The answer took too long."),
}
_OF_BODY = (400, 404, 408, 413, 415, 503)
_OF_MODEL = (*_OF_BODY, 504)


def document(root_path: str) -> dict[str, Any]:
    """OpenAPI document.

    Args:
        root_path: Path under which a proxy offers the server, or `""`.
    """
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "keras_attn translation server",
            "version": __version__,
            "description": "Translators behind the APIs of TensorFlow Serving, KServe and "
            "LibreTranslate. Bodies are JSON in UTF-8, plain or gzip.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": root_path.rstrip("/") or "/"}],
        "tags": [
            {"name": _TENSORFLOW, "description": "https://www.tensorflow.org/tfx/serving/api_rest"},
            {
                "name": _KSERVE,
                "description": "https://github.com/kserve/open-inference-protocol",
            },
            {"name": _LIBRE, "description": "https://docs.libretranslate.com"},
            {"name": _HEALTH, "description": "Probes and metrics"},
            {"name": _PAGE, "description": "Pages for the browser"},
        ],
        "paths": {
            **_tensorflow_serving(),
            **_kserve(),
            **_libretranslate(),
            **_health(),
            **_pages(),
        },
        "components": {
            "parameters": _PARAMETERS,
            "responses": dict(_error(*error) for error in _ERRORS.values()),
            "schemas": SCHEMAS,
        },
    }


def _tensorflow_serving() -> dict[str, Any]:
    requests = {
        "rows": {"instances": [_TEXT]},
        "columns": {"inputs": {"text": [_TEXT]}},
        "nbest": {"signature_name": "nbest", "instances": [_TEXT]},
        "glossary": {"instances": ["木村さんです。"], "glossary": _TERMS},
    }
    paths = {}
    for path, names in (("", _ONE_MODEL), ("/versions/{version}", _ONE_VERSION)):
        of = "the served version" if names == _ONE_MODEL else "a version"
        model = f"/v1/models/{{model}}{path}"
        paths[f"{model}:predict"] = _post(
            _TENSORFLOW,
            f"Outputs of a signature of {of}",
            _SIGNATURES,
            body="PredictRequest",
            requests=requests,
            answer="PredictResponse",
            errors=_OF_MODEL,
            parameters=names,
        )
        which = "all versions, newest first" if names == _ONE_MODEL else of
        summary = f"Status of {which}"
        paths[model] = _get(_TENSORFLOW, summary, "ModelStatus", (400, 404), names)
        summary = f"Signatures of {of}"
        paths[f"{model}/metadata"] = _get(
            _TENSORFLOW, summary, "SignatureMetadata", (400, 404), names
        )
    return paths


def _kserve() -> dict[str, Any]:
    def tensor(name: str, *data: str) -> dict[str, Any]:
        return {"name": name, "shape": [len(data)], "datatype": "BYTES", "data": list(data)}

    (term, translation), *_ = _TERMS.items()
    given = [tensor("text", "木村さんです。")]
    terms = [tensor("term", term), tensor("term_translation", translation)]
    requests = {
        "text": {"inputs": [tensor("text", _TEXT)]},
        "nbest": {
            "id": "a",
            "parameters": {"signature_name": "nbest"},
            "inputs": given,
            "outputs": [{"name": "translations"}, {"name": "scores"}],
        },
        "glossary": {"parameters": {"signature_name": "glossary"}, "inputs": given + terms},
    }
    paths = {
        "/v2": _get(_KSERVE, "Name and version of the server", "ServerMetadata"),
        "/v2/health/live": _get(_KSERVE, "Whether the server runs", "Live"),
        "/v2/health/ready": _with_not_ready(_get(_KSERVE, "Whether the models are ready", "Ready")),
        "/v2/repository/index": _post(
            _KSERVE,
            "Versions of all models",
            "From the extension `model_repository` of Triton; its other requests are not served.",
            answer="RepositoryIndex",
        ),
    }
    for path, names in (("", _ONE_MODEL), ("/versions/{version}", _ONE_VERSION)):
        of = "the served version" if names == _ONE_MODEL else "a version"
        model = f"/v2/models/{{model}}{path}"
        summary = f"Inputs and outputs of `serving_default` of {of}"
        paths[model] = _get(_KSERVE, summary, "ModelMetadata", (404,), names)
        ready = _get(_KSERVE, f"Whether {of} is ready", "ModelReady", (404,), names)
        paths[f"{model}/ready"] = _with_not_ready(ready) if names == _ONE_MODEL else ready
        paths[f"{model}/infer"] = _post(
            _KSERVE,
            f"Outputs of a signature of {of}",
            f"{_SIGNATURES} Data may be binary, as Triton's clients send it by default: after the "
            "JSON, whose size is in the header `Inference-Header-Content-Length`.",
            body="InferRequest",
            requests=requests,
            answer="InferResponse",
            errors=_OF_MODEL,
            parameters=names,
        )
    return paths


def _libretranslate() -> dict[str, Any]:
    requests = {
        "text": {"q": _TEXT, **_PAIR},
        "list": {"q": ["犬", "猫"], "source": "auto", "target": "en"},
        "scores": {"q": _TEXT, "alternatives": 2, "scores": True, **_PAIR},
        "glossary": {"q": "木村さんです。", "glossary": _TERMS, **_PAIR},
    }
    paths = {
        "/translate": _post(
            _LIBRE,
            "Translations of a text or of a list of texts",
            "The response has lists if the request has a list. `glossary` and `scores` are this "
            "server's own; the other members are LibreTranslate's.",
            body="TranslateRequest",
            requests=requests,
            answer="TranslateResponse",
            errors=_OF_MODEL,
        ),
        "/translate/stream": _post(
            _LIBRE,
            "Translation of a long text, sentence by sentence",
            "This server's own. `q` is one text, which may be longer than texts elsewhere, without "
            "`alternatives`. Events have JSON data: `sentence` (index, source, before, "
            "translation; with `scores` also score, isUncertain and isOtherLanguage) for each "
            "sentence in order, then `done` (translatedText), or `error` (error). `before` is the "
            "text between this translation and the one before it.",
            body="TranslateRequest",
            requests={
                "text": requests["text"],
                "glossary": requests["glossary"],
                "scores": {"q": _TEXT, "scores": True, **_PAIR},
            },
            answer="text/event-stream",
            errors=_OF_MODEL,
        ),
        "/detect": _post(
            _LIBRE,
            "Languages of a text",
            "By the share of letters in the scripts of the languages, most likely first.",
            body="DetectRequest",
            requests={"text": {"q": "犬です。"}},
            answer="Detections",
            errors=_OF_BODY,
        ),
        "/languages": _get(_LIBRE, "Languages, and their targets", "Languages", (404, 503)),
        "/health": _get(_LIBRE, "Whether the server runs", "Live"),
    }
    for path in ("/translate", "/translate/stream", "/detect"):
        body = paths[path]["post"]["requestBody"]["content"]
        body[_FORM] = {"schema": body[_JSON]["schema"]}
    return paths


def _health() -> dict[str, Any]:
    return {
        "/livez": _get(_HEALTH, "Whether the server runs", "Live"),
        "/healthz": _with_not_ready(_get(_HEALTH, "Whether the models are ready", "Ready")),
        "/metrics": _get(_HEALTH, "Metrics in the text format of Prometheus", "text/plain"),
    }


def _pages() -> dict[str, Any]:
    settings = _get(_PAGE, "Translator that the page shows", "PageSettings", (404, 503))
    settings["get"]["parameters"] = [
        {
            "name": "model",
            "in": "query",
            "description": "Name of the translator. Defaults to the first.",
            "schema": TEXT,
            "example": "ja-en",
        }
    ]
    return {
        "/": _get(_PAGE, "Page to translate and to see the attention", "text/html"),
        "/docs": _get(_PAGE, "Page of this document", "text/html"),
        "/openapi.json": _get(_PAGE, "This document", _JSON),
        "/page/settings.json": settings,
        "/page/{file}": _get(_PAGE, "File of the pages", "text/javascript", (404,), ("file",)),
    }


_PARAMETERS = {
    name: {
        "name": name,
        "in": "path",
        "required": True,
        "description": description,
        "schema": schema,
        "example": example,
    }
    for name, description, schema, example in (
        ("model", "Name of the model.", TEXT, "ja-en"),
        ("version", "Number of the version.", {"type": "integer", "minimum": 0}, 1),
        ("file", "Name of the file.", TEXT, "page.js"),
    )
}


def _get(
    tag: str,
    summary: str,
    answer: str,
    errors: Sequence[int] = (),
    parameters: Sequence[str] = (),
) -> dict[str, Any]:
    """Path with the method GET; `answer` is the name of a schema, or a media type."""
    return {"get": _operation(tag, summary, answer, errors, parameters)}


def _post(
    tag: str,
    summary: str,
    description: str,
    *,
    answer: str,
    body: str = "",
    requests: Mapping[str, Any] | None = None,
    errors: Sequence[int] = (),
    parameters: Sequence[str] = (),
) -> dict[str, Any]:
    """Path with the method POST; `body` is the name of the schema of the `requests`."""
    operation = _operation(tag, summary, answer, errors, parameters)
    if requests:
        examples = {name: {"value": value} for name, value in requests.items()}
        of_json = {"schema": reference(body), "examples": examples}
        operation["requestBody"] = {"required": True, "content": {_JSON: of_json}}
    return {"post": {**operation, "description": description}}


def _operation(
    tag: str, summary: str, answer: str, errors: Sequence[int], parameters: Sequence[str]
) -> dict[str, Any]:
    content = {_JSON: {"schema": reference(answer)}} if answer in SCHEMAS else {answer: {}}
    refused = {
        str(status): {"$ref": f"#/components/responses/{_ERRORS[status][0]}"} for status in errors
    }
    return {
        "tags": [tag],
        "summary": summary,
        "parameters": [{"$ref": f"#/components/parameters/{name}"} for name in parameters],
        "responses": {"200": {"description": "The answer.", "content": content}, **refused},
    }


def _error(name: str, description: str) -> tuple[str, Any]:
    response: Schema = {
        "description": description,
        "content": {_JSON: {"schema": reference("Error")}},
    }
    if name == "Busy":
        seconds = {"description": "Seconds to wait.", "schema": {"type": "integer"}}
        response["headers"] = {"Retry-After": seconds}
    return name, response


def _with_not_ready(path: dict[str, Any]) -> dict[str, Any]:
    path["get"]["responses"]["503"] = {
        "description": "A model is being loaded.",
        "content": {_JSON: {"schema": reference("NotReady")}},
    }
    return path
