"""Progress of a whole run on standard error: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

# Seconds between two lines where standard error is not a terminal.
LOG_SECONDS = 20.0
_BAR_WIDTH = 24
# A stage that takes longer than expected is assumed to need this share of its time so far.
_OVERTIME = 0.1


class RunProgress:
    """Share and remaining time of a run in stages, such as training, export and scoring.

    `stages` are expected seconds by name, in order; `start` is of `time.monotonic()`. As a context,
    it draws a bar in the last line of the terminal, below the lines that the program prints.
    """

    def __init__(self, stages: Mapping[str, float], start: float | None = None):
        self._to_come = dict(stages)
        self._start = time.monotonic() if start is None else start
        self._details = ""
        self._stage_start = self._stage_end = self._start
        self._last_line = time.monotonic()
        self._live: Live | None = None

    def __enter__(self) -> RunProgress:
        console = Console(file=sys.stderr)
        if sys.stderr.isatty() and console.is_interactive:
            # Output that is redirected to a file must not appear in the terminal.
            self._live = Live(
                get_renderable=self._bar,
                console=console,
                transient=True,
                redirect_stdout=sys.stdout.isatty(),
            )
            self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._live:
            self._live.stop()
            self._live = None

    def begin(self, stage: str) -> None:
        """Begin one of the stages; the stages before it have ended."""
        self._details = stage
        self._stage_start = time.monotonic()
        while self._to_come:
            name = next(iter(self._to_come))
            self._stage_end = self._stage_start + self._to_come.pop(name)
            if name == stage:
                break
        self._print_line()

    def update(self, details: str, seconds_left: float) -> None:
        """Report details of the present stage, and the expected seconds until its end."""
        self._details = details
        self._stage_end = time.monotonic() + seconds_left
        if time.monotonic() - self._last_line > LOG_SECONDS:
            self._print_line()

    @property
    def seconds_left(self) -> float:
        """Expected seconds until the end of the run."""
        now = time.monotonic()
        overtime = _OVERTIME * (now - self._stage_start)
        return max(self._stage_end - now, overtime) + sum(self._to_come.values())

    @property
    def share(self) -> float:
        """Share of the run that is done, from 0 to 1."""
        elapsed = time.monotonic() - self._start
        return elapsed / max(elapsed + self.seconds_left, 1e-9)

    def line(self) -> str:
        """Stage, details, share and remaining time of the whole run."""
        minutes, seconds = divmod(round(self.seconds_left), 60)
        return f"{self._details}  {self.share:.0%} done, {minutes}:{seconds:02d} left"

    def _print_line(self) -> None:
        self._last_line = time.monotonic()
        if not self._live:
            print(self.line(), file=sys.stderr, flush=True)

    def _bar(self) -> Table:
        bar = ProgressBar(total=1.0, completed=self.share, width=_BAR_WIDTH)
        row = Table.grid(padding=(0, 1))
        row.add_row(bar, Text(self.line(), no_wrap=True, overflow="ellipsis"))
        return row
