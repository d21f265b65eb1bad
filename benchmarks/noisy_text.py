"""BLEU on text as people type it: `python benchmarks/noisy_text.py MODEL...`.

Each exported model translates the test split of `tatoeba`: clean, with each kind of noise of
`keras_attn.translation.text.noise`, and joined by twos and threes. Each row prints the share of
the sentences that a kind changes, and BLEU of each model. In a row "apart", joined texts are
translated a sentence at a time, for comparison.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from machine import describe_machine

from keras_attn.translation import Translator
from keras_attn.translation.corpus.load import load_corpus
from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.evaluation.metrics import bleu
from keras_attn.translation.text.noise import add_noise, rates
from keras_attn.translation.text.sentences import joiner

SEED = 0
NUMBERS = (2, 3)  # sentences of a joined text

Translate = Callable[[Sequence[str]], list[str]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "models", type=Path, nargs="+", help="folders of exported versions, or of all versions"
    )
    parser.add_argument("--data", default="tatoeba")
    parser.add_argument("--sentences", type=int, help="number of test sentences (default: all)")
    arguments = parser.parse_args()
    print(describe_machine(("tensorflow",)))
    translators = [Translator.load(path) for path in arguments.models]
    languages = [(t.config.source, t.config.target) for t in translators]
    if len(set(languages)) > 1:
        parser.error(f"All models must have the same languages. Received: {languages}.")
    examples = load_corpus(arguments.data, *languages[0]).test[: arguments.sentences]
    print(f"{arguments.data}, {len(examples):,} sentences\n\n{'changed':>9}  BLEU of each model")
    report(translators, examples, *languages[0])
    return 0


def report(
    translators: Sequence[Translate], examples: Sequence[Example], source: str, target: str
) -> None:
    """Print a row for each kind of text."""

    def show(name: str, changed: float, sources: list[str], expected: Sequence[Example]) -> None:
        references = [example.references for example in expected]
        scores = (bleu(translate(sources), references, target) for translate in translators)
        print(f"{changed:>9.0%}", *(f"{s:6.2f}" for s in scores), f" {name}", flush=True)

    texts = [example.source for example in examples]
    show("clean", 0, texts, examples)
    for name, noisy in noisy_texts(texts, source).items():
        changed = sum(a != b for a, b in zip(texts, noisy, strict=True)) / len(texts)
        show(name, changed, noisy, examples)
    for number in (n for n in NUMBERS if n <= len(examples)):
        longer = joined(examples, number, source, target)
        show(f"joined by {number}", 1, [example.source for example in longer], longer)
        references = [example.references for example in longer]
        scores = []
        for translate in translators:
            alone = translate(texts)
            starts = range(0, number * len(longer), number)
            together = [joiner(target).join(alone[i : i + number]) for i in starts]
            scores.append(bleu(together, references, target))
        print(f"{1:>9.0%}", *(f"{s:6.2f}" for s in scores), f" joined by {number}, apart")


def noisy_texts(texts: Sequence[str], language: str) -> dict[str, list[str]]:
    """Texts with each kind of noise, by name, and with one of any kind."""
    found = {}
    for kind in rates(language):
        random = Random(SEED)
        found[kind.__name__] = [kind(text, random) or text for text in texts]
    random = Random(SEED)
    return {**found, "any kind": [add_noise(text, language, random) for text in texts]}


def joined(examples: Sequence[Example], number: int, source: str, target: str) -> list[Example]:
    """Each `number` examples one after another as one example; the last few are left out."""
    found = []
    for start in range(0, len(examples) - number + 1, number):
        some = examples[start : start + number]
        text = joiner(source).join(example.source for example in some)
        most = max(len(example.references) for example in some)
        # An example with fewer references repeats them.
        references = (
            joiner(target).join(e.references[i % len(e.references)] for e in some)
            for i in range(most)
        )
        found.append(Example(text, tuple(references)))
    return found


if __name__ == "__main__":
    sys.exit(main())
