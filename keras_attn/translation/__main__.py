"""The translator from the shell: `python -m keras_attn.translation translate MODEL < in > out`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from keras_attn.translation.export.translator import Translator

# Lines read before any of them is answered: enough to sort them by length, little to hold.
LINES_AT_ONCE = 512


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m keras_attn.translation", description="Use an exported translator."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add = _adding_to(commands)
    add(
        "translate",
        "translate standard input to standard output",
        "Reads UTF-8 lines and writes a line for each, in the same order; an empty line stays "
        "empty.",
    )
    add(
        "score",
        "log probabilities of given translations",
        "Reads UTF-8 lines, source TAB translation, and writes the natural logarithm of the "
        "probability of each translation; a line without TAB has an empty one.",
    )
    evaluate = add(
        "evaluate",
        "BLEU, chrF and TER on the test sentences of a corpus",
        "Translates the test split of a corpus and prints scores and samples.",
    )
    evaluate.add_argument("data", help="a corpus, as train.py takes it in --data")
    evaluate.add_argument(
        "--all",
        action="store_true",
        help="all sentences of the corpus, which is a test set: nothing is split or left out",
    )
    evaluate.add_argument("--baseline", type=Path, help="a version to compare with, as reported")
    evaluate.add_argument("--out", type=Path, help="folder to write the report to")
    add("inspect", "what a model was trained on, its sizes and its scores", "Prints them.")
    convert = add(
        "ctranslate2",
        "convert a model for CTranslate2",
        "Writes the weights in the form of that engine, and the tokenizers beside them.",
    )
    convert.add_argument("out", type=Path, help="the folder to write")
    return parser.parse_args(argv)


def _adding_to(commands) -> Callable[[str, str, str], argparse.ArgumentParser]:
    def add(name: str, summary: str, description: str) -> argparse.ArgumentParser:
        parser = commands.add_parser(name, help=summary, description=description)
        parser.add_argument("model", help="an exported version, or the folder of versions")
        return parser

    return add


def answer_lines(
    answer: Callable[[list[str]], Sequence[str]], lines: Iterable[bytes], output: BinaryIO
) -> None:
    """Write the answer to each line, line by line."""
    texts: Iterator[str] = (line.decode("utf-8", "replace").rstrip("\r\n") for line in lines)
    num_done = 0
    while chunk := list(islice(texts, LINES_AT_ONCE)):
        for text in answer(chunk):
            # An answer is one line, whatever the model says.
            output.write(" ".join(text.splitlines()).encode("utf-8") + b"\n")
        output.flush()
        num_done += len(chunk)
        if sys.stderr.isatty():
            print(f"\r{num_done:,} lines", end="", file=sys.stderr, flush=True)


def translate(translator: Translator, arguments: argparse.Namespace) -> None:
    answer_lines(translator, sys.stdin.buffer, sys.stdout.buffer)


def score(translator: Translator, arguments: argparse.Namespace) -> None:
    def scores(lines: list[str]) -> list[str]:
        sides = [line.partition("\t") for line in lines]
        found = translator.score([side[0] for side in sides], [side[2] for side in sides])
        return [f"{value:.4f}" for value in found]

    answer_lines(scores, sys.stdin.buffer, sys.stdout.buffer)


def evaluate(translator: Translator, arguments: argparse.Namespace) -> None:
    from keras_attn.translation.corpus.load import load_corpus, load_test_set
    from keras_attn.translation.evaluation.evaluate import evaluate

    config = translator.config
    languages = config.source, config.target
    if arguments.all:
        examples, details = load_test_set(arguments.data, *languages), {}
    else:
        pairs = load_corpus(arguments.data, *languages)
        examples, details = pairs.test, {"corpus": pairs.counts, "credit": pairs.credit}
    report = evaluate(
        translator, examples, config.target, baseline=arguments.baseline, details=details
    )
    print(report.summary())
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        report.write(arguments.out)


def inspect(translator: Translator, arguments: argparse.Namespace) -> None:
    print(f"model: {translator.folder}")
    path = translator.folder / "report.json"
    if path.is_file():
        report = json.loads(path.read_text(encoding="utf-8"))
        scores = report["scores"]
        print(f"BLEU: {scores['bleu']:.1f} ({scores['bleu_signature']})")
        print(f"chrF: {scores['chrf']:.1f} ({scores['chrf_signature']})")
        for section in ("corpus", "training"):
            for name, value in report["details"].get(section, {}).items():
                print(f"{section}, {name.replace('_', ' ')}: {value}")
        if report["details"].get("credit"):
            print(f"credit: {report['details']['credit']}")
    for name, value in vars(translator.config).items():
        print(f"{name.replace('_', ' ')}: {value}")


def ctranslate2(translator: Translator, arguments: argparse.Namespace) -> None:
    from keras_attn.translation.export import ctranslate2

    ctranslate2.convert(translator.folder, arguments.out)


COMMANDS = {
    "translate": translate,
    "score": score,
    "evaluate": evaluate,
    "inspect": inspect,
    "ctranslate2": ctranslate2,
}


def main(argv: list[str] | None = None) -> int:
    arguments = parse_arguments(argv)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    from keras_attn.translation.export.translator import Translator

    # What is printed is UTF-8 whatever the locale.
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    try:
        translator = Translator.load(arguments.model)
        COMMANDS[arguments.command](translator, arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # Who read the output, such as `head`, has enough; what is still to be flushed goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
