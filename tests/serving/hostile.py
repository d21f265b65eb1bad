"""Requests that are wrong, hostile or rude, and the statuses that they must get."""

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
    "a glossary that is a list": ({"instances": ["a"], "glossary": ["a"]}, 400),
    "a glossary that is a text": ({"instances": ["a"], "glossary": "a"}, 400),
    "a glossary that is null": ({"instances": ["a"], "glossary": None}, 400),
    "a number for a term": ({"instances": ["a"], "glossary": {"a": 1}}, 400),
    "null for a term": ({"instances": ["a"], "glossary": {"a": None}}, 400),
    "base64 for a term": ({"instances": ["a"], "glossary": {"a": {"b64": "YQ=="}}}, 400),
    "an empty term": ({"instances": ["a"], "glossary": {" ": "a"}}, 400),
    "too many terms": ({"instances": ["a"], "glossary": {str(n): "a" for n in range(101)}}, 400),
    "too long a term": ({"instances": ["a"], "glossary": {"a" * 101: "a"}}, 400),
    "a glossary for nbest": (
        {"signature_name": "nbest", "instances": ["a"], "glossary": {"a": "A"}},
        400,
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
    ),
    "too many texts": ({"instances": ["a"] * (MAX_ROWS + 1)}, 413),
    "too long a text": ({"instances": ["犬" * (MAX_CHARACTERS + 1)]}, 413),
}
# Methods and paths.
PATHS = {
    "another model": ("POST", "/v1/models/half:predict", 404),
    "a version that is not there": ("POST", "/v1/models/ja-en/versions/9:predict", 404),
    "a version beyond all numbers": ("POST", f"/v1/models/ja-en/versions/{10**30}:predict", 400),
    "a version that is a word": ("POST", "/v1/models/ja-en/versions/one:predict", 400),
    "a version in wide digits": ("POST", "/v1/models/ja-en/versions/%EF%BC%91:predict", 400),
    "a label": ("POST", "/v1/models/ja-en/labels/stable:predict", 400),
    "classify": ("POST", "/v1/models/ja-en:classify", 400),
    "regress": ("POST", "/v1/models/ja-en:regress", 400),
    "a verb that is none": ("POST", "/v1/models/ja-en:destroy", 400),
    "no verb": ("POST", "/v1/models/ja-en", 400),
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
    "another model of KServe": ("POST", "/v2/models/half/infer", 404),
    "a version of KServe that is a word": ("POST", "/v2/models/ja-en/versions/one/infer", 404),
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
    "nothing": ({}, 400),
    "inputs that are null": ({"inputs": None}, 400),
    "inputs that are an object": ({"inputs": {"text": ["a"]}}, 400),
    "an input that is a number": ({"inputs": [1]}, 400),
    "no inputs": ({"inputs": []}, 400),
    "no name": (_infer(name=None), 400),
    "a name that is a number": (_infer(name=1), 400),
    "an unknown name": (_infer(name="txet"), 400),
    "no datatype": (_infer(datatype=None), 400),
    "another datatype": (_infer(datatype="FP32"), 400),
    "a datatype that is a list": (_infer(datatype=["BYTES"]), 400),
    "no shape": (_infer(shape=None), 400),
    "a shape that is a number": (_infer(shape=1), 400),
    "a shape below 0": (_infer(shape=[-1]), 400),
    "a shape of halves": (_infer(shape=[1.0]), 400),
    "a shape of truth": (_infer(shape=[True]), 400),
    "a shape beyond memory": (_infer(shape=[10**12]), 400),
    "a shape beyond all numbers": (_infer(shape=[10**30]), 400),
    "a shape of 1000 axes": (_infer(shape=[1] * 1000), 400),
    "no data": (_infer(data=None), 400),
    "data that is a text": (_infer(data="a"), 400),
    "data that is a number": (_infer(data=[1]), 400),
    "data that is null": (_infer(data=[[None]]), 400),
    "data in another shape": (_infer(shape=[2], data=["a"]), 400),
    "binary data that are not there": (_infer(data=None, parameters={"binary_data_size": 9}), 400),
    "a binary size below 0": (_infer(data=None, parameters={"binary_data_size": -1}), 400),
    "a binary size that is a text": (_infer(data=None, parameters={"binary_data_size": "9"}), 400),
    "parameters that are a list": ({**_infer(), "parameters": []}, 400),
    "a signature that is a number": ({**_infer(), "parameters": {"signature_name": 1}}, 400),
    "an unknown signature": ({**_infer(), "parameters": {"signature_name": "steal"}}, 400),
    "outputs that are a number": ({**_infer(), "outputs": 1}, 400),
    "an unknown output": ({**_infer(), "outputs": [{"name": "weights"}]}, 400),
    "too many texts": (_infer(shape=[MAX_ROWS + 1], data=["a"] * (MAX_ROWS + 1)), 413),
    "too long a text": (_infer(data=["犬" * (MAX_CHARACTERS + 1)]), 413),
}

_PAIR = {"source": "ja", "target": "en"}
LIBRETRANSLATE = {
    "no text": (_PAIR, 400),
    "null for a text": ({"q": None, **_PAIR}, 400),
    "a number for a text": ({"q": 1, **_PAIR}, 400),
    "an object for a text": ({"q": {"q": "a"}, **_PAIR}, 400),
    "an empty list": ({"q": [], **_PAIR}, 400),
    "a list in a list": ({"q": [["a"]], **_PAIR}, 400),
    "half a character": ({"q": "\ud800", **_PAIR}, 400),
    "no source": ({"q": "a", "target": "en"}, 400),
    "no target": ({"q": "a", "source": "ja"}, 400),
    "a source that is a list": ({"q": "a", "source": ["ja"], "target": "en"}, 400),
    "a target that is an object": ({"q": "a", "source": "ja", "target": {}}, 400),
    "auto for a target": ({"q": "a", "source": "ja", "target": "auto"}, 400),
    "the wrong way round": ({"q": "a", "source": "en", "target": "ja"}, 400),
    "a format that is a list": ({"q": "a", "format": ["text"], **_PAIR}, 400),
    "alternatives below 0": ({"q": "a", "alternatives": -1, **_PAIR}, 400),
    "alternatives that are null": ({"q": "a", "alternatives": None, **_PAIR}, 400),
    "infinite alternatives": ({"q": "a", "alternatives": float("inf"), **_PAIR}, 400),
    "scores that are a number": ({"q": "a", "scores": 1, **_PAIR}, 400),
    "a glossary that is a text": ({"q": "a", "glossary": "a", **_PAIR}, 400),
    "a glossary and alternatives": (
        {"q": "a", "glossary": {"a": "A"}, "alternatives": 1, **_PAIR},
        400,
    ),
    "too many texts": ({"q": ["a"] * (MAX_ROWS + 1), **_PAIR}, 413),
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
_GZIP = "Content-Encoding: gzip"
# What is sent, and the statuses that may come; none: the server may hang up.
RAW = {
    "HTTP/1.0": (_get("/livez", version="1.0"), (200,)),
    "POST in HTTP/1.0": (_post(PREDICT, _BODY, version="1.0"), (200,)),
    "POST in HTTP/1.0 without a length": (
        _get("/livez", version="1.0").replace(b"GET /livez", b"POST " + PREDICT.encode()),
        (400,),
    ),
    "HTTP/0.9": (b"GET /\r\n", ()),
    "HTTP/3": (_get("/livez", "Host: a", version="3.0"), (200, 400, 505)),
    "the beginning of HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400, 404, 405)),
    "an offer of HTTP/2": (_get("/livez", "Host: a", *_OFFER), (200,)),
    "POST with an offer of HTTP/2": (_post(PREDICT, _BODY, *_OFFER), (200,)),
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
    "a length below 0": (_post(PREDICT, _BODY, "Content-Length: -1"), (400,)),
    "a length that is a word": (_post(PREDICT, _BODY, "Content-Length: ten"), (400,)),
    "two lengths": (
        _post(PREDICT, _BODY, f"Content-Length: {_LENGTH}", "Content-Length: 1"),
        (400,),
    ),
    "a length of 30 digits": (_post(PREDICT, _BODY, f"Content-Length: {10**30}"), (400, 413)),
    "an unknown transfer encoding": (
        _post(PREDICT, _BODY, "Transfer-Encoding: gzip, chunked"),
        (400, 501),
    ),
    "chunks": (_post(PREDICT, _CHUNK + b"0\r\n\r\n", _CHUNKED), (200,)),
    "chunks with a trailer": (_post(PREDICT, _CHUNK + b"0\r\na: b\r\n\r\n", _CHUNKED), (200,)),
    "a chunk of a wrong size": (_post(PREDICT, b"zz\r\n" + _BODY, _CHUNKED), (400,)),
    "a chunk of a size below 0": (_post(PREDICT, b"-1\r\n" + _BODY, _CHUNKED), (400,)),
    "a length and chunks": (
        _post(PREDICT, _CHUNK + b"0\r\n\r\n", f"Content-Length: {_LENGTH}", _CHUNKED),
        (200, 400),
    ),
    "a body that waits to be asked for": (
        _post(PREDICT, _BODY, "Expect: 100-continue"),
        (200,),
    ),
    "another expectation": (_post(PREDICT, _BODY, "Expect: mercy"), (200, 417)),
    "gzip": (_post(PREDICT, gzip.compress(_BODY), _GZIP), (200,)),
    "gzip that is none": (_post(PREDICT, _BODY, _GZIP), (400,)),
    "gzip that is cut off": (_post(PREDICT, gzip.compress(_BODY)[:-9], _GZIP), (400,)),
    "gzip that grows": (_post(PREDICT, gzip.compress(b" " * 10**8), _GZIP), (413,)),
    "another encoding": (_post(PREDICT, _BODY, "Content-Encoding: br"), (415,)),
    "an unknown type": (_post(PREDICT, _BODY, "Content-Type: image/png"), (200,)),
    "another request right after": (_post(PREDICT, _BODY) + _get("/livez", "Host: a"), (200,)),
    "nonsense right after": (_post(PREDICT, _BODY) + b"\0\0nonsense\r\n\r\n", (200, 400)),
    "binary data of no input": (
        _post(INFER, b'{"inputs": []}\0\0', "Inference-Header-Content-Length: 14"),
        (400,),
    ),
    "a header beyond the body": (
        _post(INFER, b"{}", "Inference-Header-Content-Length: 99"),
        (400,),
    ),
    "binary data that are cut off": (
        _post(
            INFER,
            json.dumps(_infer(data=None, parameters={"binary_data_size": 5})).encode()
            + b"\xff" * 5,
            f"Inference-Header-Content-Length: "
            f"{len(json.dumps(_infer(data=None, parameters={'binary_data_size': 5})))}",
        ),
        (400,),
    ),
    "a form without a text": (
        _post("/translate", b"q&q&source=%", "Content-Type: application/x-www-form-urlencoded"),
        (400,),
    ),
    "an upload": (
        _post("/translate", b"--a\r\n\r\n--a--", "Content-Type: multipart/form-data; boundary=a"),
        (400,),
    ),
}
