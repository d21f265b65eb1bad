"""TensorFlow Serving's gRPC services, by the stubs of `tensorflow-serving-api`."""

import asyncio

import grpc
import pytest
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2
from tensorflow_serving.apis import (
    get_model_metadata_pb2,
    get_model_status_pb2,
    model_service_pb2_grpc,
    predict_pb2,
    prediction_service_pb2_grpc,
)

from keras_attn.serving.apis.grpc import PredictionService
from keras_attn.serving.inference import Inference
from keras_attn.serving.metrics import Metrics
from keras_attn.serving.settings import Settings

TEXTS = ["犬", "猫が寝ている。"]


@pytest.fixture(scope="module")
def channel(server_and_port):
    with grpc.insecure_channel(f"127.0.0.1:{server_and_port[1]}") as channel:
        yield channel


@pytest.fixture(scope="module")
def predict(channel):
    """`predict(inputs, outputs=(), name="ja-en", ...)`: the response to a model specification."""
    stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)

    def predict(inputs, outputs=(), **given):
        spec = {"name": "ja-en", **given}
        tensors = {
            key: value if isinstance(value, tensor_pb2.TensorProto) else tf.make_tensor_proto(value)
            for key, value in inputs.items()
        }
        request = predict_pb2.PredictRequest(output_filter=outputs, model_spec=spec, inputs=tensors)
        return stub.Predict(request, timeout=60)

    return predict


def test_texts_are_translated_by_the_chosen_version_signature_and_outputs(predict):
    for version in ({}, {"version": {"value": 1}}):
        response = predict({"text": TEXTS}, **version)
        said = response.outputs["translation"].string_val
        assert said == [f"1: {text}".encode() for text in TEXTS]
        spec = response.model_spec
        found = (spec.name, spec.version.value, spec.signature_name)
        assert found == ("ja-en", 1, "serving_default")
    no_text = tensor_pb2.TensorProto(dtype=tf.string.as_datatype_enum)
    no_text.tensor_shape.dim.add(size=1)  # a value that is not there is empty
    assert predict({"text": no_text}).outputs["translation"].string_val == [b""]
    response = predict({"text": TEXTS}, ["scores"], signature_name="nbest")
    assert list(response.outputs) == ["scores"]
    assert tf.make_ndarray(response.outputs["scores"]).shape == (2, 3)
    terms = {"term": ["犬"], "term_translation": ["dog"]}
    response = predict({"text": TEXTS, **terms}, signature_name="glossary")
    assert response.outputs["translation"].string_val[0] == b"1: dog"


def test_wrong_requests_are_refused_in_a_sentence(predict):
    for says, inputs, given in (
        ("Latest(de-en)", {"text": TEXTS}, {"name": "de-en"}),
        ("Specific(ja-en, 7)", {"text": TEXTS}, {"version": {"value": 7}}),
        ("label: stable", {"text": TEXTS}, {"version_label": "stable"}),
        ('"no" not found', {"text": TEXTS}, {"signature_name": "no"}),
        ("not found in signature: words", {"words": TEXTS}, {}),
        ("not found in signature: text", {}, {}),
        ("type DT_INT32, expected string", {"text": [1]}, {}),
        ("shape [1, 2], expected [None]", {"text": [TEXTS]}, {}),
        ("not found in signature: x", {"text": TEXTS}, {"outputs": ["x"]}),
        ("at most 256 texts. Received: 257", {"text": ["a"] * 257}, {}),
    ):
        with pytest.raises(grpc.RpcError) as refused:
            predict(inputs, **given)
        code = "NOT_FOUND" if "(" in says else "INVALID_ARGUMENT"
        assert refused.value.code() == grpc.StatusCode[code], says
        assert says in refused.value.details()


def test_metadata_are_the_signatures_and_the_status_is_that_of_each_version(channel):
    stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)

    def metadata(*fields):
        request = get_model_metadata_pb2.GetModelMetadataRequest
        spec = {"name": "ja-en"}
        return stub.GetModelMetadata(request(metadata_field=fields, model_spec=spec), timeout=60)

    response = metadata("signature_def")
    signatures = get_model_metadata_pb2.SignatureDefMap()
    assert response.metadata["signature_def"].Unpack(signatures)
    assert {"serving_default", "nbest", "glossary"} <= set(signatures.signature_def)
    for fields, says in (([], "at least one metadata_field"), (["x"], "field x is not")):
        with pytest.raises(grpc.RpcError, match=says):
            metadata(*fields)

    stub = model_service_pb2_grpc.ModelServiceStub(channel)
    request = get_model_status_pb2.GetModelStatusRequest(model_spec={"name": "ja-en"})
    (version,) = stub.GetModelStatus(request, timeout=60).model_version_status
    assert (version.version, version.state) == (1, version.State.AVAILABLE)
    request.model_spec.name = "de-en"
    with pytest.raises(grpc.RpcError, match="any versions of model de-en"):
        stub.GetModelStatus(request, timeout=60)


def test_a_service_that_closes_refuses_requests_so_that_clients_go_elsewhere(free_port):
    settings = Settings(grpc_port=free_port())

    async def scenario():
        metrics = Metrics()
        service = PredictionService({}, Inference(settings, metrics), metrics)
        address = f"127.0.0.1:{settings.grpc_port}"
        async with service.served(), grpc.aio.insecure_channel(address) as channel:
            stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
            codes = []
            for _ in range(2):
                with pytest.raises(grpc.RpcError) as refused:
                    await stub.Predict(predict_pb2.PredictRequest(), timeout=60)
                codes.append(refused.value.code())
                service.is_closed = True
            assert codes == [grpc.StatusCode.NOT_FOUND, grpc.StatusCode.UNAVAILABLE]

    asyncio.run(scenario())
