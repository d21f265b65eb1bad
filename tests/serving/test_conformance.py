"""Every documented form of TensorFlow Serving's REST API is answered as documented."""

from contextlib import ExitStack

import pytest

from tests.serving import conformance


@pytest.fixture(scope="module")
def clients(tmp_path_factory, open_client):
    """A client of a server for each model, by its name."""
    with ExitStack() as stack:
        folders = conformance.write_models(tmp_path_factory.mktemp("models"))
        yield {folder.name: stack.enter_context(open_client(folder)) for folder in folders}


def test_each_documented_form_is_answered_as_documented(clients):
    faults = []
    cases = conformance.cases()
    assert len(cases) >= 25
    for case in cases:
        method, path = case.request.split()
        name = path.split("/")[3].partition(":")[0]
        client = clients.get(name, clients["half_plus_three"])
        response = client.request(method, path, content=case.body.encode())
        found = response.headers["content-type"], response.status_code
        is_right = found == ("application/json", case.status)
        if not is_right or not conformance.equal(response.text, case.answer):
            faults.append(f"{case.form}: {response.status_code} {response.text}")
    assert not faults, "\n".join(faults)


def test_the_page_is_for_translators_alone(clients):
    response = clients["three_inputs"].get("/page/settings.json")
    assert response.status_code == 404
    assert "this server has none" in response.json()["error"]


def test_metadata_is_that_of_the_saved_model(clients):
    found = clients["three_inputs"].get("/v1/models/three_inputs/metadata").json()
    assert found["model_spec"] == {"name": "three_inputs", "signature_name": "", "version": "123"}
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
