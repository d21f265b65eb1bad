"""Commands that use an exported translator: `keras-attn translate MODEL < in > out`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from keras_attn.command_line import add_version, form
from keras_attn.extras import missing
from keras_attn.translation.corpus.cleaning import Pair, script_fault
from keras_attn.translation.corpus.lines import utf8_lines
from keras_attn.translation.importing import command as import_command
from keras_attn.translation.runtime import native_output, streams
from keras_attn.translation.versions import EXTRA, ORIGIN

if TYPE_CHECKING:
    from keras_attn.translation.export.translator import Translator

# Number of lines processed together: enough to sort by length, few enough to fit in memory.
LINES_AT_ONCE = 512


def make_parser(prog: str = "python -m keras_attn.translation") -> argparse.ArgumentParser:
    """Parser of all commands; `prog` is the start of the command line."""
    parser = argparse.ArgumentParser(
        prog, **form("Use an exported translator.", f"{prog} translate saved_models/ja-en 猫だ。")
    )
    add_version(parser)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add_commands(commands, prog)
    return parser


def add_commands(commands: Any, prog: str) -> None:
    """Add a parser for each command.

    Args:
        commands: Result of `add_subparsers`.
        prog: Start of the command line, for examples.
    """
    add = _adding_to(commands, prog)
    translate = add(
        "translate",
        "translate given texts, or standard input to standard output",
        "Writes one translation for each given text, or for each UTF-8 line of standard input, in "
        "the same order. The translation of an empty line is empty. A text may have several "
        "sentences and, as an argument, several lines.",
        "昨日、友達と映画を見ました。",
        "--term 木村=Kimura 木村さんに会いました。",
        "--mark-uncertain < japanese.txt > english.txt",
    )
    translate.add_argument(
        "texts", nargs="*", metavar="TEXT", help="text (default: the lines of standard input)"
    )
    translate.add_argument(
        "--term",
        action="append",
        default=[],
        metavar="TERM=TRANSLATION",
        help="translate a term as given, for example 木村=Kimura; without '=' the term is kept; "
        "may be given several times (default: none)",
    )
    translate.add_argument(
        "--glossary",
        type=Path,
        metavar="FILE",
        help="file of lines `term TAB translation` (default: none)",
    )
    translate.add_argument(
        "--mark-uncertain",
        action="store_true",
        help="write '? ' before translations that the model is not sure of (default: no)",
    )
    add(
        "score",
        "log probabilities of given translations",
        "Reads UTF-8 lines `source TAB translation` from standard input and writes the natural "
        "logarithm of the probability of each translation. A line without TAB is a source with an "
        "empty translation. Further columns are ignored.",
        "< pairs.tsv > log_probabilities.txt",
    )
    evaluate = add(
        "evaluate",
        "BLEU, chrF, TER and accuracy of numbers and copies on the test sentences of a corpus",
        "Translates the test split of a corpus and prints scores and samples.",
        "tatoeba",
        "my_test_set.tsv --all --out my_report",
    )
    evaluate.add_argument("data", metavar="CORPUS", help="corpus, in the form of --data of train")
    evaluate.add_argument(
        "--all",
        action="store_true",
        help="evaluate on all sentences of the corpus, without cleaning or splitting (default: no)",
    )
    evaluate.add_argument(
        "--baseline",
        type=Path,
        metavar="FOLDER",
        help="folder of an earlier version or report to compare with (default: none)",
    )
    evaluate.add_argument(
        "--out", type=Path, metavar="FOLDER", help="folder to write the report to (default: none)"
    )
    add(
        "inspect",
        "print training data, configuration and scores of a model",
        "Prints the scores, training data and configuration of a model.",
        "",
    )
    convert = add(
        "ctranslate2",
        "convert a model to CTranslate2",
        "Writes the weights and the tokenizers of a model in the format of CTranslate2.",
        "ja-en-ctranslate2",
    )
    convert.add_argument("out", type=Path, metavar="FOLDER", help="folder to write; must not exist")
    import_command.add(commands, prog)


def _adding_to(commands: Any, prog: str) -> Callable[..., argparse.ArgumentParser]:
    def add(name: str, summary: str, description: str, *examples: str) -> argparse.ArgumentParser:
        lines = [f"{prog} {name} saved_models/ja-en {example}".rstrip() for example in examples]
        parser = commands.add_parser(name, help=summary, **form(description, *lines))
        parser.add_argument(
            "model", metavar="MODEL", help="folder of an exported version, or of all versions"
        )
        return parser

    return add


def parse_arguments(
    argv: list[str] | None = None, parser: argparse.ArgumentParser | None = None
) -> argparse.Namespace:
    parser = parser or make_parser()
    arguments, others = parser.parse_known_args(argv)
    # argparse takes no texts after a flag that follows the model.
    if others and (arguments.command != "translate" or others[0].startswith("-")):
        parser.error(f"unrecognized arguments: {' '.join(others)}")
    if others:
        arguments.texts += others
    return arguments


def answer_lines(
    answer: Callable[[list[str]], Sequence[str]],
    lines: Iterable[bytes],
    output: BinaryIO,
    at_once: int = LINES_AT_ONCE,
) -> None:
    """Write one answer for each input line, in the same order, after each `at_once` lines."""
    texts = _decoded(lines)
    num_done = 0
    while chunk := list(islice(texts, at_once)):
        for text in answer(chunk):
            # Line breaks in an answer become spaces, so that lines correspond.
            output.write(" ".join(text.splitlines()).encode("utf-8") + b"\n")
        output.flush()
        num_done += len(chunk)
        if at_once > 1 and sys.stderr.isatty():
            print(f"\r{num_done:,} lines", end="", file=sys.stderr, flush=True)


def _decoded(lines: Iterable[bytes]) -> Iterator[str]:
    """Texts of lines; the first one that is not UTF-8 causes a warning."""
    has_warned = False
    for number, line in enumerate(lines, 1):
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if not has_warned and text.encode("utf-8") != line.rstrip(b"\r\n"):
            has_warned = True
            _warn(f"line {number} is not UTF-8; invalid bytes are read as U+FFFD.")
        yield text


def _warn(sentence: object) -> None:
    print(f"warning: {sentence}", file=sys.stderr)


def _answer_input(answer: Callable[[list[str]], Sequence[str]]) -> None:
    # Somebody who types wants each answer at once.
    at_once = 1 if sys.stdin.isatty() else LINES_AT_ONCE
    answer_lines(answer, utf8_lines(sys.stdin.buffer), sys.stdout.buffer, at_once)


def translate(translator: Translator, arguments: argparse.Namespace) -> None:
    glossary = _glossary(arguments)
    if glossary and arguments.mark_uncertain:
        raise ValueError("`--mark-uncertain` must be given without a glossary. Received: both.")

    def answer(texts: list[str]) -> list[str]:
        if not arguments.mark_uncertain:
            return translator(texts, glossary=glossary)
        best = [hypotheses[0] for hypotheses in translator.nbest(texts)]
        return [f"? {one.translation}" if one.is_uncertain else one.translation for one in best]

    if arguments.texts:
        for text in answer(list(_decoded(map(os.fsencode, arguments.texts)))):
            print(text)  # with the line breaks of the given text
    else:
        _answer_input(answer)


def _glossary(arguments: argparse.Namespace) -> dict[str, str]:
    """Terms with their translations, of `--glossary` and `--term`; a term alone is kept."""
    lines = [term.replace("=", "\t", 1) for term in arguments.term]
    if arguments.glossary:
        with arguments.glossary.open("rb") as file:
            lines = [*_decoded(utf8_lines(file)), *lines]
    rows = [[part.strip() for part in line.split("\t")] for line in lines if line.strip()]
    for row in rows:
        if not row[0]:
            raise ValueError(f"A term of the glossary must not be empty. Received: {row!r}.")
    return {term: (*translation, term)[0] for term, *translation in rows}


def score(translator: Translator, arguments: argparse.Namespace) -> None:
    config = translator.config
    warned = False

    def scores(lines: list[str]) -> list[str]:
        nonlocal warned
        pairs = [Pair(*[*line.split("\t"), ""][:2]) for line in lines]
        if not warned and (fault := script_fault(pairs, config.source, config.target)):
            warned = True
            _warn(fault)
        sources, translations = zip(*pairs, strict=True)
        return [f"{value:.4f}" for value in translator.score(sources, translations)]

    _answer_input(scores)


def evaluate(translator: Translator, arguments: argparse.Namespace) -> None:
    from keras_attn.translation.corpus.load import load_corpus, load_test_set
    from keras_attn.translation.evaluation.evaluate import evaluate
    from keras_attn.translation.evaluation.report_files import check_baseline, write

    config = translator.config
    languages = config.source, config.target
    if arguments.all:
        examples, corpora, details = load_test_set(arguments.data, *languages), None, {}
        fault = script_fault([Pair(e.source, e.references[0]) for e in examples], *languages)
        complaints = [fault] if fault else []
    else:
        pairs = load_corpus(arguments.data, *languages)
        examples, corpora = pairs.test, pairs.test_corpora
        details = {"corpus": pairs.counts, "credit": pairs.credit}
        complaints = list(pairs.warnings)
    for sentence in complaints:
        _warn(sentence)
    # Checked before the translation, which takes minutes.
    if arguments.baseline:
        check_baseline(arguments.baseline, [example.source for example in examples])
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
    report = evaluate(
        translator,
        examples,
        config.target,
        baseline=arguments.baseline,
        corpora=corpora,
        details=details,
    )
    try:
        if arguments.out:
            write(report, arguments.out)
    finally:
        print(report.summary())


def inspect(translator: Translator, arguments: argparse.Namespace) -> None:
    print(f"model: {translator.folder}")
    path = translator.folder / "report.json"
    if path.is_file():
        try:
            print("\n".join(_results(json.loads(path.read_text(encoding="utf-8")))))
        except (ValueError, LookupError, TypeError, AttributeError):
            _warn(f"`{path}` is no report and is left out.")
    origin = translator.folder / EXTRA / ORIGIN
    if origin.is_file():
        for name, value in json.loads(origin.read_text(encoding="utf-8")).items():
            print(f"origin, {name}: {value or 'not stated'}")
    for name, value in vars(translator.config).items():
        print(f"{name.replace('_', ' ')}: {value}")


def _results(report: dict[str, Any]) -> Iterator[str]:
    """Lines with the scores and the training data in a report."""
    scores, details = report["scores"], report["details"]
    yield f"BLEU: {scores['bleu']:.1f} ({scores['bleu_signature']})"
    yield f"chrF: {scores['chrf']:.1f} ({scores['chrf_signature']})"
    for section in ("corpus", "training"):
        for name, value in details.get(section, {}).items():
            yield f"{section}, {name.replace('_', ' ')}: {value}"
    if details.get("credit"):
        yield f"credit: {details['credit']}"


def ctranslate2(translator: Translator, arguments: argparse.Namespace) -> None:
    from keras_attn.translation.export import ctranslate2

    ctranslate2.convert(translator.folder, arguments.out)


COMMANDS = {
    "translate": translate,
    "score": score,
    "evaluate": evaluate,
    "inspect": inspect,
    "ctranslate2": ctranslate2,
}  # those of an exported model


def main(argv: list[str] | None = None, parser: argparse.ArgumentParser | None = None) -> int:
    arguments = parse_arguments(argv, parser)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    streams.print_utf8()
    try:
        with native_output.hidden():
            from keras_attn.translation.export.translator import Translator
            from keras_attn.translation.runtime import devices

            devices.open_devices()
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: _warn(message)
            if arguments.command == "import-marian":
                import_command.run(arguments)
            else:
                translator = Translator.load(arguments.model)
        if arguments.command in COMMANDS:
            COMMANDS[arguments.command](translator, arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output, such as `head`, has closed it. Discard the remaining output, so
        # that the flush at exit does not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except ModuleNotFoundError as error:
        print(f"error: {missing(str(error.name), 'translation')}", file=sys.stderr)
        return 2
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
