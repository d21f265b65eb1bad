"""Commands of the translator: each a function, with its parser before it."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_attn.cli import add_command, warn
from keras_attn.options import add_flags, add_help_all, add_old_flags
from keras_attn.translation.config import PRECISIONS, RENAMED, Config
from keras_attn.translation.corpus.cleaning import wrong_script_message
from keras_attn.translation.corpus.files import utf8_lines
from keras_attn.translation.corpus.pairs import Pair
from keras_attn.translation.line_filter import answer_input, decoded
from keras_attn.translation.remarks import Remarks
from keras_attn.translation.runtime import native_output
from keras_attn.translation.versions import EXTRA, ORIGIN

if TYPE_CHECKING:
    from keras_attn.translation.export.translator import Translator

# Options that `keras-attn train --help` lists; `--help-all` lists the others too.
COMMON = (
    *("data", "hold_out", "source", "target", "start_from", "out", "minutes", "steps", "seed"),
    *("num_encoder_layers", "num_decoder_layers", "num_hiddens", "ffn_num_hiddens", "num_heads"),
    *("position", "dropout", "vocab_size", "batch_tokens", "precision", "beam_size"),
)


def add_train(commands: Any) -> None:
    parser = add_command(
        commands,
        train,
        "train a translator on a corpus, export it as a SavedModel and score it",
        "To resume an interrupted training, give the same command again.",
        "keras-attn train",
        "keras-attn train --data tatoeba --minutes 60",
        "keras-attn train --data my_sentences.tsv --source en --target ja",
        "keras-attn train --data my_sentences.tsv --start-from saved_models/ja-en --out mine",
        usage="%(prog)s [--data CORPUS] [--minutes MINUTES] [other options]",
    )
    folders = parser.add_argument_group("folders")
    _add_path(
        folders, "--out", "folder of the model's versions (default: saved_models/SOURCE-TARGET)"
    )
    _add_path(folders, "--tensorboard", "folder of curves for TensorBoard (default: no curves)")
    parser.add_argument_group("devices").add_argument(
        "--model-devices",
        type=int,
        default=1,
        metavar="DEVICES",
        help="on JAX, number of accelerators that hold the weights together, for a model too wide "
        "for one; the others share the batch (default: 1)",
    )
    add_flags(parser, Config)
    add_old_flags(parser, Config, RENAMED)
    add_help_all(parser, COMMON)


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


def _add_path(parser: Any, name: str, help: str, metavar: str = "FOLDER") -> None:
    parser.add_argument(name, type=Path, metavar=metavar, help=help)


def _add_model_command(commands: Any, function: Callable[..., None], *texts: str) -> Any:
    """Add a command whose first argument is an exported model."""
    parser = add_command(commands, function, *texts)
    _add_path(parser, "model", "folder of an exported version, or of all versions", "MODEL")
    return parser


def _translator_class() -> type[Translator]:
    """`Translator`, imported without the lines of TensorFlow, with the devices opened."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    with native_output.suppress_native_stderr():
        from keras_attn.translation.export.translator import Translator
        from keras_attn.translation.runtime import devices

        devices.open_devices()
    return Translator


def add_translate(commands: Any) -> None:
    parser = _add_model_command(
        commands,
        translate,
        "translate given texts, or each line of standard input to one line of standard output",
        "Lines are UTF-8. The translation of an empty line is empty. A text may have several "
        "sentences and, as an argument, several lines. At a terminal, and with --mark-uncertain, "
        "standard error tells which texts are in another language and are returned as given.",
        "keras-attn translate saved_models/ja-en 昨日、友達と映画を見ました。",
        "keras-attn translate saved_models/ja-en --term 木村=Kimura 木村さんに会いました。",
        "keras-attn translate saved_models/ja-en --mark-uncertain < japanese.txt > english.txt",
    )
    parser.add_argument(
        "texts", nargs="*", metavar="TEXT", help="text (default: the lines of standard input)"
    )
    parser.add_argument(
        "--term",
        action="append",
        default=[],
        metavar="TERM=TRANSLATION",
        help="translate a term as given, for example 木村=Kimura; without '=' the term is kept; "
        "may be given several times (default: none)",
    )
    _add_path(parser, "--glossary", "file of lines `term TAB translation` (default: none)", "FILE")
    parser.add_argument(
        "--mark-uncertain",
        action="store_true",
        help="write '? ' before translations that the model is not sure of (default: no)",
    )


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


def add_score(commands: Any) -> None:
    _add_model_command(
        commands,
        score,
        "write the natural logarithm of the probability of each given translation",
        "Standard input has UTF-8 lines `source TAB translation`. A line without TAB is a source "
        "with an empty translation. Further columns are ignored.",
        "keras-attn score saved_models/ja-en < pairs.tsv > log_probabilities.txt",
    )


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


def add_evaluate(commands: Any) -> None:
    parser = _add_model_command(
        commands,
        evaluate,
        "print samples, BLEU, chrF, TER and accuracy of numbers and copies on test sentences",
        "These are the test split of a corpus, unless --all is given.",
        "keras-attn evaluate saved_models/ja-en tatoeba",
        "keras-attn evaluate saved_models/ja-en my_test_set.tsv --all --out my_report",
    )
    parser.add_argument("data", metavar="CORPUS", help="corpus, in the form of --data of train")
    parser.add_argument(
        "--all",
        action="store_true",
        help="evaluate on all sentences of the corpus, without cleaning or splitting (default: no)",
    )
    _add_path(parser, "--baseline", "folder of an earlier version or report (default: none)")
    _add_path(parser, "--out", "folder to write the report to (default: none)")


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


def add_inspect(commands: Any) -> None:
    _add_model_command(
        commands,
        inspect,
        "print scores, training data and configuration of a model",
        "",
        "keras-attn inspect saved_models/ja-en",
    )


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


def add_ctranslate2(commands: Any) -> None:
    parser = _add_model_command(
        commands,
        ctranslate2,
        "write weights and tokenizers of a model in the format of CTranslate2",
        "",
        "keras-attn ctranslate2 saved_models/ja-en ja-en-ctranslate2",
    )
    _add_path(parser, "out", "folder to write; must not exist")


def ctranslate2(model: Path, out: Path) -> None:
    folder = _translator_class().load(model).folder
    from keras_attn.translation.export.ctranslate2 import convert

    convert(folder, out)


def add_import_marian(commands: Any) -> None:
    parser = add_command(
        commands,
        import_marian,
        "export a Marian model, such as one of OPUS-MT, as the next version of a translator",
        "It is a folder of files for transformers or of Marian's own files. PyTorch is needed only "
        "for weights in pytorch_model.bin.",
        "keras-attn import-marian opus-mt-ja-en saved_models/opus-ja-en",
    )
    _add_path(parser, "folder", "folder with config.json or decoder.yml", "MARIAN")
    _add_path(parser, "out", "folder of all versions")
    for side in ("source", "target"):
        parser.add_argument(
            f"--{side}",
            default="",
            metavar="LANGUAGE",
            help=f"language code of the {side} text (default: as in the folder)",
        )
    parser.add_argument(
        "--language-token",
        default="",
        metavar="TOKEN",
        help="token such as '>>por<<' that a model with several target languages reads before a "
        "text without one (default: none)",
    )
    parser.add_argument(
        "--serving-precision",
        default="float32",
        choices=PRECISIONS,
        help="precision of the exported model; bfloat16 is half the size and changes some "
        "translations (default: float32)",
    )


def import_marian(folder: Path, out: Path, **options: str) -> None:
    _translator_class()
    from keras_attn.translation.importing import marian

    print(f"The model is in {marian.import_marian(folder, out, **options).folder}.")


COMMANDS = (
    *(add_train, add_translate, add_score, add_evaluate, add_inspect, add_ctranslate2),
    add_import_marian,
)
