"""Training of a translator, from a corpus to a scored SavedModel: `keras-attn train`."""

from __future__ import annotations

import os
import platform
import sys
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import keras_attn
from keras_attn.cli import next_steps
from keras_attn.translation import presets
from keras_attn.translation.config import Config
from keras_attn.translation.runtime import native_output

# Expected seconds after training on two cores, for the estimate of the remaining time only.
EXPORT_SECONDS, SECONDS_OF_A_TEST_SENTENCE = 50.0, 0.01


def run(given: dict[str, Any]) -> None:
    # Set-up
    start = time.monotonic()
    # The backend of the training, whatever is set elsewhere. All else runs on TensorFlow.
    on_jax = os.environ.get("KERAS_BACKEND") == "jax"
    os.environ["KERAS_BACKEND"] = "jax" if on_jax else "tensorflow"
    if on_jax and find_spec("jax") is None:
        raise ValueError('KERAS_BACKEND=jax needs JAX: pip install "keras_attn[jax]".')
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    # By default TensorFlow uses oneDNN only on processors with AVX-512 or the like, though products
    # are faster with it on others too (benchmarks/results/training.md).
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
    with native_output.hidden():
        import keras
        import tensorflow as tf

        from keras_attn.translation.runtime import devices, threads
        from keras_attn.translation.training.jax import devices as jax_devices
        from keras_attn.translation.training.jax import processes

        threads.one_core_for_each_operation()
        jax_devices.connect()
        devices.open_devices()
    from keras_attn_data import cache

    from keras_attn.translation.batching.batches import Batches
    from keras_attn.translation.corpus.load import load_corpus, load_default_corpus
    from keras_attn.translation.evaluation.documents import export_and_score
    from keras_attn.translation.export import tensorflow_process
    from keras_attn.translation.model import make_model
    from keras_attn.translation.runtime import allocator, precision
    from keras_attn.translation.runtime.run_progress import RunProgress
    from keras_attn.translation.tokenization import tokenizer
    from keras_attn.translation.training import run_folder, tensorboard, warm_start
    from keras_attn.translation.training.fit import fit

    allocator.keep_freed_memory()
    out, board = given.pop("out", None), given.pop("tensorboard", None)
    model_devices = given.pop("model_devices", 1)
    jax_devices.check_model_devices(model_devices)
    callbacks = [tensorboard.Curves(board)] if board else []
    earlier, given = warm_start.inherit(**given)
    wanted = Config(**given)
    wanted.validate()
    out = out or Path("saved_models") / f"{wanted.source}-{wanted.target}"
    if processes.is_primary():
        run_folder.check_writable(out)
    else:
        sys.stdout = open(os.devnull, "w")
    work = out / "training"

    # Text
    load = partial(load_corpus, wanted.data) if "data" in given else load_default_corpus
    pairs = load(source=wanted.source, target=wanted.target, hold_out=wanted.hold_out)
    print(pairs.summary())
    asked = set(given)
    given = {**run_folder.unfinished_settings(work), **given, "data": pairs.name}
    speeds = precision.measure_speeds()
    given.setdefault("precision", precision.fastest(speeds))
    num_accelerators = len(devices.accelerators())
    if on_jax:
        if num_accelerators:  # programs for a processor compile in seconds
            jax_devices.keep_programs(cache.folder() / "programs")
        of_accelerator = presets.FIXED_SHAPES_ON_ACCELERATOR
        given = {**(of_accelerator if num_accelerators else presets.FIXED_SHAPES), **given}
    config = processes.broadcast_from_primary(
        lambda: presets.for_corpus(pairs.num_train, speeds, num_accelerators, **given)
    )
    print(presets.summary(config, asked))
    lock = run_folder.prepare_folder(config, work) if processes.is_primary() else None

    # Tokens
    if earlier and lock:
        warm_start.copy_tokenizers(earlier, work)
    tokenizers = processes.broadcast_from_primary(
        lambda: tokenizer.load_or_train(work, pairs.train, config)
    )

    # Batches
    jax_devices.split_model(model_devices, config, tokenizers.target.vocab_size)
    batched = Batches(pairs.parts, tokenizers, config, jax_devices.shard())
    print(batched.summary())

    # Model
    keras.utils.set_random_seed(config.seed)
    model = make_model(tokenizers.source.vocab_size, tokenizers.target.vocab_size, config)
    if earlier:
        warm_start.copy_weights(earlier, model)

    num_tests = len(pairs.test) + sum(len(one.examples) for one in pairs.held_out)
    stages = {
        "training": 0.0 if config.steps else 60 * config.minutes,
        "export and scoring": EXPORT_SECONDS + SECONDS_OF_A_TEST_SENTENCE * num_tests,
    }
    with RunProgress(stages, start) as progress:
        # Training
        trained = fit(
            model, batched, tokenizers, pairs.validation, config, work, callbacks, progress
        )
        print(trained.summary())

        processes.shutdown()
        if lock is None:  # the first process exports
            return

        # SavedModel
        progress.begin("export and scoring")
        details = {
            "corpus": pairs.counts,
            "credit": pairs.credit,
            "configuration": vars(config),
            "training": {**trained.totals(), "parameters": model.count_params()},
            "date": time.strftime("%Y-%m-%d"),
            "machine": devices.describe(),
            "versions": {
                "keras_attn": keras_attn.__version__,
                "keras": keras.__version__,
                "tensorflow": tf.__version__,
                "Python": platform.python_version(),
            },
        }
        # Score of the exported model, loaded from disk
        version, report = tensorflow_process.call(
            partial(
                export_and_score,
                examples=pairs.test,
                corpora=pairs.test_corpora,
                held_out=pairs.held_out,
                history=trained.history,
                details=details,
            ),
            *(model, tokenizers, config, out),
        )
        if earlier:
            warm_start.copy_origin(earlier, version)
    run_folder.remove(work, lock)
    if report:
        print(report.summary())
    minutes = (time.monotonic() - start) / 60
    print(f"Exported to {version} in {minutes:.1f} minutes in all.")
    print(next_steps(version, pairs.test[0].source))
