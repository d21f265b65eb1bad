"""Acceptable answers to what people type: `python benchmarks/in_the_wild.py MODEL`.

The sentences of `data/in_the_wild.tsv` were written without knowledge of corpora and model. The
development half may be read to improve a model; the release half is measured before a release.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from machine import describe_machine

from keras_attn.translation import Translator
from keras_attn.translation.corpus.splits import in_the_wild
from keras_attn.translation.evaluation import acceptability, metrics
from keras_attn.translation.evaluation.acceptability import RELEASE, Row
from keras_attn.translation.export.translator import Hypothesis


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="folder of an exported translator")
    parser.add_argument("--release", action="store_true", help="the release half")
    parser.add_argument("--show", action="store_true", help="print wrong answers (development)")
    parser.add_argument("--examples", action="store_true", help="print the table of the README")
    parser.add_argument("--file", type=Path, help="all rows of another file of the same columns")
    given = parser.parse_args()
    if given.release and (given.show or given.file):
        parser.error("--release excludes --show and --file: its sentences must stay unseen.")
    translator = Translator.load(given.model)
    direction = f"{translator.config.source}-{translator.config.target}"
    rows = acceptability.read(given.file or in_the_wild())
    half = RELEASE if given.release else acceptability.DEVELOPMENT
    rows = [x for x in rows if x.direction == direction and (given.file or x.split == half)]
    answers = [found[0] for found in translator.nbest([row.source for row in rows])]
    print(describe_machine(("tensorflow",)))
    print("\n".join(table(answers, rows, show=given.show)))
    if given.examples:
        print("\n".join(examples(answers, rows)))
    return 0


def share_interval(right: int, number: int) -> tuple[float, float]:
    """95% confidence interval of a share, from 0 to 1.

    Wilson, "Probable inference, the law of succession, and statistical inference" (1927).
    """
    z, share = 1.96, right / number
    center = share + z * z / (2 * number)
    half = z * math.sqrt(share * (1 - share) / number + (z / (2 * number)) ** 2)
    scale = 1 + z * z / number
    return max(0.0, (center - half) / scale), min(1.0, (center + half) / scale)


def area_under_curve(wrong: Sequence[float], right: Sequence[float]) -> float:
    """Probability that a wrong answer has a lower score than a right one; 0.5 is chance."""
    pairs = [(low < high) + (low == high) / 2 for low in wrong for high in right]
    return sum(pairs) / len(pairs) if pairs else math.nan


def table(answers: Sequence[Hypothesis], rows: Sequence[Row], show: bool = False) -> list[str]:
    """Lines of a table: right answers by situation and in all, chrF2, and uncertainty.

    "Checks" are answers that pass their checks. Acceptable ones are near a reference, too. `show`
    appends those that are not acceptable, but none to a sentence of the release half.
    """
    both = list(zip(answers, rows, strict=True))
    checked = [acceptability.passes(one.translation, row.checks, row.source) for one, row in both]
    passed = [acceptability.is_acceptable(one.translation, row) for one, row in both]
    names = list(dict.fromkeys(row.situation for row in rows))
    width = max(map(len, names))
    lines = [f"{'situation':{width}}  checks  acceptable      95%       chrF2"]
    for name in [*names, "all"]:
        at = [i for i, row in enumerate(rows) if name in (row.situation, "all")]
        right = sum(passed[i] for i in at)
        low, high = share_interval(right, len(at))
        scored = [(answers[i].translation, rows[i].references) for i in at if rows[i].references]
        chrf = f"{metrics.chrf(*zip(*scored, strict=True)):5.1f}" if scored else "    -"
        counts = f"{sum(checked[i] for i in at):6}  {right:3} of {len(at):3}"
        lines.append(f"{name:{width}}  {counts}  {low:5.1%} to {high:5.1%}  {chrf}")
    lines += _uncertainty(answers, passed)
    if show:
        for (answer, row), is_right in zip(both, passed, strict=True):
            if not is_right and row.split != RELEASE:
                lines.append(f"{row.situation}: {row.source}\n  -> {answer.translation}")
    return lines


def examples(answers: Sequence[Hypothesis], rows: Sequence[Row]) -> list[str]:
    """Rows of a Markdown table: the first sentence of each situation, good or wrong."""
    passed = [
        acceptability.is_acceptable(answer.translation, row)
        for answer, row in zip(answers, rows, strict=True)
    ]
    first = {row.situation: i for i, row in reversed(list(enumerate(rows)))}
    return [
        f"| {rows[i].source} | {answers[i].translation} | {'good' if passed[i] else 'wrong'} |"
        for i in sorted(first.values())
    ]


def _uncertainty(answers: Sequence[Hypothesis], passed: Sequence[bool]) -> list[str]:
    """Lines on the uncertainty of a model as a sign of wrong answers."""
    groups = [
        [one for one, is_right in zip(answers, passed, strict=True) if is_right == wanted]
        for wanted in (False, True)
    ]
    area = area_under_curve(*([one.score for one in group] for group in groups))
    marked = [
        f"{sum(one.is_uncertain for one in group)} of {len(group)} {name}"
        for group, name in zip(groups, ("wrong", "acceptable"), strict=True)
    ]
    return [
        f"Area under the curve, score as sign of a wrong answer: {area:.3f}",
        f"Marked by is_uncertain: {' and '.join(marked)} answers",
    ]


if __name__ == "__main__":
    sys.exit(main())
