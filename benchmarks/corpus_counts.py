"""Counts of a corpus: `python benchmarks/corpus_counts.py tatoeba`.

Prints the counts and the time of cleaning and splitting. Checks that no normalised sentence of
validation or test occurs in another split.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable

from keras_attn.translation.corpus.load import Corpus, load_corpus
from keras_attn.translation.corpus.splits import normalise


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", default="tatoeba", help="everyday, tatoeba or a file")
    parser.add_argument("--source", default="ja")
    parser.add_argument("--target", default="en")
    arguments = parser.parse_args()
    start = time.monotonic()
    try:
        found = load_corpus(arguments.data, arguments.source, arguments.target)
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{found.name}, {found.source} to {found.target}: {time.monotonic() - start:.1f} s")
    for name, count in found.counts.items():
        print(f"{name:>14} {count:>9,}")
    for kind in ("validation", "test"):
        examples = getattr(found, kind)
        print(f"{kind}: {sum(len(e.references) for e in examples):,} references")
    for line in (*found.warnings, found.credit):
        if line:
            print(line)
    shared = count_shared(found)
    print(f"sentences that two splits share: {shared}")
    return 1 if shared else 0


def count_shared(found: Corpus) -> int:
    """Normalised sources or targets that occur in more than one split."""
    held_out = (found.validation, found.test)
    sources = [
        {normalise(pair.source) for pair in found.train},
        *({normalise(example.source) for example in part} for part in held_out),
    ]
    targets = [
        {normalise(pair.target) for pair in found.train},
        *(
            {normalise(text) for example in part for text in example.references}
            for part in held_out
        ),
    ]
    return _overlap(sources) + _overlap(targets)


def _overlap(sets: Iterable[set[str]]) -> int:
    parts = list(sets)
    return sum(map(len, parts)) - len(set().union(*parts))


if __name__ == "__main__":
    sys.exit(main())
