import pytest

from keras_attn.translation.machine import processes


def test_a_single_process_is_the_first_and_decides_itself():
    assert processes.is_first() and processes.count() == 1
    assert processes.by_first(lambda: [1, 2]) == [1, 2]
    assert processes.shard() is None  # TensorFlow takes batches whole


def test_several_processes_on_tensorflow_are_refused(monkeypatch):
    monkeypatch.setenv("KERAS_DISTRIBUTION_NUM_PROCESSES", "2")
    with pytest.raises(ValueError, match="Several processes train on JAX only.*PROCESSES=2"):
        processes.join()


def test_errors_that_no_other_process_causes_are_raised_as_they_are():
    with pytest.raises(ValueError, match="mine"), processes.ending_together():
        raise ValueError("mine")
