"""All commands of this package: `keras-attn COMMAND`, or `python -m keras_attn COMMAND`."""

import sys

from keras_attn.cli import run
from keras_attn.serving.__main__ import add_serve
from keras_attn.translation.commands import COMMANDS as OF_TRANSLATOR

COMMANDS = (*OF_TRANSLATOR, add_serve)


def main(argv: list[str] | None = None) -> int:
    return run(argv, COMMANDS)


if __name__ == "__main__":
    sys.exit(main())
