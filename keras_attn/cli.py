"""Command line: pages of help, errors in one sentence, exit codes, encoding of the output.

It imports the standard library only, because `--help` must not wait for Keras.
"""

import argparse
import difflib
import errno
import io
import os
import shlex
import shutil
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import keras_attn

PROGRAM = "keras-attn"
# Flags that other programs have, and those of `train` in their place.
INSTEAD = {
    "--epochs": "--minutes or --steps",
    "--batch-size": "--batch-tokens",
    "--lr": "--learning-rate",
    "--output": "--out",
    "--corpus": "--data",
    "--resume": "the same command again: it resumes",
}
# Of a clone.
_TRAIN_SCRIPT = Path(__file__).parents[1] / "train.py"


def is_command() -> bool:
    """Whether this process is `keras-attn`, `python -m keras_attn...` or `train.py` of a clone."""
    program = sys.argv[0] if sys.argv else ""
    if program == "-m":  # Python is looking for the module
        after = dict(zip(sys.orig_argv, sys.orig_argv[1:], strict=False))
        return after.get("-m", "").split(".")[0] == "keras_attn"
    return Path(program).stem == PROGRAM or Path(program).resolve() == _TRAIN_SCRIPT.resolve()


def run(argv: list[str] | None, add_commands: Sequence[Callable[[Any], object]]) -> int:
    """Run a command, with a sentence for an error that its user can mend; return the exit code.

    It is 1 if the reader of the output has closed it, 2 after an error, 130 after Ctrl-C.
    """
    _open_closed_streams()
    _write_utf8()
    function, given, extra = parse(argv, add_commands)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: warn(message)
            function(**given)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output, such as `head`, has closed it.
        _discard_output()
        return 1
    except ModuleNotFoundError as error:
        print(f"error: {missing(str(error.name), extra)}", file=sys.stderr)
        return 2
    except (ValueError, OSError) as error:
        print(f"error: {_told(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def _told(error: Exception) -> str:
    """Text of an error; that of a full disk names the file, and says what to do."""
    text = str(error)
    if os.strerror(errno.ENOSPC) not in text:
        return text
    if isinstance(error, OSError) and error.errno and not error.filename:
        place = ""
        for frame, _ in traceback.walk_tb(error.__traceback__):
            for name in ("self", "fname"):  # of `Path.write_text` and of figures
                path = frame.f_locals.get(name)
                place = str(path) if isinstance(path, Path) else place
        if not place:
            place = "standard output"
            _discard_output()
        text = f"{error.strerror}: {place}"
    return f"{text.rstrip('.')}. Free space on this disk, and run the same command again."


def _discard_output() -> None:
    """Discard the remaining output, so that the flush at exit does not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def parse(
    argv: list[str] | None, add_commands: Sequence[Callable[[Any], object]]
) -> tuple[Callable[..., None], dict[str, Any], str]:
    """Function of a command, its arguments by name, and the extra that it needs."""
    parser = argparse.ArgumentParser(
        PROGRAM,
        **_page(
            "Train, use and serve a translator.",
            f"{PROGRAM} train --data tatoeba --minutes 60",
            f"{PROGRAM} translate saved_models/ja-en 猫だ。",
            f"{PROGRAM} serve saved_models/ja-en",
            f"{PROGRAM} translate --help",
        ),
    )
    _add_version(parser)
    if not (sys.argv[1:] if argv is None else argv):
        parser.print_help(sys.stderr)
        parser.exit(2)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in add_commands:
        add(commands)
    arguments, others = parser.parse_known_args(argv)
    given = vars(arguments)
    command, function, extra = given.pop("command")
    # argparse takes no texts after a flag that follows the model.
    if others and ("texts" not in given or others[0].startswith("-")):
        command.error(f"unrecognized arguments: {' '.join(others)}{_instead(others, command)}")
    if others:
        given["texts"] += others
    return function, given, extra


def _instead(others: Sequence[str], command: argparse.ArgumentParser) -> str:
    """A further sentence about the first unknown argument, if a flag of the command is meant."""
    name = others[0].partition("=")[0]
    near = difflib.get_close_matches(name, command._option_string_actions, 1, 0.8)
    wanted = INSTEAD.get(name) or (near[0] if near else "")
    return f". Write {wanted}." if wanted else ""


def add_command(
    commands: Any,
    function: Callable[..., None],
    summary: str,
    details: str,
    *examples: str,
    extra: str = "translation",
    **options: Any,
) -> argparse.ArgumentParser:
    """Add a command with the name of the function that it calls with its arguments by name.

    The `summary` is the first sentence of the help, with a small letter and without a full stop;
    `examples` are command lines at the end. The `extra` installs what the command needs.

    >>> commands = argparse.ArgumentParser().add_subparsers()
    >>> parser = add_command(commands, print, "show text", "", "print FILE", "print < FILE")
    >>> print(parser.format_help().partition("examples:")[2])
    <BLANKLINE>
      print FILE
      print < FILE
    <BLANKLINE>
    """
    name = function.__name__.replace("_", "-")
    page = _page(f"{summary[0].upper()}{summary[1:]}. {details}", *examples)
    # A flag that is cut off could be another one in a later version.
    parser = commands.add_parser(name, help=summary, allow_abbrev=False, **page, **options)
    parser.set_defaults(command=(parser, function, extra))
    _add_version(parser)
    return parser


def warn(sentence: object) -> None:
    """Write a warning to standard error."""
    print(f"warning: {sentence}", file=sys.stderr)


def missing(packages: str, extra: str) -> str:
    """Sentence that packages are missing, with the command that installs the extra with them.

    >>> print(missing("rich", "translation"))
    This needs `rich`. Run `pip install ".[translation]"` in a clone of keras_attn.
    """
    # `.ci/release` writes the name of the package in place of the clone.
    return f'This needs `{packages}`. Run `pip install ".[{extra}]"` in a clone of keras_attn.'


def next_steps(version: Path, text: str) -> str:
    """Three commands: translate a text, serve the model, read the report of its version.

    >>> print(next_steps(Path("saved_models/ja-en/1"), "猫だ。"))  # doctest: +ELLIPSIS
    Translate, serve, read the report:
        ... translate saved_models/ja-en '猫だ。'
        ... serve saved_models/ja-en
        ... saved_models/ja-en/1/report.md
    """
    model, report = shlex.quote(str(version.parent)), shlex.quote(str(version / "report.md"))
    # As it works in this environment.
    found = shutil.which(PROGRAM)
    is_ours = found and Path(found).parent == Path(sys.executable).parent
    program = PROGRAM if is_ours else f"{shlex.quote(sys.executable)} -m keras_attn"
    return "\n    ".join(
        [
            "Translate, serve, read the report:",
            f"{program} translate {model} {shlex.quote(text)}",
            f"{program} serve {model}",
            f"{'more' if os.name == 'nt' else 'less'} {report}",
        ]
    )


class _HelpFormatter(argparse.HelpFormatter):
    """Keeps the lines of a text that has several, such as examples; wraps other texts."""

    def __init__(self, prog: str):
        super().__init__(prog, max_help_position=32)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


def _page(description: str, *examples: str) -> dict[str, Any]:
    """Arguments of a parser: its description, and command lines as examples in the help."""
    return {
        "description": description,
        "epilog": "\n  ".join(["examples:", *examples]),
        "formatter_class": _HelpFormatter,
    }


def _add_version(parser: argparse.ArgumentParser) -> None:
    text = f"keras_attn {keras_attn.__version__}"
    parser.add_argument("--version", action="version", version=text)


def _open_closed_streams() -> None:
    """Open the null device in the place of standard streams that are closed.

    A socket that is opened later would take the lowest free number, and get the messages.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))


def _write_utf8() -> None:
    """Write standard output and standard error in UTF-8, whatever the locale is.

    In some locales (C, code page 1252 of Windows) Japanese text cannot be printed.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # notebooks have other streams, for any text
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
