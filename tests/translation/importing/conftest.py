import json
from pathlib import Path

import pytest

from keras_attn.translation.export.translator import Translator
from keras_attn.translation.importing.marian import import_marian

# Model with random weights, and the answers of transformers to it (see README.md there).
TINY = Path(__file__).parent / "tiny"


@pytest.fixture(scope="session")
def tiny():
    return TINY


@pytest.fixture(scope="session")
def answers():
    return json.loads((TINY / "answers.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def imported(make_once):
    """The tiny model as an exported version. Read-only."""

    def import_tiny(folder):
        # The pair of languages has no list of example sentences, which would be translated.
        with pytest.warns(UserWarning, match="begin each text with one of: >>fra<<, >>eng<<"):
            import_marian(TINY, folder, target="fr")

    return Translator.load(make_once("imported", import_tiny))
