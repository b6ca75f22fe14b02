"""The vectors of a dense index while it is made: a file that grows shard by shard, and the record of what is whole."""

import hashlib
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from canlegalrag.errors import InputError
from canlegalrag.files import dumps
from canlegalrag.retrievers._passages import Array
from canlegalrag.retrievers.dense_store import BUILDING, SHARD, Damaged, check_same, shard_sum

__all__ = ["Shards"]


class Shards:
    """The part of an index that is on the disk, and the record of it."""

    def __init__(self, folder: Path, wanted: Mapping[str, Any], passages: int) -> None:
        self.folder, self.wanted, self.passages = folder, wanted, passages
        self.rows: list[dict[str, Any]] = []
        self.dimensions: int | None = None
        self.header = b""
        self.bytes = 0  # of a vector

    def __enter__(self) -> "Shards":
        """Open the record, and find the shards that are whole."""
        self.record = (self.folder / BUILDING).open("a+b")
        self.file = os.fdopen(os.open(self.folder / "vectors.npy", os.O_RDWR | os.O_CREAT, 0o666), "r+b")
        self.record.seek(0)
        lines = self.record.read().split(b"\n")[:-1]  # what follows the last line feed was torn
        self.record.truncate(sum(len(line) + 1 for line in lines))
        try:
            rows = [json.loads(line) for line in lines]
            if rows:
                check_same(self.folder, rows[0], self.wanted)
            else:
                self._note(self.wanted)
            self._resume(rows[1:])
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            self.__exit__()
            if isinstance(error, InputError):
                raise
            raise Damaged(str(self.folder / BUILDING), f"is damaged: {error}", "delete the folder") from None
        return self

    def __exit__(self, *_: object) -> None:
        """Close the files."""
        self.record.close()
        self.file.close()

    def _note(self, row: Mapping[str, Any]) -> None:
        self.record.write(dumps(dict(row)).encode() + b"\n")
        self.record.flush()
        os.fsync(self.record.fileno())

    def _resume(self, rows: list[dict[str, Any]]) -> None:
        """Count the shards whose vectors are what was recorded; those from the first that isn't are made again."""
        for row in rows:
            self._shape(row["dimensions"])
            first = len(self.rows) * SHARD
            size = (min(first + SHARD, self.passages) - first) * self.bytes
            self.file.seek(len(self.header) + first * self.bytes)
            if hashlib.sha256(self.file.read(size)).hexdigest() != row["sha256"]:
                break
            self.rows.append(row)
        if len(self.rows) < len(rows):
            self.record.truncate(0)
            self._note(self.wanted)
            for row in self.rows:
                self._note(row)

    def _shape(self, dimensions: int) -> None:
        if self.dimensions is None:
            dtype = np.dtype(self.wanted["dtype"])
            header = io.BytesIO()
            described = {"descr": dtype.str, "fortran_order": False, "shape": (self.passages, dimensions)}
            np.lib.format.write_array_header_1_0(header, described)
            self.dimensions, self.header = dimensions, header.getvalue()
            self.bytes = dimensions * dtype.itemsize

    def write(self, vectors: Array, counts: Mapping[str, int]) -> None:
        """Put the next shard on the disk, and then into the record, with what the embedder counted for it."""
        self._shape(vectors.shape[1])
        if not self.rows:
            self.file.seek(0)
            self.file.write(self.header)
            self.file.truncate(len(self.header) + self.passages * self.bytes)
        first = len(self.rows) * SHARD
        rows = np.ascontiguousarray(vectors, dtype=self.wanted["dtype"])
        self.file.seek(len(self.header) + first * self.bytes)
        self.file.write(rows.data)
        self.file.flush()
        os.fsync(self.file.fileno())
        blank = (np.flatnonzero(~vectors.any(axis=1)) + first).tolist()
        row: dict[str, Any] = {"shard": len(self.rows), "dimensions": self.dimensions, "sha256": shard_sum(rows)}
        row |= {"blank": blank, "counts": dict(counts)}
        self._note(row)
        self.rows.append(row)
