"""A language model of characters: a decoder without cross-attention, which writes with its cache.

    python examples/character_language_model.py
    python examples/character_language_model.py --text my_book.txt

Trained on the English sentences of `everyday`, or on a text of yours. It says the bits that a
character of held-out lines costs, beside models that count characters and pairs of them, and then
writes lines: each step computes one character, and finds what came before in the cache.
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

PADDING, NEWLINE = 0, 1  # ids; a line begins and ends with a newline
LENGTH = 60  # characters of a line at most


def read_lines(path: Path | None) -> tuple[list[str], list[str]]:
    """Lines to train on and lines held out."""
    if path is None:
        everyday = load_corpus("everyday")  # no sentence is in two of its splits
        splits = [p.target for p in everyday.train], [e.references[0] for e in everyday.test]
        train, held_out = ([line for line in lines if len(line) <= LENGTH] for lines in splits)
        return train, held_out
    lines = textwrap.wrap(path.read_text(encoding="utf-8"), LENGTH)
    num_train = len(lines) * 9 // 10
    return lines[:num_train], lines[num_train:]


def encode(lines: Sequence[str], alphabet: Sequence[str]) -> np.ndarray:
    """Ids `(B, T)` of the lines, each between newlines, padded."""
    ids = {character: i for i, character in enumerate(alphabet)}
    rows = [[ids[character] for character in f"\n{line}\n"] for line in lines]
    return keras.utils.pad_sequences(rows, padding="post", value=PADDING)


def bits_a_character(log_probabilities: np.ndarray, ids: np.ndarray) -> float:
    """The mean over all characters, newlines at the end among them.

    Args:
        log_probabilities: `(B, T - 1, V)`, of each character after those before it.
        ids: `(B, T)`.
    """
    targets = ids[:, 1:]
    of_targets = np.take_along_axis(log_probabilities, targets[..., None], axis=-1)[..., 0]
    return float(-of_targets[targets != PADDING].mean() / np.log(2))


def count_pairs(ids: np.ndarray, vocab_size: int) -> np.ndarray:
    """How often each character follows each other one, `(V, V)`, and once more for the unseen."""
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
    """Lines of at most `length` characters, drawn side by side, a character of each in a step."""
    seeds = keras.random.SeedGenerator(seed)
    cache = decoder.make_cache(num_lines, length)
    ids = ops.full((num_lines, 1), NEWLINE, dtype="int32")
    written = []
    for position in range(length):
        logits, cache = decoder(ids, cache=cache, start=position)  # (B, 1, V)
        logits = logits[:, 0, NEWLINE:] / temperature  # padding is never drawn
        ids = NEWLINE + keras.random.categorical(logits, 1, dtype="int32", seed=seeds)
        written.append(ops.convert_to_numpy(ids)[:, 0])
    texts = ("".join(alphabet[i] for i in line) for line in np.transpose(written))
    return [text.split("\n")[0] for text in texts]


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--text", type=Path, help="text to train on, UTF-8")
    parser.add_argument("--lines", type=int, default=20_000, help="to train on, at most")
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
    # Logits carry the mask of the ids: padding counts for nothing in the loss.
    model = keras.Model(inputs, decoder(inputs))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    # With XLA, compiling takes longer than it saves.
    model.compile(keras.optimizers.Adam(0.005), loss, jit_compile=False)
    model.fit(train[:, :-1], train[:, 1:], batch_size=64, epochs=arguments.epochs, verbose=2)

    pairs = count_pairs(train, len(alphabet))
    bits = {}
    for name, counts in {"characters": pairs.sum(0, keepdims=True), "pairs": pairs}.items():
        with np.errstate(divide="ignore"):  # padding never follows
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
