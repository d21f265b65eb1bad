"""Pairs as ids, in buckets of similar length, and the batches of each epoch."""

from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

import numpy as np

from keras_attn.translation.batching.joining import joined_pairs
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.pairs import Pair, WeightedPairs
from keras_attn.translation.text.kana import Kana
from keras_attn.translation.text.noise import FEW_READINGS, add_noise
from keras_attn.translation.tokenization.tokenizer import Tokenizers

# Largest number of tokens of a batch with noise, as a multiple of `batch_tokens`.
MAX_GROWTH = 1.1
# Mark of a pair of a batch that has noise now, perhaps in another batch.
_MOVED = -1


class NoisedPair(NamedTuple):
    """A pair with noise in its source: index of the pair, and text and ids of the source."""

    pair: int
    text: str
    ids: list[int]


@dataclass
class BatchPlan:
    """A batch as its padded shape `(S, T)`, indices of pairs, and pairs with noise."""

    shape: tuple[int, int]
    clean: np.ndarray
    noised: list[NoisedPair] = field(default_factory=list)

    def __post_init__(self):
        self.num_rows = len(self.clean)


def batch_size(shape: tuple[int, int], config: Config) -> int:
    """Number of rows of a batch of padded shape `(S, T)`, before noise."""
    return max(1, config.batch_tokens // sum(shape))


class BucketedCorpus:
    """Pairs of a part and pairs joined from them, as ids, in buckets of equal padded shape.

    Which ones are joined depends on the `number` of the part and on the seed. With `fixed_shapes`,
    noise does not make a batch larger or longer.
    """

    def __init__(
        self,
        part: WeightedPairs,
        number: int,
        tokenizers: Tokenizers,
        config: Config,
        fixed_shapes: bool = False,
        kana: Kana = FEW_READINGS,
    ):
        self._tokenizers, self._config = tokenizers, config
        self._fixed_shapes, self._kana = fixed_shapes, kana
        self.pairs: list[Pair] = []
        self.sides: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])  # source and target ids
        self.lengths = np.zeros((0, 2), int)  # of each side, EOS included
        self._weights = np.zeros(0)
        self.num_too_long = self._add(part)
        if not self.pairs:
            raise ValueError(
                "No training pair has at most `max_length` pieces on both sides. Use a larger one. "
                f"Received: max_length={config.max_length} and {self.num_too_long} pairs."
            )
        if config.concat_ratio:
            seed = np.random.SeedSequence([config.seed, number], spawn_key=[1])
            kept = WeightedPairs(self.pairs, self._weights.tolist())
            self._add(joined_pairs(kept, self.lengths, config, np.random.default_rng(seed)))
        self._buckets = plan_buckets(self.lengths, config.max_padding)
        longest = (self.lengths[bucket].max(axis=0) for bucket in self._buckets)
        self.shapes = [(int(source), int(target)) for source, target in longest]

    def _add(self, part: WeightedPairs) -> int:
        """Add the pairs of at most `max_length` pieces; return the number of longer ones."""
        sides = [
            tokenizer.encode([pair[side] for pair in part.pairs])
            for side, tokenizer in enumerate(self._tokenizers)
        ]
        lengths = np.array([list(map(len, side)) for side in sides], int).T + 1
        kept = np.flatnonzero(lengths.max(axis=1) <= self._config.max_length)
        self.pairs += [part.pairs[i] for i in kept]
        for ours, side in zip(self.sides, sides, strict=True):
            ours += [np.array(side[i], np.int32) for i in kept]
        self.lengths = np.concatenate([self.lengths, lengths[kept]])
        self._weights = np.concatenate([self._weights, np.array(part.weights)[kept]])
        return len(lengths) - len(kept)

    @property
    def padding(self) -> float:
        """Mean share of padding in an epoch, without noise."""
        real = self._weights @ self.lengths.sum(axis=1)
        sizes = zip(self._buckets, self.shapes, strict=True)
        return 1 - float(real / sum(self._weights[g].sum() * sum(shape) for g, shape in sizes))

    def plans(self, epoch: int) -> list[BatchPlan]:
        """Batches of an epoch in random order; the number is the same for all epochs."""
        random = np.random.default_rng([self._config.seed, epoch])
        plans = []
        for bucket, shape in zip(self._buckets, self.shapes, strict=True):
            drawn = random.permutation(self._draw(random.permutation(bucket)))
            size = batch_size(shape, self._config)
            plans += [BatchPlan(shape, drawn[i : i + size]) for i in range(0, len(drawn), size)]
        plans = [plans[i] for i in random.permutation(len(plans))]
        if self._config.noise:
            self._add_noise(plans, Random(f"noise {self._config.seed} {epoch}"))
        return plans

    def _draw(self, shuffled: np.ndarray) -> np.ndarray:
        """Repeat each pair by its weight, rounded up or down by systematic sampling."""
        ends = np.cumsum(self._weights[shuffled])
        number = max(1, round(ends[-1]))
        places = (np.arange(number) + 0.5) * (ends[-1] / number)
        return shuffled[np.searchsorted(ends, places)]

    def _add_noise(self, plans: list[BatchPlan], random: Random) -> None:
        """Put noise into a share of the sources.

        A pair moves to a batch of a longer shape if its source gets too long for the batch. If no
        batch has room for it, its own batch is padded more, or else the source remains clean.
        """
        all_rows = ((plan, row) for plan in plans for row in range(len(plan.clean)))
        rows = [one for one in all_rows if random.random() < self._config.noise]
        pairs = [int(plan.clean[row]) for plan, row in rows]
        source = self._config.source
        texts = [add_noise(self.pairs[i].source, source, random, self._kana) for i in pairs]
        encoded = self._tokenizers.source.encode(texts)
        by_shape: dict[tuple[int, int], list[BatchPlan]] = {}
        for plan in sorted(plans, key=lambda plan: sum(plan.shape)):
            by_shape.setdefault(plan.shape, []).append(plan)
        for (plan, row), noised in zip(rows, map(NoisedPair, pairs, texts, encoded), strict=True):
            if noised.text == self.pairs[noised.pair].source:
                continue
            new_plan = self._plan_with_room(noised, plan, by_shape, random)
            if new_plan is not None:
                plan.clean[row] = _MOVED
                plan.num_rows -= 1
                new_plan.noised.append(noised)
                new_plan.num_rows += 1
        for plan in plans:
            plan.clean = plan.clean[plan.clean != _MOVED]

    def _plan_with_room(
        self, noised: NoisedPair, plan: BatchPlan, by_shape: dict, random: Random
    ) -> BatchPlan | None:
        """Batch for a pair of `plan` with noise; None if there is none."""
        most_tokens = (1 if self._fixed_shapes else MAX_GROWTH) * self._config.batch_tokens
        length, target_length = len(noised.ids) + 1, self.lengths[noised.pair, 1]
        if length <= plan.shape[0]:
            return plan
        for shape, others in by_shape.items() if plan.num_rows > 1 else ():  # no batch gets empty
            if length <= shape[0] and target_length <= shape[1]:
                other = random.choice(others)
                if (other.num_rows + 1) * sum(other.shape) <= most_tokens:
                    return other
        longer = length, plan.shape[1]
        is_allowed = not self._fixed_shapes and length <= self._config.max_length
        if is_allowed and plan.num_rows * sum(longer) <= most_tokens:
            plan.shape = longer
            return plan
        return None


def plan_buckets(lengths: np.ndarray, max_padding: float) -> list[np.ndarray]:
    """Divide pairs into buckets with a share of padding of at most `max_padding`.

    Each bucket is padded to its longest source and its longest target. The search is greedy: it
    repeats the split, by side and length, that saves most padding. The buckets are indices of rows
    of `lengths` `(N, 2)`.
    """
    groups = [np.arange(len(lengths))]
    splits = [_best_split(lengths, groups[0])]
    real = lengths.sum()
    padded = _padded_tokens(lengths)
    while padded - real > max_padding * padded:
        widest = max(range(len(groups)), key=lambda i: splits[i].saving)
        group, split = groups.pop(widest), splits.pop(widest)
        short = lengths[group, split.side] <= split.length
        for part in (group[short], group[~short]):
            groups.append(part)
            splits.append(_best_split(lengths, part))
        padded -= split.saving
    return groups


class _Split(NamedTuple):
    saving: int  # number of padding tokens saved
    side: int  # 0 source, 1 target
    length: int  # maximum length on `side` in the bucket of shorter pairs


def _padded_tokens(lengths: np.ndarray) -> int:
    return int(len(lengths) * lengths.max(axis=0).sum())


def _best_split(lengths: np.ndarray, group: np.ndarray) -> _Split:
    best = _Split(0, 0, 0)
    whole = _padded_tokens(lengths[group])
    for side in (0, 1):
        order = lengths[group][np.argsort(lengths[group, side], kind="stable")]
        longest_before = np.maximum.accumulate(order, axis=0)
        longest_after = np.maximum.accumulate(order[::-1], axis=0)[::-1]
        cuts = np.flatnonzero(np.diff(order[:, side])) + 1
        if not len(cuts):
            continue
        before = cuts * longest_before[cuts - 1].sum(axis=1)
        after = (len(order) - cuts) * longest_after[cuts].sum(axis=1)
        savings = whole - before - after
        cut = int(np.argmax(savings))
        if savings[cut] > best.saving:
            best = _Split(int(savings[cut]), side, int(order[cuts[cut] - 1, side]))
    return best
