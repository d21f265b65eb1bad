"""Loading of corpora by name or path: read, clean, and split without leakage."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from keras_attn.languages import code_of
from keras_attn.translation.config import AND, Config
from keras_attn.translation.corpus import cleaning, sources, splits
from keras_attn.translation.corpus.cleaning import Pair
from keras_attn.translation.corpus.held_out import HeldOut, leave_out
from keras_attn.translation.corpus.slices import Part, Parts, number_of_parts
from keras_attn.translation.corpus.sources import CREDITS, TFDS, Raw, TranslationSet
from keras_attn.translation.corpus.splits import Example

# Default maximum length of a side, in characters. Longer lines are paragraphs; the models are
# trained on sentences.
MAX_CHARACTERS = 500

# Corpus that needs no network.
WITHOUT_NETWORK = "everyday"

# Pattern of a name with a weight (`own.tsv=3`).
_WEIGHTED = re.compile(r"(.+)=([-+.\w]+)")

# Limit on the weight of a corpus: each repetition of a pair in an epoch takes memory.
MAX_WEIGHT = 1000

# Maximum number of broken lines listed in a warning; the rest are only counted.
MAX_NAMED_LINES = 10

# With fewer test sentences than this, scores vary by several points by chance alone.
MIN_TELLING_TEST = 100


@dataclass(frozen=True)
class Corpus:
    """Training pairs, and validation and test sentences with references.

    Attributes:
        name: The name given to `load_corpus`.
        source: Language code of the source side.
        target: Language code of the target side.
        train: Training pairs of the first part.
        parts: Functions that read the parts of the training pairs, with weights. There is one
            part, unless large sets of TensorFlow Datasets are among the corpora.
        validation: One sentence of each validation group, with references.
        test: One sentence of each test group, with references.
        test_corpora: Positions in `test` of the sentences of each corpus, by name without folder.
        held_out: Test sets that share no sentence with the three splits.
        counts: Numbers of lines or pairs in the first part: `read`; dropped, by reason (`broken`,
            then `cleaning.REASONS`); `kept`. `kept` is the sum of `train`, `validation`, `test`,
            `withheld` (`splits.Splits`) and, with held-out test sets, `held_out`. `groups`
            is the number of groups of kept pairs.
        credit: Attribution that the licence of the corpus requires, or an empty string.
        warnings: Problems of the corpus that the user should know, one sentence each.
    """

    name: str
    source: str
    target: str
    train: list[Pair]
    parts: Sequence[Callable[[], Part]] = field(repr=False)
    validation: list[Example]
    test: list[Example]
    test_corpora: dict[str, list[int]]
    counts: dict[str, int]
    held_out: list[HeldOut] = field(default_factory=list)
    credit: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def num_train(self) -> int:
        """Approximate number of training pairs in all parts."""
        return len(self.train) * len(self.parts)

    def summary(self) -> str:
        """Counts above zero, held-out test sets, warnings and credit for the terminal."""
        counts = ", ".join(
            f"{name.replace('_', ' ')} {count:,}" for name, count in self.counts.items() if count
        )
        lines = [f"Corpus {self.name}: {counts}"]
        lines += [
            f"held out {one.num_pairs:,} pair{'s' * (one.num_pairs != 1)} for {one.name}"
            for one in self.held_out
        ]
        lines += [f"warning: {line}" for line in self.warnings]
        return "\n".join([*lines, *([self.credit] if self.credit else [])])


def load_corpus(
    name: str,
    source: str = "ja",
    target: str = "en",
    max_characters: int = MAX_CHARACTERS,
    hold_out: str = "",
) -> Corpus:
    """Read, clean and split one or several corpora.

    Sets of TensorFlow Datasets with more than `slices.PART_PAIRS` pairs are read one part at a
    time, so that memory use does not grow with the set. Validation and test sentences then come
    from the first part. Pairs of later parts that share a sentence with them, or with a held-out
    test set, are dropped.

    Args:
        name: One of the following:

            - a built-in corpus: `everyday` or `tatoeba`;
            - the path of a UTF-8 file, plain or gzip, with lines `source TAB target`; further
              columns are ignored;
            - the paths of two files, joined by a comma: sources and translations, line by line;
            - `tfds:` and the name of a translation set of TensorFlow Datasets; the split `train`
              is read;
            - several corpora joined by ` + `, each with an optional weight (default 1):
              `tatoeba + own.tsv=3` repeats each pair of `own.tsv` three times an epoch.
        source: Language code of the source side. Defaults to `"ja"`.
        target: Language code of the target side. Defaults to `"en"`.
        max_characters: Maximum length of a side, in characters, at least 1. Defaults to
            `MAX_CHARACTERS`.
        hold_out: Test sets in the form that `load_test_set` accepts, joined by ` + `. What shares a
            sentence with one of them is left out of all three splits (`held_out.leave_out`).
            Defaults to none.

    Returns:
        The cleaned corpus in three splits.

    Raises:
        ValueError: If the corpus or a held-out test set does not exist or cannot be read, or the
            corpus has too few usable pairs.
        OSError: If a corpus cannot be downloaded.
    """
    name = str(name)
    if max_characters < 1:
        raise ValueError(
            f"`max_characters` must be at least 1. Received: max_characters={max_characters}."
        )
    held_out = _read_held_out(hold_out, source, target)  # before anything large is downloaded
    weights = _weights(name)
    sets = _sets(weights, source, target)
    num_parts = number_of_parts(sum(map(len, sets.values())))
    raws = _read(weights, sets, num_parts, source, target)
    clean = partial(
        cleaning.clean,
        source_language=source,
        target_language=target,
        max_characters=max_characters,
    )
    cleaned = clean([pair for raw in raws.values() for pair in raw.pairs])
    counts = _counts(raws, cleaned)
    script_fault = ""
    if 2 * counts["wrong_script"] > counts["kept"]:  # reads all pairs again
        raw_pairs = [pair for raw in raws.values() for pair in raw.pairs]
        script_fault = cleaning.script_fault(raw_pairs, source, target)
    if not cleaned.pairs:
        listed = ", ".join(f"{reason} {count:,}" for reason, count in counts.items())
        fault = f"No pair of the corpus is left after cleaning. Received: data={name!r} ({listed})."
        raise ValueError(f"{fault} {script_fault}".rstrip())
    # Pairs of a corpus without combinations get an empty string, which connects no pairs.
    combinations = [c for raw in raws.values() for c in raw.combinations or [""] * len(raw.pairs)]
    if held_out:
        cleaned, held_out = leave_out(cleaned, combinations, held_out)
    # The split of a group depends on the Japanese side, so both directions have the same splits.
    anchor = 1 if code_of(target) == "ja" and code_of(source) != "ja" else 0
    divided = splits.split(cleaned.pairs, [combinations[i] for i in cleaned.positions], anchor)
    never_trained_on = [example for one in held_out for example in one.examples]
    never_trained_on += divided.validation + divided.test

    corpus_names = [one for one, raw in raws.items() for _ in raw.pairs]
    name_of = {pair: corpus_names[cleaned.positions[i]] for i, pair in enumerate(cleaned.pairs)}
    weight_of = _weights_of_pairs(raws, weights, cleaned)
    test_names = [name_of[Pair(one.source, one.references[0])] for one in divided.test]
    test_corpora = {
        short: [i for i, test_name in enumerate(test_names) if test_name == one]
        for one, short in zip(weights, _without_folders(weights), strict=True)
    }
    parts = Parts(
        [(pair, name_of[pair], weight_of[pair]) for pair in divided.train],
        weights,
        sets,
        num_parts,
        lambda pairs: splits.without_shared(clean(pairs).pairs, never_trained_on),
    )
    return Corpus(
        name=name,
        source=source,
        target=target,
        train=parts.part(0).pairs,
        parts=[partial(parts.part, i) for i in range(num_parts)],
        validation=divided.validation,
        test=divided.test,
        test_corpora=test_corpora,
        held_out=held_out,
        counts={
            **counts,
            "groups": divided.groups,
            "train": len(divided.train),
            "validation": len(divided.validation),
            "test": len(divided.test),
            "withheld": divided.withheld,
            **({"held_out": counts["kept"] - len(cleaned.pairs)} if held_out else {}),
            **({"parts": num_parts} if num_parts > 1 else {}),
        },
        credit=" ".join(filter(None, (CREDITS.get(one) for one in weights))),
        warnings=(
            *(_broken_lines(one, raw.broken) for one, raw in raws.items() if raw.broken),
            *([f"{name}: {script_fault}"] if script_fault else []),
            *(w for one, rows in test_corpora.items() for w in _rough_scores(one, len(rows))),
        ),
    )


def load_default_corpus(source: str = "ja", target: str = "en", hold_out: str = "") -> Corpus:
    """Corpus of a training without `--data`: `Config.data`, or `everyday` without a network.

    Args:
        source: Language code of the source side. Defaults to `"ja"`.
        target: Language code of the target side. Defaults to `"en"`.
        hold_out: Test sets to leave out; see `load_corpus`. Defaults to none.

    Returns:
        The corpus; its `name` tells which one it is.

    Raises:
        ValueError: If the corpora are not of these languages, or a test set cannot be read.
    """
    try:
        return load_corpus(Config.data, source, target, hold_out=hold_out)
    except OSError as error:
        corpus = load_corpus(WITHOUT_NETWORK, source, target, hold_out=hold_out)
        sentence = (
            f"the real sentences of `tatoeba` cannot be had, so the training is on "
            f"`{WITHOUT_NETWORK}` alone. {error}"
        )
        return replace(corpus, warnings=(sentence, *corpus.warnings))


def load_test_set(name: str, source: str = "ja", target: str = "en") -> list[Example]:
    """All pairs of a corpus without cleaning: one example with one reference for each line.

    A sentence that the corpus holds twice is an example twice, as in the published scores of public
    test sets.

    Args:
        name: One or several corpora, in the form that `load_corpus` accepts.
        source: Language code of the source side. Defaults to `"ja"`.
        target: Language code of the target side. Defaults to `"en"`.

    Raises:
        ValueError: If the corpus does not exist or holds no pair.
        OSError: If a corpus cannot be downloaded.
    """
    names = _weights(name)
    raws = _read(names, _sets(names, source, target), 1, source, target).values()
    pairs = [pair for raw in raws for pair in raw.pairs if all(side.strip() for side in pair)]
    if not pairs:
        raise ValueError(f"A test set must hold sentences. Received: data={name!r}.")
    return [Example(pair.source, (pair.target,)) for pair in pairs]


def _read_held_out(hold_out: str, source: str, target: str) -> list[HeldOut]:
    names = [hold_out] if _is_file(hold_out) else hold_out.split(AND)
    names = list(filter(None, dict.fromkeys(names)))
    found = []
    for name, short in zip(names, _without_folders(names), strict=True):
        try:
            examples = load_test_set(name, source, target)
        except ValueError as error:
            raise ValueError(f"`hold_out` must name test sets that can be read. {error}") from error
        wrong = sum(
            cleaning.has_wrong_script(example.source, source)
            or cleaning.has_wrong_script(example.references[0], target)
            for example in examples
        )
        if wrong > len(examples) / 2:
            raise ValueError(
                f"`hold_out` must hold sentences in `{source}` with translations in `{target}`, as "
                f"the training. Received: hold_out={name!r}, in which {wrong:,} of "
                f"{len(examples):,} lines are in other scripts. Exchange the columns or the files."
            )
        found.append(HeldOut(short, examples))
    return found


def _without_folders(names: Iterable[str]) -> list[str]:
    """Names of corpora without the folders of files, unless two names would be equal."""
    names = list(names)
    short = [
        name if name.startswith(TFDS) else ",".join(Path(side).name for side in name.split(","))
        for name in names
    ]
    return short if len(set(short)) == len(names) else names


def _weights(name: str) -> dict[str, float]:
    """Weights of the corpora in `name`, by corpus."""
    weights: dict[str, float] = {}
    for one in [name] if _is_file(name) else name.split(AND):
        weight = 1.0
        if (match := _WEIGHTED.fullmatch(one)) and not _is_file(one):
            one, number = match.groups()
            try:
                weight = float(number)
            except ValueError:
                weight = math.nan
            if not 0 < weight <= MAX_WEIGHT:
                raise ValueError(
                    f"The weight of a corpus must be a number above 0, at most {MAX_WEIGHT:,}. "
                    f"Received: {number!r} in data={name!r}."
                )
        if one in weights:
            raise ValueError(f"A corpus must be named once. Received: {one!r} twice in {name!r}.")
        weights[one] = weight
    return weights


def _sets(names: Iterable[str], source: str, target: str) -> dict[str, TranslationSet]:
    return {
        name: TranslationSet(name.removeprefix(TFDS), source, target)
        for name in names
        if name.startswith(TFDS)
    }


def _read(
    names: Iterable[str],
    sets: dict[str, TranslationSet],
    num_parts: int,
    source: str,
    target: str,
) -> dict[str, Raw]:
    """First slice of each set of TensorFlow Datasets, and all pairs of each other corpus."""
    return {
        name: Raw(sets[name].read(0, num_parts))
        if name in sets
        else sources.read(name, source, target)
        for name in names
    }


def _weights_of_pairs(
    raws: Mapping[str, Raw], weights: Mapping[str, float], cleaned: cleaning.Cleaned
) -> dict[Pair, float]:
    """Weight of each pair; a pair of several corpora has the largest of its weights."""
    by_position = [
        weights[name] * weight
        for name, raw in raws.items()
        for weight in raw.weights or [1.0] * len(raw.pairs)
    ]
    found = dict(zip(cleaned.pairs, (by_position[i] for i in cleaned.positions), strict=True))
    for position, pair in cleaned.duplicates.items():
        if pair in found:
            found[pair] = max(found[pair], by_position[position])
    return found


def _is_file(name: str) -> bool:
    return Path(name).expanduser().exists()


def _counts(raws: dict[str, Raw], cleaned: cleaning.Cleaned) -> dict[str, int]:
    broken = sum(len(raw.broken) for raw in raws.values())
    return {
        "read": broken + sum(len(raw.pairs) for raw in raws.values()),
        "broken": broken,
        **cleaned.dropped,
        "kept": len(cleaned.pairs),
    }


def _broken_lines(name: str, broken: Sequence[int]) -> str:
    named = ", ".join(map(str, broken[:MAX_NAMED_LINES]))
    more = ", ..." if len(broken) > MAX_NAMED_LINES else ""
    lines = "1 line" if len(broken) == 1 else f"{len(broken):,} lines"
    return f"{name}: {lines} without TAB or valid UTF-8 left out: {named}{more}."


def _rough_scores(name: str, num_test: int) -> list[str]:
    if num_test >= MIN_TELLING_TEST:
        return []
    sentences = "1 sentence" if num_test == 1 else f"{num_test} sentences"
    return [f"{name}: the test split has only {sentences}; scores on it are unreliable."]
