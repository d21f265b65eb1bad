"""A training of the smallest size, whose graphs are traced once for several calls of `fit`."""

import dataclasses

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attn.translation.batching.batches import Batches
from keras_attn.translation.batching.masking import MaskedParts
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.pairs import Pair, WeightedPairs
from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.model import make_model
from keras_attn.translation.tokenization import tokenizer
from keras_attn.translation.training import callbacks, step, validation
from keras_attn.translation.training.checkpoints import TrainingState
from keras_attn.translation.training.fit import fit
from keras_attn.translation.training.step import make_trainer
from keras_attn.translation.training.weight_average import WeightAverage

NUMBERS = {"いち": "one", "に": "two", "さん": "three", "よん": "four"}
PAIRS = [
    Pair("と".join([a] * n + [b]), " and ".join([x] * n + [y]))
    for n in (1, 4)
    for a, x in NUMBERS.items()
    for b, y in NUMBERS.items()
]
VALIDATION = [Example(pair.source, (pair.target,)) for pair in PAIRS[:3]]
# With all that a checkpoint must bring back: dropout, sampled segmentations, accumulated gradients.
CONFIG = Config(
    vocab_size=300,
    max_length=32,
    batch_tokens=128,
    num_encoder_layers=1,
    num_decoder_layers=1,
    num_hiddens=8,
    ffn_num_hiddens=8,
    num_heads=2,
    dropout=0.3,
    subword_alpha=0.1,
    warmup_steps=10,
    accumulate=2,
    average_interval=1,
    newton_schulz_steps=1,  # there is less to trace
)


def state_of(model, folder, average=None):
    """State of a training by Adam before its first step."""
    optimizer = keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    average = average or WeightAverage(model.trainable_variables, 0.9)
    return TrainingState(model, optimizer, average, tf.Variable(0, dtype=tf.int64), folder)


class SmallTraining:
    """Trainings that differ in their budget and their callbacks only.

    Tracing takes seconds, and a training of such a size moments. So all trainings use the same
    trainer, average and search. Each begins with the values that a new process would have.

    Args:
        folder: Folder for the tokenizers.
    """

    def __init__(self, folder):
        self.tokenizers = tokenizer.load_or_train(folder, PAIRS, CONFIG)
        parts = MaskedParts([WeightedPairs(PAIRS, [1.0] * len(PAIRS))], CONFIG)
        self.stream = Batches(parts, self.tokenizers, CONFIG)
        keras.utils.set_random_seed(CONFIG.seed)
        self.model = make_model(*(side.vocab_size for side in self.tokenizers), CONFIG)
        self.model.build(((None, None), (None, None)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(step, "num_shards", lambda batch_tokens: 2)
            self.trainer = make_trainer(self.model, CONFIG)
        self.average = WeightAverage(self.model.trainable_variables, CONFIG.average_decay)
        translate = validation.translate_with(self.model, self.tokenizers, CONFIG)
        self._traced = {
            "fit.make_trainer": lambda *_: self.trainer,
            "fit.WeightAverage": lambda *_: self.average,
            "validation.translate_with": lambda *_: translate,
        }
        averages = (*self.average.values, self.average.num_batches)
        variables = (*self.trainer.variables, *self.trainer.optimizer.variables, *averages)
        self._first = [(variable, np.array(variable)) for variable in variables]

    def fit(self, folder, *callbacks, **budget):
        """Result of a training with checkpoints in `folder`."""
        for variable, value in self._first:
            variable.assign(value)
        self.trainer.stop_training = False
        config = dataclasses.replace(CONFIG, **budget)
        with pytest.MonkeyPatch.context() as patch:
            for name, made in self._traced.items():
                patch.setattr(f"keras_attn.translation.training.{name}", made)
            return fit(
                self.model, self.stream, self.tokenizers, VALIDATION, config, folder, callbacks
            )


def train_in_turn(folders, steps):
    """Trainings in folders, one after another, that save after each batch and leave their weights.

    A process of its own calls this, so that it can be killed.
    """
    callbacks.CHECKPOINT_SECONDS = 0.0
    training = SmallTraining(folders[0])
    for folder in folders:
        run = training.fit(folder, steps=steps)
        assert 2 < training.stream.steps_per_epoch < run.steps / 3 and run.steps == steps
        np.savez(folder / "weights.npz", *training.model.get_weights())
