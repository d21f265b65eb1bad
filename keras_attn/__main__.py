"""All commands of this package: `keras-attn COMMAND`, or `python -m keras_attn COMMAND`."""

from __future__ import annotations

import argparse
import sys

from keras_attn.command_line import add_version, form
from keras_attn.serving import __main__ as serving
from keras_attn.started import PROGRAM
from keras_attn.translation import __main__ as translation
from keras_attn.translation import train


def make_parser() -> argparse.ArgumentParser:
    """Parser of all commands. Those that have a parser of their own are here for the help only."""
    examples = (
        f"{PROGRAM} train --data tatoeba --minutes 60",
        f"{PROGRAM} translate saved_models/ja-en 猫だ。",
        f"{PROGRAM} serve saved_models/ja-en",
        f"{PROGRAM} translate --help",
    )
    parser = argparse.ArgumentParser(
        PROGRAM, **form("Train, use and serve a translator.", *examples)
    )
    add_version(parser)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("train", help="train a translator, export it as a SavedModel and score it")
    translation.add_commands(commands, PROGRAM)
    commands.add_parser("serve", help="serve a translator over HTTP, with a web page")
    return parser


def main(argv: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if argv is None else argv
    if arguments[:1] == ["train"]:
        return train.main(arguments[1:], prog=f"{PROGRAM} train")
    if arguments[:1] == ["serve"]:
        return serving.main(arguments[1:], prog=f"{PROGRAM} serve")
    return translation.main(arguments, make_parser())


if __name__ == "__main__":
    sys.exit(main())
