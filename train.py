"""Train a Japanese to English Transformer and export it as a SavedModel: `python train.py`."""

from __future__ import annotations

import argparse
import os
import platform
import runpy
import sys
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    # Run as files: an import of their package imports TensorFlow, and --help must not wait for it.
    package = Path(find_spec("keras_attn").origin)  # type: ignore[union-attr, arg-type]
    folder = package.parent / "translation"
    config, flags = (runpy.run_path(str(folder / f"{name}.py")) for name in ("config", "flags"))
    return flags["make_parser"](config["Config"]).parse_args(argv)


def run(given: dict[str, Any]) -> None:
    # Set-up
    start = time.monotonic()
    # The backend of the training, whatever is set elsewhere. All else runs on TensorFlow.
    on_jax = os.environ.get("KERAS_BACKEND") == "jax"
    os.environ["KERAS_BACKEND"] = "jax" if on_jax else "tensorflow"
    if on_jax and find_spec("jax") is None:
        raise ValueError("KERAS_BACKEND=jax needs the package jax: pip install keras_attn[jax].")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    # By default TensorFlow uses oneDNN only on processors with AVX-512 or the like, though products
    # are faster with it on others too (benchmarks/results/training.md).
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
    import keras

    from keras_attn.translation import presets
    from keras_attn.translation.batching.batches import Batches
    from keras_attn.translation.config import Config
    from keras_attn.translation.corpus.load import load_corpus, load_default_corpus
    from keras_attn.translation.export import tensorflow_process
    from keras_attn.translation.export.publish import publish
    from keras_attn.translation.machine import allocator, precision, processes, streams, threads
    from keras_attn.translation.model import make_model
    from keras_attn.translation.tokenization import tokenizer
    from keras_attn.translation.training import run_folder, tensorboard, warm_start
    from keras_attn.translation.training.fit import fit

    streams.print_utf8()
    allocator.keep_freed_memory()
    threads.one_core_for_each_operation()
    processes.join()
    out, board = given.pop("out", None), given.pop("tensorboard", None)
    callbacks = [tensorboard.Curves(board)] if board else []
    earlier, given = warm_start.inherit(**given)
    wanted = Config(**given)
    wanted.validate()
    out = out or Path("saved_models") / f"{wanted.source}-{wanted.target}"
    if processes.is_first():
        run_folder.check_writable(out)
    else:
        sys.stdout = open(os.devnull, "w")
    work = out / "training"

    # Text
    load = partial(load_corpus, wanted.data) if "data" in given else load_default_corpus
    pairs = load(source=wanted.source, target=wanted.target, hold_out=wanted.hold_out)
    print(pairs.summary())
    given = {**run_folder.unfinished_settings(work), **given, "data": pairs.name}
    given.setdefault("precision", precision.fastest())
    given = {**(presets.FIXED_SHAPES if on_jax else {}), **given}
    config = processes.by_first(lambda: presets.for_corpus(pairs.num_train, **given))
    print(f"Configuration: {config}")
    lock = run_folder.prepare_folder(config, work) if processes.is_first() else None

    # Tokens
    if earlier and lock:
        warm_start.copy_tokenizers(earlier, work)
    tokenizers = processes.by_first(lambda: tokenizer.load_or_train(work, pairs.train, config))

    # Batches
    batched = Batches(pairs.parts, tokenizers, config, processes.shard())
    print(batched.summary())

    # Model
    keras.utils.set_random_seed(config.seed)
    model = make_model(tokenizers.source.vocab_size, tokenizers.target.vocab_size, config)
    if earlier:
        warm_start.copy_weights(earlier, model)

    # Training
    trained = fit(model, batched, tokenizers, pairs.validation, config, work, callbacks)
    print(trained.summary())

    processes.leave()
    if lock is None:  # the first process exports
        return

    # SavedModel, and the score of the exported model, loaded from disk
    scored = {
        "examples": pairs.test,
        "history": trained.history,
        "corpora": pairs.test_corpora,
        "held_out": pairs.held_out,
        "details": {
            "corpus": pairs.counts,
            "credit": pairs.credit,
            "configuration": vars(config),
            "training": {**trained.totals(), "parameters": model.count_params()},
            "machine": f"{platform.machine()}, {threads.num_cores()} CPU cores",
        },
    }
    version, report = tensorflow_process.call(publish, model, tokenizers, config, out, scored)
    run_folder.remove(work, lock)
    if report:
        print(report.summary())
    minutes = (time.monotonic() - start) / 60
    print(f"Exported to {version} in {minutes:.1f} minutes in all.")


def main(argv: list[str] | None = None) -> int:
    given = vars(parse_arguments(argv))
    try:
        run(given)
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nInterrupted. Run the same command again to resume.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
