import dataclasses
import itertools
import signal
from types import SimpleNamespace

import keras
import numpy as np
import pytest

from keras_attn.translation.batching.batches import Batches
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.cleaning import Pair
from keras_attn.translation.corpus.slices import Part
from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.model import make_model as build_model
from keras_attn.translation.tokenization import tokenizer
from keras_attn.translation.training import callbacks, sharding, validation
from keras_attn.translation.training.checkpoints import TrainingState, newest_first, read_weights
from keras_attn.translation.training.fit import fit
from keras_attn.translation.training.translation_loss import TranslationLoss

NUMBERS = ["いち", "に", "さん", "よん", "ご", "ろく", "なな", "はち", "きゅう"]


WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


PAIRS = [
    Pair("と".join([a] * n + [b]), " and ".join([x] * n + [y]))
    for n in (1, 4)
    for a, x in zip(NUMBERS, WORDS, strict=True)
    for b, y in zip(NUMBERS, WORDS, strict=True)
]


VALIDATION = [Example(pair.source, (pair.target,)) for pair in PAIRS[:4]]


CONFIG = Config(
    max_pieces=32,
    batch_tokens=256,
    num_encoder_layers=1,
    num_decoder_layers=1,
    num_hiddens=8,
    ffn_num_hiddens=8,
    num_heads=2,
    warmup_steps=10,
    minutes=0.25,
)


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """A time that passes only when it is looked at, so that budgets are the same everywhere."""
    looks = itertools.count()
    fake = SimpleNamespace(monotonic=lambda: 0.2 * next(looks))
    for module in (callbacks, validation):
        monkeypatch.setattr(module, "time", fake)


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory):
    return tokenizer.load_or_train(tmp_path_factory.mktemp("t"), PAIRS, Config(vocab_size=320))


@pytest.fixture
def stream(tokenizers):
    return Batches([lambda: Part(PAIRS, [1.0] * len(PAIRS))], tokenizers, CONFIG)


def make_model(tokenizers):
    keras.utils.set_random_seed(CONFIG.seed)
    return build_model(tokenizers.source.vocab_size, tokenizers.target.vocab_size, CONFIG)


def test_fit_stops_on_budget_with_the_best_averaged_weights_and_one_trace(
    tokenizers, stream, tmp_path, capsys, monkeypatch
):
    traced = []
    of_shard = TranslationLoss.of_shard

    def counting(self, *shard):
        traced.append(None)
        return of_shard(self, *shard)

    monkeypatch.setattr(TranslationLoss, "of_shard", counting)
    monkeypatch.setattr(sharding, "num_shards", lambda batch_tokens: 2)
    model = make_model(tokenizers)
    run = fit(model, stream, tokenizers, VALIDATION, CONFIG, tmp_path)
    assert len(stream.shapes) > 1 and run.epochs > 1
    assert len(traced) == 1  # one graph for batches of every shape and for both shards of each
    assert 60 * CONFIG.minutes - 2 < run.seconds < 60 * CONFIG.minutes + 2
    assert run.tokens_per_second > 0

    printed = capsys.readouterr().err
    assert VALIDATION[0].source in printed
    reported = [float(x.split("BLEU ")[1].split()[0]) for x in printed.splitlines() if "BLEU" in x]
    assert run.validation_bleu == pytest.approx(max(reported), abs=0.051)


def test_a_later_fit_goes_on_from_the_checkpoint(tokenizers, stream, tmp_path, capsys):
    first = fit(make_model(tokenizers), stream, tokenizers, VALIDATION, CONFIG, tmp_path)
    longer = dataclasses.replace(CONFIG, minutes=2 * CONFIG.minutes)
    watch = keras.callbacks.Callback()
    second = fit(
        make_model(tokenizers), stream, tokenizers, VALIDATION, longer, tmp_path, callbacks=[watch]
    )
    assert f"Resuming from step {first.steps}." in capsys.readouterr().err
    assert second.steps > first.steps
    assert int(watch.model.optimizer.iterations.numpy()) == second.steps
    assert second.seconds > first.seconds
    assert second.validation_bleu >= first.validation_bleu


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_ctrl_c_and_sigterm_stop_between_batches_with_a_checkpoint(
    tokenizers, stream, tmp_path, number
):
    class Interrupt(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            if batch == 2:
                signal.raise_signal(number)

    model = make_model(tokenizers)
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt):
        fit(model, stream, tokenizers, VALIDATION, CONFIG, tmp_path, callbacks=[Interrupt()])
    assert signal.getsignal(number) is before
    assert newest_first(tmp_path)[0].name == "checkpoint-3"

    # Before a first validation; with no time left it goes on to one.
    less = dataclasses.replace(CONFIG, minutes=0.001)
    run = fit(make_model(tokenizers), stream, tokenizers, VALIDATION, less, tmp_path)
    assert run.steps == 4
    assert [reached.bleu for reached in run.history] == [run.validation_bleu]


def test_ctrl_c_after_the_last_batch_is_not_lost(tokenizers, stream, tmp_path):
    press = keras.callbacks.LambdaCallback(
        on_train_end=lambda logs: signal.raise_signal(signal.SIGINT)
    )
    config = dataclasses.replace(CONFIG, steps=2)
    with pytest.raises(KeyboardInterrupt):
        fit(make_model(tokenizers), stream, tokenizers, VALIDATION, config, tmp_path, [press])


class Spoil(keras.callbacks.Callback):
    """Make a weight NaN at the end of a batch."""

    def __init__(self, step):
        super().__init__()
        self._step = step

    def on_train_batch_end(self, batch, logs=None):
        if int(self.model.step.numpy()) == self._step:
            self.model.model.trainable_variables[0].assign_add([[float("nan")]])


@pytest.mark.parametrize(
    ("batches_of_second_epoch", "reason"), [(1, "the loss is nan"), (0, "some weights are not")]
)
def test_a_training_that_diverges_ends_in_one_sentence_and_keeps_the_last_checkpoint(
    tokenizers, stream, tmp_path, batches_of_second_epoch, reason
):
    # Weights may be spoilt by the last batch of an epoch: no loss shows it before the validation.
    step = 2 * stream.steps_per_epoch - batches_of_second_epoch
    config = dataclasses.replace(CONFIG, steps=100)
    with pytest.raises(ValueError, match=f"Training diverged.*{reason}") as error:
        fit(make_model(tokenizers), stream, tokenizers, VALIDATION, config, tmp_path, [Spoil(step)])
    assert "\n" not in str(error.value)
    kept = newest_first(tmp_path)
    assert [path.name for path in kept] == [f"checkpoint-{stream.steps_per_epoch}"]
    assert f"keeps {kept[0].name}" in str(error.value)
    for values in read_weights(tmp_path).values():
        assert np.isfinite(values).all()


def test_a_callback_can_end_the_training(tokenizers, stream, tmp_path):
    class Stop(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            self.model.stop_training = batch == 2

    config = dataclasses.replace(CONFIG, steps=100)
    run = fit(make_model(tokenizers), stream, tokenizers, VALIDATION, config, tmp_path, [Stop()])
    assert run.steps == 3 and len(run.history) == 1


def test_time_that_runs_out_in_a_validation_costs_no_further_batch(
    tokenizers, stream, tmp_path, monkeypatch
):
    late = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: monkeypatch.setattr(
            callbacks.time, "monotonic", lambda: 1e6
        )
    )
    config = dataclasses.replace(CONFIG, minutes=60)
    run = fit(make_model(tokenizers), stream, tokenizers, VALIDATION, config, tmp_path, [late])
    assert run.steps == stream.steps_per_epoch and len(run.history) == 1


def test_fit_trains_as_many_steps_as_are_asked_for_whatever_the_time(tokenizers, stream, tmp_path):
    steps = 2 * stream.steps_per_epoch + 1
    config = dataclasses.replace(CONFIG, minutes=0.001, steps=steps)
    model, watch = make_model(tokenizers), keras.callbacks.Callback()
    run = fit(model, stream, tokenizers, VALIDATION, config, tmp_path, callbacks=[watch])
    assert run.steps == steps
    assert (
        float(watch.model.optimizer.learning_rate) < CONFIG.learning_rate / 10
    )  # it has cooled down


def test_patience_ends_training(tokenizers, stream, tmp_path, monkeypatch):
    monkeypatch.setattr(TrainingState, "keep_if_best", count_as_worse)
    config = dataclasses.replace(CONFIG, steps=100 * stream.steps_per_epoch, patience=2)
    run = fit(make_model(tokenizers), stream, tokenizers, VALIDATION, config, tmp_path)
    assert run.epochs == 2


def count_as_worse(state, bleu, averages):
    state.num_worse.assign_add(1)
    return False


def test_accumulated_batches_make_one_step(tokenizers, stream, tmp_path):
    model = make_model(tokenizers)
    model.build(((None, None), (None, None)))
    weights = [model.get_weights()]
    watch = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: weights.append(model.get_weights())
    )
    config = dataclasses.replace(CONFIG, steps=8, accumulate=4)
    run = fit(model, stream, tokenizers, VALIDATION, config, tmp_path, callbacks=[watch])
    assert run.steps == 8
    changes = [
        any((now != then).any() for now, then in zip(after, before, strict=True))
        for before, after in itertools.pairwise(weights)
    ]
    assert changes == [False, False, False, True] * 2


def test_further_callbacks_are_told_the_loss_and_the_validation_bleu(tokenizers, stream, tmp_path):
    ends = []
    callback = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: ends.append(logs))
    config = dataclasses.replace(CONFIG, steps=2 * stream.steps_per_epoch)
    model = make_model(tokenizers)
    run = fit(model, stream, tokenizers, VALIDATION, config, tmp_path, callbacks=[callback])
    assert [logs["val_bleu"] for logs in ends] == [reached.bleu for reached in run.history]
    assert [logs["loss"] for logs in ends] == [reached.loss for reached in run.history]
