import tensorflow as tf
from tensorflow_serving.apis import prediction_log_pb2

from keras_attn.translation.decoding.search import LENGTHS
from keras_attn.translation.export import warmup_requests
from keras_attn.translation.tokenization.tokenizer import train

TEXTS = ["。猫が好きです。", "。犬が水を飲みます。", "。鳥は歌います。"]


def test_short_lengths_are_compiled_first_and_each_signature_that_people_wait_for_is_called(
    tmp_path,
):
    tokenizer = train(TEXTS, vocab_size=300, character_coverage=1.0)
    warmup_requests.write(tmp_path, tokenizer, max_length=50)
    requests = []
    for record in tf.data.TFRecordDataset([str(tmp_path / "tf_serving_warmup_requests")]):
        log = prediction_log_pb2.PredictionLog.FromString(record.numpy())
        request = log.predict_log.request
        inputs = {name: tf.make_ndarray(value) for name, value in request.inputs.items()}
        requests.append((request.model_spec.signature_name, inputs))
    # No length above 128 is compiled, nor one that no sentence of 50 pieces needs.
    lengths = [int(inputs["length"]) for name, inputs in requests if name == "compile"]
    assert lengths == [*LENGTHS[:3]]
    names = [name for name, _ in requests]
    assert names[:3] == ["serving_default", "compile", "compile"] and names[-1] == "compile"
    others = {"serving_default", "nbest", "glossary", "attend", "continue", "score"}
    assert set(names) - {"compile"} == others
    assert {len(inputs["text"]) for name, inputs in requests if name != "compile"} == {1, 17}


def test_the_sentence_of_a_request_has_about_the_length_that_is_asked_for():
    tokenizer = train(TEXTS, vocab_size=300, character_coverage=1.0)
    for length in (16, 64):
        (ids,) = tokenizer.encode([warmup_requests.text(tokenizer, length)])
        assert length // 2 < len(ids) < length
