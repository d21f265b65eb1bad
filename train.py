"""Train a Japanese to English Transformer and export it as a SavedModel: `python train.py`."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import time
from pathlib import Path
from typing import Any


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Trains a translator on a corpus, exports it as a SavedModel and scores what "
        "it exported. Interrupted training goes on when the same command is given again.",
        epilog="What is not given is chosen by the size of the corpus and the time, and printed.",
        argument_default=argparse.SUPPRESS,
    )
    where = parser.add_argument_group("corpus and model")
    where.add_argument(
        "--data",
        help="everyday, tatoeba, tfds:NAME, a TSV file, or two files and a comma; several of them "
        "as 'tatoeba + own.tsv=3', with weights",
    )
    where.add_argument("--source", help="language of the source text, such as ja")
    where.add_argument("--target", help="language of the target text, such as en")
    where.add_argument(
        "--out", type=Path, help="folder for the model's versions (saved_models/SOURCE-TARGET)"
    )
    where.add_argument(
        "--start-from", help="a model to go on with: an exported one, or the folder of a training"
    )
    where.add_argument("--tensorboard", type=Path, help="folder for curves that TensorBoard draws")
    how = parser.add_argument_group("training")
    how.add_argument("--minutes", type=float, help="training time")
    how.add_argument(
        "--steps", type=int, help="batches to train on instead, however long they take"
    )
    how.add_argument(
        "--patience", type=int, help="stop after so many epochs without a better validation BLEU"
    )
    how.add_argument(
        "--seed", type=int, help="the same, with --steps and --precision, gives the same model"
    )
    how.add_argument(
        "--precision", choices=("float32", "bfloat16"), help="of the computation (the faster one)"
    )
    how.add_argument("--batch-tokens", type=int, help="source and target tokens of a batch")
    how.add_argument("--accumulate", type=int, help="batches that make one step together")
    how.add_argument("--learning-rate", type=float, help="highest learning rate")
    how.add_argument("--warmup-steps", type=int, help="batches until it is reached")
    how.add_argument("--label-smoothing", type=float)
    how.add_argument("--dropout", type=float)
    search = parser.add_argument_group("search of the exported model")
    search.add_argument("--beam-size", type=int, help="hypotheses followed; 1 is greedy search")
    search.add_argument("--length-penalty", type=float, help="exponent; 0 prefers short ones")
    search.add_argument("--min-length-ratio", type=float, help="shortest translation by source")
    search.add_argument("--max-length-ratio", type=float, help="longest translation by source")
    search.add_argument("--no-repeat-ngram", type=int, help="pieces in a row never said twice")
    search.add_argument(
        "--serving-precision",
        choices=("float32", "bfloat16"),
        help="of its products; bfloat16 is faster for batches where the processor has it",
    )
    sizes = parser.add_argument_group("sizes")
    sizes.add_argument("--vocab-size", type=int, help="pieces of each language")
    sizes.add_argument("--tokenizer", choices=("unigram", "bpe"), help="how pieces are found")
    sizes.add_argument(
        "--shared-vocab",
        action=argparse.BooleanOptionalAction,
        help="one tokenizer for both languages",
    )
    sizes.add_argument(
        "--subword-alpha",
        type=float,
        help="cut words anew in each batch: 0.1 to 0.5 for unigram, 0.1 for BPE, 0 never",
    )
    sizes.add_argument("--max-pieces", type=int, help="longest sentence in pieces")
    sizes.add_argument("--num-encoder-layers", type=int)
    sizes.add_argument("--num-decoder-layers", type=int)
    sizes.add_argument("--num-hiddens", type=int, help="width of the model")
    sizes.add_argument("--ffn-num-hiddens", type=int, help="width of the feed-forward networks")
    sizes.add_argument("--num-heads", type=int, help="attention heads")
    return parser.parse_args(argv)


def run(given: dict[str, Any]) -> None:
    start = time.monotonic()
    # Here and not above: TensorFlow takes seconds to import, and --help should not.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    # By itself TensorFlow uses oneDNN only where the processor has AVX-512 or the like, though
    # products are faster with it elsewhere too (benchmarks/results/training.md).
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
    import keras

    from keras_attn import Transformer
    from keras_attn.translation import versions
    from keras_attn.translation.batching import batches
    from keras_attn.translation.config import Config
    from keras_attn.translation.corpus.load import load_corpus
    from keras_attn.translation.evaluation.evaluate import evaluate
    from keras_attn.translation.export import figures, model_card, saved_model
    from keras_attn.translation.export.translator import Translator
    from keras_attn.translation.machine import allocator, precision, threads
    from keras_attn.translation.tokenization import tokenizer
    from keras_attn.translation.training import run_folder, tensorboard, warm_start
    from keras_attn.translation.training.fit import fit

    allocator.keep_freed_memory()
    threads.one_core_for_each_operation()
    out, board = given.pop("out", None), given.pop("tensorboard", None)
    callbacks = [tensorboard.Curves(board)] if board else []
    earlier, given = warm_start.inherit(**given)
    wanted = Config(**given)
    wanted.validate()
    out = out or Path("saved_models") / f"{wanted.source}-{wanted.target}"
    check_writable(out)

    # Text
    pairs = load_corpus(wanted.data, wanted.source, wanted.target)
    print(pairs.summary())
    work = out / "training"
    given = {**run_folder.unfinished_settings(work), **given}
    if "precision" not in given:
        given["precision"] = precision.fastest()
    config = Config.for_corpus(pairs.num_train, **given)
    print(f"Configuration: {config}")
    lock = run_folder.prepare_folder(config, work)

    # Tokens
    if earlier:
        warm_start.copy_tokenizers(earlier, work)
    tokenizers = tokenizer.load_or_train(work, pairs.train, config)

    # Batches
    batched = batches.make(pairs.parts, tokenizers, config)
    print(batched.summary())

    # Model
    keras.utils.set_random_seed(config.seed)
    model = Transformer.from_sizes(
        tokenizers.source.vocab_size,
        tokenizers.target.vocab_size,
        **config.layer_sizes(),
        dtype=config.dtype_policy,
    )
    model.build(((None, None), (None, None)))
    if earlier:
        warm_start.copy_weights(earlier, model)
    trained = fit(model, batched, tokenizers, pairs.validation, config, work, callbacks)
    print(trained.summary())

    # SavedModel
    version = saved_model.export(model, tokenizers, config, out)

    # Score: of what was exported, loaded anew
    translator = Translator.load(version)
    report = evaluate(
        translator,
        pairs.test,
        config.target,
        baseline=versions.version_before(version),
        history=trained.history,
        details={
            "corpus": pairs.counts,
            "credit": pairs.credit,
            "configuration": vars(config),
            "training": {**trained.totals(), "parameters": model.count_params()},
            "machine": f"{platform.machine()}, {threads.num_cores()} CPU cores",
        },
    )
    if figures.can_be_drawn():
        figures.draw(version, translator, pairs.test[0].source, trained.history)
    report.write(version)
    model_card.write(version, config, report)
    lock.close()
    shutil.rmtree(work)  # a finished training has nothing to go on with
    print(report.summary())
    print(f"Exported to {version} in {(time.monotonic() - start) / 60:.1f} minutes in all.")


def check_writable(folder: Path) -> None:
    """Find out before training, not after."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ValueError(
            f"`--out` must be a folder that can be written. Received: {folder} ({error.strerror})."
        ) from error


def main(argv: list[str] | None = None) -> int:
    given = vars(parse_arguments(argv))
    try:
        run(given)
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nInterrupted. The same command goes on from here.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
