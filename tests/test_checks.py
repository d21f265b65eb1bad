import keras
import numpy as np
import pytest
from keras import ops

from keras_attn import checks


@pytest.mark.parametrize(
    ("check", "arguments", "message"),
    [
        (checks.check_positive_integer, (True,), "must be a positive integer. Received: x=True"),
        (checks.check_positive_integer, (2.0,), "must be a positive integer. Received: x=2.0"),
        (checks.check_rate, (1.0,), "at least 0 and below 1. Received: x=1.0"),
        (checks.check_rate, (float("nan"),), "at least 0 and below 1. Received: x=nan"),
        (checks.check_positive_number, (float("inf"),), "a number above 0. Received: x=inf"),
        (checks.check_boolean, (1,), "must be True or False. Received: x=1"),
        (checks.check_choice, ("c", ("a", "b")), "must be one of 'a', 'b'. Received: x='c'"),
        (checks.get_activation, ("bent",), "Received: x='bent'"),
    ],
)
def test_what_is_refused_is_named_with_what_was_expected(check, arguments, message):
    with pytest.raises(ValueError, match="`x`.*" + message):
        check("x", *arguments)


def test_what_is_meant_passes():
    checks.check_positive_integer("x", 3)
    checks.check_rate("x", 0)
    checks.check_positive_number("x", 0.5)
    checks.check_boolean("x", False)
    checks.check_choice("x", "b", ("a", "b"))
    assert checks.get_activation("x", "relu") is keras.activations.relu


@pytest.mark.parametrize("start", [0, 3, np.int64(2)])
def test_start_may_be_any_integer_from_zero(start):
    checks.check_start(start)
    checks.check_start(ops.convert_to_tensor(start))


@pytest.mark.parametrize("start", [-1, 1.5, True, np.ones(2, np.int32), np.float32(1)])
def test_start_that_is_no_position_is_refused(start):
    with pytest.raises(ValueError, match="`start` must be an integer"):
        checks.check_start(start)
