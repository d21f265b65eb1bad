"""Form of the help of all commands: examples at the end, and `--version`."""

from __future__ import annotations

import argparse
from typing import Any

import keras_attn


class HelpFormatter(argparse.HelpFormatter):
    """Keeps the lines of a text that has several, such as examples; wraps other texts."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


def form(description: str, *examples: str) -> dict[str, Any]:
    """Arguments of a parser: its description, and command lines as examples in the help.

    Example:

    >>> parser = argparse.ArgumentParser("cut", **form("Cuts text.", "cut FILE", "cut < FILE"))
    >>> print(parser.format_help().partition("examples:")[2])
    <BLANKLINE>
      cut FILE
      cut < FILE
    <BLANKLINE>
    """
    return {
        "description": description,
        "epilog": "\n  ".join(["examples:", *examples]) if examples else None,
        "formatter_class": HelpFormatter,
    }


def add_version(parser: argparse.ArgumentParser) -> None:
    """Add `--version`, which prints the version of keras_attn."""
    text = f"keras_attn {keras_attn.__version__}"
    parser.add_argument("--version", action="version", version=text)
