import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def building():
    """Folder of the scripts that build the site, importable."""
    folder = str(ROOT / "docs" / "building")
    sys.path.insert(0, folder)
    yield Path(folder)
    sys.path.remove(folder)
