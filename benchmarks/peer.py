"""Comparison of libraries, each in a separate process, and in an environment if necessary."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from machine import num_cores

# Packages of peers that conflict with ours, by the name of the environment.
REQUIREMENTS = {
    "torch": ("torch==2.13.0", "numpy>=2", "sentencepiece"),
    "marian": ("torch==2.14.1", "numpy>=2", "sentencepiece==0.2.3", "transformers==5.24.0"),
}


def python_of(name: str) -> Path:
    """Interpreter of an environment in the cache; the environment is created if it is missing."""
    from keras_attn_data import cache  # the environments do without it

    environment = cache.folder() / "environments" / name
    python, done = environment / "bin" / "python", environment / "requirements.txt"
    wanted = "\n".join(REQUIREMENTS[name])
    if not done.is_file() or done.read_text() != wanted:
        print(f"Making the environment of {name} in {environment} ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        # Without `PYTHONPATH`: packages of this process do not belong to the environment.
        pip = [python, "-I", "-m", "pip", "install", "--quiet", *REQUIREMENTS[name]]
        subprocess.run(pip, check=True)
        done.write_text(wanted)
    return python


def write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


class Peer:
    """Process on all cores that answers each line of JSON with one line of JSON.

    Args:
        name: Name for messages.
        command: Script in this folder, and arguments of the script.
        environment: Name of its environment. Defaults to the environment of this process.
        backend: Backend of Keras. Defaults to TensorFlow.
    """

    def __init__(
        self, name: str, command: list[str], environment: str = "", backend: str = "tensorflow"
    ) -> None:
        self.name = name
        script, *arguments = command
        python = python_of(environment) if environment else sys.executable
        settings = {"KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
        self._log = tempfile.TemporaryFile("w+")  # standard error, shown only after a failure
        self._process = subprocess.Popen(
            [python, Path(__file__).with_name(script), *arguments],
            env={**os.environ, **settings, "OMP_NUM_THREADS": str(num_cores())},
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
