import pytest
from small_models import strong


@pytest.fixture(scope="session")
def tiny_model():
    """An untrained model of one block on each side; without `blockwise`, graphs are smaller."""
    return strong(blockwise=False)
