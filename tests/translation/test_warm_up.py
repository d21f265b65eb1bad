import tensorflow as tf
from tensorflow_serving.apis import prediction_log_pb2

from keras_attn.translation import warm_up
from keras_attn.translation.text_ops import NUM_BYTES, NUM_TEXTS


def test_every_request_is_what_the_server_reads(tmp_path):
    warm_up.write(tmp_path, "猫が好き")
    path = str(tmp_path / "tf_serving_warmup_requests")
    requests = [
        prediction_log_pb2.PredictionLog.FromString(record.numpy()).predict_log.request
        for record in tf.data.TFRecordDataset([path])
    ]
    asked = set()
    for request in requests:
        texts = tf.make_ndarray(request.inputs["text"])
        assert set(request.inputs) == {"text"} and set(texts) <= {texts[0]}
        assert texts[0].decode("utf-8").startswith("猫が好き")
        width = min(size for size in NUM_BYTES if size >= len(texts[0]))
        asked.add((request.model_spec.signature_name, len(texts), width))
    assert asked == {
        (signature, number, width)
        for signature in ("serving_default", "nbest")
        for number in NUM_TEXTS
        for width in NUM_BYTES[:2]
    }
    assert len(requests) == len(asked)
