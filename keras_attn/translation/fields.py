"""Fields of the configuration: help text, range and heading, and the check of a value."""

from __future__ import annotations

import dataclasses
import math
from operator import ge, gt, le, lt
from typing import Any


def setting(
    group: str,
    default: Any,
    help: str,
    metavar: str = "",
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    below: float | None = None,
    choices: tuple[str, ...] = (),
    separator: str = "",
    default_text: str = "",
) -> Any:
    """A field of `Config` with the metadata that validation and flags are made from.

    Args:
        group: Heading of the flag.
        default: Default value; its type is the type of the field.
        help: Help text, without range and default.
        metavar: Name of the value in the help, such as its unit. Not needed for choices and for
            True or False. Defaults to `NUMBER` or `TEXT`.
        least: Smallest allowed number.
        most: Largest allowed number.
        above: Number below all allowed numbers.
        below: Number above all allowed numbers.
        choices: Allowed strings; any string if empty.
        separator: Separator between the values of a flag that may be given several times. Empty
            if the flag may be given once.
        default_text: Description of the default. Defaults to the default itself.
    """
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
    }
    return dataclasses.field(default=default, metadata=metadata)


def fault(field: dataclasses.Field, value: Any) -> str:
    """Sentences about a value that its field does not allow; empty if the value is allowed."""
    kind, choices = type(field.default), field.metadata["choices"]
    of_kind = {int: "a whole number", float: "a finite number", str: "text", bool: "True or False"}
    must_be = " or ".join(f'"{choice}"' for choice in choices) or of_kind[kind]
    # A whole number is allowed for a float, True is no number.
    is_kind = type(value) is kind or (kind is float and type(value) is int)
    compare = {"at least": ge, "above": gt, "at most": le, "below": lt}
    if (
        is_kind
        and (not choices or value in choices)
        and (kind is not float or math.isfinite(value))
        and all(compare[words](value, limit) for words, limit in field.metadata["limits"].items())
    ):
        return ""
    allowed = " ".join(filter(None, [must_be, field.metadata["range"]]))
    return f"`{field.name}` must be {allowed}. Received: {field.name}={value!r}."
