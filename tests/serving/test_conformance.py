"""Every documented form of TensorFlow Serving's REST API is answered as documented.

The cases are the rows of the table in `keras_attn/serving/CONFORMANCE.md`. Each has a request to
one of three small models and the answer that TensorFlow Serving's documentation gives
(`tensorflow_serving/g3doc/api_rest.md`), or, where it gives none, what its source answers.
"""

import json
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
import tensorflow as tf

DOCUMENT = Path(__file__).parents[2] / "keras_attn" / "serving" / "CONFORMANCE.md"
HEAD = "| form | request | body | status | TensorFlow Serving answers | this server |"


def half_plus_three(x):
    return {"y": 0.5 * x + 3}


def three_inputs(tag, signal, sensor):
    total = tf.reduce_sum(sensor, axis=(1, 2))
    return {"tag": tf.identity(tag), "largest": tf.reduce_max(signal, axis=1), "total": total}


def upper(image_bytes):
    return {"upper_bytes": tf.strings.upper(image_bytes)}


MODELS = {
    half_plus_three: [tf.TensorSpec([None], tf.float32, "x")],
    three_inputs: [
        tf.TensorSpec([None], tf.string, "tag"),
        tf.TensorSpec([None, 5], tf.int32, "signal"),
        tf.TensorSpec([None, 2, 2], tf.float32, "sensor"),
    ],
    upper: [tf.TensorSpec([None], tf.string, "image_bytes")],
}


@pytest.fixture(scope="module")
def clients(tmp_path_factory, open_client):
    """A client of a server for each model, by its name, each with a version 123."""
    with ExitStack() as stack:
        clients = {}
        for function, specs in MODELS.items():
            name = function.__name__
            folder = tmp_path_factory.mktemp("models") / name
            signature = tf.function(function, input_signature=specs)
            tf.saved_model.save(tf.Module(), str(folder / "123"), signatures=signature)
            clients[name] = stack.enter_context(open_client(folder))
        yield clients


def test_each_documented_form_is_answered_as_documented(clients):
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    start = lines.index(HEAD) + 2
    rows = lines[start : lines.index("", start)]
    assert len(rows) >= 25
    read, faults = partial(json.loads, parse_constant=str, parse_float=str), []
    for row in rows:
        form, request, body, status, expected, ours = map(str.strip, row.strip("|").split("|"))
        assert ours == "the same"
        method, path = request.strip("`").split()
        name = path.split("/")[3].partition(":")[0]
        client = clients.get(name, clients["half_plus_three"])
        response = client.request(method, path, content=body.strip("`").encode())
        found = response.headers["content-type"], response.status_code
        is_right = found == ("application/json", int(status))
        if not is_right or read(response.text) != read(expected.strip("`")):
            faults.append(f"{form}: {response.status_code} {response.text}")
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
    sizes = [{"size": size, "name": ""} for size in ("-1", "2", "2")]
    assert signature["inputs"]["sensor"] == {
        "dtype": "DT_FLOAT",
        "tensor_shape": {"dim": sizes, "unknown_rank": False},
        "name": "serving_default_sensor:0",
    }
    assert signature["outputs"].keys() == {"tag", "largest", "total"}
