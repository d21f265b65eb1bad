"""The translator from the shell: `python -m keras_attn.translation translate MODEL < in > out`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import BinaryIO

# Lines translated before any of them is written: enough to sort them by length, little to hold.
LINES_AT_ONCE = 512


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m keras_attn.translation", description="Use an exported translator."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    translate = commands.add_parser(
        "translate",
        help="translate standard input to standard output",
        description="Reads UTF-8 lines and writes a line for each, in the same order; "
        "an empty line stays empty.",
    )
    translate.add_argument("model", help="an exported version, or the folder of versions")
    return parser.parse_args(argv)


def translate_lines(translate, lines: Iterable[bytes], output: BinaryIO) -> None:
    """Write the translation of each line, line by line."""
    texts: Iterator[str] = (line.decode("utf-8", "replace").rstrip("\r\n") for line in lines)
    while chunk := list(islice(texts, LINES_AT_ONCE)):
        for translation in translate(chunk):
            # A translation is one line, whatever the model says.
            output.write(" ".join(translation.splitlines()).encode("utf-8") + b"\n")
        output.flush()


def main(argv: list[str] | None = None) -> int:
    arguments = parse_arguments(argv)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    from keras_attn.translation.saved_model import Translator

    try:
        translator = Translator.load(arguments.model)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    translate_lines(translator, sys.stdin.buffer, sys.stdout.buffer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
