"""Commands of the translator: each a function, whose arguments `commands.json` describes."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_attn.cli import add_command, warn
from keras_attn.options import add_flags, add_help_all, add_old_flags
from keras_attn.translation.config import RENAMED, Config
from keras_attn.translation.corpus.cleaning import wrong_script_message
from keras_attn.translation.corpus.files import utf8_lines
from keras_attn.translation.corpus.pairs import Pair
from keras_attn.translation.line_filter import answer_input, decoded
from keras_attn.translation.remarks import Remarks
from keras_attn.translation.runtime import native_output
from keras_attn.translation.versions import EXTRA, ORIGIN

if TYPE_CHECKING:
    from keras_attn.translation.export.translator import Translator

# Summary, details, examples and arguments of each command, by the name of its function. Of the
# options of `train`, `--help` lists the `common` ones; `--help-all` lists the others too.
PAGES = json.loads(Path(__file__).with_name("commands.json").read_text(encoding="utf-8"))


def _add(function: Callable[..., None], commands: Any) -> argparse.ArgumentParser:
    """Add a command as `commands.json` describes it."""
    page = PAGES[function.__name__]
    texts = page["summary"], page["details"], *page["examples"]
    parser = add_command(commands, function, *texts, usage=page.get("usage"))
    parser.register("type", "path", Path)
    parser.register("type", "int", int)
    for heading, arguments in page["arguments"].items():
        group = parser.add_argument_group(heading) if heading else parser
        for name, options in arguments.items():
            group.add_argument(name, **options)
    return parser


def add_train(commands: Any) -> None:
    parser = _add(train, commands)
    add_flags(parser, Config)
    add_old_flags(parser, Config, RENAMED)
    add_help_all(parser, PAGES["train"]["common"])


def train(**given: Any) -> None:
    from keras_attn.translation.training import startup

    start_time = time.monotonic()
    try:
        startup.open_backend()
        from keras_attn.translation.train import run

        run(given, start_time)
    except KeyboardInterrupt:
        print("\nInterrupted. Run the same command again to resume.", file=sys.stderr)
        raise


def _translator_class() -> type[Translator]:
    """`Translator`, imported without the lines of TensorFlow, with the devices opened."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    with native_output.suppress_native_stderr():
        from keras_attn.translation.export.translator import Translator
        from keras_attn.translation.runtime import devices

        devices.open_devices()
    return Translator


def translate(
    model: Path, texts: list[str], term: list[str], glossary: Path | None, mark_uncertain: bool
) -> None:
    translator = _translator_class().load(model)
    terms = _read_terms(term, glossary)
    if terms and mark_uncertain:
        raise ValueError("`--mark-uncertain` must be given without a glossary. Received: both.")

    is_typed = not texts and sys.stdin.isatty()
    # The translation with a glossary has no flags.
    has_remarks = mark_uncertain or (sys.stdout.isatty() and not terms)
    noun = "text" if texts else "line"
    remarks = Remarks(translator.config.source, noun, has_uncertain=not mark_uncertain)

    def answer(texts: list[str]) -> list[str]:
        if not has_remarks:
            return translator(texts, glossary=terms)
        best = [hypotheses[0] for hypotheses in translator.nbest(texts)]
        remarks.note(best)
        if is_typed:
            remarks.write()
        is_marked = [mark_uncertain and one.is_uncertain for one in best]
        return ["? " * mark + one.translation for mark, one in zip(is_marked, best, strict=True)]

    if texts:
        for text in answer(list(decoded(map(os.fsencode, texts)))):
            print(text)  # with the line breaks of the given text
    else:
        answer_input(answer)
    remarks.write()


def _read_terms(given: list[str], glossary: Path | None) -> dict[str, str]:
    """Terms with their translations, of `--glossary` and `--term`; a term alone is kept."""
    lines = [term.replace("=", "\t", 1) for term in given]
    if glossary:
        with glossary.open("rb") as file:
            lines = [*decoded(utf8_lines(file)), *lines]
    rows = [[part.strip() for part in line.split("\t")] for line in lines if line.strip()]
    for row in rows:
        if not row[0]:
            raise ValueError(f"A term of the glossary must not be empty. Received: {row!r}.")
    return {term: (*translation, term)[0] for term, *translation in rows}


def score(model: Path) -> None:
    translator = _translator_class().load(model)
    languages = translator.config.source, translator.config.target
    warned = False

    def scores(lines: list[str]) -> list[str]:
        nonlocal warned
        pairs = [Pair(*[*line.split("\t"), ""][:2]) for line in lines]
        if not warned and (fault := wrong_script_message(pairs, *languages)):
            warned = True
            warn(fault)
        sources, translations = zip(*pairs, strict=True)
        return [f"{value:.4f}" for value in translator.score(sources, translations)]

    answer_input(scores)


def evaluate(model: Path, data: str, all: bool, baseline: Path | None, out: Path | None) -> None:
    translator = _translator_class().load(model)
    from keras_attn.translation.corpus.load import load_corpus, load_test_set
    from keras_attn.translation.evaluation.documents import write_report
    from keras_attn.translation.evaluation.evaluate import check_baseline, evaluate

    languages = translator.config.source, translator.config.target
    if all:
        examples, corpora, details = load_test_set(data, *languages), None, {}
        pairs_of_set = [Pair(one.source, *one.references) for one in examples]
        complaints = [wrong_script_message(pairs_of_set, *languages)]
    else:
        pairs = load_corpus(data, *languages)
        examples, corpora = pairs.test, pairs.test_corpora
        details = {"corpus": pairs.counts, "credit": pairs.credit}
        complaints = list(pairs.warnings)
    for sentence in filter(None, complaints):
        warn(sentence)
    # Checked before the translation, which takes minutes.
    if baseline:
        check_baseline(baseline, [example.source for example in examples])
    if out:
        out.mkdir(parents=True, exist_ok=True)
    report = evaluate(
        translator, examples, languages[1], baseline=baseline, corpora=corpora, details=details
    )
    try:
        if out:
            write_report(report, out)
    finally:
        print(report.summary())


def inspect(model: Path) -> None:
    translator = _translator_class().load(model)
    print(f"model: {translator.folder}")
    path = translator.folder / "report.json"
    if path.is_file():
        try:
            print("\n".join(_results(json.loads(path.read_text(encoding="utf-8")))))
        except (ValueError, LookupError, TypeError, AttributeError):
            warn(f"`{path}` is not a report and is left out.")
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


def ctranslate2(model: Path, out: Path) -> None:
    folder = _translator_class().load(model).folder
    from keras_attn.translation.export.ctranslate2 import convert

    convert(folder, out)


def import_marian(folder: Path, out: Path, **options: str) -> None:
    _translator_class()
    from keras_attn.translation.importing import marian

    print(f"The model is in {marian.import_marian(folder, out, **options).folder}.")


_OTHERS = (translate, score, evaluate, inspect, ctranslate2, import_marian)
COMMANDS: tuple[Callable[[Any], object], ...] = (
    add_train,
    *(partial(_add, function) for function in _OTHERS),
)
