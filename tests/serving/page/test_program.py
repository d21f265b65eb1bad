"""The section on programs: what it shows runs and gets the translation that the page shows."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

TEXTS = ["猫がいる。", 'It\'s "quoted", $HOME `pwd` \\n\n二行目']


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


@pytest.mark.parametrize("text", TEXTS)
def test_the_programs_get_the_translation(page, ask, text):
    page.set_text(text)
    page.one("program").click()
    shown = {name: page.one(name).get_property("textContent") for name in ("curl", "python")}
    expected = ask("serving_default", text)
    assert run([sys.executable, "-c", shown["python"]]) == f"{expected}\n"
    # The shell reads the command as one program and its words.
    words = run(["sh", "-c", shown["curl"].replace("curl", "printf '%s\\0'", 1)]).split("\0")
    assert words[0] == "-d" and words[2].endswith("/v1/models/ja-en:predict")
    in_page = page.run("return JSON.parse(arguments[0]).instances[0]", words[1])
    assert in_page == text
