from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def building():
    """The scripts that build the site can be imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[2] / "docs" / "building")
        yield
