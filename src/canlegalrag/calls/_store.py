"""Replies on disk: one SQLite file that survives a kill and is shared by processes."""

import sqlite3
import threading
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from canlegalrag.errors import InputError
from canlegalrag.files import lock

__all__ = ["Store"]

T = TypeVar("T")

_AT_ONCE = 500
"""Keys in one look-up; SQLite takes at least 999."""
_TABLE = "CREATE TABLE IF NOT EXISTS reply (key BLOB PRIMARY KEY, value BLOB NOT NULL, sum INTEGER NOT NULL)"


class _Damaged(Exception):
    pass


class Store:
    """Key to reply, each with a checksum. A damaged file is set aside under another name and said, never emptied."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "calls.sqlite"
        self._guard = folder / "calls.lock"
        self._lock = threading.RLock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(str(folder), f"can't be made: {error.strerror}", "choose another cache folder") from None
        self._connection: sqlite3.Connection | None = None
        self._safely(lambda connection: None)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """What is known of these keys."""
        return self._safely(lambda connection: _read(connection, keys))

    def put(self, replies: Mapping[bytes, bytes]) -> None:
        """Keep replies, all or none; they are on disk when this returns."""
        rows = [(key, value, zlib.crc32(value, zlib.crc32(key))) for key, value in replies.items()]
        self._safely(lambda connection: _write(connection, rows))

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _safely(self, do: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            for _ in range(3):
                try:
                    return do(self._open())
                except _Damaged:
                    self._set_aside()
                except sqlite3.DatabaseError as error:
                    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                    if code not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                        raise self._unusable(error) from None
                    self._set_aside()
                except OSError as error:
                    raise self._unusable(error) from None
            raise InputError(str(self.path), "is damaged again and again", "check the disk")

    def _unusable(self, error: Exception) -> InputError:
        self.close()
        return InputError(str(self.path), f"can't be used: {error}", "free space, or choose another cache folder")

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = sqlite3.connect(self.path, timeout=60, isolation_level=None, check_same_thread=False)
            self._connection = connection
            with self._guard.open("w") as guard:  # two processes that turn to WAL at once would lock each other out
                lock(guard, wait=True)
                self._file = self.path.stat().st_ino
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")  # what is paid for outlives a power cut
                connection.execute(_TABLE)
        return self._connection

    def _set_aside(self) -> None:
        """Rename the damaged file, unless another process did so already."""
        self.close()
        with self._guard.open("w") as guard:
            lock(guard, wait=True)
            if not self.path.exists() or self.path.stat().st_ino != self._file:
                return
            number = 1
            while (aside := self.path.with_name(f"{self.path.name}.damaged-{number}")).exists():
                number += 1
            for tail in ("", "-wal", "-shm"):
                part = self.path.with_name(self.path.name + tail)
                if part.exists():
                    part.rename(aside.with_name(aside.name + tail))
        what = f"{self.path} is damaged and was set aside as {aside.name}: replies kept in it will be paid for again"
        warnings.warn(what, stacklevel=4)


def _read(connection: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for start in range(0, len(keys), _AT_ONCE):
        part = keys[start : start + _AT_ONCE]
        marks = ",".join("?" * len(part))
        for key, value, total in connection.execute(f"SELECT key, value, sum FROM reply WHERE key IN ({marks})", part):
            if not isinstance(value, bytes) or zlib.crc32(value, zlib.crc32(key)) != total:
                raise _Damaged
            found[key] = value
    return found


def _write(connection: sqlite3.Connection, rows: Sequence[tuple[bytes, bytes, int]]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany("INSERT OR REPLACE INTO reply VALUES (?, ?, ?)", rows)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
