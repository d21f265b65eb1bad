"""Keras text classifier with one attention layer, on sentences whose word order matters.

    python examples/text_classifier.py --png looked_at.png

"The food was good but the room was not clean": the part after "but" is the verdict. Each half has a
positive or negative adjective, with or without "not". A bag-of-words model is right in at most five
of eight cases: it knows the verdict if both halves are alike (1/4) and guesses otherwise (3/8).
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from keras_attn import MultiHeadAttention, PositionalEncoding

NOUNS = "bed breakfast food garden lift pool room shower staff view".split()
GOOD = "clean friendly good lovely nice warm".split()
BAD = "awful bad cold dirty nasty rude".split()
OPENINGS = ["", "honestly", "last week", "as far as I could see"]
ADVERBS = ["", "really", "so very"]
WIDTH = 32


def make_sentences(number: int, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Distinct sentences and labels: 1 for a good verdict, else 0."""
    draw = random.Random(seed)
    verdicts: dict[str, int] = {}
    while len(verdicts) < number:
        halves = []
        for noun in draw.sample(NOUNS, 2):
            is_good, is_negated = draw.random() < 0.5, draw.random() < 0.5
            words = ["the", noun, "was", "not" if is_negated else "", draw.choice(ADVERBS)]
            halves.append(" ".join([*words, draw.choice(GOOD if is_good else BAD)]))
        sentence = f"{draw.choice(OPENINGS)} {halves[0]} but {halves[1]}"
        # Both variables hold the values of the second half, which is the verdict.
        verdicts[" ".join(sentence.split())] = int(is_good != is_negated)
    return list(verdicts), np.array(list(verdicts.values()))


def make_classifier(
    to_ids: keras.layers.TextVectorization, with_attention: bool
) -> tuple[keras.Model, keras.Model | None]:
    """Classifier of strings, and a model of the attention weights.

    Args:
        to_ids: Adapted layer that maps strings to word ids.
        with_attention: Whether the classifier has an attention layer. Without it, the classifier is
            a bag of words: two dense layers on the mean of the embeddings.

    Returns:
        Model from strings to the probability of a good verdict; model from strings to attention
        weights `(B, H, T, T)`, or None without attention.
    """
    sentences = keras.Input((), dtype="string")
    # As large as the positional encoding: the default embeddings of Keras are far smaller.
    x = keras.layers.Embedding(
        to_ids.vocabulary_size(), WIDTH, keras.initializers.RandomNormal(stddev=1), mask_zero=True
    )(to_ids(sentences))
    dense, mean = keras.layers.Dense(2 * WIDTH, "relu"), keras.layers.GlobalAveragePooling1D()
    if with_attention:
        x = PositionalEncoding()(x)
        attention = MultiHeadAttention(num_hiddens=WIDTH, num_heads=4)
        # Keras passes the mask of the embedding on, so no word attends to padding.
        seen, weights = attention(x, x, return_attention_scores=True)
        x = keras.layers.LayerNormalization()(keras.layers.Add()([x, seen]))
        x, looking = mean(dense(x)), keras.Model(sentences, weights)
    else:
        x, looking = dense(mean(x)), None
    return keras.Model(sentences, keras.layers.Dense(1, "sigmoid")(x)), looking


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=4000, help="number of training sentences")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--png", type=Path, help="image file to write")
    arguments = parser.parse_args(argv)
    keras.utils.set_random_seed(0)

    num_train, num_held_out = arguments.sentences, 2000
    sentences, verdicts = make_sentences(num_train + num_held_out)
    train, held_out = tf.constant(sentences[:num_train]), tf.constant(sentences[num_train:])
    to_ids = keras.layers.TextVectorization()
    to_ids.adapt(train)

    accuracies = {}
    for name in ("bag of words", "with attention"):
        model, looking = make_classifier(to_ids, name == "with attention")
        model.compile(keras.optimizers.Adam(0.003), "binary_crossentropy", metrics=["accuracy"])
        model.fit(train, verdicts[:num_train], epochs=arguments.epochs, verbose=0)
        _, accuracies[name] = model.evaluate(held_out, verdicts[num_train:], verbose=0)
        print(f"{name:<15} {accuracies[name]:6.1%} of {num_held_out:,} held-out sentences")

    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "classifier.keras")
        again = keras.saving.load_model(Path(folder) / "classifier.keras")
    answers = [m.predict(held_out, verbose=0) for m in (model, again)]
    difference = np.abs(answers[0] - answers[1]).max()
    print(f"saved as .keras and reloaded: answers differ by {difference:.1g} at most")

    sentence = min((s for s in sentences[num_train:] if " not " in s), key=len)
    asked = tf.constant([sentence])
    weights = looking.predict(asked, verbose=0)[0]  # (H, T, T)
    words = sentence.split()
    print(f"\n{sentence}: {model.predict(asked, verbose=0).item():.1%} good")
    for head, mean in enumerate(weights.mean(axis=1)):  # mean over all queries
        seen = sorted(zip(mean, words, strict=True), reverse=True)[:3]
        print(f"head {head} attends to " + ", ".join(f"{w} {share:.0%}" for share, w in seen))
    if arguments.png:
        from keras_attn.plots import plot_attention

        plot_attention(weights, words, words).savefig(arguments.png, dpi=120)
    return accuracies


if __name__ == "__main__":
    main()
