"""Training of a translator, from a corpus to a scored SavedModel: `keras-attn train`."""

import platform
import time
from functools import partial
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

import keras_attn
from keras_attn.cli import next_steps
from keras_attn.translation import lexicon, presets
from keras_attn.translation.batching.batches import Batches
from keras_attn.translation.batching.masking import MaskedParts
from keras_attn.translation.config import Config
from keras_attn.translation.corpus import sources
from keras_attn.translation.corpus.load import Corpus, load_corpus, load_default_corpus
from keras_attn.translation.evaluation.documents import export_and_score
from keras_attn.translation.export import tensorflow_process
from keras_attn.translation.model import make_model
from keras_attn.translation.runtime import allocator
from keras_attn.translation.runtime.devices import describe
from keras_attn.translation.runtime.run_progress import RunProgress
from keras_attn.translation.tokenization import tokenizer
from keras_attn.translation.tokenization.tokenizer import Tokenizers
from keras_attn.translation.training import (
    configuration,
    lexical_start,
    run_folder,
    tensorboard,
    warm_start,
)
from keras_attn.translation.training.fit import Run, fit
from keras_attn.translation.training.jax import devices, processes

# Expected seconds after training on two cores, for the estimate of the remaining time only.
EXPORT_SECONDS, SECONDS_OF_A_TEST_SENTENCE = 50.0, 0.01


def run(arguments: dict[str, Any], start_time: float) -> None:
    """Train, export and score a translator, by the given flags of `keras-attn train`."""
    # Set-up
    asked = configuration.read_arguments(arguments)
    callbacks = [tensorboard.Curves(asked.board)] if asked.board else []

    # Text
    pairs = _read_corpus(asked.fields)
    print(pairs.summary())
    config = configuration.choose(asked, pairs.name, pairs.num_train)
    print(presets.summary(config, asked.fields))
    lock = run_folder.prepare_folder(config, asked.work) if processes.is_primary() else None

    # Tokens
    masked = MaskedParts(pairs.parts, config)  # begins in a thread
    if asked.earlier and lock:
        warm_start.copy_tokenizers(asked.earlier, asked.work)
    tokenizers = processes.broadcast_from_primary(
        lambda: tokenizer.load_or_train(asked.work, pairs.train, config)
    )

    # Batches
    devices.split_model(asked.model_devices, config, tokenizers.target.vocab_size)
    readings = sources.readings(config.data) if config.noise else {}
    parts = masked.for_tokenizers(tokenizers)
    batches = Batches(parts, tokenizers, config, devices.shard(), readings)
    print(batches.summary())
    config = presets.with_length_limit(config, batches.lengths, asked.fields)

    # Model
    keras.utils.set_random_seed(config.seed)
    model = make_model(tokenizers.source.vocab_size, tokenizers.target.vocab_size, config)
    if asked.earlier:
        warm_start.copy_weights(asked.earlier, model)
    else:
        lexical_start.apply(model, batches.sides, config.seed)

    with RunProgress(_expected_seconds(config, pairs), start_time) as progress:
        # Training
        trained = fit(
            model, batches, tokenizers, pairs.validation, config, asked.work, callbacks, progress
        )
        print(trained.summary())
        processes.shutdown()
        if lock is None:  # the first process exports
            return

        # SavedModel
        progress.begin("export and scoring")
        words = _lexicon(asked.earlier, batches, tokenizers, config)
        export = partial(export_and_score, lexicon=words, **_scoring(config, pairs, trained, model))
        version, report = tensorflow_process.call(export, model, tokenizers, config, asked.out)
        warm_start.copy_origin(asked.earlier, version)
    run_folder.remove(asked.work, lock)

    # Score (of the exported model, loaded from disk)
    if report:
        print(report.summary())
    print(f"Exported to {version} in {(time.monotonic() - start_time) / 60:.1f} minutes in all.")
    print(next_steps(version, pairs.test[0].source))


@allocator.without_collector()
def _read_corpus(fields: dict[str, Any]) -> Corpus:
    wanted = vars(Config(**fields))
    read = partial(load_corpus, wanted["data"]) if "data" in fields else load_default_corpus
    return read(**{name: wanted[name] for name in ("source", "target", "hold_out", "validation")})


def _lexicon(
    earlier: Path | None, batches: Batches, tokenizers: Tokenizers, config: Config
) -> lexicon.Lexicon | None:
    """Lexicon of the training pairs; that of the earlier version, if any, which may have none."""
    if warm_start.is_version(earlier):  # its pairs were more, or its pieces have another order
        return warm_start.read_lexicon(earlier)
    sizes = [side.vocab_size for side in tokenizers]
    return lexicon.learn(batches.sides, sizes, config.seed)


def _expected_seconds(config: Config, pairs: Corpus) -> dict[str, float]:
    """Seconds of each stage."""
    num_tests = len(pairs.test) + sum(len(one.examples) for one in pairs.held_out)
    return {
        "training": 0.0 if config.steps else 60 * config.minutes,
        "export and scoring": EXPORT_SECONDS + SECONDS_OF_A_TEST_SENTENCE * num_tests,
    }


def _scoring(config: Config, pairs: Corpus, trained: Run, model: keras.Model) -> dict[str, Any]:
    """Test sentences, and the details of the report."""
    return {
        "validation": pairs.validation,
        "examples": pairs.test,
        "corpora": pairs.test_corpora,
        "held_out": pairs.held_out,
        "history": trained.history,
        "details": {
            "corpus": pairs.counts,
            "credit": pairs.credit,
            "configuration": vars(config),
            "training": {**trained.totals(), "parameters": model.count_params()},
            "date": time.strftime("%Y-%m-%d"),
            "machine": describe(),
            "versions": {
                "keras_attn": keras_attn.__version__,
                "keras": keras.__version__,
                "tensorflow": tf.__version__,
                "Python": platform.python_version(),
            },
        },
    }
