import tensorflow as tf
from tensorflow_serving.apis import prediction_log_pb2

from keras_attn.translation.decoding.search import LENGTHS
from keras_attn.translation.export import warmup_requests
from keras_attn.translation.text import sentences
from keras_attn.translation.tokenization import fixed_shapes
from keras_attn.translation.tokenization.tokenizer import train

TEXTS = ["。猫が好きです。", "。犬が水を飲みます。", "。鳥は歌います。"]


def test_every_shape_that_is_compiled_is_asked_for_as_the_server_reads_it(tmp_path):
    tokenizer = train(TEXTS, vocab_size=300, character_coverage=1.0)
    warmup_requests.write(tmp_path, tokenizer, max_length=50)
    path = str(tmp_path / "tf_serving_warmup_requests")
    lengths, shapes = [], []
    for record in tf.data.TFRecordDataset([path]):
        log = prediction_log_pb2.PredictionLog.FromString(record.numpy())
        request = log.predict_log.request
        assert set(request.inputs) == {"text"}
        texts = [text.decode("utf-8") for text in tf.make_ndarray(request.inputs["text"])]
        parts = sentences.split(tf.constant(texts)).text.numpy()
        assert [part.decode() for part in parts if part] == texts  # they are not cut
        if request.model_spec.signature_name == "nbest":
            assert len(texts) == 1
            continue
        shapes.append(fixed_shapes.compiled_shape(texts))
        num_pieces = {len(ids) + 1 for ids in tokenizer.encode(texts)}
        if len(texts) == 1:
            (length,) = {min(length for length in LENGTHS if n <= length) for n in num_pieces}
            lengths.append(length)
    assert lengths == [*LENGTHS[:3]]
    longest = max(num_bytes for _, num_bytes in shapes)
    # Each shape, and no batch of texts twice.
    assert set(shapes) == {
        (number, num_bytes)
        for number in fixed_shapes.NUM_TEXTS
        for num_bytes in fixed_shapes.NUM_BYTES
        if num_bytes <= longest and number * num_bytes <= fixed_shapes.MAX_CELLS
    }
    batches = [shape for shape in shapes if shape[0] > 1]
    assert len(batches) == len(set(batches))
