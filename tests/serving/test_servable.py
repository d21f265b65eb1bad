import numpy as np
import pytest
import tensorflow as tf
from tensorflow_serving.apis import prediction_log_pb2

from keras_attn.serving.errors import RequestError
from keras_attn.serving.servable import Servable
from keras_attn.translation.export.warmup_requests import FILE
from keras_attn.translation.versions import EXTRA


@pytest.fixture(scope="module")
def servable(served):
    return Servable(served / "1")


def test_a_signature_tells_its_inputs_outputs_and_what_requests_may_share(servable):
    nbest, glossary = servable.signature("nbest"), servable.signature("glossary")
    assert {name: spec.dtype for name, spec in nbest.inputs.items()} == {"text": tf.string}
    assert list(nbest.outputs) == ["is_other_language", "is_uncertain", "scores", "translations"]
    for name in ("serving_default", "nbest", "glossary"):
        assert servable.signature(name).joins_rows
    assert not servable.signature("attend").joins_rows  # padded to the longest
    # Terms are for all texts of a request.
    assert (nbest.shared, glossary.shared) == ((), ("term", "term_translation"))
    sizes = {"term": 5, "term_translation": 5, "text": 2}
    inputs = {name: np.array([b"a"] * size) for name, size in sizes.items()}
    assert glossary.num_rows(inputs) == 2


def test_what_the_model_refuses_is_said_in_a_line(tmp_path):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, "x")])
    def inverse(x):
        with tf.control_dependencies([tf.debugging.assert_positive(x, "x must be above 0")]):
            return {"y": 1 / x}

    tf.saved_model.save(tf.Module(), str(tmp_path / "1"), signatures=inverse)
    servable = Servable(tmp_path / "1")
    with pytest.raises(RequestError, match="x must be above 0") as caught:
        servable.predict("serving_default", {"x": np.array([0])})
    assert "\n" not in caught.value.message


def test_the_requests_that_came_with_the_model_are_those_it_was_written_with(echo):
    servable = Servable(echo / "1")
    assert list(servable.warm_up_requests()) == []
    with tf.io.TFRecordWriter(str(servable.folder / EXTRA / FILE)) as file:
        # As in TensorFlow Serving, logs of other kinds are skipped; no name is the default.
        file.write(prediction_log_pb2.PredictionLog(classify_log={}).SerializeToString())
        for name in ("", "nbest"):
            log = prediction_log_pb2.PredictionLog()
            request = log.predict_log.request
            request.model_spec.signature_name = name
            request.inputs["text"].CopyFrom(tf.make_tensor_proto(["a", "b"]))
            file.write(log.SerializeToString())
    first, second = servable.warm_up_requests()
    assert (first[0], second[0]) == ("serving_default", "nbest")
    assert servable.predict(*first)["translation"].tolist() == [b"1: a", b"1: b"]
    assert servable.predict(*second)["translations"].shape == (2, 3)
