import pytest

from keras_attn.translation.training.jax import processes


def test_a_single_process_is_the_primary_and_decides_itself():
    assert processes.is_primary() and processes.count() == 1
    assert processes.broadcast_from_primary(lambda: [1, 2]) == [1, 2]
    assert processes.any_process(True) and not processes.any_process(False)


def test_errors_that_no_other_process_causes_are_raised_as_they_are():
    with pytest.raises(ValueError, match="mine"), processes.abort_together():
        raise ValueError("mine")
