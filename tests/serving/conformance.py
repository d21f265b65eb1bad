"""TensorFlow Serving's REST API, form by form: requests and documented answers.

The cases are the rows of the table in `keras_attn/serving/CONFORMANCE.md`. Each has a request to
one of three small models and the answer that TensorFlow Serving's documentation gives
(`tensorflow_serving/g3doc/api_rest.md`), or, where it gives none, what its source answers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import tensorflow as tf

DOCUMENT = Path(__file__).parents[2] / "keras_attn" / "serving" / "CONFORMANCE.md"


class Case(NamedTuple):
    """A documented form: request (method and path), body, and the documented answer, as JSON."""

    form: str
    request: str
    body: str
    status: int
    answer: str


def cases() -> list[Case]:
    """The rows of the table of requests with bodies."""
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    start = lines.index(
        "| form | request | body | status | TensorFlow Serving answers | this server |"
    )
    found = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        form, request, body, status, answer, ours = map(str.strip, line.strip("|").split("|"))
        assert ours == "the same"
        found.append(
            Case(form, request.strip("`"), body.strip("`"), int(status), answer.strip("`"))
        )
    return found


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


def equal(ours: str, documented: str) -> bool:
    """Whether two JSON texts say the same, `NaN` included."""
    return json.dumps(json.loads(ours), sort_keys=True) == json.dumps(
        json.loads(documented), sort_keys=True
    )
