"""Values out of rows that others wrote: each is what it should be, or else a problem that names its place."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

from canlegalrag.types import Problem

__all__ = ["GRADES", "YEARS", "Row", "whole"]

GRADES = (-(2**15), 2**15 - 1)
"""Least and greatest grade: what the published column, an int16, can hold."""
YEARS = (1000, 2999)
"""Earliest and latest year that can be one."""


def whole(value: Any, bounds: tuple[int, int]) -> int | None:
    """The whole number that a value is, within bounds; None where it is none.

    >>> whole(2.0, GRADES), whole(1.9, GRADES), whole(True, GRADES), whole("1", GRADES), whole(100_000, GRADES)
    (2, None, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # The bounds come first: they keep out NaN and the infinities, which int() refuses.
    return int(value) if bounds[0] <= value <= bounds[1] and value == int(value) else None


@dataclass(frozen=True, slots=True)
class Row:
    """One record, read field by field; what a field isn't goes to `problems`."""

    where: str
    """File and row, or file and id."""
    values: Mapping[str, Any]
    """Field -> value."""
    problems: list[Problem]
    """Where faults are added."""

    def problem(self, what: str, fix: str = "", *, fatal: bool = True) -> None:
        """Note a fault of this row."""
        self.problems.append(Problem(self.where, what, fix, fatal))

    def string(self, name: str) -> str:
        """A string; empty where there is none. A number is a fault, and is taken as it is written."""
        value = self.values.get(name)
        if value is None or isinstance(value, str):
            return value or ""
        self.problem(f"{name} is {_short(value)}, not a string", "quote it")
        return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""

    def id(self, name: str) -> str | None:
        """An id: a string that is there; None is a fault."""
        if self.values.get(name) is None:
            self.problem(f"has no {name}", "every row needs one")
            return None
        return self.string(name)

    def strings(self, name: str) -> tuple[str, ...]:
        """A list of strings; empty where there is none. A single string is a fault: it isn't split into letters."""
        value = self.values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list | tuple):
            self.problem(f"{name} is {_short(value)}, not a list of strings", f'write {name} = ["…"]')
            return ()
        wrong = [v for v in value if not isinstance(v, str)]
        if wrong:
            self.problem(f"{name} holds {_short(wrong[0])}, not a string", "quote it")
        return tuple(v for v in value if isinstance(v, str))

    def whole(
        self, name: str, bounds: tuple[int, int], default: int | None = None, *, fatal: bool = True
    ) -> int | None:
        """A whole number within bounds; the default where there is no field, None with a fault where it is wrong."""
        if name not in self.values:
            return default
        number = whole(self.values[name], bounds)
        if number is None:
            what = f"{name} {_short(self.values[name])} is not a whole number from {bounds[0]} to {bounds[1]}"
            self.problem(what, fatal=fatal)
        return number

    def flag(self, name: str) -> bool | None:
        """True or false; None where the field isn't there."""
        value = self.values.get(name)
        if value is None or isinstance(value, bool):
            return value
        self.problem(f"{name} is {_short(value)}, neither true nor false")
        return None

    def only(self, known: Set[str]) -> None:
        """Note the fields that nobody reads: each is a slip of the pen."""
        for key in sorted(self.values.keys() - known):
            self.problem(f"unknown key {key!r}", f"known are {', '.join(sorted(known))}")

    def place(self, quote: str, text: str, holder: str) -> tuple[int, int] | None:
        """First character of a quote and one past its last; None, with a fault, unless it stands in the text once."""
        n = text.count(quote) if quote else 0
        if n != 1:
            what = f"quote occurs {n} times in {holder}, not once: {quote[:60]!r}"
            self.problem(what, "quote exactly, and enough")
            return None
        start = text.index(quote)
        return start, start + len(quote)

    def tables(self, name: str) -> list[dict[str, Any]]:
        """A list of tables, those that are."""
        value = self.values.get(name, [])
        if not isinstance(value, list):
            self.problem(f"{name} is {_short(value)}, not a list of tables", f"write [[{name}]]")
            return []
        wrong = [v for v in value if not isinstance(v, dict)]
        if wrong:
            self.problem(f"{name} holds {_short(wrong[0])}, not a table", f"write [[{name}]]")
        return [v for v in value if isinstance(v, dict)]


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:60] + "…"
