"""BLEU by search settings: `python benchmarks/search_settings.py MODEL --try "..."`.

Prints BLEU of an exported model on the validation split of `tatoeba`, the length of translations
relative to the references, and the number of translations, of one text and of two texts in one,
that repeat themselves. A setting is a field of `Config` that only the search uses:
`--try "" "length_penalty=0.6 beam_size=8"`. The empty string means the settings of the model.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys
from pathlib import Path

import tensorflow as tf
from decode import load_model, load_tokenizers
from learning import settings_of
from machine import describe_machine

from keras_attn import Transformer
from keras_attn.translation import versions
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.load import load_corpus
from keras_attn.translation.decoding.beams import NEVER
from keras_attn.translation.decoding.search import best_translations
from keras_attn.translation.evaluation.metrics import bleu
from keras_attn.translation.special_ids import EOS_ID, PAD_ID
from keras_attn.translation.tokenization.tokenizer import Tokenizers
from keras_attn.translation.versions import CONFIG, EXTRA

BATCH_SIZE = 64
_LOOP = re.compile(r"(.{12,}?)\1|(.{1,11}?)\2{3,}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "model", type=Path, help="folder of an exported version, or of all versions"
    )
    parser.add_argument("--data", default="tatoeba")
    parser.add_argument("--try", dest="tries", nargs="+", default=[""], help="settings of a search")
    arguments = parser.parse_args()
    print(describe_machine(("tensorflow",)))
    model, tokenizers, config = load(arguments.model)
    examples = load_corpus(arguments.data, config.source, config.target).validation
    references = [example.references for example in examples]
    sources = [example.source for example in examples]
    longer = ["".join(pair) for pair in zip(sources[::2], sources[1::2], strict=False)]
    print(f"{len(sources):,} texts, {len(longer):,} of two")
    print(f"\n{'BLEU':>6}{'length':>8}{'loops':>7}{'of two':>8}  settings", flush=True)
    for settings in arguments.tries:
        tried = dataclasses.replace(config, **settings_of(settings))
        tried.validate()
        found = translate(sources, model, tokenizers, tried)
        length = sum(map(len, found)) / sum(len(texts[0]) for texts in references)
        print(
            f"{bleu(found, references, config.target):>6.2f}{length:>8.0%}"
            f"{sum(map(repeats_itself, found)):>7}"
            f"{sum(map(repeats_itself, translate(longer, model, tokenizers, tried))):>8}"
            f"  {settings}",
            flush=True,
        )
    return 0


def repeats_itself(text: str) -> bool:
    """Whether a text has a phrase twice in a row, or a few characters four times.

    >>> [repeats_itself(text) for text in ("He said no, he said no, ", "1000000", "no, no")]
    [True, True, False]
    """
    return _LOOP.search(text.lower() + " ") is not None


def load(path: Path) -> tuple[Transformer, Tokenizers, Config]:
    """Model, tokenizers and configuration of an exported version, or the newest in a folder."""
    version = versions.newest_version(path)
    config = Config.load(version / EXTRA / CONFIG)
    model = load_model(version)
    return model, load_tokenizers(version), config


def translate(
    texts: list[str], model: Transformer, tokenizers: Tokenizers, config: Config
) -> list[str]:
    """Translate texts like the exported model."""
    found = search(texts, model, tokenizers, config, num_best=1)
    return tokenizers.target.decode([tokens for ((tokens, _),) in found])


def search(
    texts: list[str],
    model: Transformer,
    tokenizers: Tokenizers,
    config: Config,
    num_best: int,
) -> list[list[tuple[list[int], float]]]:
    """Hypotheses of each text with scores, best first."""
    ids = [tf.TensorSpec((None, None), tf.int32)]
    best = tf.function(lambda x: best_translations(model, x, config, num_best), input_signature=ids)
    pieces = [[*p[: config.max_length - 1], EOS_ID] for p in tokenizers.source.encode(texts)]
    order = sorted(range(len(texts)), key=lambda i: len(pieces[i]))
    found: list[list[tuple[list[int], float]]] = [[] for _ in texts]
    for begin in range(0, len(order), BATCH_SIZE):
        rows = order[begin : begin + BATCH_SIZE]
        source = tf.ragged.constant([pieces[i] for i in rows], tf.int32).to_tensor(PAD_ID)
        tokens, scores = (part.numpy().tolist() for part in best(source))
        for i, *hypotheses in zip(rows, tokens, scores, strict=True):
            found[i] = [
                ([token for token in line if token != PAD_ID], score)
                for line, score in zip(*hypotheses, strict=True)
                if score > NEVER
            ][:num_best]
    return found


if __name__ == "__main__":
    sys.exit(main())
