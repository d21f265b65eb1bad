import dataclasses
import shlex

import pytest

from keras_attn.translation.config import Config
from keras_attn.translation.flags import make_parser

PARSER = make_parser(shows_all=True)
FIELDS = {field.name: field for field in dataclasses.fields(Config)}
FLAGS = {
    action.dest: action
    for action in PARSER._actions
    if action.help != "==SUPPRESS==" and action.dest not in ("help", "help_all", "version")
}
# Another value than the default, where the default and one do not suffice.
OTHERS = {bool: True, int: 3, float: 0.25, str: "own"}


def parse(*arguments):
    return vars(PARSER.parse_args(arguments))


def test_flags_are_the_fields_the_folders_and_the_devices():
    assert set(FLAGS) == {*FIELDS, "out", "tensorboard", "model_devices"}
    assert all(action.help for action in FLAGS.values())
    # A value has a name that tells what it is; choices are named by themselves.
    named = [action for action in FLAGS.values() if action.nargs != 0 and not action.choices]
    assert all(len(action.metavar) > 3 for action in named)


def test_a_flag_gives_the_value_of_its_field_and_nothing_else():
    faults = []
    for name, field in FIELDS.items():
        value = next(iter(field.metadata["choices"]), OTHERS[type(field.default)])
        flag = f"--{name.replace('_', '-')}"
        found = parse(flag) if value is True else parse(flag, str(value))
        if found != {name: value} or type(found[name]) is not type(field.default):
            faults.append(f"{flag} {value}: {found}")
    assert not faults, "\n".join(faults)
    assert parse() == {} and parse("--no-shared-vocab") == {"shared_vocab": False}
    several = parse("--hold-out", "a.tsv", "--hold-out", "b.x,b.y")
    assert several == {"hold_out": "a.tsv + b.x,b.y"}


def test_an_old_name_of_a_flag_works_with_a_warning(capsys):
    assert parse("--max-pieces", "9") == {"max_length": 9}
    assert capsys.readouterr().err == "warning: --max-pieces is now called --max-length.\n"


def test_help_shows_ranges_defaults_and_commands_that_can_be_given():
    examples = make_parser("keras-attn train").format_help().split("examples:\n")[1].splitlines()
    assert len(examples) > 3
    for example in examples:
        keras_attn, train, *arguments = shlex.split(example)
        assert (keras_attn, train) == ("keras-attn", "train")
        parse(*arguments)
    for name, text in (
        ("beam_size", "1 is greedy search (at least 1 and at most 1000; default: 4)"),
        ("cooldown_fraction", "(above 0 and at most 1; default: 0.4)"),
        ("dropout", "default: chosen by the corpus and the training time)"),
        ("shared_vocab", "(default: no)"),
    ):
        assert FLAGS[name].help.endswith(text)


def test_the_common_page_is_short_and_names_the_page_of_all_options(capsys):
    page = make_parser().format_help()
    assert page.count("\n  --") <= 24 and "--help-all" in page and "--data" in page
    assert "--newton-schulz-steps" not in page
    with pytest.raises(SystemExit) as ended:
        make_parser().parse_args(["--help-all"])
    everything = capsys.readouterr().out
    assert not ended.value.code
    assert all(f"--{name.replace('_', '-')}" in everything for name in FLAGS)


def test_what_no_flag_allows_is_refused(capsys):
    for arguments in (["--precision", "int8"], ["--steps", "1.5"], ["--width", "3"]):
        with pytest.raises(SystemExit):
            parse(*arguments)
        assert arguments[0] in capsys.readouterr().err
