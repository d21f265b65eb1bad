"""Every documented form of TensorFlow Serving's REST API is answered as documented."""

import importlib.util
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from keras_attn.serving.app import Server
from keras_attn.serving.settings import Settings

_spec = importlib.util.spec_from_file_location(
    "conformance", Path(__file__).with_name("conformance.py")
)
conformance = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(conformance)


@pytest.fixture(scope="module")
def clients(tmp_path_factory, wait_until):
    """A client of a server for each model, by its name."""
    clients = {}
    for folder in conformance.write_models(tmp_path_factory.mktemp("models")):
        client = TestClient(Server(folder, Settings()).app(), raise_server_exceptions=False)
        clients[folder.name] = client.__enter__()
        wait_until(lambda client=client: client.get("/healthz").status_code == 200)
    yield clients
    for client in clients.values():
        client.__exit__(None, None, None)


@pytest.mark.parametrize("case", conformance.CASES, ids=lambda case: case.form)
def test_the_documented_answer(case, clients):
    method, path = case.request.split()
    name = path.split("/")[3].partition(":")[0]
    client = clients.get(name, clients["half_plus_three"])
    response = client.request(method, path, content=case.body.encode())
    assert response.headers["content-type"] == "application/json"
    assert response.status_code == case.status
    assert conformance.equal(response.text, case.answer), response.text


def test_the_table_shows_what_is_tested():
    assert conformance.table() in conformance.DOCUMENT.read_text(encoding="utf-8")


def test_the_page_is_for_translators_alone(clients):
    response = clients["three_inputs"].get("/page/settings.json")
    assert response.status_code == 404
    assert "this server has none" in response.json()["error"]


def test_metadata_is_that_of_the_saved_model(clients):
    found = clients["three_inputs"].get("/v1/models/three_inputs/metadata").json()
    assert found["model_spec"] == {
        "name": "three_inputs",
        "signature_name": "",
        "version": "123",
    }
    signature = found["metadata"]["signature_def"]["signature_def"]["serving_default"]
    assert signature["method_name"] == "tensorflow/serving/predict"
    assert signature["inputs"]["sensor"] == {
        "dtype": "DT_FLOAT",
        "tensor_shape": {
            "dim": [{"size": size, "name": ""} for size in ("-1", "2", "2")],
            "unknown_rank": False,
        },
        "name": "serving_default_sensor:0",
    }
    assert signature["outputs"].keys() == {"tag", "largest", "total"}
