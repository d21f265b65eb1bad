"""Loading of corpora by name or path: read, clean, leave out and split, weigh."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from keras_attn.languages import code_of
from keras_attn.translation.config import Config
from keras_attn.translation.corpus import cleaning, splits
from keras_attn.translation.corpus.cleaning import Cleaned
from keras_attn.translation.corpus.pairs import Entry, Pair, WeightedPairs
from keras_attn.translation.corpus.sources import (
    Raw,
    Sources,
    rights,
    split_names,
    without_folders,
)
from keras_attn.translation.corpus.splits import Example, HeldOut, Splits

# Default maximum length of a side, in characters. Longer lines are paragraphs; the models are
# trained on sentences.
MAX_CHARACTERS = 500

# Corpus that needs no network.
WITHOUT_NETWORK = "everyday"

# Maximum number of broken lines listed in a warning; the rest are only counted.
MAX_NAMED_LINES = 10

# With fewer test sentences than this, scores vary by several points by chance alone.
MIN_TELLING_TEST = 100

# Up to this number of pairs, a warning tells that more than one in 20 are held out.
FEW_PAIRS = 1000


@dataclass(frozen=True)
class Corpus:
    """Training pairs, and validation and test sentences with references."""

    name: str  # as given to `load_corpus`
    train: list[Pair]  # of the first part
    # One part, or several that are read when asked for, with published and other large sets.
    parts: Sequence[WeightedPairs] = field(repr=False)
    validation: list[Example]  # one sentence of each group
    test: list[Example]
    test_corpora: dict[str, list[int]]  # positions in `test` of each corpus, without folder
    # Lines or pairs of the first part: `read`; dropped, by reason (`broken`, `cleaning.REASONS`);
    # `kept`, the sum of the splits, `withheld` (`Splits`) and `held_out`; `groups` of kept pairs.
    counts: dict[str, int]
    held_out: list[HeldOut]
    credit: str  # attribution that the licence requires, or empty
    warnings: tuple[str, ...]  # one sentence each

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
    validation: str = "split",
) -> Corpus:
    """Read, clean, split and weigh one or several corpora.

    Args:
        name: A built-in corpus (`everyday`, `tatoeba`, `jmdict`), a published corpus (`jesc`,
            `kftt`, `opus:` and a name in OPUS), the path of a file with lines `source TAB target`,
            the paths of two files joined by a comma, or `tfds:` and the name of a translation set
            of TensorFlow Datasets; or several of these, joined by ` + `, each with an optional
            weight: `tatoeba + own.tsv=3` repeats each pair of `own.tsv` three times an epoch.
            `jmdict` next to other corpora is for training only.
        source: Language code of the source side.
        target: Language code of the target side.
        max_characters: Maximum length of a side, in characters, at least 1.
        hold_out: Test sets, joined by ` + `. What shares a sentence with one of them is left out
            of all three splits (`splits.leave_out`).
        validation: `"split"`, or `"none"`: all pairs are trained on, and those of validation and
            test are trained on too.

    Pairs with a Japanese sentence of `in_the_wild.tsv` are not in training.
    """
    if max_characters < 1:
        raise ValueError(
            f"`max_characters` must be at least 1. Received: max_characters={max_characters}."
        )
    held_out = _read_held_out(hold_out, source, target)  # before anything large is downloaded
    sources = Sources(name, source, target)
    clean = partial(
        cleaning.clean,
        source_language=source,
        target_language=target,
        max_characters=max_characters,
    )
    raw = sources.read()
    cleaned = clean(raw.entries)
    counts, warnings = _check(raw, cleaned, name, source, target)
    entries = [one for one in cleaned.entries if one.corpus not in sources.training_only]
    training_only = [one for one in cleaned.entries if one.corpus in sources.training_only]
    if held_out:
        entries, held_out = splits.leave_out(entries, held_out)
    # The split of a group depends on the Japanese side, so both directions have the same splits.
    anchor = 1 if code_of(target) == "ja" and code_of(source) != "ja" else 0
    unseen = splits.unseen(source, target)
    trains_on_all = validation == "none"
    divided = splits.split(entries, anchor, unseen, trains_on_all)
    never_trained_on = [example for one in held_out for example in one.examples] + unseen
    if not trains_on_all:
        never_trained_on += divided.validation + divided.test
    divided = _with_training_only(divided, training_only, never_trained_on)
    clean_part = partial(_clean_part, sources, clean, never_trained_on)
    counts, more = _count(counts, divided, held_out, trains_on_all, name)
    return _weigh(name, sources, clean_part, divided, held_out, counts, [*warnings, *more])


def _check(
    raw: Raw, cleaned: Cleaned, name: str, source: str, target: str
) -> tuple[dict[str, int], list[str]]:
    """Counts of what was read and kept, and warnings; refuses a corpus of which nothing is left."""
    num_broken = sum(map(len, raw.broken.values()))
    num_kept = len(cleaned.entries)
    counts = {
        "read": num_broken + len(raw.entries),
        "broken": num_broken,
        **cleaned.dropped,
        "kept": num_kept,
    }
    wrong_script = ""
    if 2 * counts["wrong_script"] > num_kept:  # reads all pairs again
        raw_pairs = [entry.pair for entry in raw.entries]
        wrong_script = cleaning.wrong_script_message(raw_pairs, source, target)
    if not num_kept:
        listed = ", ".join(f"{reason} {count:,}" for reason, count in counts.items())
        fault = f"No pair of the corpus is left after cleaning. Received: data={name!r} ({listed})."
        raise ValueError(f"{fault} {wrong_script}".rstrip())
    warnings = [_broken_lines(one, numbers) for one, numbers in raw.broken.items() if numbers]
    warnings += raw.remarks
    return counts, [*warnings, *([f"{name}: {wrong_script}"] if wrong_script else [])]


def _with_training_only(
    divided: Splits, entries: list[Entry], never_trained_on: list[Example]
) -> Splits:
    """Splits with more training entries: those that share no sentence with an example.

    The others are withheld. Validation and test are as without these entries.
    """
    kept = splits.without_shared(entries, never_trained_on)
    return divided._replace(
        train=divided.train + kept, withheld=divided.withheld + len(entries) - len(kept)
    )


def _clean_part(
    sources: Sources,
    clean: Callable[[list[Entry]], Cleaned],
    never_trained_on: list[Example],
    part: int,
) -> list[Entry]:
    """Entries of a part that is read during training."""
    return splits.without_shared(clean(sources.read(part).entries).entries, never_trained_on)


def _count(
    counts: dict[str, int], divided: Splits, held_out: list[HeldOut], trains_on_all: bool, name: str
) -> tuple[dict[str, int], list[str]]:
    """Counts with those of the splits, and warnings of sentences that are not trained on."""
    apart = {"validation": len(divided.validation), "test": len(divided.test)}
    if trains_on_all:
        apart = {"validation": 0, "test": 0, "scored": sum(apart.values())}
        warning = (
            "the scored sentences are trained on: scores do not tell how new text is translated"
        )
    counts = {
        **counts,
        "groups": divided.groups,
        "train": len(divided.train),
        **apart,
        "withheld": divided.withheld,
    }
    num_apart = counts["validation"] + counts["test"] + divided.withheld
    if held_out:
        counts["held_out"] = counts["kept"] - len(divided.train) - num_apart
    if trains_on_all:
        return counts, [f"{name}: {warning}."]
    if counts["kept"] > FEW_PAIRS or 20 * num_apart <= counts["kept"]:
        return counts, []
    pairs = "1 pair is" if len(divided.train) == 1 else f"{len(divided.train)} pairs are"
    return counts, [
        f"{name}: {pairs} trained on, {num_apart} are held out for validation and test. "
        "`--validation none` trains on all."
    ]


def _weigh(
    name: str,
    sources: Sources,
    read_later: Callable[[int], list[Entry]],
    divided: Splits,
    held_out: list[HeldOut],
    counts: dict[str, int],
    warnings: list[str],
) -> Corpus:
    """Corpus of the splits, with the training pairs weighted and in parts."""
    in_memory: list[list[Entry]] = [[] for _ in range(sources.num_parts)]
    for i, entry in enumerate(divided.train):  # small corpora are dealt out to all parts
        in_memory[0 if entry.corpus in sources.sets else i % len(in_memory)].append(entry)
    parts = _Parts(in_memory, read_later)
    test_corpora = {
        short: [i for i, corpus in enumerate(divided.test_corpora) if corpus == one]
        for one, short in zip(sources.weights, without_folders(sources.weights), strict=True)
        if one not in sources.training_only
    }
    if len(parts) > 1:
        counts["parts"] = len(parts)
    return Corpus(
        name=name,
        train=parts[0].pairs,
        parts=parts,
        validation=divided.validation,
        test=divided.test,
        test_corpora=test_corpora,
        counts=counts,
        held_out=held_out,
        credit=" ".join(filter(None, (rights(one)[1] for one in sources.weights))),
        warnings=(*warnings, *(_rough_scores(test_corpora) if counts["test"] else ())),
    )


class _Parts(Sequence[WeightedPairs]):
    """Training pairs in parts. All but the first may lack pairs, which are read when asked for."""

    def __init__(self, in_memory: list[list[Entry]], read_later: Callable[[int], list[Entry]]):
        self._in_memory = in_memory
        self._read_later = read_later

    def __len__(self) -> int:
        return len(self._in_memory)

    def __getitem__(self, part: Any) -> Any:
        entries = self._in_memory[part]
        return WeightedPairs.of(entries + self._read_later(part) if part else entries)


def load_default_corpus(
    source: str = "ja", target: str = "en", hold_out: str = "", validation: str = "split"
) -> Corpus:
    """Corpus of a training without `--data`: `Config.data`, or `everyday` without a network.

    The `name` of the corpus tells which one it is.
    """
    read = partial(
        load_corpus, source=source, target=target, hold_out=hold_out, validation=validation
    )
    try:
        return read(Config.data)
    except OSError as error:
        corpus = read(WITHOUT_NETWORK)
        sentence = (
            f"the real sentences of `tatoeba` cannot be had, so the training is on "
            f"`{WITHOUT_NETWORK}` alone. {error}"
        )
        return replace(corpus, warnings=(sentence, *corpus.warnings))


def load_test_set(name: str, source: str = "ja", target: str = "en") -> list[Example]:
    """All pairs of a corpus (see `load_corpus`) without cleaning, one example for each line.

    A sentence that the corpus holds twice is an example twice, as in the published scores of public
    test sets.
    """
    sources = Sources(name, source, target)
    entries = [entry for part in range(sources.num_parts) for entry in sources.read(part).entries]
    pairs = [entry.pair for entry in entries if all(side.strip() for side in entry.pair)]
    if not pairs:
        raise ValueError(f"A test set must hold sentences. Received: data={name!r}.")
    return [Example(pair.source, (pair.target,)) for pair in pairs]


def _read_held_out(hold_out: str, source: str, target: str) -> list[HeldOut]:
    names = list(filter(None, dict.fromkeys(split_names(hold_out))))
    found = []
    for name, short in zip(names, without_folders(names), strict=True):
        try:
            examples = load_test_set(name, source, target)
        except ValueError as error:
            raise ValueError(f"`hold_out` must name test sets that can be read. {error}") from error
        wrong = sum(
            cleaning.has_wrong_side(Pair(example.source, example.references[0]), source, target)
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


def _broken_lines(name: str, broken: Sequence[int]) -> str:
    named = ", ".join(map(str, broken[:MAX_NAMED_LINES]))
    more = ", ..." if len(broken) > MAX_NAMED_LINES else ""
    lines = "1 line" if len(broken) == 1 else f"{len(broken):,} lines"
    return f"{name}: {lines} without TAB or valid UTF-8 left out: {named}{more}."


def _rough_scores(test_corpora: dict[str, list[int]]) -> Iterator[str]:
    for name, rows in test_corpora.items():
        if len(rows) < MIN_TELLING_TEST:
            sentences = "1 sentence" if len(rows) == 1 else f"{len(rows)} sentences"
            yield f"{name}: the test split has only {sentences}; scores on it are unreliable."
