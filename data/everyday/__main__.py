"""Examples of patterns: `python -m keras_attn_data.everyday [FILE or PATTERN ...]`."""

import random
import sys
from collections import defaultdict

from keras_attn_data.everyday import grammar


def main(names: list[str]) -> None:
    """Print the number of pairs of each pattern, some of them, and Japanese with two English."""
    english: dict[str, set[str]] = defaultdict(set)
    for name, (file, rows) in grammar.patterns().items():
        if names and name not in names and file not in names:
            continue
        found = list(grammar.sentences(name, (file, rows)))
        groups = len({sentence.combination for sentence in found})
        print(f"\n{file}: {name}, {len(rows)} rows, {len(found)} pairs, {groups} combinations")
        for ja, en, *_ in random.Random(name).sample(found, min(8, len(found))):
            print(f"  {ja}  |  {en}")
        for ja, en, *_ in found:
            english[grammar.spoken(ja)].add(en)
    for ja, given in english.items():
        if len(set(map(grammar.spoken, given))) > 1:
            print("two translations:", ja, sorted(given))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except ValueError as error:
        sys.exit(str(error))
