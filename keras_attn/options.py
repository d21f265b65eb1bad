"""Options: fields of a dataclass with help and range, which make flags, variables and checks.

The configuration of a training and the settings of the server are such dataclasses. This module
imports the standard library only, because `--help` must not wait for TensorFlow.
"""

import argparse
import csv
import dataclasses
import json
import math
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from operator import ge, gt, le, lt
from pathlib import Path
from typing import Any

_ADDRESS = re.compile("(tcp|udp|sctp)://")
_COMPARE = {"at least": ge, "above": gt, "at most": le, "below": lt}
_KINDS = {int: "a whole number", float: "a finite number", str: "text", bool: "True or False"}
# Names of values that have none of their own.
_METAVARS = {int: "NUMBER", float: "NUMBER", str: "TEXT"}
_DEFAULTS = {"False": "no", "True": "yes", "": "none"}


def option(
    default: Any,
    help: str,
    metavar: str = "",
    *,
    group: str = "",
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    below: float | None = None,
    choices: tuple[str, ...] = (),
    separator: str = "",
    default_text: str = "",
    has_flag: bool = True,
) -> Any:
    """A field of a dataclass, with the metadata that flags and checks are made from.

    `metavar` names the value in the help, such as its unit; `group` is the heading of the flag. A
    whole number is at least 1 by default; `above` and `below` exclude the limit. With `separator`,
    the flag may be given several times. `default_text` describes a default that is not a constant.
    """
    if least is None and type(default) is int:
        least = 1
    given = {"at least": least, "above": above, "at most": most, "below": below}
    limits = {words: limit for words, limit in given.items() if limit is not None}
    metadata = {
        "help": help,
        "metavar": metavar,
        "group": group,
        "limits": limits,
        "range": " and ".join(f"{words} {limit}" for words, limit in limits.items()),
        "choices": choices,
        "separator": separator,
        "default_text": default_text,
        "has_flag": has_flag,
    }
    return dataclasses.field(default=default, metadata=metadata)


def described(
    table: Path, choices: Mapping[str, tuple[str, ...]], separators: Mapping[str, str]
) -> Callable[[type], type]:
    """Decorator beneath `dataclass`: each field is an option as a row of a table describes it.

    Columns of the table are arguments of `option`; `range` has limits, as "at least 0 and below 1".
    """

    def describe(cls: type) -> type:
        with table.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        for row in rows:
            name, has_flag = row.pop("field"), row.pop("has_flag") != "no"
            limits = re.findall(r"(least|most|above|below) ([.\d]+)", row.pop("range"))
            details: dict[str, Any] = {word: json.loads(limit) for word, limit in limits}
            details |= {**row, "has_flag": has_flag, "choices": choices.get(name, ())}
            default, separator = getattr(cls, name), separators.get(name, "")
            setattr(cls, name, option(default, separator=separator, **details))
        return cls

    return describe


def faults(options: Any) -> dict[str, str]:
    """A sentence for each field of a dataclass whose value is not allowed, by the field's name."""
    return {
        field.name: must_be(options, _allowed(field), field.name)
        for field in dataclasses.fields(options)
        if not _is_allowed(field, getattr(options, field.name))
    }


def must_be(options: Any, allowed: str, *names: str) -> str:
    """Sentences that the first of these fields must be as allowed, with the values of all."""
    received = ", ".join(f"{name}={getattr(options, name)!r}" for name in names)
    return f"`{names[0]}` must be {allowed}. Received: {received}."


def _is_allowed(field: dataclasses.Field, value: Any) -> bool:
    kind: Any = type(field.default)
    choices, limits = field.metadata["choices"], field.metadata["limits"]
    # A whole number is allowed for a float, True is not a number.
    return (
        (type(value) is kind or (kind is float and type(value) is int))
        and (not choices or value in choices)
        and (kind is not float or math.isfinite(value))
        and all(_COMPARE[words](value, limit) for words, limit in limits.items())
    )


def _allowed(field: dataclasses.Field) -> str:
    choices = " or ".join(f'"{choice}"' for choice in field.metadata["choices"])
    return f"{choices or _KINDS[type(field.default)]} {field.metadata['range']}".rstrip()


def add_flags(parser: argparse.ArgumentParser, options: type, environment: str = "") -> None:
    """Add a flag for each field of a dataclass; a flag that is not given has no value.

    With `environment`, the start of the names of environment variables, such a variable gives the
    value of a flag that is not given. Kubernetes sets `KERAS_ATTN_PORT=tcp://10.0.0.1:80` for a
    service `keras-attn`: such an address is not a value.
    """
    groups: dict[str, Any] = {"": parser}
    for field in dataclasses.fields(options):
        if not field.metadata["has_flag"]:
            continue
        heading = field.metadata["group"]
        if heading not in groups:
            groups[heading] = parser.add_argument_group(heading)
        given = os.environ.get(environment + field.name.upper()) if environment else None
        if given is None or _ADDRESS.match(given):
            given = argparse.SUPPRESS
        groups[heading].add_argument(
            flag(field.name),
            # argparse converts a default that is a string, and reports one that is invalid.
            default=given,
            help=_help(field),
            **_kind(field),
        )


def add_old_flags(parser: argparse.ArgumentParser, options: type, renamed: dict[str, str]) -> None:
    """Add flags with the old names of fields that have a flag; each warns of its new name."""
    fields = {field.name: field for field in dataclasses.fields(options)}
    for old, new in renamed.items():
        if fields[new].metadata["has_flag"]:
            parser.add_argument(
                flag(old),
                dest=new,
                type=type(fields[new].default),
                action=_Renamed,
                default=argparse.SUPPRESS,
                help=argparse.SUPPRESS,
            )


def add_help_all(parser: argparse.ArgumentParser, common: Sequence[str]) -> None:
    """List only `common` options in the help, in a few words, and add `--help-all` for all."""
    shown = ("help", "version", "help_all", *common)
    texts = {action: action.help for action in parser._actions}
    groups = parser._action_groups

    class HelpAll(argparse.Action):
        def __call__(self, parser, namespace, values, option_string=None):
            parser._action_groups = groups
            for action, text in texts.items():
                action.help = text
            parser.print_help()
            parser.exit()

    page = argparse.ArgumentParser(add_help=False).add_argument_group("options")
    for action, text in texts.items():
        action.help = _in_short(text) if action.dest in shown else argparse.SUPPRESS
    text = "show all options, with details, and exit"
    parser.add_argument("--help-all", action=HelpAll, nargs=0, default=argparse.SUPPRESS, help=text)
    page._group_actions += [action for action in parser._actions if action.dest in shown]
    parser._action_groups = [page]


def _in_short(text: str | None) -> str:
    """A help text up to its first colon or semicolon, with the default.

    >>> _in_short("number of hypotheses; 1 is greedy search (at most 1000; default: 4)")
    'number of hypotheses (default: 4)'
    """
    start, bracket, details = (text or "").rpartition(" (")
    default = details.rpartition("default: ")[2]
    return re.split("[:;] ", start)[0] + f" (default: {default}" if bracket else text or ""


def flag(name: str) -> str:
    """Flag of a field: `--num-heads` for `num_heads`."""
    return f"--{name.replace('_', '-')}"


class _Renamed(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        print(f"warning: {option_string} is now called {flag(self.dest)}.", file=sys.stderr)
        setattr(namespace, self.dest, values)


def _kind(field: dataclasses.Field) -> dict[str, Any]:
    if isinstance(field.default, bool):
        return {"action": argparse.BooleanOptionalAction}
    if field.metadata["choices"]:
        return {"choices": field.metadata["choices"]}
    metavar = field.metadata["metavar"] or _METAVARS[type(field.default)]
    if separator := field.metadata["separator"]:
        return {"action": _Join, "const": separator, "metavar": metavar}
    return {"type": type(field.default), "metavar": metavar}


class _Join(argparse.Action):
    """Action of a flag that may be given several times: joins the values by its constant."""

    def __call__(self, parser, namespace, values, option_string=None):
        earlier = getattr(namespace, self.dest, None)
        setattr(namespace, self.dest, f"{earlier}{self.const}{values}" if earlier else values)


def _help(field: dataclasses.Field) -> str:
    """Help text with range and default; "at least 1" goes without saying."""
    default = field.metadata["default_text"] or str(field.default)
    default_text = f"default: {_DEFAULTS.get(default, default)}"
    range_text = field.metadata["range"]
    if field.metadata["limits"].get("at least") == 1:
        range_text = range_text.partition(" and ")[2]
    details = "; ".join(filter(None, [range_text, default_text]))
    return f"{field.metadata['help']} ({details})".replace("%", "%%")
