"""Acceptable answers to what people type: `python benchmarks/in_the_wild.py MODEL`.

The sentences of `data/in_the_wild.tsv` were written without knowledge of corpora and model. The
development half may be read to improve a model; the release half is measured before a release.
"""

import argparse
import sys
from pathlib import Path

from machine import describe_machine

from keras_attn.translation import Translator
from keras_attn.translation.corpus.splits import in_the_wild
from keras_attn.translation.evaluation import acceptability


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="folder of an exported translator")
    parser.add_argument("--release", action="store_true", help="the release half")
    parser.add_argument("--show", action="store_true", help="print wrong answers (development)")
    parser.add_argument("--examples", action="store_true", help="print a table of eight answers")
    parser.add_argument("--file", type=Path, help="all rows of another file of the same columns")
    given = parser.parse_args()
    if given.release and (given.show or given.file):
        parser.error("--release excludes --show and --file: its sentences must stay unseen.")
    translator = Translator.load(given.model)
    direction = f"{translator.config.source}-{translator.config.target}"
    rows = acceptability.read(given.file or in_the_wild())
    half = acceptability.RELEASE if given.release else acceptability.DEVELOPMENT
    rows = [x for x in rows if x.direction == direction and (given.file or x.split == half)]
    answers = [found[0] for found in translator.nbest([row.source for row in rows])]
    print(describe_machine(("tensorflow",)))
    print("\n".join(acceptability.table(answers, rows, show=given.show)))
    if given.examples:
        print("\n".join(acceptability.examples(answers, rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
