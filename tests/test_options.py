import argparse
import dataclasses

import pytest

from keras_attn import cli
from keras_attn.options import add_flags, add_help_all, add_old_flags, faults, option
from keras_attn.translation.commands import add_train


@dataclasses.dataclass
class Options:
    size: int = option(3, "number of things", most=9)
    rate: float = option(0.5, "share of things", "SHARE", group="rates", above=0, below=1)
    kind: str = option("a", "kind of things", choices=("a", "b"))
    is_on: bool = option(False, "whether things are on")
    names: str = option("", "names of things, 100% of them", separator=" + ")
    secret: int = option(0, "number of other things", least=0, has_flag=False)


@pytest.fixture
def parser():
    return argparse.ArgumentParser()


def test_allowed_values_have_no_fault():
    assert not faults(Options())
    for name, value in (("size", 1), ("size", 9), ("rate", 0.1), ("kind", "b"), ("is_on", True)):
        assert not faults(Options(**{name: value}))


def test_a_fault_names_the_field_the_range_and_the_value():
    for name, values, must_be in (
        ("size", (0, 10, 2.0, True), "a whole number at least 1 and at most 9"),
        ("rate", (0.0, 1, float("nan")), "a finite number above 0 and below 1"),
        ("kind", ("c",), '"a" or "b"'),
        ("is_on", (1,), "True or False"),
    ):
        for value in values:
            expected = f"`{name}` must be {must_be}. Received: {name}={value!r}."
            assert faults(Options(**{name: value})) == {name: expected}


def test_a_flag_gives_the_value_of_its_field_and_nothing_else(parser, capsys):
    add_flags(parser, Options)
    for line, found in (
        ("", {}),
        ("--size 4", {"size": 4}),
        ("--rate 1", {"rate": 1.0}),
        ("--kind b", {"kind": "b"}),
        ("--is-on", {"is_on": True}),
        ("--no-is-on", {"is_on": False}),
        ("--names a --names b,c", {"names": "a + b,c"}),
    ):
        assert vars(parser.parse_args(line.split())) == found
    for line in ("--secret 1", "--kind c", "--size 1.5"):
        with pytest.raises(SystemExit):
            parser.parse_args(line.split())
        assert line.split()[0] in capsys.readouterr().err


def test_help_shows_ranges_and_defaults(parser):
    add_flags(parser, Options)
    page = " ".join(parser.format_help().split())
    for text in (
        "--size NUMBER number of things (at most 9; default: 3)",
        "rates: --rate SHARE share of things (above 0 and below 1; default: 0.5)",
        "whether things are on (default: no)",
        "names of things, 100% of them (default: none)",
    ):
        assert text in page


def test_a_flag_that_is_not_given_may_be_an_environment_variable(parser, monkeypatch, capsys):
    monkeypatch.setenv("OWN_SIZE", "7")
    monkeypatch.setenv("OWN_KIND", "b")
    add_flags(parser, Options, "OWN_")
    assert vars(parser.parse_args(["--kind", "a"])) == {"size": 7, "kind": "a"}
    for address in ("tcp://10.0.0.1:80", "udp://[::1]:80"):  # of a service in Kubernetes
        monkeypatch.setenv("OWN_SIZE", address)
        add_flags(of_pod := argparse.ArgumentParser(), Options, "OWN_")
        assert vars(of_pod.parse_args([])) == {"kind": "b"}
    monkeypatch.setenv("OWN_SIZE", "many")
    add_flags(other := argparse.ArgumentParser(), Options, "OWN_")
    with pytest.raises(SystemExit):
        other.parse_args([])
    assert "--size: invalid int value: 'many'" in capsys.readouterr().err


def test_an_old_name_of_a_flag_works_with_a_warning(parser, capsys):
    add_flags(parser, Options)
    add_old_flags(parser, Options, {"width": "size", "hidden": "secret"})
    assert vars(parser.parse_args(["--width", "4"])) == {"size": 4}
    assert capsys.readouterr().err == "warning: --width is now called --size.\n"
    assert "width" not in parser.format_help()


def test_the_help_is_short_and_help_all_shows_every_option(parser, capsys):
    add_flags(parser, Options)
    add_help_all(parser, ("size",))
    page = parser.format_help()
    assert "--size" in page and "--help-all" in page and "--rate" not in page
    with pytest.raises(SystemExit) as ended:
        parser.parse_args(["--help-all"])
    assert not ended.value.code
    assert "--size" in (page := capsys.readouterr().out) and "share of things" in page


def test_the_help_of_train_fits_on_one_screen(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit):
        cli.parse(["train", "--help"], [add_train])
    page = capsys.readouterr().out
    assert page.count("\n") <= 45 and 18 <= page.count("\n  --") <= 24
