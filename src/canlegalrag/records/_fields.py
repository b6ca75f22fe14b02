"""A line of a file with its fields, each read with its type checked; every error names the field."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from canlegalrag.errors import InputError
from canlegalrag.files import dumps, read_jsonl
from canlegalrag.plain import id_fault

__all__ = ["Row", "once", "rows"]

_MOST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Row:
    """A JSON object with its place."""

    where: str
    """File and line, and the place in the line."""
    values: Mapping[str, Any]
    """Its fields."""

    def fault(self, name: str, what: str, fix: str = "") -> InputError:
        """An error about a field."""
        return InputError(f"{self.where}: {name}", what, fix)

    def has(self, name: str) -> bool:
        """Whether the field says something: null says nothing."""
        return self.values.get(name) is not None

    def text(self, name: str, default: str | None = None) -> str:
        """A string; without a default the field must be there."""
        value = self.values.get(name)
        if value is None and default is not None:
            return default
        if value is None:
            raise self.fault(name, "is missing", f'"{name}": "…"')
        if not isinstance(value, str):
            raise self.fault(name, f"{value!r:.80} is not a string", f'"{name}": "…"')
        return value

    def id(self, name: str) -> str:
        """A string that can be an id."""
        value = self.text(name)
        fault = id_fault(value)
        if fault:
            raise self.fault(name, f"{value!r:.80} {fault}", "of white space, ids may hold inner spaces only")
        return value

    def choice(self, name: str, known: Collection[str], default: str | None = None) -> str:
        """One of a few strings."""
        value = self.text(name, default)
        if value not in known:
            raise self.fault(name, f"{value!r:.80} is not known", f"one of: {', '.join(known)}")
        return value

    def whole(self, name: str, default: int | None = None) -> int:
        """A whole number from 0, of something that a text can have so many of."""
        value = self.values.get(name)
        if value is None and default is not None:
            return default
        if type(value) is not int or not 0 <= value <= _MOST:
            raise self.fault(name, f"{value!r:.80} is not a whole number from 0 to {_MOST}", f'"{name}": 0')
        return value

    def number(self, name: str, most: float) -> float | None:
        """A number from 0 to `most`; None where there is none."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not value == value:
            raise self.fault(name, f"{value!r:.80} is not a number", "null where it isn't known")
        if not 0 <= value <= most:
            raise self.fault(name, f"{value!r:.80} is not from 0 to {most:g}", "null where it isn't known")
        return float(value)

    def flag(self, name: str) -> bool:
        """True or false; false where it is missing."""
        value = self.values.get(name)
        if value is not None and type(value) is not bool:
            raise self.fault(name, f"{value!r:.80} is neither true nor false", f'"{name}": false')
        return bool(value)

    def strings(self, name: str) -> tuple[str, ...]:
        """A list of strings; none where it is missing."""
        for n, value in enumerate(found := self._list(name)):
            if not isinstance(value, str):
                raise self.fault(f"{name}[{n}]", f"{value!r:.80} is not a string", "a list of strings")
        return tuple(found)

    def object(self, name: str) -> dict[str, Any]:
        """An object; an empty one where it is missing."""
        value = self.values.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.fault(name, f"a {type(value).__name__}, not a JSON object", f'"{name}": {{}}')
        try:
            dumps(value)  # 1e999 is JSON, and infinity
        except ValueError:
            raise self.fault(name, "holds a number that isn't finite", "null where it isn't known") from None
        return value

    def rows(self, name: str) -> "list[Row]":
        """A list of objects; none where it is missing."""
        made = []
        for n, value in enumerate(self._list(name)):
            if not isinstance(value, dict):
                what = f"a {type(value).__name__}, not a JSON object"
                raise self.fault(f"{name}[{n}]", what, "a list of objects")
            made.append(Row(f"{self.where}: {name}[{n}]", value))
        return made

    def _list(self, name: str) -> list[Any]:
        value = self.values.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.fault(name, f"a {type(value).__name__}, not a list", f'"{name}": []')
        return value


def rows(path: Path) -> Iterator[Row]:
    """The objects of a JSON Lines file."""
    for number, values in read_jsonl(path):
        yield Row(f"{path}:{number}", values)


def once(row: Row, query_id: str, known: Collection[str]) -> None:
    """Refuse a second line about a query.

    Raises:
        InputError: there was one before.
    """
    if query_id in known:
        raise row.fault("query_id", f"query {query_id!r} stands in the file twice", "one line a query")
