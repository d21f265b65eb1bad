"""Character language model: a decoder without cross-attention that generates with a cache.

    python examples/character_language_model.py
    python examples/character_language_model.py --text my_book.txt

The model is trained on the English sentences of `everyday` or on a text file. The script prints the
bits per character of held-out lines, compared with unigram and bigram counts of characters. Then it
generates lines: each step computes one character and reads the earlier ones from the cache.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from pathlib import Path

import keras
import numpy as np
from keras import ops

from keras_attn import Decoder
from keras_attn.translation.corpus.load import load_corpus

PADDING, NEWLINE = 0, 1  # ids; each line begins and ends with a newline
LENGTH = 60  # maximum number of characters in a line


def read_lines(path: Path | None) -> tuple[list[str], list[str]]:
    """Training lines and held-out lines.

    Args:
        path: UTF-8 text, or None for the English sentences of `everyday`.
    """
    if path is None:
        everyday = load_corpus("everyday")  # its splits share no sentences
        splits = [p.target for p in everyday.train], [e.references[0] for e in everyday.test]
        train, held_out = ([line for line in lines if len(line) <= LENGTH] for lines in splits)
        return train, held_out
    lines = textwrap.wrap(path.read_text(encoding="utf-8"), LENGTH)
    num_train = len(lines) * 9 // 10
    return lines[:num_train], lines[num_train:]


def encode(lines: Sequence[str], alphabet: Sequence[str]) -> np.ndarray:
    """Padded ids `(B, T)` of lines, with a newline at the beginning and end of each."""
    ids = {character: i for i, character in enumerate(alphabet)}
    rows = [[ids[character] for character in f"\n{line}\n"] for line in lines]
    return keras.utils.pad_sequences(rows, padding="post", value=PADDING)


def bits_a_character(log_probabilities: np.ndarray, ids: np.ndarray) -> float:
    """Mean bits per character, newlines at the end included.

    Args:
        log_probabilities: Log probabilities of the next character, `(B, T - 1, V)`.
        ids: Padded ids of the lines, `(B, T)`.
    """
    targets = ids[:, 1:]
    of_targets = np.take_along_axis(log_probabilities, targets[..., None], axis=-1)[..., 0]
    return float(-of_targets[targets != PADDING].mean() / np.log(2))


def count_pairs(ids: np.ndarray, vocab_size: int) -> np.ndarray:
    """Bigram counts of characters, `(V, V)`, plus 1 for smoothing; 0 for padding."""
    counts = np.ones((vocab_size, vocab_size))
    np.add.at(counts, (ids[:, :-1], ids[:, 1:]), 1)
    counts[:, PADDING] = 0
    return counts


def write(
    decoder: Decoder,
    alphabet: Sequence[str],
    num_lines: int,
    length: int,
    temperature: float = 0.5,
    seed: int = 0,
) -> list[str]:
    """Generate lines of at most `length` characters; each step samples one character per line."""
    seeds = keras.random.SeedGenerator(seed)
    cache = decoder.make_cache(num_lines, length)
    ids = ops.full((num_lines, 1), NEWLINE, dtype="int32")
    written = []
    for position in range(length):
        logits, cache = decoder(ids, cache=cache, start=position)  # (B, 1, V)
        logits = logits[:, 0, NEWLINE:] / temperature  # padding is never sampled
        ids = NEWLINE + keras.random.categorical(logits, 1, dtype="int32", seed=seeds)
        written.append(ops.convert_to_numpy(ids)[:, 0])
    texts = ("".join(alphabet[i] for i in line) for line in np.transpose(written))
    return [text.split("\n")[0] for text in texts]


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--text", type=Path, help="text to train on, UTF-8 (default: everyday)")
    parser.add_argument("--lines", type=int, default=20_000, help="maximum training lines")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=64)
    arguments = parser.parse_args(argv)
    keras.utils.set_random_seed(0)

    lines, held_out_lines = read_lines(arguments.text)
    alphabet = ["", "\n", *sorted({*"".join(lines + held_out_lines)})]
    train, held_out = encode(lines[: arguments.lines], alphabet), encode(held_out_lines, alphabet)
    print(
        f"{len(train):,} lines to train on, {len(held_out):,} held out, {len(alphabet)} ids",
        flush=True,
    )

    decoder = Decoder(
        vocab_size=len(alphabet),
        num_layers=arguments.layers,
        num_hiddens=arguments.width,
        ffn_num_hiddens=4 * arguments.width,
        num_heads=4,
        cross_attention=False,
        tie_embeddings=True,
    )
    inputs = keras.Input((None,), dtype="int32")
    # The logits carry the mask of the ids, so the loss ignores padding.
    model = keras.Model(inputs, decoder(inputs))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    # Without XLA: compilation would take longer than it saves.
    model.compile(keras.optimizers.Adam(0.005), loss, jit_compile=False)
    model.fit(train[:, :-1], train[:, 1:], batch_size=64, epochs=arguments.epochs, verbose=2)

    pairs = count_pairs(train, len(alphabet))
    bits = {}
    for name, counts in {"characters": pairs.sum(0, keepdims=True), "pairs": pairs}.items():
        with np.errstate(divide="ignore"):  # log(0) for padding
            table = np.log(counts / counts.sum(1, keepdims=True))
        table = np.broadcast_to(table, pairs.shape)
        bits[f"counting {name}"] = bits_a_character(table[held_out[:, :-1]], held_out)
    log_probabilities = ops.log_softmax(model.predict(held_out[:, :-1], verbose=0))
    bits["decoder"] = bits_a_character(ops.convert_to_numpy(log_probabilities), held_out)
    for name, number in bits.items():
        print(f"{name:<20}{number:.2f} bits a character")
    print("\n" + "\n".join(write(decoder, alphabet, num_lines=5, length=LENGTH)))
    return bits


if __name__ == "__main__":
    main()
