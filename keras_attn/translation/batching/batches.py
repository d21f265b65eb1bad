"""Training batches: pairs of similar length, in a few fixed shapes, with a token budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from keras_attn.translation.batching import slots
from keras_attn.translation.batching.buckets import plan_buckets
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.slices import Part
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID
from keras_attn.translation.tokenization.tokenizer import Tokenizers


class Batch(NamedTuple):
    """Inputs and labels of a training step, int32, padded with `PAD_ID`.

    `target_out[:, t]` is the label of the decoder for the input `target_in[:, : t + 1]`.

    Attributes:
        source: Pieces, then EOS, `(B, S)`.
        target_in: BOS, then pieces, `(B, T)`.
        target_out: Pieces, then EOS, `(B, T)`.
    """

    source: np.ndarray
    target_in: np.ndarray
    target_out: np.ndarray


class _Grouped:
    """Pairs of a part as ids, in buckets of equal padded shape.

    `sides[0][i]` holds the source ids of pair `i`, `sides[1][i]` the target ids.
    """

    def __init__(
        self,
        part: Part,
        tokenizers: Tokenizers,
        batch_tokens: int,
        max_pieces: int,
        max_padding: float,
    ):
        sides = [
            tokenizer.encode([pair[side] for pair in part.pairs])
            for side, tokenizer in enumerate(tokenizers)
        ]
        lengths = np.array([[len(ids) + 1 for ids in pair] for pair in zip(*sides, strict=True)])
        kept = [i for i, both in enumerate(lengths) if both.max() <= max_pieces]
        if not kept:
            raise ValueError(
                "No training pair has at most `max_pieces` pieces on both sides. Received: "
                f"max_pieces={max_pieces} and {len(lengths)} pairs. Use a larger `max_pieces`."
            )
        self.num_too_long = len(lengths) - len(kept)
        self.pairs = [part.pairs[i] for i in kept]
        self.sides = [[np.array(side[i], np.int32) for i in kept] for side in sides]
        self.lengths = lengths[kept]
        self._weights = np.array(part.weights)[kept]
        self._groups = plan_buckets(self.lengths, max_padding)
        self.shapes = [tuple(map(int, self.lengths[g].max(axis=0))) for g in self._groups]
        self._batch_sizes = [max(1, batch_tokens // sum(shape)) for shape in self.shapes]

    @property
    def padding(self) -> float:
        """Share of padding in an epoch in which every pair occurs once."""
        sizes = zip(self._groups, self.shapes, strict=True)
        return 1 - float(self.lengths.sum()) / sum(len(g) * sum(shape) for g, shape in sizes)

    def order(self, random: np.random.Generator) -> list[tuple[int, np.ndarray]]:
        """Batches of an epoch in random order: index of the shape, and indices of the pairs.

        The number of batches does not depend on `random`.
        """
        batches = []
        for index, (group, size) in enumerate(zip(self._groups, self._batch_sizes, strict=True)):
            drawn = random.permutation(self._draw(random.permutation(group)))
            batches += [(index, drawn[i : i + size]) for i in range(0, len(drawn), size)]
        return [batches[i] for i in random.permutation(len(batches))]

    def _draw(self, shuffled: np.ndarray) -> np.ndarray:
        """Repeat each pair by its weight, rounded up or down by systematic sampling."""
        ends = np.cumsum(self._weights[shuffled])
        number = max(1, round(ends[-1]))
        places = (np.arange(number) + 0.5) * (ends[-1] / number)
        return shuffled[np.searchsorted(ends, places)]


class Batches:
    """Endless, reproducible stream of training batches.

    An epoch is one part of the pairs, each pair repeated by its weight. The composition,
    segmentation and order of the batches depend only on the seed and the step, so training can
    resume at any step. All epochs have the same number of batches as the first: some batches of a
    later part are skipped or repeated.

    Args:
        parts: Functions that read the parts of the training pairs. The first is called at once.
        tokenizers: Source and target tokenizers.
        batch_tokens: Maximum number of source and target tokens of a batch, padding included.
            Subword regularization may exceed it.
        max_pieces: Maximum length of a side in pieces, EOS included. Longer pairs are dropped.
        seed: Random seed of all random choices.
        subword_alpha: `alpha` of `Tokenizer.sample`; each batch is tokenized by a random
            segmentation. 0 turns subword regularization off. Defaults to 0.
        max_padding: Largest share of padding; the number of shapes follows from it. Defaults to
            `Config.max_padding`.

    Raises:
        ValueError: If no pair is short enough.

    Attributes:
        steps_per_epoch: Number of batches of an epoch.
        shapes: Padded shapes `(S, T)` of the first part.
        num_too_long: Number of pairs dropped from the first part.
        padding: Share of padding in the first part.

    Example:

    >>> from keras_attn.translation.corpus.cleaning import Pair
    >>> from keras_attn.translation.tokenization.tokenizer import train
    >>> cut = train(["a b", "a", "b a b"], vocab_size=300, character_coverage=1.0)
    >>> part = Part([Pair("a b", "b"), Pair("a b", "a")], weights=[1, 1])
    >>> batches = Batches([lambda: part], Tokenizers(cut, cut), 64, max_pieces=8, seed=0)
    >>> batch = next(batches.stream())
    >>> len(batch.source), batch.target_in.shape == batch.target_out.shape
    (2, True)
    """

    def __init__(
        self,
        parts: Sequence[Callable[[], Part]],
        tokenizers: Tokenizers,
        batch_tokens: int,
        max_pieces: int,
        seed: int,
        subword_alpha: float = 0.0,
        max_padding: float = Config.max_padding,
    ):
        def group(number: int) -> _Grouped:
            return _Grouped(parts[number](), tokenizers, batch_tokens, max_pieces, max_padding)

        # Two, because prefetching may reach the next epoch before training does.
        self._group = lru_cache(maxsize=2)(group)
        self._order = lru_cache(maxsize=2)(self._new_order)
        self._num_parts = len(parts)
        self._tokenizers = tokenizers
        self._max_pieces = max_pieces
        self._seed = seed
        self._subword_alpha = subword_alpha
        first = self._group(0)
        self.shapes = first.shapes
        self.num_too_long = first.num_too_long
        self.padding = first.padding
        self.steps_per_epoch = len(self._order(0))

    def summary(self) -> str:
        """Batches, shapes, padding and dropped pairs in one line, for the terminal."""
        return (
            f"Batches: {self.steps_per_epoch:,} an epoch in {len(self.shapes)} shapes, "
            f"{self.padding:.1%} padding, {self.num_too_long:,} pairs too long"
        )

    def stream(self, start_step: int = 0) -> Iterator[Batch]:
        """Endless iterator over batches, from the global step `start_step`."""
        step = start_step
        while True:
            yield self._batch(step)
            step += 1

    def dataset(self, start_step: int = 0) -> tf.data.Dataset:
        """Dataset of `stream` for Keras `fit`: `((source, target_in), target_out)`."""
        ids = tf.TensorSpec((None, None), tf.int32)

        def examples() -> Iterator:
            for batch in self.stream(start_step):
                yield (batch.source, batch.target_in), batch.target_out

        dataset = tf.data.Dataset.from_generator(examples, output_signature=((ids, ids), ids))
        options = tf.data.Options()
        # Autotuning does not help here, and `fit` sometimes waits seconds for it to stop.
        options.autotune.enabled = False
        return dataset.prefetch(4).with_options(options)

    def num_tokens(self, step: int) -> int:
        """Number of source and target tokens of the batch at `step`, without padding.

        Counted before subword regularization.
        """
        part, _, members = self._at(step)
        return int(part.lengths[members].sum())

    def _new_order(self, epoch: int) -> list[tuple[int, np.ndarray]]:
        random = np.random.default_rng([self._seed, epoch])
        return self._group(epoch % self._num_parts).order(random)

    def _at(self, step: int) -> tuple[_Grouped, tuple[int, ...], np.ndarray]:
        epoch, index = divmod(step, self.steps_per_epoch)
        part, order = self._group(epoch % self._num_parts), self._order(epoch)
        shape_index, members = order[index % len(order)]
        return part, part.shapes[shape_index], members

    def _batch(self, step: int) -> Batch:
        part, (source_length, target_length), members = self._at(step)
        sources, targets = ([ids[i] for i in members] for ids in part.sides)
        if self._subword_alpha:
            seeds = np.random.SeedSequence([self._seed, step]).generate_state(2)
            sources, targets = (
                self._sampled(side, plain, [part.pairs[i][side] for i in members], int(seeds[side]))
                for side, plain in enumerate((sources, targets))
            )
            source_length, target_length = (max(map(len, side)) + 1 for side in (sources, targets))
        return _pad(sources, targets, source_length, target_length)

    def _sampled(self, side: int, plain: list, texts: list[str], seed: int) -> list:
        """Ids of random segmentations; `plain` where the segmentation exceeds `max_pieces`."""
        sampled = self._tokenizers[side].sample(texts, self._subword_alpha, seed)
        return [
            new if len(new) < self._max_pieces else old
            for new, old in zip(sampled, plain, strict=True)
        ]


def _pad(
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    source_length: int,
    target_length: int,
) -> Batch:
    source = np.full((len(sources), source_length), PAD_ID, np.int32)
    target_in = np.full((len(sources), target_length), PAD_ID, np.int32)
    target_out = np.full((len(sources), target_length), PAD_ID, np.int32)
    target_in[:, 0] = BOS_ID
    for row, (s, t) in enumerate(zip(sources, targets, strict=True)):
        source[row, : len(s)] = s
        source[row, len(s)] = EOS_ID
        target_in[row, 1 : len(t) + 1] = t
        target_out[row, : len(t)] = t
        target_out[row, len(t)] = EOS_ID
    return Batch(source, target_in, target_out)


def make(parts: Sequence[Callable[[], Part]], tokenizers: Tokenizers, config: Config) -> Batches:
    """Batches of the training pairs with the settings of `config`."""
    languages = config.source, config.target

    def with_slots(read: Callable[[], Part]) -> Part:
        return slots.in_part(read(), languages, config.seed)

    return Batches(
        [partial(with_slots, read) for read in parts],
        tokenizers,
        batch_tokens=config.batch_tokens,
        max_pieces=config.max_pieces,
        seed=config.seed,
        subword_alpha=config.subword_alpha,
        max_padding=config.max_padding,
    )
