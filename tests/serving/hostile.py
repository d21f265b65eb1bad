"""Requests that are wrong, hostile or rude, and what they must get.

A row of a table has a status, what the error says, and requests. Sentences are there where they are
more than that of the JSON parser.
"""

import gzip
import json
import re
import socket
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

MAX_BODY, MAX_ROWS, MAX_CHARACTERS, MAX_SECONDS = 50_000, 50, 500, 2.0
LIMITS = {
    "max_body": MAX_BODY,
    "max_rows": MAX_ROWS,
    "max_characters": MAX_CHARACTERS,
    "max_stream_characters": 5000,
}
PREDICT, INFER = "/v1/models/ja-en:predict", "/v2/models/ja-en/infer"


def faults_of(rows, answer):
    """Faults of the responses `answer(request)` to the requests of a table."""
    faults = []
    for status, says, *requests in rows:
        for request in requests:
            response = answer(request)
            found = response.json()
            is_error = found.keys() == {"error"} and says in found["error"]
            is_error &= len(str(found).encode()) <= 1000
            if response.status_code != status or not is_error:
                faults.append(f"{str(request)[:200]}: {response.status_code} {response.text}")
    return faults


def connect(url):
    address = urlsplit(url)
    return socket.create_connection((address.hostname, address.port), 30)


def is_held(connection):
    """Whether the server has not closed its side of a connection."""
    try:
        server = connection.getpeername()
    except OSError:  # reset
        return False
    ends = [f":{end[1]:04X}" for end in (server, connection.getsockname())]
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, remote, *_, owner = line.split()[:10]
        if [local[-5:], remote[-5:]] == ends:
            return owner != "0"
    return False


def receive(connection):
    """Status, head and body of the next response; nothing if the server hangs up."""
    received = b""
    with suppress(ConnectionResetError):
        while part := connection.recv(65536):
            received = (received + part).removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
            head, is_whole, body = received.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)\ncontent-length: *(\d+)", head)
            if is_whole and length and len(body) >= int(length[1]):
                break
    if not received:
        return None, b"", b""
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), head, body


def exchange(url, sent, is_last=False):
    """Status, head and body of the response to raw bytes, which may be all that is ever sent."""
    with connect(url) as connection:
        with suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(sent)
            if is_last:
                connection.shutdown(socket.SHUT_WR)
        return receive(connection)


def post(path, body, *headers, version="1.1"):
    """Bytes of a request."""
    lines = [f"POST {path} HTTP/{version}", "Host: a", *headers]
    if not any("Content-Length" in header or "chunked" in header for header in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "\r\n"]).encode() + body


def _get(path, *headers, version="1.1"):
    return "\r\n".join([f"GET {path} HTTP/{version}", *headers, "\r\n"]).encode()


def _each(document, **members):
    """Documents with one member changed, for each of the values."""
    return [{**document, name: value} for name, values in members.items() for value in values]


BODIES = [
    (400, "", b"", b"  \n ", b"instances=a", b'{"instances": ["a"', b'{"instances": ["a"]} x'),
    (400, "", b"{'instances': ['a']}", b'{"instances": ["a",]}', b'{"instances": ["a"]} // x'),
    (400, "", b'["a"]', b'"a"', b"1", b"null", b"{}", b'{"instances": ["a\0b"]}'),
    (400, "", *['{"instances": ["犬"]}'.encode(encoding) for encoding in ("utf-16", "shift_jis")]),
    # Half a character, an overlong one, and lone surrogates.
    (400, "", b'{"instances": ["\xe7\x8a"]}', b'{"instances": ["\xc0\xaf"]}'),
    (400, "", rb'{"instances": ["\ud800"]}', rb'{"instances": ["a"], "glossary": {"\ud800": "A"}}'),
    (400, "", rb'{"instances": ["\x41"]}', b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"),
    (400, "", b'{"instances": ' + b"[" * 100 + b"]" * 100 + b"}", b"[" * 20_000 + b"]" * 20_000),
    (400, "", b'{"a":' * 6000 + b"1" + b"}" * 6000, b'{"instances": [' + b"9" * 5000 + b"]}"),
    (413, f"at most {MAX_BODY} bytes", b'{"instances": ["' + b"a" * MAX_BODY + b'"]}'),
]

TEXT, ROWS = {"text": "犬"}, {"instances": ["a"]}
_TERMS = {"text": ["a"], "term": ["a", "b"], "term_translation": ["A"]}
DOCUMENTS = [
    (400, "", {**ROWS, "inputs": ["a"]}, *_each({}, instances=["a", TEXT, None, []])),
    (400, "", *_each({}, instances=[[1], [None], [True], [["a"]], [[]], ["a", ["b"]], [{}]])),
    (400, "", *_each({}, instances=[["a", TEXT], [TEXT, "a"], [{"txet": "a"}]])),
    (400, "", *_each({}, instances=[[{**TEXT, "seed": 1}], [{"b64": "?"}], [{"b64": 1}]])),
    (400, "", *_each({}, inputs=[1, "a", {"txet": ["a"]}, [["a"], ["b"]], [["a"], ["b", "c"]]])),
    (400, "", *_each(ROWS, signature_name=["a" * 20_000, "steal", 1, "../../etc/passwd"])),
    (400, "maps each term to its translation", *_each(ROWS, glossary=[["a"], "a", None])),
    (400, "maps each term", *_each(ROWS, glossary=[{"a": 1}, {"a": None}, {"a": {"b64": ""}}])),
    (400, "must not be empty", {**ROWS, "glossary": {" ": "a"}}),
    (400, "100 terms. Received: 101", {**ROWS, "glossary": {str(n): "a" for n in range(101)}}),
    (400, "Received: 101", *_each(ROWS, glossary=[{"a" * 101: "a"}, {"a": "a" * 101}])),
    (400, 'Received: "nbest"', {**ROWS, "glossary": {"a": "A"}, "signature_name": "nbest"}),
    (400, "", {"glossary": {"a": "A"}}),
    (400, "surrogate", {**ROWS, "\udc00": 1}, *_each(ROWS, signature_name=["\ud800"])),
    (400, "surrogate", *_each({}, instances=[[{"\ud800": "a"}]], inputs=[{"\ud800": ["a"]}])),
    (400, "", {"signature_name": "glossary", "inputs": {"text": ["a"], "term": ["a"]}}),
    (400, "2 in 'term', 1 in 'term_tr", {"signature_name": "glossary", "inputs": _TERMS}),
    (413, "at most 50 texts. Received: 51", {"instances": ["a"] * (MAX_ROWS + 1)}),
    (413, "500 characters. Received: 501", {"instances": ["犬" * (MAX_CHARACTERS + 1)]}),
]

# These have a method and, with spaces between, paths.
PATHS = [
    (404, "Specific(../../etc, 3)", "POST", "/v1/models/..%2F..%2Fetc/versions/3:predict"),
    (400, "Failed to convert", "POST", f"/v1/models/ja-en/versions/{10**30}:predict"),
    (400, "Malformed", "POST", "/v1/models/ja-en/versions/-1:predict /v1/models/ja-en:predict/"),
    (400, "", "POST", "/v1/models/ja-en/versions/one:predict /v1/models/ja-en:destroy"),
    (400, "", "POST", "/v1/models/ja-en/versions/%EF%BC%91:predict"),  # a digit that is wide
    (400, "", "POST", "/v1/models/ja-en:classify /v1/models/ja-en:regress"),
    (400, "request: GET /v1/models", "GET", "/v1/models /v1/models/../../etc/passwd"),
    (400, "", "GET", f"{PREDICT} /v1/models/<script>alert(1)</script>"),
    (404, "Latest(half)", "GET", "/v1/models/half/metadata"),
    (404, "", "GET", "/v1/models/%2e%2e%2fetc%2fpasswd /v1/models/% /v1/models/%ff%fe"),
    (404, "", "GET", "/page/../../../../etc/passwd /page/%2e%2e/%2e%2e/settings.py"),
    (404, "", "GET", "/page/..%2fapp.py /page/..%5c..%5csettings.py /page/page.js%00.html"),
    (404, "", "GET", f"/{'a' * 20_000} /v2/models/ja-en/versions/{10**30}"),
    (404, "", "GET", "/page/settings.json?model=%00"),
    (404, "", "GET", "/v2/models//ready /v2/models/..%2f..%2fetc /v2/models/ja-en/weights"),
    (404, "This server has ja-en.", "POST", "/v2/models/half/infer"),
    (404, "", "POST", "/v2/models/ja-en/versions/one/infer /v2/repository/models/ja-en/load"),
    (404, "", "POST", "/translate/x /translate_file"),
    (405, "", "GET", f"{INFER} /translate /translate/stream"),
    (405, "", "POST", "/v2/models/ja-en /languages"),
    (405, "", "DELETE", "/v1/models/ja-en /openapi.json"),
    *[(405, "", method, PREDICT) for method in ("PUT", "BREW", "TRACE")],
]


def _infer(**changes):
    """Request of KServe whose input has these members; None leaves a member out."""
    given = {"name": "text", "shape": [1], "datatype": "BYTES", "data": ["a"], **changes}
    return {"inputs": [{name: value for name, value in given.items() if value is not None}]}


KSERVE = [
    (400, "'inputs' must be a list", {}, *_each({}, inputs=[None, {"text": ["a"]}])),
    (400, "must be an object", {"inputs": [1]}),
    (400, "must have the inputs text", {"inputs": []}),
    (400, 'must be text. Received an input "txet"', _infer(name="txet")),
    (400, "must be text", _infer(name="犬" * 5000)),
    (400, "must be BYTES. Received: FP32", _infer(datatype="FP32")),
    (400, "", *[_infer(**{name: value}) for name in ("name", "datatype") for value in (None, [1])]),
    (400, "sizes like [-1]. Received: 1 sizes, [-1]", _infer(shape=[-1])),
    (400, "Received: 10000 sizes, [1, 1", _infer(shape=[1] * 10_000)),
    (400, "the shape [-1]", *[_infer(shape=shape) for shape in ([10**12], [10**30])]),
    (400, "Received: 1 values, shape [2]", _infer(shape=[2])),
    (400, "", *[_infer(shape=shape) for shape in (None, 1, [1.0], [True])]),
    (400, "must be a list", _infer(data=None), _infer(data="a")),
    (400, "not of expected type: string", _infer(data=[1]), _infer(data=[[None]])),
    (400, "", *[_infer(data=None, parameters={"binary_data_size": n}) for n in (9, -1, "9")]),
    (400, "", *_each(_infer(), parameters=[[], {"signature_name": 1}], outputs=[1])),
    (400, "surrogate", _infer(name="\ud800"), _infer(datatype="\ud800")),
    (400, "surrogate", *_each(_infer(), id=["\udfff"], outputs=[[{"name": "\ud800"}]])),
    (400, "not found", {**_infer(), "parameters": {"signature_name": "steal"}}),
    (400, "must be translation", {**_infer(), "outputs": [{"name": "weights"}]}),
    (413, "at most 50 texts", _infer(shape=[MAX_ROWS + 1], data=["a"] * (MAX_ROWS + 1))),
    (413, "", _infer(data=["犬" * (MAX_CHARACTERS + 1)])),
]

_PAIR = {"source": "ja", "target": "en"}
_ASKED, _GLOSSARY = {"q": "a", **_PAIR}, {"q": "a", "glossary": {"a": "A"}, **_PAIR}
LIBRETRANSLATE = [
    (400, "missing q", _PAIR),
    (400, "missing source", {"q": "a", "target": "en"}),
    (400, "missing target", {"q": "a", "source": "ja"}),
    (400, "", *_each(_ASKED, q=[None, {"q": "a"}, [["a"]], "\ud800"])),
    (400, "'q' must be", *_each(_ASKED, q=[1, []])),
    (400, "surrogate", *_each(_ASKED, source=["\ud800"], target=["\ud800"], format=["\ud800"])),
    (400, "as source", {**_ASKED, "source": ["ja"]}),
    (400, '"en" is not supported as source', {"q": "a", "source": "en", "target": "ja"}),
    (400, "translates ja to en.", {**_ASKED, "target": "fr"}),
    (400, "", *_each(_ASKED, target=[{}, "auto"], format=[["text"]])),
    (400, '"pdf" format is not supported', {**_ASKED, "format": "pdf"}),
    (400, "alternatives", *_each(_ASKED, alternatives=[-1, None, float("inf"), "many"])),
    (400, "'scores' must be true or false", {**_ASKED, "scores": 1}),
    (400, "'glossary' must be an object", {**_ASKED, "glossary": "a"}),
    (400, "neither", *_each(_GLOSSARY, alternatives=[1], scores=[True])),
    (413, "at most 50 texts", {"q": ["a"] * (MAX_ROWS + 1), **_PAIR}),
    (413, "", {"q": "犬" * (MAX_CHARACTERS + 1), **_PAIR}),
]
STREAM = [
    (400, "'q' must be a text", {**_ASKED, "q": ["犬"]}),
    (400, "without 'alternatives'", {**_ASKED, "alternatives": 1}),
    (400, "not supported", {**_ASKED, "source": "de"}),
    (400, "surrogate", {**_ASKED, "q": "\ud800"}),
    (413, "at most 500 characters", {**_ASKED, "q": "犬。" + "犬" * 501}),
    (413, "at most 5000 characters. Received: 5001", {**_ASKED, "q": "犬" * 5001}),
]
DETECT = [(400, "", *_each({}, q=[None, 1, {}, [], [[]], [1]]))]

_BODY, _LENGTH = json.dumps(ROWS).encode(), len(json.dumps(ROWS))
_CHUNKED, _END, _TRAILER = "Transfer-Encoding: chunked", b"0\r\n\r\n", b"0\r\na: b\r\n\r\n"
_CHUNK = f"{_LENGTH:x}".encode() + b"\r\n" + _BODY + b"\r\n"
_CUT_OFF = json.dumps(_infer(data=None, parameters={"binary_data_size": 5})).encode()
_SIZE = "Inference-Header-Content-Length"
_FORM, _UPLOAD = "application/x-www-form-urlencoded", "multipart/form-data; boundary=a"
_SOCKET = ("Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: YQ==")
_PLAIN = _get("/livez", "Host: a")


def _ask(*headers, version="1.1"):
    return post(PREDICT, _BODY, *headers, version=version)


# The statuses that may come, and raw requests.
RAW = [
    ((200,), _get("/livez", version="1.0"), _ask(version="1.0")),
    ((200,), _get("/livez", "Host: a", "Connection: Upgrade", *_SOCKET)),
    ((200,), *[post(PREDICT, _CHUNK + end, _CHUNKED) for end in (_END, _TRAILER)]),
    ((200,), _ask("Expect: 100-continue"), _ask("Content-Type: image/png")),
    ((200,), post(PREDICT, gzip.compress(_BODY), "Content-Encoding: gzip"), _ask() + _PLAIN),
    # Without a length, a version, a host or a colon; with a space or a zero where none may be.
    ((400,), _get("/livez", version="1.0").replace(b"GET /livez", b"POST " + PREDICT.encode())),
    ((400,), b"GET /\r\n\r\n", _get("/livez"), _get("/livez", "Host: a", "Host: b")),
    ((400,), _get("/liv ez", "Host: a"), _PLAIN.replace(b"/livez", b"/\xe7\x8a")),
    ((400,), *[_get("/livez", "Host: a", header) for header in ("colon", "a b: c", "a: b\0c")]),
    ((400,), _ask("Content-Length: -1"), _ask("Content-Length: ten")),
    ((400,), _ask(f"Content-Length: {_LENGTH}", "Content-Length: 1")),
    ((400,), *[post(PREDICT, size + b"\r\n" + _BODY, _CHUNKED) for size in (b"zz", b"-1")]),
    ((400,), *[post(INFER, b'{"inputs": []}\0\0', f"{_SIZE}: {size}") for size in (14, 99)]),
    ((400,), post(INFER, _CUT_OFF + b"\xff" * 5, f"{_SIZE}: {len(_CUT_OFF)}")),
    ((400,), post("/translate", b"q&q&source=%", f"Content-Type: {_FORM}")),
    ((400,), post("/translate", b"--a\r\n\r\n--a--", f"Content-Type: {_UPLOAD}")),
    ((400, 413), _ask(f"Content-Length: {10**30}")),
    # An announced length, and chunks without end.
    ((413,), _ask(f"Content-Length: {10**12}")),
    ((413,), post(PREDICT, 6 * (b"2710\r\n" + b"a" * 10_000 + b"\r\n"), _CHUNKED)),
    ((400, 501), _ask("Transfer-Encoding: gzip, chunked")),
    ((200, 400, 505), _get("/livez", "Host: a", version="3.0")),
    ((400, 404, 405), b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ((400, 404, 405), b"CONNECT" + _get("a:443", "Host: a")[3:]),
    ((200, 400, 404, 405), _get("*", "Host: a").replace(b"GET", b"OPTIONS")),
    ((200, 404), _get("http://a/livez", "Host: a")),
    ((400, 405), _PLAIN.replace(b"GET", b"get")),
    ((200, 400, 431), _get("/livez", "Host: a", "a: " + "b" * 100_000)),
    ((200, 400, 431), _get("/livez", "Host: a", *["a: b"] * 10_000)),
    ((200, 400), _PLAIN.replace(b"\r\n", b"\n"), _ask() + b"\0\0nonsense\r\n\r\n"),
    ((200, 400), post(PREDICT, _CHUNK + _END, f"Content-Length: {_LENGTH}", _CHUNKED)),
    ((200, 417), _ask("Expect: mercy")),
]
# No HTTP at all: a 400, or the server hangs up.
NO_HTTP = [b"\r\n\r\n", b"\x16\x03\x01\x02\x00", b"GET / HTTP/one\r\n\r\n", b"G " * 35_000]
