"""Loading of corpora by name or path: read, clean, leave out and split, weigh."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from keras_attn.languages import code_of
from keras_attn.translation.config import Config
from keras_attn.translation.corpus import cleaning, splits
from keras_attn.translation.corpus.cleaning import Cleaned
from keras_attn.translation.corpus.pairs import Entry, Pair, WeightedPairs
from keras_attn.translation.corpus.sources import Raw, Sources, rights, split_names, without_folders
from keras_attn.translation.corpus.splits import Example, HeldOut, Splits

# Corpora that need no network.
WITHOUT_NETWORK = "everyday=0.4 + situations"

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
        counts = [f"{name.replace('_', ' ')} {n:,}" for name, n in self.counts.items() if n]
        lines = [
            f"Corpus {self.name}: {', '.join(counts)}",
            *(f"held out {_counted(n, 'pair')} for {name}" for name, _, n in self.held_out),
            *(f"warning: {line}" for line in self.warnings),
            self.credit,
        ]
        return "\n".join(filter(None, lines))


def load_corpus(
    name: str, source: str = "ja", target: str = "en", hold_out: str = "", validation: str = "split"
) -> Corpus:
    """Read, clean, split and weigh one or several corpora.

    The arguments are as the fields of `Config`; `name` is `Config.data`. Pairs with a Japanese
    sentence of `in_the_wild.tsv` are not in training.
    """
    held_out = _read_held_out(hold_out, source, target)  # before anything large is downloaded
    sources = Sources(name, source, target)
    raw = sources.read()
    cleaned = cleaning.clean(raw.entries, source, target)
    counts, warnings = _check(sources, raw, cleaned)
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
    kept = splits.without_shared(training_only, never_trained_on)
    withheld = divided.withheld + len(training_only) - len(kept)
    divided = divided._replace(train=divided.train + kept, withheld=withheld)
    parts = _Parts(sources, divided.train, never_trained_on)
    test_corpora = {
        short: [i for i, corpus in enumerate(divided.test_corpora) if corpus == one]
        for one, short in zip(sources.weights, without_folders(sources.weights), strict=True)
        if one not in sources.training_only
    }
    warnings += _count(counts, divided, held_out, trains_on_all, name)
    if len(parts) > 1:
        counts["parts"] = len(parts)
    if counts["test"]:
        warnings += [
            f"{one}: the test split has only {_counted(len(rows), 'sentence')}; scores on it are "
            "unreliable."
            for one, rows in test_corpora.items()
            if len(rows) < MIN_TELLING_TEST
        ]
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
        warnings=tuple(warnings),
    )


def _check(sources: Sources, raw: Raw, cleaned: Cleaned) -> tuple[dict[str, int], list[str]]:
    """Counts of what was read and kept, and warnings; refuses a corpus of which nothing is left."""
    num_broken = sum(map(len, raw.broken.values()))
    num_kept = len(cleaned.entries)
    counts = {"read": num_broken + len(raw.entries), "broken": num_broken}
    counts |= {**cleaned.dropped, "kept": num_kept}
    wrong_script = ""
    if 2 * counts["wrong_script"] > num_kept:  # reads all pairs again
        raw_pairs = [entry.pair for entry in raw.entries]
        wrong_script = cleaning.wrong_script_message(raw_pairs, *sources.languages)
    if not num_kept:
        listed = ", ".join(f"{reason} {count:,}" for reason, count in counts.items())
        fault = "No pair of the corpus is left after cleaning. Received: "
        raise ValueError(f"{fault}data={sources.name!r} ({listed}). {wrong_script}".rstrip())
    warnings = []
    for one, numbers in raw.broken.items():
        if numbers:
            named = ", ".join(map(str, numbers[:MAX_NAMED_LINES]))
            named += ", ..." if len(numbers) > MAX_NAMED_LINES else ""
            lines = _counted(len(numbers), "line")
            warnings.append(f"{one}: {lines} without TAB or valid UTF-8 left out: {named}.")
    warnings += raw.remarks
    return counts, [*warnings, *([f"{sources.name}: {wrong_script}"] if wrong_script else [])]


def _count(
    counts: dict[str, int], divided: Splits, held_out: list[HeldOut], trains_on_all: bool, name: str
) -> list[str]:
    """Add the counts of the splits; return warnings of sentences that are not trained on."""
    apart = {"validation": len(divided.validation), "test": len(divided.test)}
    if trains_on_all:
        apart = {"validation": 0, "test": 0, "scored": sum(apart.values())}
    counts |= {"groups": divided.groups, "train": len(divided.train), **apart}
    counts["withheld"] = divided.withheld
    num_apart = counts["validation"] + counts["test"] + divided.withheld
    if held_out:
        counts["held_out"] = counts["kept"] - len(divided.train) - num_apart
    if trains_on_all:
        return [
            f"{name}: the scored sentences are trained on: scores do not tell how new text is "
            "translated."
        ]
    if counts["kept"] > FEW_PAIRS or 20 * num_apart <= counts["kept"]:
        return []
    pairs = f"{_counted(len(divided.train), 'pair')} {'is' if len(divided.train) == 1 else 'are'}"
    return [
        f"{name}: {pairs} trained on, {num_apart} are held out for validation and test. "
        "`--validation none` trains on all."
    ]


class _Parts(Sequence[WeightedPairs]):
    """Training pairs in parts. Pairs of large sets, but for the first part, are read when asked."""

    def __init__(self, sources: Sources, train: list[Entry], never_trained_on: list[Example]):
        self._sources, self._never_trained_on = sources, never_trained_on
        self._in_memory: list[list[Entry]] = [[] for _ in range(sources.num_parts)]
        for i, entry in enumerate(train):  # small corpora are dealt out to all parts
            self._in_memory[0 if entry.corpus in sources.sets else i % len(self)].append(entry)

    def __len__(self) -> int:
        return len(self._in_memory)

    def __getitem__(self, part: Any) -> Any:
        entries = self._in_memory[part]
        if part:
            read = cleaning.clean(self._sources.read(part).entries, *self._sources.languages)
            entries = entries + splits.without_shared(read.entries, self._never_trained_on)
        return WeightedPairs([one.pair for one in entries], [one.weight for one in entries])


def load_default_corpus(**options: str) -> Corpus:
    """Corpus of a training without `--data`: `Config.data`, or what needs no network."""
    try:
        return load_corpus(Config.data, **options)
    except OSError as error:
        corpus = load_corpus(WITHOUT_NETWORK, **options)
        sentence = (
            f"the real sentences of `tatoeba` cannot be had, so the training is on "
            f"`{WITHOUT_NETWORK}` alone. {error}"
        )
        return replace(corpus, warnings=(sentence, *corpus.warnings))


def load_test_set(name: str, source: str = "ja", target: str = "en") -> list[Example]:
    """All pairs of a corpus without cleaning, one example for each line, also for equal lines."""
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
        pairs = [Pair(example.source, *example.references) for example in examples]
        if wrong_script := cleaning.wrong_script_message(pairs, source, target):
            raise ValueError(
                f"`hold_out` must hold sentences in `{source}` with translations in `{target}`, as "
                f"the training. Received: hold_out={name!r}. {wrong_script}"
            )
        found.append(HeldOut(short, examples))
    return found


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
