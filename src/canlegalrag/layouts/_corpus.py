"""A corpus that stays in its Parquet files and is read a row group at a time."""

import bisect
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, ValuesView
from pathlib import Path
from typing import Any

from pyarrow.parquet import ParquetFile

from canlegalrag.layouts import first_repeat
from canlegalrag.layouts._fields import YEARS, whole
from canlegalrag.layouts._shape import label, usable
from canlegalrag.layouts._tables import decoding, open_table
from canlegalrag.types import Document, Problem

__all__ = ["Documents"]

_CACHED = 256_000_000
"""Characters of text that stay decoded for those who look documents up at random, such as rerankers."""


class Documents(Mapping[str, Document]):
    """A corpus in Parquet files: document id -> document, in the order of the files, few row groups in memory.

    Iterating over `values()` decodes each row group once and keeps none. What is looked up by its id stays in memory
    with its row group, up to `_CACHED` characters. Safe to share between threads.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self.problems: list[Problem] = []
        """What is wrong with the columns, the ids and the years; texts are read later."""
        self._reading = threading.Lock()  # a Parquet file mixes up what two threads read of it at once
        self._groups: list[tuple[Path, ParquetFile, int, list[str]]] = []
        self._firsts: list[int] = []
        ids: list[str | None] = []
        for path in paths:
            file = open_table(path)
            columns = usable(label(path), file.schema_arrow, "corpus", self.problems)
            start = len(ids)
            for group in range(file.num_row_groups if columns is not None else 0):
                self._firsts.append(len(ids))
                self._groups.append((path, file, group, columns or []))
                ids += self._ids(len(self._groups) - 1, len(ids) - start)
        repeated = first_repeat([i for i in ids if i is not None])
        self.problems += [Problem(f"corpus: {i}", f"document id is used {n} times") for i, n in repeated.items()]
        self._rows = {id_: row for row, id_ in enumerate(ids) if id_ is not None}
        self._cache: OrderedDict[int, list[dict[str, Any]]] = OrderedDict()
        self._cached = 0  # characters
        self._lock = threading.Lock()

    def _ids(self, group: int, before: int) -> list[str | None]:
        """Ids of a row group, None where there is none; notes what is wrong with them and with the years."""
        path, _, _, columns = self._groups[group]
        ids: list[str | None] = []
        for row, values in enumerate(self._read(group, [c for c in ("_id", "year") if c in columns]), before + 1):
            where = f"{label(path)}:{row}"
            if values["_id"] is None:
                self.problems.append(Problem(where, "has no _id", "every row needs one"))
            year = values.get("year")
            if year is not None and year == year and whole(year, YEARS) is None:  # NaN is how pandas writes a gap
                self.problems.append(Problem(where, f"year {year!r} is not a year", f"{YEARS[0]} to {YEARS[1]}"))
            ids.append(None if values["_id"] is None else str(values["_id"]))
        return ids

    def _read(self, group: int, columns: list[str]) -> list[dict[str, Any]]:
        path, file, number, _ = self._groups[group]
        with decoding(path):
            with self._reading:
                table = file.read_row_group(number, columns=columns)
            found: list[dict[str, Any]] = table.to_pylist()
        return found

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __getitem__(self, key: str) -> Document:
        row = self._rows[key]
        group = bisect.bisect_right(self._firsts, row) - 1
        with self._lock:
            if group not in self._cache:
                self._cache[group] = self._read(group, self._groups[group][3])
                self._cached += _characters(self._cache[group])
                while self._cached > _CACHED and len(self._cache) > 1:
                    self._cached -= _characters(self._cache.popitem(last=False)[1])
            self._cache.move_to_end(group)
            fields = self._cache[group][row - self._firsts[group]]
        return _document(key, fields)

    def values(self) -> ValuesView[Document]:
        """The documents in order; a stream, for all that it looks like a view."""
        return _Stream(self)

    def _stream(self) -> Iterator[Document]:
        """Decode row group after row group, and keep none."""
        group, rows = -1, list[dict[str, Any]]()
        for key, row in self._rows.items():
            here = bisect.bisect_right(self._firsts, row) - 1
            if here != group:
                group, rows = here, self._read(here, self._groups[here][3])
            yield _document(key, rows[row - self._firsts[group]])


class _Stream(ValuesView[Document]):
    """The documents of a corpus on disk."""

    _mapping: Documents

    def __iter__(self) -> Iterator[Document]:
        return self._mapping._stream()


def _characters(rows: list[dict[str, Any]]) -> int:
    return sum(len(row.get("text") or "") for row in rows)


def _document(key: str, row: Mapping[str, Any]) -> Document:
    fields = {name: value for name, value in row.items() if name != "_id"}
    year = whole(fields.pop("year", None), YEARS)
    citations = tuple(c for c in fields.pop("citations", None) or () if c is not None)
    strings = {"title": "", "text": ""} | {name: value or "" for name, value in fields.items()}
    return Document(key, **strings, year=year, citations=citations)
