"""The OpenAPI document: it is valid, has each route, and its examples get responses of its form."""

import json
import re
from urllib.parse import quote

import jsonschema
import pytest
from openapi_spec_validator import validate
from starlette.routing import Mount

from keras_attn.serving.app import Server
from keras_attn.serving.settings import Settings
from keras_attn.serving.website import openapi

DOCUMENT = json.loads(openapi("", "ja-en", None))


def resolved(value, document=DOCUMENT):
    if "$ref" not in value:
        return value
    found = document
    for key in value["$ref"].removeprefix("#/").split("/"):
        found = found[key]
    return found


def check(instance, content):
    schema = {**content.get("schema", {}), "components": DOCUMENT["components"]}
    jsonschema.Draft202012Validator(schema).validate(instance)


def test_the_document_is_valid(client):
    validate(client.get("/openapi.json").json())
    assert json.loads(openapi("/tools/", "ja-en", None))["servers"] == [{"url": "/tools"}]


def test_every_route_is_in_the_document_and_nothing_else(served):
    routes = Server(served, Settings()).routes()
    documented = {
        (re.sub("{.*}.*", "", path), method.upper())
        for path, methods in DOCUMENT["paths"].items()
        for method in methods
    }
    offered = {
        (re.sub("{.*", "", route.path + "/" * isinstance(route, Mount)), method)
        for route in routes
        for method in getattr(route, "methods", {"GET"}) - {"HEAD", "OPTIONS"}
    }
    # Below these, the document has the paths that `paths` and `kserve` parse.
    models = {("/v1/", method) for method in ("GET", "POST")}
    assert {(path.replace("/v1/models/", "/v1/"), method) for path, method in documented} == offered
    assert models < offered


@pytest.fixture(scope="module")
def other(write_echo, open_client, tmp_path_factory):
    """A client of a server for a model with another name, version and languages."""
    folder = tmp_path_factory.mktemp("models") / 'for "German"'
    write_echo(folder, 7, pair=("de", "fr"))
    with open_client(folder) as client:
        yield client


@pytest.mark.parametrize("name", ["client", "other"])
def test_each_example_gets_the_documented_response(name, request):
    client = request.getfixturevalue(name)
    document = client.get("/openapi.json").json()
    for template, methods in document["paths"].items():
        for method, operation in methods.items():
            path, query = template, {}
            for parameter in operation.get("parameters", ()):
                parameter = resolved(parameter, document)
                if parameter["in"] == "path":
                    path = path.replace(
                        f"{{{parameter['name']}}}", quote(str(parameter["example"]))
                    )
                else:
                    query[parameter["name"]] = parameter["example"]
            sent = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            for example in sent.get("examples", {"": {}}).values():
                if example:
                    check(example["value"], sent)
                response = client.request(method, path, params=query, json=example.get("value"))
                assert response.status_code == 200, (template, method, example, response.text)
                media = response.headers["content-type"].partition(";")[0]
                content = operation["responses"]["200"]["content"][media]
                if media == "application/json":
                    check(response.json(), content)


def test_another_method_is_refused_with_those_of_the_path(client):
    for template, methods in DOCUMENT["paths"].items():
        path = template.format(model="ja-en", version=1, file="page.js")
        response = client.delete(path)
        assert response.status_code == 405, path
        allowed = set(response.headers["allow"].lower().split(", "))
        assert allowed - {"head", "options"} == methods.keys(), path
    assert client.get("/v2/models/ja-en/infer").headers["allow"] == "POST"
    assert client.post("/v2/models/ja-en").headers["allow"] == "GET, HEAD"


def test_each_refusal_is_answered_as_documented(client):
    long = {"q": "a" * 6000, "source": "ja", "target": "en"}
    for method, path, body, status in (
        ("post", "/v1/models/ja-en:predict", {}, "400"),
        ("post", "/v1/models/x:predict", {}, "404"),
        ("get", "/v2/models/x", None, "404"),
        ("post", "/translate", long, "413"),
        ("post", "/translate/stream", {}, "400"),
        ("post", "/detect", {}, "400"),
        ("get", "/page/settings.json?model=x", None, "404"),
    ):
        answer = client.request(method, path, json=body)
        assert answer.status_code == int(status), (method, path)
        template = re.sub("models/[^:/]*", "models/{model}", path.partition("?")[0])
        refused = resolved(DOCUMENT["paths"][template][method]["responses"][status])
        check(answer.json(), refused["content"]["application/json"])


def test_each_schema_is_used():
    used = set(re.findall("#/components/(\\w+/\\w+)", json.dumps(DOCUMENT)))
    defined = {f"{kind}/{name}" for kind, named in DOCUMENT["components"].items() for name in named}
    assert used == defined
