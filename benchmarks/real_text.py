"""An exported model on text as people type and paste it: `python benchmarks/real_text.py MODEL`.

Prints the share of acceptable answers to first sentences, the accuracy of numbers and of copied
text on sentences written for it (`tests/data`), and, for test sentences joined to texts of two to
six with and without line breaks, the share of sentences that are translated as alone.
"""

import argparse
import sys
from pathlib import Path
from random import Random

from machine import describe_machine

from keras_attn.translation import Translator
from keras_attn.translation.corpus.load import load_corpus, load_test_set
from keras_attn.translation.evaluation.exactness import exactness
from keras_attn.translation.export.examples import plain

DATA = Path(__file__).parents[1] / "tests" / "data"
NUMBER_OF_TEXTS = 100


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "model", type=Path, help="folder of an exported version, or of all versions"
    )
    translator = Translator.load(parser.parse_args().model)
    print(describe_machine(("tensorflow",)))
    first_sentences(translator)
    for name in ("numerals", "copied"):
        accuracy(translator, f"{name}.tsv", load_test_set(str(DATA / f"{name}.tsv")))
    for corpus in ("everyday", "tatoeba"):
        test = load_corpus(corpus).test
        accuracy(translator, f"{corpus}, test sentences", test)
        joined(translator, corpus, [example.source for example in test])
    return 0


def first_sentences(translator: Translator) -> None:
    """Share of first sentences with an accepted answer, and the other answers."""
    lines = (DATA / "first_sentences.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line]
    wrong = [
        f"  {text} -> {answer}"
        for (text, *accepted), answer in zip(
            rows, translator([row[0] for row in rows]), strict=True
        )
        if plain(answer) not in map(plain, accepted)
    ]
    print(f"first_sentences.tsv: {1 - len(wrong) / len(rows):.1%} of {len(rows)} accepted; others:")
    print("\n".join(wrong))


def accuracy(translator: Translator, name: str, examples: list) -> None:
    sources = [example.source for example in examples]
    found = exactness(sources, translator(sources), [example.references for example in examples])
    print(f"{name}: numbers right in {found.numbers}, text copied in {found.copies}")


def joined(translator: Translator, name: str, sentences: list[str]) -> None:
    """Share of sentences of joined texts that are translated as alone."""
    random = Random(0)
    sentences = [text for text in sentences if text.count("。") == 1 and text.endswith("。")]
    for between, mark in (("", " "), ("\n", "\n"), ("\n\n", "\n\n")):
        texts = [random.sample(sentences, 2 + i % 5) for i in range(NUMBER_OF_TEXTS)]
        answers = translator([between.join(text) for text in texts])
        alone = iter(translator([sentence for text in texts for sentence in text]))
        equal = sum(
            answer == mark.join(next(alone) for _ in text)
            for text, answer in zip(texts, answers, strict=True)
        )
        print(f"{name}, joined by {between!r}: {equal} of {len(texts)} texts as one by one")


if __name__ == "__main__":
    sys.exit(main())
