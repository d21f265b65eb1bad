"""Requests that are wrong, hostile or rude: the statuses that they must get and what errors say.

Sentences are there where they are more than that of the JSON parser.
"""

from __future__ import annotations

import gzip
import json

MAX_BODY, MAX_ROWS, MAX_CHARACTERS, MAX_SECONDS = 50_000, 50, 500, 2.0
PREDICT, INFER = "/v1/models/ja-en:predict", "/v2/models/ja-en/infer"

# Bodies of `predict`.
TEXT = {"text": "犬"}
BODIES = {
    "nothing": (b"", 400),
    "spaces": (b"  \n ", 400),
    "no JSON": (b"instances=a", 400),
    "half JSON": (b'{"instances": ["a"', 400),
    "JSON and more": (b'{"instances": ["a"]} x', 400),
    "single quotes": (b"{'instances': ['a']}", 400),
    "a trailing comma": (b'{"instances": ["a",]}', 400),
    "a comment": (b'{"instances": ["a"]} // x', 400),
    "a list": (b'["a"]', 400),
    "a string": (b'"a"', 400),
    "a number": (b"1", 400),
    "null": (b"null", 400),
    "an empty object": (b"{}", 400),
    "a NUL byte": (b'{"instances": ["a\0b"]}', 400),
    "UTF-16": ('{"instances": ["a"]}'.encode("utf-16"), 400),
    "Shift JIS": ('{"instances": ["犬"]}'.encode("shift_jis"), 400),
    "half a character": (b'{"instances": ["\xe7\x8a"]}', 400),
    "an overlong character": (b'{"instances": ["\xc0\xaf"]}', 400),
    "a lone surrogate": (rb'{"instances": ["\ud800"]}', 400),
    "a lone surrogate in a term": (rb'{"instances": ["a"], "glossary": {"\ud800": "A"}}', 400),
    "a wrong escape": (rb'{"instances": ["\x41"]}', 400),
    "lists nested 100 times": (b'{"instances": ' + b"[" * 100 + b"]" * 100 + b"}", 400),
    "lists nested 20,000 times": (b"[" * 20_000 + b"]" * 20_000, 400),
    "objects nested 6,000 times": (b'{"a":' * 6000 + b"1" + b"}" * 6000, 400),
    "a number of 5,000 digits": (b'{"instances": [' + b"9" * 5000 + b"]}", 400),
    "too many bytes": (b'{"instances": ["' + b"a" * MAX_BODY + b'"]}', 413),
    "gzip": (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", 400),
}
NO_GLOSSARY = "maps each term to its translation"
TOO_LONG = "at most 100 characters each. Received: 101"
# JSON for `predict`.
DOCUMENTS = {
    "both forms": ({"instances": ["a"], "inputs": ["a"]}, 400),
    "rows that are no list": ({"instances": "a"}, 400),
    "rows that are an object": ({"instances": TEXT}, 400),
    "rows that are null": ({"instances": None}, 400),
    "no rows": ({"instances": []}, 400),
    "a number for a text": ({"instances": [1]}, 400),
    "null for a text": ({"instances": [None]}, 400),
    "true for a text": ({"instances": [True]}, 400),
    "a list for a text": ({"instances": [["a"]]}, 400),
    "an empty list for a text": ({"instances": [[]]}, 400),
    "a text and a list": ({"instances": ["a", ["b"]]}, 400),
    "a text and an object": ({"instances": ["a", TEXT]}, 400),
    "an object and a text": ({"instances": [TEXT, "a"]}, 400),
    "an unknown input": ({"instances": [{"txet": "a"}]}, 400),
    "one input too many": ({"instances": [{**TEXT, "seed": 1}]}, 400),
    "an empty row": ({"instances": [{}]}, 400),
    "columns that are a number": ({"inputs": 1}, 400),
    "columns that are one text": ({"inputs": "a"}, 400),
    "columns of an unknown name": ({"inputs": {"txet": ["a"]}}, 400),
    "columns in two levels": ({"inputs": [["a"], ["b"]]}, 400),
    "ragged columns": ({"inputs": [["a"], ["b", "c"]]}, 400),
    "base64 that is none": ({"instances": [{"b64": "?"}]}, 400),
    "base64 that is a number": ({"instances": [{"b64": 1}]}, 400),
    "an unknown signature": ({"signature_name": "steal", "instances": ["a"]}, 400),
    "a signature that is a number": ({"signature_name": 1, "instances": ["a"]}, 400),
    "a signature that is a path": ({"signature_name": "../../etc/passwd", "instances": ["a"]}, 400),
    "a signature of Python": ({"signature_name": "__class__", "instances": ["a"]}, 400),
    "a glossary that is a list": ({"instances": ["a"], "glossary": ["a"]}, 400, NO_GLOSSARY),
    "a glossary that is a text": ({"instances": ["a"], "glossary": "a"}, 400),
    "a glossary that is null": ({"instances": ["a"], "glossary": None}, 400, NO_GLOSSARY),
    "a number for a term": ({"instances": ["a"], "glossary": {"a": 1}}, 400, NO_GLOSSARY),
    "null for a term": ({"instances": ["a"], "glossary": {"a": None}}, 400),
    "base64 for a term": (
        {"instances": ["a"], "glossary": {"a": {"b64": "YQ=="}}},
        400,
        NO_GLOSSARY,
    ),
    "an empty term": ({"instances": ["a"], "glossary": {" ": "a"}}, 400, "must not be empty"),
    "too many terms": (
        {"instances": ["a"], "glossary": {str(n): "a" for n in range(101)}},
        400,
        "at most 100 terms. Received: 101",
    ),
    "too long a term": ({"instances": ["a"], "glossary": {"a" * 101: "a"}}, 400, TOO_LONG),
    "too long a translation": ({"instances": ["a"], "glossary": {"a": "a" * 101}}, 400, TOO_LONG),
    "a glossary for nbest": (
        {"signature_name": "nbest", "instances": ["a"], "glossary": {"a": "A"}},
        400,
        'Received: "nbest"',
    ),
    "a glossary and no texts": ({"glossary": {"a": "A"}}, 400),
    "terms without translations": (
        {"signature_name": "glossary", "inputs": {"text": ["a"], "term": ["a"]}},
        400,
    ),
    "one translation for two terms": (
        {
            "signature_name": "glossary",
            "inputs": {"text": ["a"], "term": ["a", "b"], "term_translation": ["A"]},
        },
        400,
        "Received: 2 in 'term', 1 in 'term_translation'",
    ),
    "too many texts": (
        {"instances": ["a"] * (MAX_ROWS + 1)},
        413,
        "at most 50 texts. Received: 51",
    ),
    "too long a text": (
        {"instances": ["犬" * (MAX_CHARACTERS + 1)]},
        413,
        "at most 500 characters. Received: 501",
    ),
}
# Methods and paths.
PATHS = {
    "another model": (
        "POST",
        "/v1/models/half:predict",
        404,
        "Servable not found for request: Latest(half)",
    ),
    "a version that is not there": ("POST", "/v1/models/ja-en/versions/9:predict", 404),
    "a version beyond all numbers": (
        "POST",
        f"/v1/models/ja-en/versions/{10**30}:predict",
        400,
        "Failed to convert version",
    ),
    "a version that is a word": ("POST", "/v1/models/ja-en/versions/one:predict", 400),
    "a version in wide digits": ("POST", "/v1/models/ja-en/versions/%EF%BC%91:predict", 400),
    "a version below 0": ("POST", "/v1/models/ja-en/versions/-1:predict", 400, "Malformed request"),
    "a slash at the end": ("POST", f"{PREDICT}/", 400, "Malformed request"),
    "no model of TensorFlow Serving": ("GET", "/v1/models", 400, "request: GET /v1/models"),
    "the status of another model": ("GET", "/v1/models/half", 404, "any versions of model half"),
    "metadata of another model": ("GET", "/v1/models/half/metadata", 404, "Latest(half)"),
    "an escaped path for a model": (
        "POST",
        "/v1/models/..%2F..%2Fetc/versions/3:predict",
        404,
        "Servable not found for request: Specific(../../etc, 3)",
    ),
    "a label": ("POST", "/v1/models/ja-en/labels/stable:predict", 400, "version label: stable"),
    "classify": ("POST", "/v1/models/ja-en:classify", 400),
    "regress": ("POST", "/v1/models/ja-en:regress", 400),
    "a verb that is none": ("POST", "/v1/models/ja-en:destroy", 400),
    "no verb": ("POST", "/v1/models/ja-en", 400, "Malformed request: POST /v1/models/ja-en"),
    "GET of predict": ("GET", PREDICT, 400),
    "PUT": ("PUT", PREDICT, 405),
    "DELETE": ("DELETE", "/v1/models/ja-en", 405),
    "dots": ("GET", "/v1/models/../../etc/passwd", 400),
    "escaped dots": ("GET", "/v1/models/%2e%2e%2f%2e%2e%2fetc%2fpasswd", 404),
    "dots below the page": ("GET", "/page/../../../../etc/passwd", 404),
    "escaped dots below the page": ("GET", "/page/%2e%2e/%2e%2e/settings.py", 404),
    "a NUL in the path of the page": ("GET", "/page/page.js%00.html", 404),
    "backslashes": ("GET", "/page/..%5c..%5csettings.py", 404),
    "a path of nobody": ("GET", "/wp-login.php", 404),
    "a script in the path": ("GET", "/v1/models/<script>alert(1)</script>", 400),
    "no model": ("GET", "/v2/models//ready", 404),
    "another model of KServe": ("POST", "/v2/models/half/infer", 404, "This server has ja-en."),
    "a version of KServe that is a word": ("POST", "/v2/models/ja-en/versions/one/infer", 404),
    "a version of KServe beyond all numbers": ("GET", f"/v2/models/ja-en/versions/{10**30}", 404),
    "the weights of KServe": ("GET", "/v2/models/ja-en/weights", 404),
    "GET of infer": ("GET", INFER, 405),
    "POST of metadata of KServe": ("POST", "/v2/models/ja-en", 405),
    "dots for KServe": ("GET", "/v2/models/..%2f..%2fetc", 404),
    "loading a model": ("POST", "/v2/repository/models/ja-en/load", 404),
    "GET of translate": ("GET", "/translate", 405),
    "GET of a stream": ("GET", "/translate/stream", 405),
    "a path below translate": ("POST", "/translate/x", 404),
    "POST of languages": ("POST", "/languages", 405),
    "a file to translate": ("POST", "/translate_file", 404),
    "DELETE of the document": ("DELETE", "/openapi.json", 405),
    "a method of nobody": ("BREW", "/livez", 405),
    "TRACE": ("TRACE", "/livez", 405),
    "a path of 20,000 characters": ("GET", "/" + "a" * 20_000, 404),
    "half an escape": ("GET", "/v1/models/%", 404),
    "bytes that are no text": ("GET", "/v1/models/%ff%fe", 404),
    "a model that the page does not have": ("GET", "/page/settings.json?model=%00", 404),
}


def _infer(**changes):
    """Request of KServe whose input has these members; None leaves a member out."""
    given = {"name": "text", "shape": [1], "datatype": "BYTES", "data": ["a"], **changes}
    return {"inputs": [{name: value for name, value in given.items() if value is not None}]}


KSERVE = {
    "nothing": ({}, 400, "'inputs' must be a list"),
    "inputs that are null": ({"inputs": None}, 400),
    "inputs that are an object": ({"inputs": {"text": ["a"]}}, 400),
    "an input that is a number": ({"inputs": [1]}, 400, "must be an object"),
    "no inputs": ({"inputs": []}, 400, "must have the inputs text"),
    "no name": (_infer(name=None), 400),
    "a name that is a number": (_infer(name=1), 400),
    "an unknown name": (_infer(name="txet"), 400, 'must be text. Received an input "txet"'),
    "no datatype": (_infer(datatype=None), 400),
    "another datatype": (_infer(datatype="FP32"), 400, "must be BYTES. Received: FP32"),
    "a datatype that is a list": (_infer(datatype=["BYTES"]), 400),
    "no shape": (_infer(shape=None), 400),
    "a shape that is a number": (_infer(shape=1), 400),
    "a shape below 0": (_infer(shape=[-1]), 400, "a list of sizes. Received: [-1]"),
    "a shape of halves": (_infer(shape=[1.0]), 400),
    "a shape of truth": (_infer(shape=[True]), 400),
    "a shape beyond memory": (_infer(shape=[10**12]), 400),
    "a shape beyond all numbers": (_infer(shape=[10**30]), 400),
    "a shape of 1000 axes": (_infer(shape=[1] * 1000), 400, "the shape [-1]"),
    "no data": (_infer(data=None), 400, "must be a list"),
    "data that is a text": (_infer(data="a"), 400),
    "data that is a number": (_infer(data=[1]), 400, "not of expected type: string"),
    "data that is null": (_infer(data=[[None]]), 400),
    "data in another shape": (_infer(shape=[2], data=["a"]), 400, "Received: 1 values, shape [2]"),
    "binary data that are not there": (_infer(data=None, parameters={"binary_data_size": 9}), 400),
    "a binary size below 0": (_infer(data=None, parameters={"binary_data_size": -1}), 400),
    "a binary size that is a text": (_infer(data=None, parameters={"binary_data_size": "9"}), 400),
    "parameters that are a list": ({**_infer(), "parameters": []}, 400),
    "a signature that is a number": ({**_infer(), "parameters": {"signature_name": 1}}, 400),
    "an unknown signature": (
        {**_infer(), "parameters": {"signature_name": "steal"}},
        400,
        "not found",
    ),
    "outputs that are a number": ({**_infer(), "outputs": 1}, 400),
    "an unknown output": (
        {**_infer(), "outputs": [{"name": "weights"}]},
        400,
        "must be translation",
    ),
    "too many texts": (
        _infer(shape=[MAX_ROWS + 1], data=["a"] * (MAX_ROWS + 1)),
        413,
        "at most 50 texts",
    ),
    "too long a text": (_infer(data=["犬" * (MAX_CHARACTERS + 1)]), 413),
}

_PAIR = {"source": "ja", "target": "en"}
LIBRETRANSLATE = {
    "no text": (_PAIR, 400, "missing q"),
    "null for a text": ({"q": None, **_PAIR}, 400),
    "a number for a text": ({"q": 1, **_PAIR}, 400, "'q' must be"),
    "an object for a text": ({"q": {"q": "a"}, **_PAIR}, 400),
    "an empty list": ({"q": [], **_PAIR}, 400, "'q' must be"),
    "a list in a list": ({"q": [["a"]], **_PAIR}, 400),
    "half a character": ({"q": "\ud800", **_PAIR}, 400),
    "no source": ({"q": "a", "target": "en"}, 400, "missing source"),
    "no target": ({"q": "a", "source": "ja"}, 400, "missing target"),
    "a source that is a list": ({"q": "a", "source": ["ja"], "target": "en"}, 400, "as source"),
    "a target that is an object": ({"q": "a", "source": "ja", "target": {}}, 400),
    "auto for a target": ({"q": "a", "source": "ja", "target": "auto"}, 400),
    "the wrong way round": (
        {"q": "a", "source": "en", "target": "ja"},
        400,
        '"en" is not supported as source',
    ),
    "a format that is a list": ({"q": "a", "format": ["text"], **_PAIR}, 400),
    "alternatives below 0": ({"q": "a", "alternatives": -1, **_PAIR}, 400, "alternatives"),
    "alternatives that are null": ({"q": "a", "alternatives": None, **_PAIR}, 400),
    "infinite alternatives": ({"q": "a", "alternatives": float("inf"), **_PAIR}, 400),
    "scores that are a number": (
        {"q": "a", "scores": 1, **_PAIR},
        400,
        "'scores' must be true or false",
    ),
    "a glossary that is a text": (
        {"q": "a", "glossary": "a", **_PAIR},
        400,
        "'glossary' must be an object",
    ),
    "a glossary and alternatives": (
        {"q": "a", "glossary": {"a": "A"}, "alternatives": 1, **_PAIR},
        400,
        "neither",
    ),
    "a glossary and scores": (
        {"q": "a", "glossary": {"a": "A"}, "scores": True, **_PAIR},
        400,
        "neither",
    ),
    "another target": ({"q": "a", "source": "ja", "target": "fr"}, 400, "translates ja to en."),
    "another format": ({"q": "a", "format": "pdf", **_PAIR}, 400, '"pdf" format is not supported'),
    "alternatives that are a word": ({"q": "a", "alternatives": "many", **_PAIR}, 400),
    "too many texts": ({"q": ["a"] * (MAX_ROWS + 1), **_PAIR}, 413, "at most 50 texts"),
    "too long a text": ({"q": "犬" * (MAX_CHARACTERS + 1), **_PAIR}, 413),
}


def _post(path, body, *headers, version="1.1"):
    lines = [f"POST {path} HTTP/{version}", "Host: a", *headers]
    if not any("Content-Length" in header or "chunked" in header for header in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def _get(path, *headers, version="1.1"):
    return "\r\n".join([f"GET {path} HTTP/{version}", *headers, "", ""]).encode()


_BODY = json.dumps({"instances": ["a"]}).encode()
_LENGTH = len(_BODY)
_CHUNKED = "Transfer-Encoding: chunked"
_CHUNK = f"{_LENGTH:x}".encode() + b"\r\n" + _BODY + b"\r\n"
_OFFER = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAR")
_SOCKET = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: YQ==",
)
_END = b"0\r\n\r\n"
_GZIP = "Content-Encoding: gzip"
_CUT_OFF = json.dumps(_infer(data=None, parameters={"binary_data_size": 5})).encode()
_SIZE = "Inference-Header-Content-Length"
_FORM = "Content-Type: application/x-www-form-urlencoded"
_UPLOAD = "Content-Type: multipart/form-data; boundary=a"


def _ask(*headers, version="1.1"):
    return _post(PREDICT, _BODY, *headers, version=version)


# What is sent, and the statuses that may come; none: the server may hang up.
RAW = {
    "HTTP/1.0": (_get("/livez", version="1.0"), (200,)),
    "POST in HTTP/1.0": (_ask(version="1.0"), (200,)),
    "POST in HTTP/1.0 without a length": (
        _get("/livez", version="1.0").replace(b"GET /livez", b"POST " + PREDICT.encode()),
        (400,),
    ),
    "HTTP/0.9": (b"GET /\r\n", ()),
    "HTTP/3": (_get("/livez", "Host: a", version="3.0"), (200, 400, 505)),
    "the beginning of HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400, 404, 405)),
    "an offer of HTTP/2": (_get("/livez", "Host: a", *_OFFER), (200,)),
    "POST with an offer of HTTP/2": (_ask(*_OFFER), (200,)),
    "an offer of WebSocket": (_get("/livez", "Host: a", *_SOCKET), (200,)),
    "no host": (_get("/livez"), (400,)),
    "two hosts": (_get("/livez", "Host: a", "Host: b"), (400,)),
    "a whole address": (_get("http://a/livez", "Host: a"), (200, 404)),
    "a star": (_get("*", "Host: a").replace(b"GET", b"OPTIONS"), (200, 400, 404, 405)),
    "CONNECT": (_get("a:443", "Host: a").replace(b"GET", b"CONNECT"), (400, 404, 405)),
    "a method in small letters": (_get("/livez", "Host: a").replace(b"GET", b"get"), (400, 405)),
    "a space in the path": (_get("/liv ez", "Host: a"), (400,)),
    "raw bytes in the path": (_get("/x", "Host: a").replace(b"/x", b"/\xe7\x8a"), (400,)),
    "a header without a colon": (_get("/livez", "Host: a", "colon"), (400,)),
    "a space in the name of a header": (_get("/livez", "Host: a", "a b: c"), (400,)),
    "a NUL in a header": (_get("/livez", "Host: a", "a: b\0c"), (400,)),
    "a header of 100,000 bytes": (
        _get("/livez", "Host: a", "a: " + "b" * 100_000),
        (200, 400, 431),
    ),
    "10,000 headers": (_get("/livez", "Host: a", *["a: b"] * 10_000), (200, 400, 431)),
    "lines that end with LF alone": (_get("/livez", "Host: a").replace(b"\r\n", b"\n"), (200, 400)),
    "a length below 0": (_ask("Content-Length: -1"), (400,)),
    "a length that is a word": (_ask("Content-Length: ten"), (400,)),
    "two lengths": (_ask(f"Content-Length: {_LENGTH}", "Content-Length: 1"), (400,)),
    "a length of 30 digits": (_ask(f"Content-Length: {10**30}"), (400, 413)),
    "an unknown transfer encoding": (_ask("Transfer-Encoding: gzip, chunked"), (400, 501)),
    "chunks": (_post(PREDICT, _CHUNK + _END, _CHUNKED), (200,)),
    "chunks with a trailer": (_post(PREDICT, _CHUNK + b"0\r\na: b\r\n\r\n", _CHUNKED), (200,)),
    "a chunk of a wrong size": (_post(PREDICT, b"zz\r\n" + _BODY, _CHUNKED), (400,)),
    "a chunk of a size below 0": (_post(PREDICT, b"-1\r\n" + _BODY, _CHUNKED), (400,)),
    "a length and chunks": (
        _post(PREDICT, _CHUNK + _END, f"Content-Length: {_LENGTH}", _CHUNKED),
        (200, 400),
    ),
    "a body that waits to be asked for": (_ask("Expect: 100-continue"), (200,)),
    "another expectation": (_ask("Expect: mercy"), (200, 417)),
    "gzip": (_post(PREDICT, gzip.compress(_BODY), _GZIP), (200,)),
    "an unknown type": (_ask("Content-Type: image/png"), (200,)),
    "another request right after": (_ask() + _get("/livez", "Host: a"), (200,)),
    "nonsense right after": (_ask() + b"\0\0nonsense\r\n\r\n", (200, 400)),
    "binary data of no input": (
        _post(INFER, b'{"inputs": []}\0\0', f"{_SIZE}: 14"),
        (400,),
    ),
    "a header beyond the body": (
        _post(INFER, b"{}", f"{_SIZE}: 99"),
        (400,),
    ),
    "binary data that are cut off": (
        _post(INFER, _CUT_OFF + b"\xff" * 5, f"{_SIZE}: {len(_CUT_OFF)}"),
        (400,),
    ),
    "a form without a text": (_post("/translate", b"q&q&source=%", _FORM), (400,)),
    "an upload": (_post("/translate", b"--a\r\n\r\n--a--", _UPLOAD), (400,)),
}
