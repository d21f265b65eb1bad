"""Comparison of the tokenizer in the graph with sentencepiece: `python benchmarks/text_ops.py`.

Trains a tokenizer for each language of `tatoeba`. Tokenizes and detokenizes every sentence and many
random strings with both implementations. Prints the number of differences and the time of each
implementation.
"""

import argparse
import random
import sys
import time

import sentencepiece
import tensorflow as tf
from machine import describe_machine

from keras_attn.languages import read_language
from keras_attn.translation.corpus.sources import Sources
from keras_attn.translation.text.characters import REPLACEMENTS, replace_in_graph
from keras_attn.translation.tokenization import tokenizer
from keras_attn.translation.tokenization.in_graph import GraphTokenizer

BATCH = 128
VOCAB_SIZE = 8000
MIXED = " \u3000\t\n\u00a0\u200b\u0301\u3099\u200d\ufe0f\ufeff\u00ad\u2581\x00ﾊﾟｶﾞＡ①㌔\ufdfa🏽👩🇯"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--random", type=int, default=200_000, help="random strings")
    parser.add_argument("--sentences", type=int, help="sentences of the corpus (default: all)")
    arguments = parser.parse_args()
    print(describe_machine(("tensorflow", "sentencepiece")), flush=True)
    pairs = [entry.pair for entry in Sources("tatoeba", "ja", "en").read().entries]
    strings = [random_text(random.Random(i)) for i in range(arguments.random)]
    num_different = 0
    for side, language in enumerate(("ja", "en")):
        sentences = [pair[side] for pair in pairs]
        trained = tokenizer.train(sentences, VOCAB_SIZE, read_language(language).coverage)
        for name, texts in (
            ("sentences", [s.encode() for s in sentences[: arguments.sentences]]),
            ("random strings", strings),
        ):
            num_different += compare(f"{language}, {name}", trained.proto, texts)
    print(f"different: {num_different}")
    return num_different > 0


def random_text(draw: random.Random) -> bytes:
    """Random strings of up to 40 characters: all planes, special normalisations, invalid bytes."""
    letters = [
        lambda: draw.choice(MIXED),
        lambda: chr(draw.randrange(0x20, 0x7F)),
        lambda: chr(draw.randrange(0x3040, 0x30FF)),
        lambda: chr(draw.randrange(0x4E00, 0x9FFF)),
        lambda: chr(draw.randrange(0x300, 0x370)),
        lambda: chr(draw.randrange(0xFF00, 0xFFF0)),
        lambda: chr(draw.choice((draw.randrange(0xD800), draw.randrange(0xE000, 0x110000)))),
    ]
    text = "".join(draw.choice(letters)() for _ in range(draw.randrange(40)))
    data = bytearray(text.encode())
    if draw.random() < 0.2:
        for _ in range(draw.randrange(1, 4)):
            data.insert(draw.randrange(len(data) + 1), draw.randrange(256))
    return bytes(data)


def compare(name: str, proto: bytes, texts: list[bytes]) -> int:
    package = sentencepiece.SentencePieceProcessor(model_proto=proto)
    graph = GraphTokenizer(proto)
    num_different = 0
    seconds = [0.0, 0.0]
    # Both read characters as `unify` does; sentencepiece alone would keep invisible ones.
    for begin in range(0, len(texts), BATCH):
        batch = texts[begin : begin + BATCH]
        start = time.perf_counter()
        unified = replace_in_graph(tf.constant(batch), REPLACEMENTS)
        expected = package.encode(list(unified.numpy()))
        back = [text.encode() for text in package.decode(expected)]
        middle = time.perf_counter()
        ids = graph.tokenize(tf.constant(batch))
        said = graph.detokenize(ids).numpy()
        seconds[0] += middle - start
        seconds[1] += time.perf_counter() - middle
        num_different += sum(
            one != other or text != again
            for one, other, text, again in zip(expected, ids.to_list(), back, said, strict=True)
        )
    per_text = [1e6 * spent / len(texts) for spent in seconds]
    print(
        f"{name}: {len(texts):,}, different {num_different}; microseconds a text, round trip: "
        f"sentencepiece {per_text[0]:.1f}, graph {per_text[1]:.1f}",
        flush=True,
    )
    return num_different


if __name__ == "__main__":
    sys.exit(main())
