import pytest
from keras_attn_data.everyday import grammar


@pytest.fixture(scope="session")
def corpus():
    """All pairs of the corpus."""
    return list(grammar.pairs())
