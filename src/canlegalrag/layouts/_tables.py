"""Parquet files of others, opened and read: what can't be decoded is an `InputError` with the file's name."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pyarrow.parquet import ParquetFile

from canlegalrag.errors import InputError
from canlegalrag.layouts._fields import Row
from canlegalrag.layouts._shape import NEEDED, label, usable
from canlegalrag.types import Problem

__all__ = ["decoding", "open_table", "rows"]


@contextmanager
def decoding(path: Path) -> Iterator[None]:
    """What goes wrong in here is the file's fault."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeError) as error:  # texts, or a path, that are not UTF-8
        raise InputError(str(path), f"not a readable Parquet file: {error}", "build it again") from None


def open_table(path: Path) -> ParquetFile:
    """Open a Parquet file, mapped into memory.

    Raises:
        InputError: it is none.
    """
    with decoding(path):
        return ParquetFile(path, memory_map=True)


def rows(paths: list[Path], config: str, problems: list[Problem]) -> Iterator[Row]:
    """The rows of a config whose needed fields are there; every fault in the others is named.

    Raises:
        InputError: a file that can't be decoded.
    """
    ids = [name for name in NEEDED[config] if name.endswith("id")]
    for path in paths:
        file = open_table(path)
        columns = usable(label(path), file.schema_arrow, config, problems)
        if columns is None:
            continue
        numeric = [name for name in ids if pa.types.is_integer(file.schema_arrow.field(name).type)]
        number = 0
        with decoding(path):
            for batch in file.iter_batches(columns=columns):
                for values in batch.to_pylist():
                    number += 1
                    row = Row(f"{label(path)}:{number}", values, problems)
                    for name in numeric:  # the column's type is a fault already; null stays null
                        values[name] = None if values[name] is None else str(values[name])
                    if len([name for name in ids if row.id(name) is not None]) == len(ids):
                        yield row
