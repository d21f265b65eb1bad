"""TensorFlow Serving's REST API, form by form: what is asked, and the answer it is documented with.

Each case has a request to one of three small models and the answer that TensorFlow Serving's
documentation gives (`tensorflow_serving/g3doc/api_rest.md`), or, where it gives none, what its
source answers. `python tests/serving/conformance.py` prints them as the table of
`keras_attn/serving/CONFORMANCE.md`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import tensorflow as tf

DOCUMENT = Path(__file__).parents[2] / "keras_attn" / "serving" / "CONFORMANCE.md"


class Case(NamedTuple):
    """A documented form.

    Attributes:
        form: What it is.
        request: Method and path.
        body: What is sent.
        status: Of the documented answer.
        answer: The documented answer, as JSON.
    """

    form: str
    request: str
    body: str
    status: int
    answer: str


HALF = "/v1/models/half_plus_three"
THREE = "/v1/models/three_inputs"
BYTES = "/v1/models/upper"
CASES = [
    Case(
        "status of all versions",
        f"GET {HALF}",
        "",
        200,
        '{"model_version_status": [{"version": "123", "state": "AVAILABLE", "status": '
        '{"error_code": "OK", "error_message": ""}}]}',
    ),
    Case(
        "status of a version",
        f"GET {HALF}/versions/123",
        "",
        200,
        '{"model_version_status": [{"version": "123", "state": "AVAILABLE", "status": '
        '{"error_code": "OK", "error_message": ""}}]}',
    ),
    Case(
        "status of a version that is not there",
        f"GET {HALF}/versions/7",
        "",
        404,
        '{"error": "Could not find version 7 of model half_plus_three"}',
    ),
    Case(
        "status of a model that is not there",
        "GET /v1/models/half",
        "",
        404,
        '{"error": "Could not find any versions of model half"}',
    ),
    Case(
        "row form, one input: list of scalars",
        f"POST {HALF}:predict",
        '{"instances": [1.0, 2.0, 5.0]}',
        200,
        '{"predictions": [3.5, 4.0, 5.5]}',
    ),
    Case(
        "row form of a version",
        f"POST {HALF}/versions/123:predict",
        '{"instances": [1.0, 2.0, 5.0]}',
        200,
        '{"predictions": [3.5, 4.0, 5.5]}',
    ),
    Case(
        "row form with `signature_name`",
        f"POST {HALF}:predict",
        '{"signature_name": "serving_default", "instances": [1.0]}',
        200,
        '{"predictions": [3.5]}',
    ),
    Case(
        "column form, one input: the tensor",
        f"POST {HALF}:predict",
        '{"inputs": [1.0, 2.0, 5.0]}',
        200,
        '{"outputs": [3.5, 4.0, 5.5]}',
    ),
    Case(
        "column form, one input: an object",
        f"POST {HALF}:predict",
        '{"inputs": {"x": [1.0, 2.0, 5.0]}}',
        200,
        '{"outputs": [3.5, 4.0, 5.5]}',
    ),
    Case(
        "row form, several inputs and outputs: objects",
        f"POST {THREE}:predict",
        '{"instances": [{"tag": "foo", "signal": [1, 2, 3, 4, 5], "sensor": [[1, 2], [3, 4]]}, '
        '{"tag": "bar", "signal": [3, 4, 1, 2, 5], "sensor": [[4, 5], [6, 8]]}]}',
        200,
        '{"predictions": [{"largest": 5, "tag": "foo", "total": 10.0}, '
        '{"largest": 5, "tag": "bar", "total": 23.0}]}',
    ),
    Case(
        "column form, several inputs and outputs",
        f"POST {THREE}:predict",
        '{"inputs": {"tag": ["foo", "bar"], "signal": [[1, 2, 3, 4, 5], [3, 4, 1, 2, 5]], '
        '"sensor": [[[1, 2], [3, 4]], [[4, 5], [6, 8]]]}}',
        200,
        '{"outputs": {"largest": [5, 5], "tag": ["foo", "bar"], "total": [10.0, 23.0]}}',
    ),
    Case(
        "bytes in base64, in and out (names that end in `_bytes`)",
        f"POST {BYTES}:predict",
        '{"instances": [{"b64": "aW1hZ2UgYnl0ZXM="}, {"b64": "YXdlc29tZSBpbWFnZSBieXRlcw=="}]}',
        200,
        '{"predictions": [{"b64": "SU1BR0UgQllURVM="}, {"b64": "QVdFU09NRSBJTUFHRSBCWVRFUw=="}]}',
    ),
    Case(
        "`NaN`, `Infinity`, `-Infinity`, in and out",
        f"POST {HALF}:predict",
        '{"instances": [NaN, Infinity, -Infinity]}',
        200,
        '{"predictions": [NaN, Infinity, -Infinity]}',
    ),
    Case(
        "exponents; floats in their shortest decimals",
        f"POST {HALF}:predict",
        '{"instances": [1e2, 1.4]}',
        200,
        '{"predictions": [53.0, 3.7]}',
    ),
    Case(
        "another model's name",
        "POST /v1/models/half:predict",
        '{"instances": [1.0, 5.0]}',
        404,
        '{"error": "Servable not found for request: Latest(half)"}',
    ),
    Case(
        "a version that is not there",
        f"POST {HALF}/versions/7:predict",
        '{"instances": [1.0]}',
        404,
        '{"error": "Servable not found for request: Specific(half_plus_three, 7)"}',
    ),
    Case(
        "a label that is not there",
        f"POST {HALF}/labels/stable:predict",
        '{"instances": [1.0]}',
        400,
        '{"error": "Unrecognized servable version label: stable"}',
    ),
    Case(
        "no path of the API",
        f"POST {HALF}",
        "{}",
        400,
        '{"error": "Malformed request: POST /v1/models/half_plus_three"}',
    ),
    Case(
        "an unknown signature",
        f"POST {HALF}:predict",
        '{"signature_name": "half", "instances": [1.0]}',
        400,
        r'{"error": "Serving signature name: \"half\" not found in signature def"}',
    ),
    Case(
        "neither rows nor columns",
        f"POST {HALF}:predict",
        '{"x": [1.0]}',
        400,
        "{\"error\": \"Missing 'inputs' or 'instances' key\"}",
    ),
    Case(
        "an empty body",
        f"POST {HALF}:predict",
        "",
        400,
        '{"error": "JSON Parse error: The document is empty"}',
    ),
    Case(
        "a list where several inputs have names",
        f"POST {THREE}:predict",
        '{"instances": [1.0]}',
        400,
        '{"error": "instances is a plain list, but expecting list of objects as multiple input '
        'tensors required as per tensorinfo_map"}',
    ),
    Case(
        "an input that is missing",
        f"POST {THREE}:predict",
        '{"inputs": {"tag": ["foo"], "signal": [[1, 2, 3, 4, 5]]}}',
        400,
        '{"error": "Missing named input: sensor in \'inputs\' object."}',
    ),
    Case(
        "lists of unequal lengths",
        f"POST {THREE}:predict",
        '{"inputs": {"tag": ["foo"], "signal": [[1, 2, 3], [1]], "sensor": []}}',
        400,
        '{"error": "Encountered list at unexpected size: 1 at level: 1 expected size: 3"}',
    ),
    Case(
        "`classify` of a signature for `predict`",
        f"POST {HALF}:classify",
        '{"examples": [{"x": 1.0}]}',
        400,
        '{"error": "Expected classification signature method_name to be tensorflow/serving/classify'
        '. Was: tensorflow/serving/predict"}',
    ),
]


def write_models(folder: Path) -> list[Path]:
    """Export the models of the cases, each with a version 123, and return their folders."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, "x")])
    def half_plus_three(x):
        return {"y": 0.5 * x + 3}

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.string, "tag"),
            tf.TensorSpec([None, 5], tf.int32, "signal"),
            tf.TensorSpec([None, 2, 2], tf.float32, "sensor"),
        ]
    )
    def three_inputs(tag, signal, sensor):
        total = tf.reduce_sum(sensor, axis=(1, 2))
        return {"tag": tf.identity(tag), "largest": tf.reduce_max(signal, axis=1), "total": total}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "image_bytes")])
    def upper(image_bytes):
        return {"upper_bytes": tf.strings.upper(image_bytes)}

    folders = []
    for function in (half_plus_three, three_inputs, upper):
        folders.append(folder / function.name)
        module = tf.Module()
        tf.saved_model.save(module, str(folders[-1] / "123"), signatures=function)
    return folders


def table() -> str:
    """The cases in Markdown."""
    rows = "\n".join(
        f"| {case.form} | `{case.request}` | {_code(case.body)} | {case.status} | "
        f"{_code(case.answer)} | the same |"
        for case in CASES
    )
    return (
        "| form | request | body | status | TensorFlow Serving answers | this server |\n"
        f"|---|---|---|---|---|---|\n{rows}\n"
    )


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def equal(ours: str, documented: str) -> bool:
    """Whether two JSON texts say the same, `NaN` included."""
    return json.dumps(json.loads(ours), sort_keys=True) == json.dumps(
        json.loads(documented), sort_keys=True
    )


if __name__ == "__main__":
    print(table(), end="")
