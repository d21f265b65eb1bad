"""Keras `fit` within a budget of minutes, with checkpoints, so that the same command goes on."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import keras

from keras_attn.transformer import Transformer
from keras_attn.translation.batching.batches import Batches
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.evaluation.history import Reached
from keras_attn.translation.tokenization.tokenizer import Tokenizers
from keras_attn.translation.training.callbacks import AVERAGE_EVERY, Averaging, Budget, Saving
from keras_attn.translation.training.checkpoints import TrainingState
from keras_attn.translation.training.progress import Progress
from keras_attn.translation.training.train_step import Trainee
from keras_attn.translation.training.validation import Validation
from keras_attn.translation.training.weight_average import WeightAverage


class Run(NamedTuple):
    """How a training ended."""

    steps: int
    epochs: float
    seconds: float
    tokens_per_second: float
    validation_bleu: float
    history: list[Reached]

    def summary(self) -> str:
        """How it went, for the terminal."""
        return (
            f"Trained {self.epochs:.1f} epochs in {self.seconds / 60:.1f} minutes, "
            f"{self.tokens_per_second:,.0f} tokens/s, validation BLEU {self.validation_bleu:.1f}"
        )

    def totals(self) -> dict[str, float]:
        """All but the history."""
        return {name: value for name, value in self._asdict().items() if name != "history"}


@contextmanager
def _obeying_ctrl_c(saving: Saving) -> Iterator[None]:
    def obey(signum, frame):
        if saving.interrupted:  # a second Ctrl-C does not wait
            raise KeyboardInterrupt
        saving.interrupted = True

    before = signal.signal(signal.SIGINT, obey)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _has_to_go_on(budget: Budget, state: TrainingState, config: Config) -> bool:
    if config.patience and int(state.num_worse.numpy()) >= config.patience:
        return False
    # What was never validated has no best weights: out of time, it takes a batch more, and these.
    return budget.left > 0 or float(state.best_bleu.numpy()) < 0


def fit(
    model: Transformer,
    batches: Batches,
    tokenizers: Tokenizers,
    validation: Sequence[Example],
    config: Config,
    folder: Path,
    callbacks: Sequence[keras.callbacks.Callback] = (),
) -> Run:
    """Train `model` within its budget and leave it with its best averaged weights.

    Training that was interrupted goes on from the last checkpoint in `folder`.

    Args:
        model: The model, with the weights to begin with.
        batches: The training data.
        tokenizers: For the translations of the validation sentences.
        validation: Sentences whose BLEU after each epoch decides which weights are the best.
        config: Budget (`minutes` or `steps`, and `patience`), schedule and seeds.
        folder: Where checkpoints are kept.
        callbacks: Further Keras callbacks, called before what is reached is saved; after each epoch
            they are told `val_bleu`. One that sets `stop_training` ends the training.

    Returns:
        How it went.

    Raises:
        KeyboardInterrupt: On Ctrl-C, after a checkpoint was written.
        OSError: If a checkpoint cannot be written.
        ValueError: If there are checkpoints and none can be read.
    """
    model.build(((None, None), (None, None)))
    trainee = Trainee(model, config)
    average = WeightAverage(model.trainable_variables, config.average_decay)
    state = TrainingState(model, trainee.optimizer, average, trainee.step, folder)
    warnings = state.restore()

    budget = Budget(config, state, trainee.schedule)
    first_step = int(state.step.numpy())
    progress = Progress(batches, budget, start_step=first_step)
    for warning in warnings:
        progress.say(f"warning: {warning}")
    if first_step:
        progress.say(f"Going on from step {first_step}.")
    checking = Validation(model, tokenizers, validation, config, average, state, budget)
    saving = Saving(state, budget)
    all_callbacks = [
        Averaging(average, AVERAGE_EVERY),
        progress,
        checking,
        *callbacks,
        budget,
        saving,
    ]
    with _obeying_ctrl_c(saving):
        while not trainee.stop_training and _has_to_go_on(budget, state, config):
            step = int(state.step.numpy())
            epoch, done = divmod(step, batches.steps_per_epoch)
            trainee.fit(
                batches.dataset(step),
                initial_epoch=epoch,
                # After an interruption the rest of its epoch comes first, by itself.
                epochs=epoch + 1 if done else 1_000_000,
                steps_per_epoch=batches.steps_per_epoch - done,
                callbacks=all_callbacks,
                shuffle=False,  # the stream is shuffled
                verbose=0,
            )
    if saving.interrupted:  # after the last checkpoint
        raise KeyboardInterrupt
    state.use_best()
    steps = int(state.step.numpy())
    return Run(
        steps=steps,
        epochs=steps / batches.steps_per_epoch,
        seconds=budget.seconds,
        tokens_per_second=progress.tokens_per_second,
        validation_bleu=float(state.best_bleu.numpy()),
        history=state.history,
    )
