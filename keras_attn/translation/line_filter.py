"""One line of output for each line of input, as the commands `translate` and `score` write them."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import BinaryIO

from keras_attn.cli import warn
from keras_attn.translation.corpus.files import utf8_lines

# Number of lines processed together: enough to sort by length, few enough to fit in memory.
LINES_AT_ONCE = 512


def answer_lines(
    answer: Callable[[list[str]], Sequence[str]],
    lines: Iterable[bytes],
    output: BinaryIO,
    at_once: int = LINES_AT_ONCE,
) -> None:
    """Write one answer for each input line, in the same order, after each `at_once` lines."""
    texts = decoded(lines)
    num_done = 0
    shows_progress = at_once > 1 and sys.stderr.isatty()
    while chunk := list(islice(texts, at_once)):
        for text in answer(chunk):
            # Line breaks in an answer become spaces, so that lines correspond.
            output.write(" ".join(text.splitlines()).encode("utf-8") + b"\n")
        output.flush()
        num_done += len(chunk)
        if shows_progress:
            print(f"\r{num_done:,} lines", end="", file=sys.stderr, flush=True)
    if shows_progress and num_done:
        print(file=sys.stderr)


def decoded(lines: Iterable[bytes]) -> Iterator[str]:
    """Texts of lines; the first one that is not UTF-8 causes a warning."""
    has_warned = False
    for number, line in enumerate(lines, 1):
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if not has_warned and text.encode("utf-8") != line.rstrip(b"\r\n"):
            has_warned = True
            warn(f"line {number} is not UTF-8; invalid bytes are read as U+FFFD.")
        yield text


def answer_input(answer: Callable[[list[str]], Sequence[str]]) -> None:
    """Write one answer for each line of standard input to standard output."""
    # Somebody who types wants each answer at once.
    at_once = 1 if sys.stdin.isatty() else LINES_AT_ONCE
    answer_lines(answer, utf8_lines(sys.stdin.buffer), sys.stdout.buffer, at_once)
