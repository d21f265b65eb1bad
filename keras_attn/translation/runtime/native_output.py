"""Lines that native code writes to standard error: kept off the terminal, or made JSON for a log.

TensorFlow prints such lines whatever `TF_CPP_MIN_LOG_LEVEL` is. They are sent to another process,
which runs this file, so that the last lines of a program that crashes are not lost.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager

# Last bytes of output that is not shown.
_SUCCESS = b"\0success\0"
_HIDE, _AS_JSON = "hide", "json"

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# The form of Abseil's and TensorFlow's lines: level, date or process, file and line.
_LEVEL = re.compile(r"([IWEF])[0-9]{4} .*?\] ?")
_LEVELS = {"I": "INFO", "W": "WARNING", "E": "ERROR", "F": "CRITICAL"}


def suppress_native_stderr() -> AbstractContextManager[int]:
    """Hide what the block writes to file descriptor 2, unless the block fails or crashes.

    `KeyboardInterrupt` and `SystemExit` are not failures.
    """
    return _through_program(_HIDE)


def native_stderr_as_json() -> AbstractContextManager[int]:
    """Make each line that the block writes to file descriptor 2 an object of JSON.

    The context gives a file descriptor for other lines.
    """
    return _through_program(_AS_JSON)


@contextmanager
def _through_program(mode: str) -> Iterator[int]:
    sys.stderr.flush()
    stderr = os.dup(2)
    command = [sys.executable, "-S", "-E", __file__, mode]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=stderr) as program:
        os.dup2(program.stdin.fileno(), 2)  # type: ignore[union-attr]
        end = _SUCCESS if mode == _HIDE else b""
        try:
            yield stderr
        except Exception:
            end = b""
            raise
        finally:
            sys.stderr.flush()
            os.dup2(stderr, 2)
            os.close(stderr)
            program.stdin.write(end)  # type: ignore[union-attr]


def records(lines: Iterable[bytes]) -> Iterator[str]:
    """JSON line for each line that is not empty."""
    for line in lines:
        text = _COLOUR.sub("", line.decode("utf-8", "replace")).strip()
        if not text:
            continue
        match = _LEVEL.match(text)
        record = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            "level": _LEVELS[match[1]] if match else "INFO",
            "logger": "native",
            "message": text[match.end() :] if match else text,
        }
        yield json.dumps(record, ensure_ascii=False)


def main(mode: str) -> None:
    # The program that is watched ends first, whoever the signal is sent to.
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):  # Windows has no SIGHUP
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    if mode == _AS_JSON:
        for record in records(sys.stdin.buffer):
            sys.stdout.buffer.write(f"{record}\n".encode())
            sys.stdout.buffer.flush()
    elif not (output := sys.stdin.buffer.read()).endswith(_SUCCESS):
        sys.stdout.buffer.write(output)


if __name__ == "__main__":
    main(sys.argv[1])
