"""Requests that TensorFlow Serving answers before it serves, so that no user waits for a trace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import tensorflow as tf

from keras_attn.translation.text_ops import NUM_BYTES, NUM_TEXTS

# Where TensorFlow Serving looks, inside the folder `assets.extra` of a version.
FILE = "tf_serving_warmup_requests"

SIGNATURES = ("serving_default", "nbest")
# Longer texts than this are rare; what they need is made when the first of them comes.
_LONGEST = 256


def write(extra: Path, sample: str) -> None:
    """Write a request for each number of texts and of bytes that text is filled up to.

    Args:
        extra: The folder `assets.extra` of a version.
        sample: Any text in the source language, of which the requests are made.
    """
    with tf.io.TFRecordWriter(str(extra / FILE)) as file:
        for signature in SIGNATURES:
            for texts in _requests(sample):
                file.write(_prediction_log(signature, texts))


def _requests(sample: str) -> Iterator[list[str]]:
    size = max(1, len(sample.encode()))
    for width in NUM_BYTES:
        if width <= _LONGEST:
            for number in NUM_TEXTS:
                yield [sample * max(1, width // size)] * number


def _prediction_log(signature: str, texts: list[str]) -> bytes:
    """A `tensorflow.serving.PredictionLog`, by the numbers of the fields in its definition."""
    tensor = tf.make_tensor_proto([text.encode() for text in texts], tf.string)
    entry = _field(1, b"text") + _field(2, tensor.SerializeToString())
    request = _field(1, _field(3, signature.encode())) + _field(2, entry)
    return _field(6, _field(1, request))


def _field(number: int, content: bytes) -> bytes:
    """A field of bytes, in the wire format of protocol buffers."""
    return _varint(8 * number + 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    *low, high = [number >> shift & 0x7F for shift in range(0, max(1, number.bit_length()), 7)]
    return bytes([*(part | 0x80 for part in low), high])
