"""Comparison of libraries, each in a separate process."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from machine import memory_of_this_process


class Peer:
    """Process that answers each line of JSON on standard input with one line of JSON.

    Args:
        name: Name for messages.
        command: Script in this folder, and arguments of the script.
        num_threads: Number of OpenMP threads.
        python: Interpreter. Defaults to the interpreter of this process.
        backend: Backend of Keras. Defaults to TensorFlow.
    """

    def __init__(
        self,
        name: str,
        command: list[str],
        num_threads: int,
        python: Path | None = None,
        backend: str = "tensorflow",
    ) -> None:
        self.name = name
        script, *arguments = command
        environment = {
            "KERAS_BACKEND": backend,
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "OMP_NUM_THREADS": str(num_threads),
        }
        self._log = tempfile.TemporaryFile("w+")  # standard error, shown only after a failure
        self._process = subprocess.Popen(
            [python or sys.executable, str(Path(__file__).with_name(script)), *arguments],
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def ask(self, **request: Any) -> Any:
        questions, answers = self._process.stdin, self._process.stdout
        if questions is None or answers is None:
            raise RuntimeError(f"{self.name} was started without pipes")
        # Writing to a process that has ended fails; the log shows the reason.
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps(request), file=questions, flush=True)
        answer = answers.readline()
        if not answer:
            code = self._process.wait()
            self._log.seek(0)
            raise RuntimeError(f"{self.name} ended with code {code}:\n{self._log.read()}")
        return json.loads(answer)

    def end(self) -> None:
        self._process.communicate()
        self._log.close()


def answer_requests(answer: Callable[[dict[str, Any]], Any]) -> None:
    """Main loop of a peer process: answer requests until standard input ends."""
    # Output of libraries must not mix with the answers on standard output.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers)


def translate_requests(engine: Any) -> None:
    """Main loop of a process that translates.

    `{"load": folder}` loads a model, `{"texts": [...]}` translates, `{}` does neither. Each answer
    has the seconds, and the peak memory of the process.

    Args:
        engine: Object with `load(folder)` and `translate(texts)`.
    """

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        start = time.perf_counter()
        if "load" in request:
            engine.load(Path(request["load"]))
        elif "texts" in request:
            found["texts"] = engine.translate(request["texts"])
        found["seconds"] = time.perf_counter() - start
        found["peak MiB"] = memory_of_this_process("VmHWM") / 2**20
        return found

    answer_requests(answer)
