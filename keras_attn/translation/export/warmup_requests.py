"""Warm-up requests: TensorFlow Serving sends them to a new version before users' requests."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import tensorflow as tf

from keras_attn.translation.decoding.search import LENGTHS
from keras_attn.translation.special_ids import EOS_ID
from keras_attn.translation.tokenization.fixed_shapes import NUM_TEXTS, compiled_shape
from keras_attn.translation.tokenization.tokenizer import MIN_VOCAB_SIZE, Tokenizer

# File name that TensorFlow Serving expects in the folder `assets.extra` of a version.
FILE = "tf_serving_warmup_requests"

# Signature that compiles each shape, and signature that shares its compiled programs.
MAIN, OTHER = "serving_default", "nbest"


def write(extra: Path, tokenizer: Tokenizer, max_length: int) -> None:
    """Write one request for each shape of the compiled functions.

    These are single texts of each of `LENGTHS` for the search, each `compiled_shape` for the
    tokenizer.
    """
    lengths = [length for length in LENGTHS if length < 2 * max_length]
    requests = [text(tokenizer, min(length, max_length)) for length in lengths]
    compiled = set()
    with tf.io.TFRecordWriter(str(extra / FILE)) as file:
        for request in requests:
            for number in NUM_TEXTS:
                shape = compiled_shape([request] * number)
                if number == 1 or (shape is not None and shape not in compiled):
                    file.write(_prediction_log(MAIN, [request] * number))
                    compiled.add(shape)
        file.write(_prediction_log(OTHER, requests[:1]))


def text(tokenizer: Tokenizer, length: int) -> str:
    """Meaningless sentence of about `3/4 * length` pieces."""
    words = list(islice(_words(tokenizer), 8)) or ["a"]
    found = ""
    for count in range(length):  # each word has at least one piece
        longer = found + words[count % len(words)]
        if len(tokenizer.encode([longer])[0]) > length * 3 // 4:
            break
        found = longer
    return found


def _words(tokenizer: Tokenizer) -> Iterator[str]:
    """Texts of one piece."""
    first = EOS_ID + 1 if tokenizer.is_imported else MIN_VOCAB_SIZE - 1
    for piece in range(first, tokenizer.vocab_size):
        word = tokenizer.decode([[piece]])[0].strip()
        # Letters only, because punctuation may end a sentence. The vocabulary of an imported model
        # may hold the pieces of another language.
        if word.isalpha() and (not tokenizer.is_imported or tokenizer.encode([word]) == [[piece]]):
            yield word


def _prediction_log(signature: str, texts: list[str]) -> bytes:
    """Serialize a `tensorflow.serving.PredictionLog`; the numbers are field numbers."""
    tensor = tf.make_tensor_proto([text.encode() for text in texts], tf.string)
    entry = _field(1, b"text") + _field(2, tensor.SerializeToString())
    request = _field(1, _field(3, signature.encode())) + _field(2, entry)
    return _field(6, _field(1, request))


def _field(number: int, content: bytes) -> bytes:
    """Encode a length-delimited field in the wire format of protocol buffers."""
    return _varint(8 * number + 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    *low, high = [number >> shift & 0x7F for shift in range(0, max(1, number.bit_length()), 7)]
    return bytes([*(part | 0x80 for part in low), high])
