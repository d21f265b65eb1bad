"""The tables of examples/README.md are what the examples print."""

import importlib.util
import json
import re

import numpy as np
import pytest
from processes import ROOT

from keras_attn.translation.export.translator import Attention, Translator

README = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
RECORDED = ROOT / "keras_attn" / "plots" / "translator.json"
# Differences of a number that another processor may print, by script; relative where below 1.
SCRIPTS = {
    "masked_softmax_and_scores": 0.0011,
    "positional_encodings": 0.011,
    "attention_of_a_translation": 1,
    "text_classifier": 5,
    "character_language_model": 0.1,
}
SLOW = ("text_classifier", "character_language_model")


def tables(script):
    """Lines of the indented blocks below the commands of a script."""
    _, _, section = README.partition(f"    python examples/{script}.py")
    section = section.partition("\n## ")[0].partition("\n")[2]
    lines = re.findall(r"^    (.+)$", section, flags=re.MULTILINE)
    return [line for line in lines if not line.startswith("python ")]


def agree(line, printed, tolerance):
    """Same words, and numbers that differ by `tolerance` at most; below 1e-4 is rounding."""
    number = r"-?\d[\d,]*\.?\d*(?:e[-+]\d+)?"
    if re.sub(rf"\s*{number}", " #", line) != re.sub(rf"\s*{number}", " #", printed):
        return False
    pairs = zip(re.findall(number, line), re.findall(number, printed), strict=True)
    for pair in pairs:
        ours, theirs = (float(text.replace(",", "")) for text in pair)
        relative = tolerance * max(1, abs(ours)) if tolerance < 1 else tolerance
        if abs(ours - theirs) > relative and max(abs(ours), abs(theirs)) > 1e-4:
            return False
    return True


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in SCRIPTS],
)
def test_printed_tables_are_those_of_the_readme(name, monkeypatch, capsys):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    arguments = []
    if name == "attention_of_a_translation":  # the translator that the tutorials recorded
        recorded = json.loads(RECORDED.read_text(encoding="utf-8"))["attention"]
        arguments = ["saved_models/ja-en", recorded.pop("text")]
        recorded["weights"] = np.array(recorded["weights"])
        translator = type("Recorded", (), {"attend": lambda self, text: Attention(**recorded)})
        monkeypatch.setattr(Translator, "load", lambda path: translator())
    script.main(arguments)
    printed = iter(capsys.readouterr().out.splitlines())
    assert len(tables(name)) >= 4
    for line in tables(name):
        rest = [*printed]
        places = [i for i, other in enumerate(rest) if agree(line, other, SCRIPTS[name])]
        assert places, f"{line!r} is not among\n" + "\n".join(rest)
        printed = iter(rest[places[0] + 1 :])
