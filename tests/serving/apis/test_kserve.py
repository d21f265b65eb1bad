"""The Open Inference Protocol, as its clients speak it."""

from urllib.parse import urlsplit

import numpy as np
import pytest
import tensorflow as tf
import tritonclient.http as tritonclient

from keras_attn import __version__
from keras_attn.serving.apis.kserve import from_binary, split, to_binary
from keras_attn.serving.errors import RequestError

TEXTS = ["犬", "猫が寝ている。"]
INFER = "/v2/models/ja-en/infer"


def given(data, name="text", datatype="BYTES"):
    return {"name": name, "shape": [len(data)], "datatype": datatype, "data": data}


def test_the_server_and_its_model_describe_themselves(client):
    about = {"name": "keras_attn", "version": __version__, "extensions": ["binary_tensor_data"]}
    assert client.get("/v2").json() == about
    ready = "health/live health/ready models/ja-en/ready models/ja-en/versions/1/ready"
    for path in (*ready.split(), "models/ja%2Den/versions/1"):
        answer = client.get(f"/v2/{path}")
        assert answer.status_code == 200
        # The members that KServe's client reads.
        member = {"live": "live", "ready": "ready"}.get(path.split("/")[-1], "name")
        assert answer.json()[member] in (True, "ja-en")
    assert client.get("/v2/models/ja-en/versions/4/ready").status_code == 404
    found = client.get("/v2/models/ja-en").json()
    for side, name in (("inputs", "text"), ("outputs", "translation")):
        assert found.pop(side) == [{"name": name, "datatype": "BYTES", "shape": [-1]}]
    assert found == {"name": "ja-en", "versions": ["1"], "platform": "tensorflow_savedmodel"}


def test_texts_are_translated_by_the_chosen_version_and_signature(client):
    for path in (INFER, "/v2/models/ja-en/versions/1/infer"):
        answer = client.post(path, json={"id": "a", "inputs": [given(TEXTS)]})
        assert answer.json() == {
            "model_name": "ja-en",
            "model_version": "1",
            "id": "a",
            "outputs": [given([f"1: {text}" for text in TEXTS], "translation")],
        }
    terms = [given(["犬"], "term"), given(["dog"], "term_translation")]
    document = {"parameters": {"signature_name": "glossary"}, "inputs": [given(TEXTS), *terms]}
    assert client.post(INFER, json=document).json()["outputs"][0]["data"][0] == "1: dog"


def test_tritons_own_client_is_answered(server):
    with tritonclient.InferenceServerClient(urlsplit(server).netloc) as triton:
        assert triton.is_server_live() and triton.is_server_ready()
        assert triton.is_model_ready("ja-en") and triton.is_model_ready("ja-en", "1")
        assert not triton.is_model_ready("de-en")
        assert triton.get_model_metadata("ja-en")["name"] == "ja-en"
        (row,) = triton.get_model_repository_index()
        assert (row["name"], row["state"]) == ("ja-en", "READY")
        text = tritonclient.InferInput("text", [2], "BYTES")
        nbest = {"signature_name": "nbest"}
        for is_binary in (True, False):
            text.set_data_from_numpy(np.array(TEXTS, object), binary_data=is_binary)
            found = triton.infer("ja-en", [text], parameters=nbest)
            best = found.as_numpy("translations")[:, 0]  # bytes where data is binary
            texts = [one.decode() if isinstance(one, bytes) else one for one in best]
            assert texts == [f"1: {text}" for text in TEXTS]
            np.testing.assert_equal(found.as_numpy("scores")[0], np.float32([-0.25, -1.5, -np.inf]))
            for flag in ("is_uncertain", "is_other_language"):
                assert (found.as_numpy(flag) == np.array([False, False])).all()
                assert found.get_output(flag)["datatype"] == "BOOL"
            assert found.get_output("scores")["datatype"] == "FP32"
            named = [tritonclient.InferRequestedOutput("scores", binary_data=not is_binary)]
            zipped = {"request_compression_algorithm": "gzip"}
            found = triton.infer("ja-en", [text], "1", named, parameters=nbest, **zipped)
            assert found.as_numpy("translations") is None
            assert found.as_numpy("scores").shape == (2, 3)


def test_strings_and_numbers_come_back():
    for values in (["犬".encode(), b"", b"\0"], []):
        array = np.empty(len(values), object)
        array[:] = values
        assert from_binary(to_binary(array), tf.string).tolist() == values
    for dtype in (tf.bool, tf.uint8, tf.int64, tf.float16, tf.float32):
        array = np.array([1, 0, 1], dtype.as_numpy_dtype)
        found = from_binary(to_binary(array), dtype)
        np.testing.assert_array_equal(found, array)
        assert found.dtype == array.dtype


def test_data_that_are_cut_off_are_refused():
    for data, dtype in ((b"abc", tf.float32), (b"abc", tf.string), (b"\x04\0\0\0abc", tf.string)):
        with pytest.raises(RequestError, match="end within a"):
            from_binary(data, dtype)


def test_the_header_divides_the_body_if_it_is_a_size():
    assert split(b"{}abc", "2") == (b"{}", b"abc")
    assert split(b"{}", None) == (b"{}", b"")
    for size in ("-1", "6", "two", "\u0662", "9" * 5000, ""):
        with pytest.raises(RequestError, match="must be the size of the JSON"):
            split(b"{}abc", size)
