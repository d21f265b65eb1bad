"""Training batches: pairs of similar length, in a few fixed shapes, with a token budget."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from keras_attn.translation.batching.bucketing import BatchPlan, BucketedCorpus, batch_size
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.pairs import WeightedPairs
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID
from keras_attn.translation.text.kana import Kana
from keras_attn.translation.tokenization.tokenizer import Tokenizers


class Batch(NamedTuple):
    """Inputs and labels of a training step, int32, padded with `PAD_ID`.

    `target_out[:, t]` is the label of the decoder for the input `target_in[:, : t + 1]`.
    """

    source: np.ndarray  # pieces, then EOS, `(B, S)`
    target_in: np.ndarray  # BOS, then pieces, `(B, T)`
    target_out: np.ndarray  # pieces, then EOS, `(B, T)`


class Shard(NamedTuple):
    """Share of a process in each batch: consecutive rows, as many for each device."""

    process: int  # from 0
    num_processes: int
    num_devices: int  # of all processes, or of groups of devices with one copy of the weights


class Batches:
    """Endless, reproducible stream of training batches.

    An epoch is one part of the pairs, each pair repeated by its weight, and pairs joined from them
    (`joining`). A share of the sources has noise (`noise`), another one in each epoch. Composition,
    noise, segmentation and order of the batches depend only on the seed and the step, so training
    can resume at any step. All epochs have the same number of batches as the first: some batches of
    a later part are skipped or repeated.

    Subword regularization may exceed `batch_tokens`; noise may exceed it by a tenth. With a `shard`
    of this process, batches have fixed shapes, which a compiler needs: rows of padding fill each
    batch, and nothing exceeds its shape. With `readings` of Japanese words by how they are written,
    noise writes more texts in kana.
    """

    def __init__(
        self,
        parts: Sequence[WeightedPairs],
        tokenizers: Tokenizers,
        config: Config,
        shard: Shard | None = None,
        readings: Mapping[str, str] | None = None,
    ):
        options = (tokenizers, config, shard is not None, Kana(readings))
        # Two, because prefetching may reach the next epoch before training does.
        self._corpus = lru_cache(2)(lambda part: BucketedCorpus(parts[part], part, *options))
        self._plans = lru_cache(2)(lambda epoch: self._corpus(epoch % len(parts)).plans(epoch))
        self._num_parts = len(parts)
        self._tokenizers, self._config, self._shard = tokenizers, config, shard
        first = self._corpus(0)
        self.shapes, self.lengths, self.sides = first.shapes, first.lengths, first.sides
        self.num_too_long, self.padding = first.num_too_long, first.padding
        self.steps_per_epoch = len(self._plans(0))

    def summary(self) -> str:
        """Batches, shapes, padding and dropped pairs in one line, for the terminal."""
        too_long = f", {self.num_too_long:,} pairs too long" if self.num_too_long else ""
        return (
            f"Batches: {self.steps_per_epoch:,} an epoch in {len(self.shapes)} shapes, "
            f"{self.padding:.1%} padding{too_long}"
        )

    def stream(self, start_step: int = 0) -> Iterator[Batch]:
        """Endless iterator over batches, from the global step `start_step`."""
        return map(self._batch, itertools.count(start_step))

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
        """Number of source and target tokens of the batch at `step`.

        Counted without padding, and before subword regularization.
        """
        corpus, plan = self._at(step)
        noised = (len(one.ids) + 1 + corpus.lengths[one.pair, 1] for one in plan.noised)
        return int(corpus.lengths[plan.clean].sum() + sum(noised))

    def fixed_shapes(self, start_step: int = 0) -> list[tuple[int, int, int]]:
        """Shapes `(B, S, T)` of the batches of an epoch, in their order from `start_step` on."""
        if self._shard is None:
            raise ValueError("Without a shard, the shapes of batches are not fixed.")
        epoch, index = divmod(start_step, self.steps_per_epoch)
        # Within the epoch: the next one may be another part of the corpus, which would be read.
        first, last = epoch * self.steps_per_epoch, (epoch + 1) * self.steps_per_epoch
        steps = [*range(first + index, last), *range(first, first + index)]
        shapes = dict.fromkeys(self._at(step)[1].shape for step in steps)
        return [(_rows_of_process(one, self._config, self._shard), *one) for one in shapes]

    def _at(self, step: int) -> tuple[BucketedCorpus, BatchPlan]:
        epoch, index = divmod(step, self.steps_per_epoch)
        plans = self._plans(epoch)
        return self._corpus(epoch % self._num_parts), plans[index % len(plans)]

    def _batch(self, step: int) -> Batch:
        corpus, plan = self._at(step)
        shape, clean, noised = plan.shape, plan.clean, plan.noised
        pairs = [*clean, *(one.pair for one in noised)]
        sources = [corpus.sides[0][i] for i in clean] + [one.ids for one in noised]
        targets = [corpus.sides[1][i] for i in pairs]
        if self._config.subword_alpha:
            texts = [corpus.pairs[i].source for i in clean] + [one.text for one in noised]
            seeds = np.random.SeedSequence([self._config.seed, step]).generate_state(2)
            limits = (self._config.max_length,) * 2 if self._shard is None else shape
            sources = self._sampled(0, sources, texts, int(seeds[0]), limits[0])
            texts = [corpus.pairs[i].target for i in pairs]
            targets = self._sampled(1, targets, texts, int(seeds[1]), limits[1])
            if self._shard is None:
                shape = (max(map(len, sources)) + 1, max(map(len, targets)) + 1)
        if self._shard is None:
            return _pad(sources, targets, shape, len(pairs))
        rows = _rows_of_process(shape, self._config, self._shard)
        mine = slice(self._shard.process * rows, (self._shard.process + 1) * rows)
        return _pad(sources[mine], targets[mine], shape, rows)

    def _sampled(self, side: int, plain: list, texts: list[str], seed: int, most: int) -> list:
        """Ids of random segmentations; `plain` for `most` or more tokens, EOS not counted."""
        sampled = self._tokenizers[side].sample(texts, self._config.subword_alpha, seed)
        return [new if len(new) < most else old for new, old in zip(sampled, plain, strict=True)]


def _rows_of_process(shape: tuple[int, int], config: Config, shard: Shard) -> int:
    """Number of rows of a process in a batch of fixed shape `(S, T)`."""
    of_device = -(-batch_size(shape, config) // shard.num_devices)
    return of_device * shard.num_devices // shard.num_processes


def _pad(sources: list, targets: list, shape: tuple[int, int], num_rows: int) -> Batch:
    """Batch of the pairs, with rows of padding up to `num_rows`."""
    source, target_in, target_out = (
        np.full((num_rows, length), PAD_ID, np.int32) for length in (*shape, shape[1])
    )
    target_in[: len(sources), 0] = BOS_ID
    for row, (s, t) in enumerate(zip(sources, targets, strict=True)):
        source[row, : len(s)] = s
        source[row, len(s)] = EOS_ID
        target_in[row, 1 : len(t) + 1] = t
        target_out[row, : len(t)] = t
        target_out[row, len(t)] = EOS_ID
    return Batch(source, target_in, target_out)
