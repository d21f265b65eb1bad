"""Training with Keras `fit` within a budget, resumed from checkpoints."""

import gc
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import keras

from keras_attn.layers.transformer import Transformer
from keras_attn.translation.batching.batches import Batches
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.evaluation.report import EpochRecord
from keras_attn.translation.runtime.run_progress import RunProgress
from keras_attn.translation.tokenization.tokenizer import Tokenizers
from keras_attn.translation.training.callbacks import (
    Budget,
    Checkpointing,
    Progress,
    TerminateOnNonFinite,
    WeightAveraging,
)
from keras_attn.translation.training.checkpoints import TrainingState
from keras_attn.translation.training.jax import processes
from keras_attn.translation.training.step import make_trainer
from keras_attn.translation.training.trainer import Trainer
from keras_attn.translation.training.validation import Validation
from keras_attn.translation.training.weight_average import WeightAverage


class Run(NamedTuple):
    """Result of a training."""

    steps: int
    epochs: float
    seconds: float
    tokens_per_second: float
    validation_bleu: float
    history: list[EpochRecord]

    def summary(self) -> str:
        """Result in one line."""
        return (
            f"Trained {self.epochs:.1f} epochs in {self.seconds / 60:.1f} minutes, "
            f"{self.tokens_per_second:,.0f} tokens/s, validation BLEU {self.validation_bleu:.1f}"
        )

    def totals(self) -> dict[str, float]:
        """All fields except the history."""
        return {name: value for name, value in self._asdict().items() if name != "history"}


@contextmanager
def _obeying_signals(saving: Checkpointing) -> Iterator[None]:
    def obey(signum, frame):
        if saving.interrupted:  # a second one stops at once
            raise KeyboardInterrupt
        saving.interrupted = True

    # A cluster that ends a job sends SIGTERM first.
    before = {number: signal.signal(number, obey) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _freeing_iterators() -> Iterator[None]:
    """Free Keras's iterators over batches, about which TensorFlow prints errors at exit."""
    try:
        yield
    except KeyboardInterrupt as interruption:
        traceback.clear_frames(interruption.__traceback__)  # an iterator is in a frame of Keras
        raise
    finally:
        gc.collect()


def _fit_from(
    step: int, trainer: Trainer, batches: Batches, callbacks: list[keras.callbacks.Callback]
) -> None:
    epoch, done = divmod(step, batches.steps_per_epoch)
    trainer.fit(
        batches.dataset(step),
        initial_epoch=epoch,
        # A resumed training finishes the interrupted epoch in a call of its own.
        epochs=epoch + 1 if done else 1_000_000,
        steps_per_epoch=batches.steps_per_epoch - done,
        callbacks=callbacks,
        shuffle=False,  # the dataset is shuffled already
        verbose=0,
    )


def fit(
    model: Transformer,
    batches: Batches,
    tokenizers: Tokenizers,
    validation: Sequence[Example],
    config: Config,
    folder: Path,
    callbacks: Sequence[keras.callbacks.Callback] = (),
    run_progress: RunProgress | None = None,
) -> Run:
    """Train `model` within a budget and give it the best averaged weights.

    An interrupted training is resumed from the newest readable checkpoint in `folder`. Ctrl-C and
    SIGTERM raise `KeyboardInterrupt` after a checkpoint is saved. The logs of further `callbacks`
    hold `val_bleu` after each validation, and they may set `stop_training`.
    """
    trainer = make_trainer(model, config)
    average = WeightAverage(model.trainable_variables, config.average_decay)
    state = TrainingState(model, trainer.optimizer, average, trainer.step, folder)
    for warning in state.restore():
        print(f"warning: {warning}", file=sys.stderr)

    every = config.average_interval
    budget = Budget(config, state, trainer.schedule, every)
    if first_step := int(state.step.numpy()):
        print(f"Resuming from step {first_step}.", file=sys.stderr)
    run_progress = run_progress or RunProgress({"training": budget.seconds_left})
    if processes.is_primary():
        run_progress.begin("training")
    progress = Progress(batches, budget, run_progress, every)
    saving = Checkpointing(state, budget, every)
    all_callbacks = [
        *trainer.own_callbacks,
        TerminateOnNonFinite(state, every),
        WeightAveraging(average, every),
        *([progress] if processes.is_primary() else []),
        Validation(model, tokenizers, validation, config, average, state, budget),
        *callbacks,
        budget,
        saving,
    ]
    with _freeing_iterators(), _obeying_signals(saving), trainer.compiling(batches, first_step):
        # The best weights are set by a validation, so one batch and one validation always run.
        while not (trainer.stop_training or state.is_past(config.patience)) and (
            not budget.is_used_up() or float(state.best_bleu.numpy()) < 0
        ):
            _fit_from(int(state.step.numpy()), trainer, batches, all_callbacks)
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
