"""One line of output for each line of input, as the commands `translate` and `score` write them."""

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BufferedIOBase
from typing import BinaryIO

from keras_attn.cli import warn
from keras_attn.translation.corpus.files import utf8_lines

# Largest number of lines processed together: enough to sort by length, few enough to fit in memory.
LINES_AT_ONCE = 512
_BYTES_AT_ONCE = 2**20


class ArrivingLines(Iterator[bytes]):
    """Lines of a binary stream that may be a pipe which stays open."""

    def __init__(self, stream: BufferedIOBase | BinaryIO):
        self._read = stream.read1  # type: ignore[union-attr]
        self._lines: deque[bytes] = deque()
        self._rest = b""
        self._has_ended = False

    @property
    def has_arrived(self) -> bool:
        """Whether the next line, or the end, can be read without waiting."""
        return bool(self._lines) or self._has_ended

    def __next__(self) -> bytes:
        while not self.has_arrived:
            arrived = self._read(_BYTES_AT_ONCE)
            *lines, self._rest = (self._rest + arrived).split(b"\n")
            self._lines.extend(line + b"\n" for line in lines)
            if not arrived:
                self._has_ended = True
                self._lines.extend([self._rest] if self._rest else [])
        if not self._lines:
            raise StopIteration
        return self._lines.popleft()


def answer_lines(
    answer: Callable[[list[str]], Sequence[str]],
    lines: ArrivingLines,
    output: BinaryIO,
    shows_progress: bool = False,
) -> None:
    """Write one answer for each input line, in the same order.

    Lines are processed together, up to `LINES_AT_ONCE`, unless the next line has to be waited for.
    """
    num_done = 0
    for chunk in _chunks(lines):
        for text in answer(chunk):
            # Line breaks in an answer become spaces, so that lines correspond.
            output.write(" ".join(text.splitlines()).encode("utf-8") + b"\n")
        output.flush()
        num_done += len(chunk)
        if shows_progress:
            print(f"\r{num_done:,} lines", end="", file=sys.stderr, flush=True)
    if shows_progress and num_done:
        print(file=sys.stderr)


def _chunks(lines: ArrivingLines) -> Iterator[list[str]]:
    chunk: list[str] = []
    for text in decoded(utf8_lines(lines)):
        chunk.append(text)
        if len(chunk) == LINES_AT_ONCE or not lines.has_arrived:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


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
    shows_progress = sys.stderr.isatty() and not sys.stdin.isatty()
    answer_lines(answer, ArrivingLines(sys.stdin.buffer), sys.stdout.buffer, shows_progress)
