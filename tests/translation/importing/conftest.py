import json
from pathlib import Path

import pytest

from keras_attn.translation.importing import folder

# Model with random weights, and the answers of transformers to it (see README.md there).
TINY = Path(__file__).parent / "tiny"


@pytest.fixture(scope="session")
def tiny():
    return TINY


@pytest.fixture(scope="session")
def answers():
    return json.loads((TINY / "answers.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def tiny_files():
    """Configuration, settings of the search, and weights."""
    config, search = (
        folder.read_json(TINY, name) for name in ("config.json", "generation_config.json")
    )
    return config, search, folder.read_weights(TINY)
