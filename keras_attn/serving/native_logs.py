"""Lines that native code writes to standard error, as JSON: a program that the server starts.

It is a process of its own, so that the last words of a server that crashes are not lost. It runs as
a file and imports the standard library only.
"""

from __future__ import annotations

import json
import re
import signal
import sys
import time
from collections.abc import Iterable, Iterator

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# The form of Abseil's and TensorFlow's lines: level, date or process, file and line.
_LEVEL = re.compile(r"([IWEF])[0-9]{4} .*?\] ?")
_LEVELS = {"I": "INFO", "W": "WARNING", "E": "ERROR", "F": "CRITICAL"}


def records(lines: Iterable[bytes]) -> Iterator[str]:
    """JSON line for each line that is not empty.

    Example:

    >>> record = next(records([b"E0000 00:00:1 7 util.cc:131] oneDNN is off.\\n"]))
    >>> json.loads(record)["level"], json.loads(record)["message"]
    ('ERROR', 'oneDNN is off.')
    """
    for line in lines:
        text = _COLOUR.sub("", line.decode("utf-8", "replace")).strip()
        if not text:
            continue
        match = _LEVEL.match(text)
        yield json.dumps(
            {
                "time": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
                "level": _LEVELS[match[1]] if match else "INFO",
                "logger": "native",
                "message": text[match.end() :] if match else text,
            },
            ensure_ascii=False,
        )


def main() -> None:
    # The server ends first, whoever the signal is sent to.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    for record in records(sys.stdin.buffer):
        sys.stdout.buffer.write(f"{record}\n".encode())
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
