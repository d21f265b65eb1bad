import dataclasses

from keras_attn.translation.fields import fault, setting


@dataclasses.dataclass
class Settings:
    size: int = setting("sizes", 3, "number of things", least=1, most=9)
    rate: float = setting("rates", 0.5, "share of things", above=0, below=1)
    kind: str = setting("kinds", "a", "kind of things", choices=("a", "b"))
    is_on: bool = setting("kinds", False, "whether things are on")


FIELDS = {field.name: field for field in dataclasses.fields(Settings)}


def test_an_allowed_value_has_no_fault():
    allowed = [("size", 1), ("size", 9), ("rate", 0.1), ("kind", "b"), ("is_on", True)]
    assert [fault(FIELDS[name], value) for name, value in allowed] == [""] * 5


def test_a_fault_names_the_field_the_range_and_the_value():
    for name, values, must_be in (
        ("size", (0, 10, 2.0, True), "a whole number at least 1 and at most 9"),
        ("rate", (0.0, 1, float("nan")), "a finite number above 0 and below 1"),
        ("kind", ("c",), '"a" or "b"'),
        ("is_on", (1,), "True or False"),
    ):
        for value in values:
            expected = f"`{name}` must be {must_be}. Received: {name}={value!r}."
            assert fault(FIELDS[name], value) == expected
