"""Turns of programs that are compared, and the tables of their figures."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

Name = TypeVar("Name")
Program = TypeVar("Program")


def take_turns(
    programs: Mapping[Name, Program], call: Callable[[Program, int], Any], num_turns: int
) -> dict[Name, list[Any]]:
    """Results of each program by turn, from `call(program, turn)`, in a new order in each turn.

    Turn 0 warms up; its results are left out.
    """
    results: dict[Name, list[Any]] = {name: [] for name in programs}
    names = list(programs)
    for turn in range(num_turns + 1):
        for i in range(len(names)):
            name = names[(i + turn) % len(names)]
            results[name].append(call(programs[name], turn))
    return {name: found[1:] for name, found in results.items()}


def median_ratio(numbers: Sequence[float], others: Sequence[float]) -> float:
    """Median of the ratios of two programs, each within a turn."""
    return statistics.median(a / b for a, b in zip(numbers, others, strict=True))


class Table:
    """Printed table, from the format of each column, for example `{"BLEU": ">8.2f"}`.

    A string is printed with the alignment and the width of its column only.
    """

    def __init__(self, columns: Mapping[str, str]):
        self._formats = columns.values()
        self.add(*columns)

    def add(self, *cells: Any) -> None:
        """Print a row, which may have fewer cells than there are columns."""
        line = ""
        for cell, full in zip(cells, self._formats, strict=False):
            line += format(cell, full.split(".")[0].rstrip(",") if isinstance(cell, str) else full)
        print(line, flush=True)
