"""Requests that are wrong, hostile or rude: each is refused rightly, and the server goes on."""

import json
import socket
import time
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest

PREDICT = "/v1/models/ja-en:predict"
MAX_BODY, MAX_ROWS, MAX_CHARACTERS, MAX_SECONDS = 50_000, 50, 500, 2.0


@pytest.fixture(scope="module")
def url(write_echo, tmp_path_factory, start_server):
    folder = tmp_path_factory.mktemp("abused") / "ja-en"
    write_echo(folder, 1)
    limits = {
        "--max-body": MAX_BODY,
        "--max-rows": MAX_ROWS,
        "--max-characters": MAX_CHARACTERS,
        "--max-seconds": MAX_SECONDS,
    }
    with start_server(folder, *(str(part) for limit in limits.items() for part in limit)) as (
        _,
        url,
    ):
        yield url


@pytest.fixture(autouse=True)
def goes_on(url):
    """After each of them, the next request is answered."""
    yield
    response = httpx.post(url + PREDICT, json={"instances": ["still here"]})
    assert response.json() == {"predictions": ["1: still here"]}


def exchange(url, sent, seconds=10):
    """Response to raw bytes."""
    address = urlsplit(url)
    with socket.create_connection((address.hostname, address.port), seconds) as connection:
        connection.sendall(sent)
        received = b""
        while part := connection.recv(65536):
            received += part
            head, found, rest = received.partition(b"\r\n\r\n")
            length = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-l")]
            if found and length and len(rest) >= int(length[0].split(b":")[1]):
                break
    return received


def status_of(received):
    return int(received.split(b" ", 2)[1])


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
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies(url, name):
    body, status = BODIES[name]
    response = httpx.post(url + PREDICT, content=body)
    assert response.status_code == status
    assert response.json().keys() == {"error"}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents(url, name):
    document, status = DOCUMENTS[name]
    response = httpx.post(url + PREDICT, json=document)
    assert response.status_code == status
    assert response.json().keys() == {"error"}


@pytest.mark.parametrize("name", PATHS)
def test_paths(url, name):
    method, path, status = PATHS[name]
    body = json.dumps({"instances": ["a"]}).encode()
    # By hand: a client would tidy the path.
    head = f"{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n"
    received = exchange(url, head.encode() + body)
    assert status_of(received) == status
    head, _, rest = received.partition(b"\r\n\r\n")
    assert json.loads(rest).keys() == {"error"}
    assert b"text/html" not in head


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "'; DROP TABLE models; --",
        "{{7*7}} ${7*7} %s %n",
        "$(reboot) `reboot`",
        "../../../etc/passwd",
        "\u202e\u2066\u0000\u001b[31m\ufeff",
        "👩‍👩‍👧" * 20,
    ],
)
def test_text_is_text(url, text):
    response = httpx.post(url + PREDICT, json={"instances": [text]})
    assert response.json() == {"predictions": [f"1: {text}"]}
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-content-type-options"] == "nosniff"


def test_a_body_that_does_not_come_is_not_waited_for(url):
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n".encode()
    start = time.monotonic()
    received = exchange(url, head + b'{"inst')
    assert status_of(received) == 408
    assert MAX_SECONDS <= time.monotonic() - start < MAX_SECONDS + 5


def test_a_body_is_refused_by_its_announced_length_before_it_comes(url):
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: a\r\nContent-Length: {10**12}\r\n\r\n".encode()
    assert status_of(exchange(url, head)) == 413


def test_a_body_in_chunks_without_end_is_refused(url):
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    chunk = b"2710\r\n" + b"a" * 10_000 + b"\r\n"
    assert status_of(exchange(url, head + 6 * chunk)) == 413


@pytest.mark.parametrize(
    "sent",
    [b"\r\n\r\n", b"\x16\x03\x01\x02\x00", b"GET / HTTP/one\r\n\r\n", b"GET " + b"a" * 70_000],
    ids=["nothing", "TLS", "a version of HTTP", "an endless line"],
)
def test_what_is_no_http_gets_a_400_or_is_hung_up_on(url, sent):
    address = urlsplit(url)
    with socket.create_connection((address.hostname, address.port), 10) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        try:
            received = connection.recv(65536)
        except ConnectionResetError:
            received = b""
    assert not received or status_of(received) in (400, 414)


@pytest.mark.parametrize("part", [20, 200, None])
def test_who_hangs_up_early_disturbs_nobody(url, part):
    body = json.dumps({"instances": ["a"] * 40}).encode()
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n"
    address = urlsplit(url)
    for _ in range(20):
        with socket.create_connection((address.hostname, address.port)) as connection:
            connection.sendall((head.encode() + body)[:part])


def test_many_idle_connections_keep_nobody_out(url):
    address = urlsplit(url)
    idle = [socket.create_connection((address.hostname, address.port)) for _ in range(200)]
    response = httpx.post(url + PREDICT, json={"instances": ["a"]})
    assert response.status_code == 200
    for connection in idle:
        connection.close()
