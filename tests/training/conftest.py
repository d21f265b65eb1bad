import pytest
import tensorflow as tf


@pytest.fixture
def eagerly():
    """No function is traced, which would take longer than the call."""
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)
