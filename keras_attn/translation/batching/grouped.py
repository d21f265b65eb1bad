"""Pairs of a part as ids, in buckets, and the batches of each epoch."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

import numpy as np

from keras_attn.translation.batching.buckets import plan_buckets
from keras_attn.translation.batching.joining import joined_pairs
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.cleaning import Pair
from keras_attn.translation.corpus.slices import Part
from keras_attn.translation.text.noise import add_noise
from keras_attn.translation.text.training_placeholders import mask_pair
from keras_attn.translation.tokenization.tokenizer import Tokenizers

# Largest number of tokens of a batch with noise, as a multiple of `batch_tokens`.
MAX_GROWTH = 1.1


class Noised(NamedTuple):
    """A pair with noise in its source: index of the pair, and text and ids of the source."""

    pair: int
    text: str
    ids: list[int]


class Planned(NamedTuple):
    """A batch as its padded shape, indices of pairs, and pairs with noise."""

    shape: tuple[int, int]
    clean: np.ndarray
    noised: Sequence[Noised] = ()


def batch_size(shape: tuple[int, int], config: Config) -> int:
    """Number of rows of a batch of padded shape `(S, T)`, before noise."""
    return max(1, config.batch_tokens // sum(shape))


def masked_part(part: Part, languages: tuple[str, str], seed: int | Sequence[int]) -> Part:
    """Part with placeholders in its pairs; the same seed gives the same ones."""
    random = np.random.default_rng(seed)
    return part._replace(pairs=[Pair(*mask_pair(*pair, languages, random)) for pair in part.pairs])


class Grouped:
    """Pairs of a part and pairs joined from them, as ids, in buckets of equal padded shape.

    Args:
        part: Training pairs with weights.
        number: Index of the part. Which pairs are joined depends on it and on the seed.
        tokenizers: Source and target tokenizers.
        config: Languages, seed, and the settings of the batches.
        fixed_shapes: Whether noise must not make a batch larger or longer. Defaults to False.

    Raises:
        ValueError: If no pair has at most `config.max_length` pieces.

    Attributes:
        pairs: Pairs of at most `config.max_length` pieces; those of the part come first.
        sides: Source ids and target ids of each pair.
        lengths: Length of each side of each pair, EOS included, `(N, 2)`.
        num_too_long: Number of pairs of the part that are longer.
        shapes: Padded shape `(S, T)` of each bucket.
    """

    def __init__(
        self,
        part: Part,
        number: int,
        tokenizers: Tokenizers,
        config: Config,
        fixed_shapes: bool = False,
    ):
        self._tokenizers = tokenizers
        self._fixed_shapes = fixed_shapes
        self._config = config
        self.pairs: list[Pair] = []
        self.sides: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        self.lengths = np.zeros((0, 2), int)
        self._weights = np.zeros(0)
        languages = config.source, config.target
        self.num_too_long = self._add(masked_part(part, languages, [config.seed, number]))
        if not self.pairs:
            raise ValueError(
                "No training pair has at most `max_length` pieces on both sides. Received: "
                f"max_length={config.max_length} and {self.num_too_long} pairs. "
                "Use a larger `max_length`."
            )
        if config.concat_ratio:
            joined = joined_pairs(
                Part(self.pairs, self._weights.tolist()),
                self.lengths,
                config.concat_ratio,
                languages,
                config.max_length,
                np.random.default_rng(np.random.SeedSequence([config.seed, number], spawn_key=[1])),
            )
            self._add(joined)
        self._groups = plan_buckets(self.lengths, config.max_padding)
        longest = (self.lengths[group].max(axis=0) for group in self._groups)
        self.shapes = [(int(source), int(target)) for source, target in longest]
        self._batch_sizes = [batch_size(shape, config) for shape in self.shapes]

    def _add(self, part: Part) -> int:
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
        sizes = zip(self._groups, self.shapes, strict=True)
        return 1 - float(real / sum(self._weights[g].sum() * sum(shape) for g, shape in sizes))

    def order(self, epoch: int) -> list[Planned]:
        """Batches of an epoch in random order; the number is the same for all epochs."""
        random = np.random.default_rng([self._config.seed, epoch])
        batches = []
        for group, shape, size in zip(self._groups, self.shapes, self._batch_sizes, strict=True):
            drawn = random.permutation(self._draw(random.permutation(group)))
            batches += [Planned(shape, drawn[i : i + size]) for i in range(0, len(drawn), size)]
        order = [batches[i] for i in random.permutation(len(batches))]
        if not self._config.noise:
            return order
        return self._with_noise(order, Random(f"noise {self._config.seed} {epoch}"))

    def _draw(self, shuffled: np.ndarray) -> np.ndarray:
        """Repeat each pair by its weight, rounded up or down by systematic sampling."""
        ends = np.cumsum(self._weights[shuffled])
        number = max(1, round(ends[-1]))
        places = (np.arange(number) + 0.5) * (ends[-1] / number)
        return shuffled[np.searchsorted(ends, places)]

    def _with_noise(self, order: list[Planned], random: Random) -> list[Planned]:
        """The batches with noise in a share of the sources.

        A pair moves to a batch of a longer shape if its source gets too long for the batch. If no
        batch has room for it, its own batch is padded more, or else the source remains clean.
        """
        rows = [
            (batch, row)
            for batch, planned in enumerate(order)
            for row in range(len(planned.clean))
            if random.random() < self._config.noise
        ]
        pairs = [int(order[batch].clean[row]) for batch, row in rows]
        texts = [add_noise(self.pairs[i].source, self._config.source, random) for i in pairs]
        encoded = self._tokenizers.source.encode(texts)
        sizes = [len(planned.clean) for planned in order]
        shapes = [planned.shape for planned in order]
        batches_of: dict[tuple[int, int], list[int]] = {}
        for batch, shape in enumerate(shapes):
            batches_of.setdefault(shape, []).append(batch)
        smallest_first = sorted(batches_of, key=sum)
        growth = 1 if self._fixed_shapes else MAX_GROWTH
        most_tokens = growth * self._config.batch_tokens

        def place(batch: int, length: int, target_length: int) -> int | None:
            """Batch for a pair of `batch` whose source has a new length; None if there is none."""
            own_shape = shapes[batch]
            if length <= own_shape[0]:
                return batch
            for shape in smallest_first if sizes[batch] > 1 else ():  # no batch may be empty
                if length <= shape[0] and target_length <= shape[1]:
                    other = random.choice(batches_of[shape])
                    if (sizes[other] + 1) * sum(shapes[other]) <= most_tokens:
                        return other
            longer = (length, own_shape[1])
            if (
                self._fixed_shapes
                or length > self._config.max_length
                or sizes[batch] * sum(longer) > most_tokens
            ):
                return None
            shapes[batch] = longer
            return batch

        is_clean = [np.ones(size, bool) for size in sizes]
        noised: list[list[Noised]] = [[] for _ in order]
        changes = map(Noised, pairs, texts, encoded)
        for (batch, row), changed in zip(rows, changes, strict=True):
            if changed.text == self.pairs[changed.pair].source:
                continue
            target_length = int(self.lengths[changed.pair, 1])
            new_batch = place(batch, len(changed.ids) + 1, target_length)
            if new_batch is not None:
                is_clean[batch][row] = False
                sizes[batch] -= 1
                sizes[new_batch] += 1
                noised[new_batch].append(changed)
        return [
            Planned(shape, planned.clean[kept], found)
            for planned, shape, kept, found in zip(order, shapes, is_clean, noised, strict=True)
        ]
