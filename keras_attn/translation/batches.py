"""Ids to batches: pairs of similar length together, in few shapes, up to a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from keras_attn.translation.corpus import Pair
from keras_attn.translation.tokenizer import BOS_ID, EOS_ID, PAD_ID, Tokenizers

# Share of a batch that may be padding; the number of shapes follows from it.
MAX_PADDING = 0.10


class Batch(NamedTuple):
    """What a training step reads; `S` and `T` include the end mark.

    `source (B, S)`: pieces, EOS. `target_in (B, T)`: BOS, pieces. `target_out (B, T)`: pieces,
    EOS, so that `target_out[:, t]` is what the decoder is to say after `target_in[:, : t + 1]`.
    """

    source: np.ndarray
    target_in: np.ndarray
    target_out: np.ndarray


def plan_shapes(lengths: np.ndarray, max_padding: float = MAX_PADDING) -> list[np.ndarray]:
    """Groups pairs so that padding each group to its longest pair wastes at most `max_padding`.

    Starts with one group and splits, along the side and at the length that saves most padding,
    the group where that saving is largest, until the share of padding is small enough.

    Args:
        lengths: Integers of shape `(N, 2)`: source and target length of each pair, at least 1.
        max_padding: Largest share of padding in the padded total.

    Returns:
        Index arrays into `lengths`, a partition of its rows.
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
    saving: int  # padding tokens that it avoids
    side: int  # 0 source, 1 target
    length: int  # pairs up to this length on that side go to one part


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


class Batches:
    """The training pairs as an endless, reproducible stream of batches.

    Every epoch holds every pair once. Which pairs share a batch and the order of the batches
    depend on `seed` and the epoch alone, so a run can go on from any step.

    Args:
        sources: Piece ids of each source sentence, without special ids.
        targets: Piece ids of each target sentence, without special ids.
        batch_tokens: Source and target tokens of a batch, padding included, at most.
        max_pieces: Longest side, end mark included; longer pairs are left out.
        seed: Seed of the order.
        max_padding: Largest share of padding in an epoch.

    Raises:
        ValueError: If no pair is short enough.

    Attributes:
        steps_per_epoch: Batches of an epoch.
        shapes: The `(S, T)` that occur.
        num_too_long: Pairs left out.
        padding: Share of padding in an epoch.

    Example:

    >>> batches = Batches([[5, 6], [7, 4]], [[8], [9]], batch_tokens=16, max_pieces=8, seed=0)
    >>> batch = next(batches.stream())
    >>> batch.source.shape, batch.target_out.shape
    ((2, 3), (2, 2))
    """

    def __init__(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        batch_tokens: int,
        max_pieces: int,
        seed: int,
        max_padding: float = MAX_PADDING,
    ):
        lengths = np.array(
            [(len(s) + 1, len(t) + 1) for s, t in zip(sources, targets, strict=True)]
        )
        kept = [i for i, sides in enumerate(lengths) if sides.max() <= max_pieces]
        if not kept:
            raise ValueError(
                f"No training pair has at most `max_pieces` pieces on both sides. Received: "
                f"max_pieces={max_pieces} and {len(lengths)} pairs. Use a larger `max_pieces`."
            )
        self._sources = [np.array(sources[i], np.int32) for i in kept]
        self._targets = [np.array(targets[i], np.int32) for i in kept]
        self._lengths = lengths[kept]
        self._seed = seed
        self._groups = plan_shapes(self._lengths, max_padding)
        self.shapes = [tuple(map(int, self._lengths[g].max(axis=0))) for g in self._groups]
        self._batch_sizes = [max(1, batch_tokens // sum(shape)) for shape in self.shapes]
        self.num_too_long = len(lengths) - len(kept)
        padded = sum(
            len(g) * sum(shape) for g, shape in zip(self._groups, self.shapes, strict=True)
        )
        self.padding = 1 - float(self._lengths.sum()) / padded
        self.steps_per_epoch = len(self._epoch(0))
        self._epoch_in_use = lru_cache(maxsize=2)(self._epoch)

    def summary(self) -> str:
        """Sizes for the terminal."""
        return (
            f"Batches: {self.steps_per_epoch:,} an epoch in {len(self.shapes)} shapes, "
            f"{self.padding:.1%} padding, {self.num_too_long:,} pairs too long"
        )

    def stream(self, start_step: int = 0) -> Iterator[Batch]:
        """The batches from the global step `start_step` on, without end."""
        step = start_step
        while True:
            yield self._pad(*self._at(step))
            step += 1

    def dataset(self, start_step: int = 0) -> tf.data.Dataset:
        """`stream` as Keras `fit` reads it: `((source, target_in), target_out)`."""
        ids = tf.TensorSpec((None, None), tf.int32)

        def examples() -> Iterator:
            for batch in self.stream(start_step):
                yield (batch.source, batch.target_in), batch.target_out

        dataset = tf.data.Dataset.from_generator(examples, output_signature=((ids, ids), ids))
        return dataset.prefetch(4)

    def num_tokens(self, step: int) -> int:
        """Source and target tokens of the batch at `step`, padding not counted."""
        _, members = self._at(step)
        return int(self._lengths[members].sum())

    def _at(self, step: int) -> tuple[int, np.ndarray]:
        epoch, index = divmod(step, self.steps_per_epoch)
        return self._epoch_in_use(epoch)[index]

    def _epoch(self, epoch: int) -> list[tuple[int, np.ndarray]]:
        random = np.random.default_rng([self._seed, epoch])
        batches = []
        for index, (group, size) in enumerate(zip(self._groups, self._batch_sizes, strict=True)):
            shuffled = random.permutation(group)
            batches += [(index, shuffled[i : i + size]) for i in range(0, len(group), size)]
        return [batches[i] for i in random.permutation(len(batches))]

    def _pad(self, shape_index: int, members: np.ndarray) -> Batch:
        source_length, target_length = self.shapes[shape_index]
        source = np.full((len(members), source_length), PAD_ID, np.int32)
        target_in = np.full((len(members), target_length), PAD_ID, np.int32)
        target_out = np.full((len(members), target_length), PAD_ID, np.int32)
        target_in[:, 0] = BOS_ID
        for row, member in enumerate(members):
            s, t = self._sources[member], self._targets[member]
            source[row, : len(s)] = s
            source[row, len(s)] = EOS_ID
            target_in[row, 1 : len(t) + 1] = t
            target_out[row, : len(t)] = t
            target_out[row, len(t)] = EOS_ID
        return Batch(source, target_in, target_out)


def make(
    pairs: Sequence[Pair], tokenizers: Tokenizers, batch_tokens: int, max_pieces: int, seed: int
) -> Batches:
    """The training pairs, tokenized, as batches."""
    return Batches(
        tokenizers.source.encode([pair.source for pair in pairs]),
        tokenizers.target.encode([pair.target for pair in pairs]),
        batch_tokens=batch_tokens,
        max_pieces=max_pieces,
        seed=seed,
    )
