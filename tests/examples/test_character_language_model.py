"""The language model beats counting, and writes with a cache what it would write without one."""

import itertools

import keras
import numpy as np
import pytest

from keras_attn import Decoder

pytestmark = pytest.mark.slow


def test_bits_are_those_of_the_characters_that_come_and_not_of_padding(script):
    # The first line is two characters long, with the newline at its end; the second is one.
    ids = np.array([[1, 2, 1], [1, 1, 0]])
    probabilities = np.array([[[0.1, 0.4, 0.5], [0.5, 0.25, 0.25]], [[0.2, 0.5, 0.3], [1, 0, 0]]])
    with np.errstate(divide="ignore"):
        bits = script.bits_a_character(np.log(probabilities), ids)
    assert bits == pytest.approx((1 + 2 + 1) / 3)


def test_pairs_are_counted_within_lines_and_once_more_for_the_unseen(script):
    alphabet = ["", "\n", "a", "b"]
    counts = script.count_pairs(script.encode(["ab", "a"], alphabet), 4)
    assert counts[1:].tolist() == [[0, 1, 3, 1], [0, 2, 1, 2], [0, 2, 1, 1]]


def test_lines_written_with_the_cache_are_those_of_the_whole_sequence(script):
    alphabet = ["", "\n", *"abcdefghij"]
    decoder = Decoder(12, 2, 16, 32, 2, cross_attention=False, tie_embeddings=True)
    decoder.build((None, None))
    random = np.random.default_rng(4)
    # None of the first weights but the scales of the normalisations, which are 1.
    decoder.set_weights([(w == 1) + random.normal(0, 0.5, w.shape) for w in decoder.get_weights()])
    written = script.write(decoder, alphabet, num_lines=4, length=12, temperature=5.0, seed=7)
    seeds = keras.random.SeedGenerator(7)
    ids = np.full((4, 13), script.PADDING)
    ids[:, 0] = script.NEWLINE
    for position in range(12):
        logits = decoder(ids)[:, position, 1:] / 5.0
        ids[:, position + 1] = 1 + keras.random.categorical(logits, 1, seed=seeds)[:, 0]
    whole = ["".join(alphabet[i] for i in line[1:]).split("\n")[0] for line in ids]
    assert written == whole
    assert len({*"".join(whole)}) > 5
    assert min(map(len, whole)) > 5


def test_it_needs_fewer_bits_than_counting_pairs_and_writes_what_it_read(script, tmp_path, capsys):
    names, verbs = ["anna", "otto", "bob", "hannah"], ["sees", "noon", "level", "radar"]
    lines = [" ".join(words) for words in itertools.product(names, verbs, names)] * 20
    np.random.default_rng(5).shuffle(lines)
    text = " ".join(lines)
    (tmp_path / "text.txt").write_text(text, encoding="utf-8")
    sizes = ["--epochs", "30", "--layers", "1", "--width", "32"]
    bits = script.main(["--text", str(tmp_path / "text.txt"), *sizes])
    assert bits["decoder"] < 0.8 * bits["counting pairs"] < 0.8 * bits["counting characters"]
    written = " ".join(capsys.readouterr().out.splitlines()[-5:])
    threes = [written[i : i + 3] for i in range(len(written) - 2)]
    assert len(threes) > 100
    # Of 14 characters there are 2,744 threes; the text has less than a hundred of them.
    assert sum(three in text for three in threes) > 0.5 * len(threes)
