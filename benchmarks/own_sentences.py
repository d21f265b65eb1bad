"""BLEU by number of own pairs: `python benchmarks/own_sentences.py MODEL --minutes 2`.

Your own pairs are random training pairs of `everyday`, whose sentences are generated; MODEL
is a translator trained on `tatoeba` alone. Each number of pairs is trained on in three ways: by
themselves, starting from MODEL, and starting from MODEL with each pair three times with
`tatoeba`. Prints BLEU on the test split of `everyday` and on that of `tatoeba`, which shows what is
forgotten.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random

from machine import describe_machine
from turns import Table

from keras_attn.translation import Translator
from keras_attn.translation.corpus.load import load_corpus
from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.evaluation.metrics import score

TRAIN = Path(__file__).resolve().parent.parent / "train.py"
NUMBERS = (500, 2_000, 5_000, 20_000)
SEED = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="folder of a translator trained on tatoeba")
    parser.add_argument("--minutes", type=float, default=2, help="of each training (default: 2)")
    parser.add_argument("--numbers", type=int, nargs="+", default=NUMBERS, help="of own pairs")
    arguments = parser.parse_args()
    print(describe_machine(("tensorflow",)))
    config = Translator.load(arguments.model).config
    own, general = (
        load_corpus(name, config.source, config.target) for name in ("everyday", "tatoeba")
    )
    tests = {"own": own.test, "tatoeba": general.test}
    table = Table({"pairs": ">7,", "  way": "<24", **dict.fromkeys(tests, ">14")})
    table.add(0, "  the model as it is", *scores(arguments.model, tests))
    start = ["--start-from", str(arguments.model)]
    common = ["--source", config.source, "--target", config.target]
    common += ["--minutes", str(arguments.minutes), "--hold-out"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        held_out, mine = folder / "test.tsv", folder / "mine.tsv"
        write(held_out, [(one.source, one.references[0]) for one in own.test])
        pairs = Random(SEED).sample(own.train, max(arguments.numbers))
        for number in arguments.numbers:
            write(mine, pairs[:number])
            ways = {
                "alone": ["--data", str(mine)],
                "start from": ["--data", str(mine), *start],
                "start from, + tatoeba": ["--data", f"tatoeba + {mine}=3", *start],
            }
            for way, options in ways.items():
                out = folder / f"{number}_{way}"
                command = [sys.executable, str(TRAIN), *options, *common, str(held_out)]
                subprocess.run([*command, "--out", str(out)], check=True, capture_output=True)
                table.add(number, f"  {way}", *scores(out, tests))


def write(path: Path, pairs: Sequence[tuple[str, str]]) -> None:
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), "utf-8")


def scores(model: Path, tests: dict[str, list[Example]]) -> list[str]:
    """BLEU of the model on each test split."""
    translator = Translator.load(model)
    cells = []
    for examples in tests.values():
        translations = translator([example.source for example in examples])
        references = [example.references for example in examples]
        found = score(translations, references, translator.config.target)
        cells.append(f"{found.bleu:.1f} ± {found.bleu_interval:.1f}")
    return cells


if __name__ == "__main__":
    main()
