import io
import sys

import pytest

from keras_attn.translation.runtime.run_progress import LOG_SECONDS, RunProgress

STAGES = {"training": 60.0, "export": 30.0, "scoring": 10.0}


def test_time_left_is_that_of_the_whole_run_and_never_none(clock):
    progress = RunProgress(STAGES, start=100.0)
    progress.begin("training")
    assert progress.seconds_left == 100 and progress.share == 0
    clock[0] += 20
    assert progress.seconds_left == 80 and progress.share == pytest.approx(0.2)
    progress.update("step 7", seconds_left=100.0)
    assert progress.seconds_left == 140
    progress.begin("scoring")
    assert progress.seconds_left == 10
    clock[0] += 50  # longer than expected
    assert progress.seconds_left == pytest.approx(5)
    assert 0.9 < progress.share < 1


def test_a_log_gets_a_line_for_each_stage_and_now_and_then(clock, capsys):
    with RunProgress(STAGES) as progress:
        progress.begin("training")
        for seconds in (1.0, LOG_SECONDS, 1.0):
            clock[0] += seconds
            progress.update("step 7", seconds_left=38.0)
        progress.begin("export")
    assert capsys.readouterr().err.splitlines() == [
        "training  0% done, 1:40 left",
        "step 7  21% done, 1:18 left",
        "export  35% done, 0:40 left",
    ]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_a_bar_below_what_is_printed(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with RunProgress(STAGES) as progress:
        progress.begin("training")
        progress.update("step 7", seconds_left=60.0)
        print("A line.", file=sys.stderr)
    text = terminal.getvalue()
    assert "A line.\n" in text
    after = text.split("A line.\n")[1]
    assert "━" in after and "step 7  0% done, 1:40 left" in after
    assert sys.stderr is terminal
