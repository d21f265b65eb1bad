"""Warm-up requests: TensorFlow Serving sends them to a new version before users' requests."""

from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import tensorflow as tf

from keras_attn.translation.decoding.search import LENGTHS, MOST_SINGLE
from keras_attn.translation.runtime.threads import MAX_CORES
from keras_attn.translation.special_ids import EOS_ID, PLACEHOLDER_IDS
from keras_attn.translation.tokenization.tokenizer import Tokenizer

# File name that TensorFlow Serving expects in the folder `assets.extra` of a version.
FILE = "tf_serving_warmup_requests"

# Compiled before a server says that it is ready.
FIRST_LENGTHS = LENGTHS[:2]
# Texts that are too many to be searched one after the other, whatever the number of shards.
_MANY = MAX_CORES * MOST_SINGLE + 1


def write(extra: Path, tokenizer: Tokenizer, max_length: int) -> None:
    """Write a request for each compiled length, and one for each signature that people wait for.

    A server is ready after the requests for `FIRST_LENGTHS`.
    """
    sentence = [text(tokenizer, FIRST_LENGTHS[0]).encode()]
    compiled = [("compile", {"length": length}) for length in LENGTHS if length < 2 * max_length]
    requests: list[tuple[str, dict[str, Any]]] = [
        ("serving_default", {"text": sentence}),
        *compiled[: len(FIRST_LENGTHS)],
        ("nbest", {"text": sentence}),
        ("serving_default", {"text": _MANY * sentence}),
        ("attend", {"text": sentence}),
        ("glossary", {"text": sentence, "term": sentence, "term_translation": sentence}),
        ("continue", {"text": sentence, "prefix_pieces": [[b""]]}),
        ("score", {"text": sentence, "translation": sentence}),
        *compiled[len(FIRST_LENGTHS) :],
    ]
    with tf.io.TFRecordWriter(str(extra / FILE)) as file:
        for signature, inputs in requests:
            file.write(_prediction_log(signature, inputs))


def text(tokenizer: Tokenizer, length: int) -> str:
    """Meaningless sentence of about `3/4 * length` pieces."""
    words = list(islice(_words(tokenizer), 8)) or ["a"]
    found = ""
    for word in islice(cycle(words), length):  # each word has at least one piece
        if len(tokenizer.encode([found + word])[0]) > length * 3 // 4:
            break
        found += word
    return found


def _words(tokenizer: Tokenizer) -> Iterator[str]:
    """Texts of one piece."""
    # After the placeholders and the bytes, which an imported model does not have.
    first = EOS_ID + 1 if tokenizer.is_imported else PLACEHOLDER_IDS[-1] + 256 + 1
    for piece in range(first, tokenizer.vocab_size):
        word = tokenizer.decode([[piece]])[0].strip()
        # Letters only, because punctuation may end a sentence. The vocabulary of an imported model
        # may hold the pieces of another language.
        if word.isalpha() and (not tokenizer.is_imported or tokenizer.encode([word]) == [[piece]]):
            yield word


def _prediction_log(signature: str, inputs: dict[str, Any]) -> bytes:
    """Serialize a `tensorflow.serving.PredictionLog`; the numbers are field numbers."""
    request = _field(1, _field(3, signature.encode()))
    for name, value in inputs.items():
        tensor = tf.make_tensor_proto(value)
        request += _field(2, _field(1, name.encode()) + _field(2, tensor.SerializeToString()))
    return _field(6, _field(1, request))


def _field(number: int, content: bytes) -> bytes:
    """Encode a length-delimited field in the wire format of protocol buffers."""
    return _varint(8 * number + 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    *low, high = [number >> shift & 0x7F for shift in range(0, max(1, number.bit_length()), 7)]
    return bytes([*(part | 0x80 for part in low), high])
