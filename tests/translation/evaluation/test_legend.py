from keras_attn.translation.corpus.cleaning import REASONS
from keras_attn.translation.evaluation import legend
from keras_attn.translation.evaluation.history import EpochRecord
from keras_attn.translation.evaluation.legend import readable


def test_every_reason_and_column_has_a_name():
    assert set(REASONS) <= set(legend.CORPUS)
    assert set(EpochRecord._fields) == set(legend.LEARNING)


def test_values_have_digits_that_tell_something():
    for name, value, text in (
        ("epochs", 71.428, "71.4"),
        ("seconds", 52.8743, "53"),
        ("step", 12345, "12,345"),
        ("learning_rate", 0.0008, "0.0008"),
        ("gated", False, "no"),
        ("data", "a_b", "a_b"),
    ):
        assert readable(name, value) == text
