"""Output of native code on standard error: kept off the terminal, shown if something fails.

An import of TensorFlow prints lines about processors, CUDA and oneDNN, and so does the first use of
a device, whatever `TF_CPP_MIN_LOG_LEVEL` is. These lines are sent to another process, which runs
this file, so that the last lines of a program that crashes are not lost. This file imports the
standard library only.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# Last bytes of output that is not shown.
_SUCCESS = b"\0success\0"


@contextmanager
def hidden() -> Iterator[None]:
    """Hide what the block writes to file descriptor 2, unless the block fails or crashes.

    What Python writes to standard error is hidden too. An exception shows the output, except
    `KeyboardInterrupt` and `SystemExit`.
    """
    sys.stderr.flush()
    terminal = os.dup(2)
    command = [sys.executable, "-S", "-E", __file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=terminal) as process:
        os.dup2(process.stdin.fileno(), 2)  # type: ignore[union-attr]
        succeeds = True
        try:
            yield
        except Exception:
            succeeds = False
            raise
        finally:
            sys.stderr.flush()
            os.dup2(terminal, 2)
            os.close(terminal)
            if succeeds:
                process.stdin.write(_SUCCESS)  # type: ignore[union-attr]


def main() -> None:
    # Ctrl-C ends the program that is watched, and this one after it.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    output = sys.stdin.buffer.read()
    if not output.endswith(_SUCCESS):
        sys.stdout.buffer.write(output)


if __name__ == "__main__":
    main()
