"""The OpenAPI document: it is valid, has each route, and its examples are answered as it says."""

import json
import re

import jsonschema
import pytest
from openapi_spec_validator import validate
from starlette.routing import Mount

from keras_attn.serving.app import Server
from keras_attn.serving.openapi import document
from keras_attn.serving.settings import Settings

DOCUMENT = document("")
OPERATIONS = [
    (path, method, name)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
    for name in operation.get("requestBody", {})
    .get("content", {})
    .get("application/json", {})
    .get("examples", {"": None})
]


@pytest.fixture(scope="module")
def client(write_echo, tmp_path_factory, open_client):
    folder = tmp_path_factory.mktemp("models") / "ja-en"
    write_echo(folder, 1)
    with open_client(folder) as client:
        yield client


def resolved(value):
    if "$ref" not in value:
        return value
    found = DOCUMENT
    for key in value["$ref"].removeprefix("#/").split("/"):
        found = found[key]
    return found


def check(instance, content):
    schema = {**content.get("schema", {}), "components": DOCUMENT["components"]}
    jsonschema.Draft202012Validator(schema).validate(instance)


def test_the_document_is_valid(client):
    served = client.get("/openapi.json").json()
    validate(served)
    assert served == json.loads(json.dumps(DOCUMENT))
    assert document("/tools/")["servers"] == [{"url": "/tools"}]


def test_every_route_is_in_the_document_and_nothing_else(write_echo, tmp_path):
    write_echo(tmp_path / "ja-en", 1)
    routes = Server(tmp_path / "ja-en", Settings()).routes()
    documented = {
        (re.sub("{.*}.*", "", path), method.upper())
        for path, methods in DOCUMENT["paths"].items()
        for method in methods
    }
    served = {
        (re.sub("{.*", "", route.path + "/" * isinstance(route, Mount)), method)
        for route in routes
        for method in getattr(route, "methods", {"GET"}) - {"HEAD", "OPTIONS"}
    }
    # Below these, the document has the paths that `paths` and `kserve` parse.
    models = {("/v1/", method) for method in ("GET", "POST")}
    assert {(path.replace("/v1/models/", "/v1/"), method) for path, method in documented} == served
    assert models < served


@pytest.mark.parametrize(("path", "method", "name"), OPERATIONS)
def test_each_example_is_answered_as_documented(client, path, method, name):
    operation = DOCUMENT["paths"][path][method]
    query = {}
    for parameter in map(resolved, operation["parameters"]):
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", str(parameter["example"]))
        else:
            query[parameter["name"]] = parameter["example"]
    body = {}
    if name:
        content = operation["requestBody"]["content"]["application/json"]
        body["json"] = content["examples"][name]["value"]
        check(body["json"], content)
    answer = client.request(method, path, params=query, **body)
    assert answer.status_code == 200
    media = answer.headers["content-type"].partition(";")[0]
    content = resolved(operation["responses"]["200"])["content"][media]
    if media == "application/json":
        check(answer.json(), content)


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("post", "/v1/models/ja-en:predict", {}, "400"),
        ("post", "/v1/models/x:predict", {}, "404"),
        ("get", "/v2/models/x", None, "404"),
        ("post", "/translate", {"q": "a" * 6000, "source": "ja", "target": "en"}, "413"),
        ("post", "/translate/stream", {}, "400"),
        ("post", "/detect", {}, "400"),
        ("get", "/page/settings.json?model=x", None, "404"),
    ],
)
def test_each_refusal_is_answered_as_documented(client, method, path, body, status):
    answer = client.request(method, path, json=body)
    assert answer.status_code == int(status)
    template = re.sub("models/[^:/]*", "models/{model}", path.partition("?")[0])
    refused = resolved(DOCUMENT["paths"][template][method]["responses"][status])
    check(answer.json(), refused["content"]["application/json"])


def test_each_schema_is_used():
    used = set(re.findall("#/components/(\\w+/\\w+)", json.dumps(DOCUMENT)))
    defined = {f"{kind}/{name}" for kind, named in DOCUMENT["components"].items() for name in named}
    assert used == defined
