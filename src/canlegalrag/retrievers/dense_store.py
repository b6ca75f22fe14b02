"""A dense index in a folder: vectors written shard by shard, resumed after a kill, checked when it is opened.

While it is made, `building.jsonl` says of what, and has a line for every shard that is on the disk whole; a shard
without one is made again. `meta.json` is written last: with it the index is complete.
"""

import errno
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from canlegalrag.errors import InputError
from canlegalrag.files import dumps, lock
from canlegalrag.retrievers._passages import Array

__all__ = [
    "BUILDING",
    "LOCK",
    "META",
    "SHARD",
    "Damaged",
    "Stored",
    "alone",
    "check_same",
    "open_stored",
    "plain",
    "read_meta",
    "shard_sum",
]

FORMAT = "canlegalrag-dense"
VERSION = 1
META, BUILDING, LOCK = "meta.json", "building.jsonl", "lock"
SHARD = 1024
"""Passages that are embedded and written together: what a kill can lose."""
SMALL = ("ids.json", "sizes.npy", "firsts.npy", "passages.npy", "blank.npy")
"""Files that are read and checked whole on opening; `passages.npy` is absent where whole documents are ranked."""
_SAMPLE = 8  # shards of vectors checked on opening
_AGAIN = "delete the folder, and build the index again"
_NAMES = {
    "identity": "embedder",
    "corpus": "corpus",
    "spans": "cut into passages",
    "whole": "choice between passages and whole documents",
    "title": "title option",
    "dtype": "dtype",
    "shard": "shard size",
}


class Damaged(InputError):
    """What stands in a folder can't be used, and nothing but building it again helps."""


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """An index that was opened."""

    folder: Path
    """Where it is."""
    meta: Mapping[str, Any] = field(repr=False)
    """What made it, its counts and checksums."""
    ids: tuple[str, ...] = field(repr=False)
    """Ids of the documents, in corpus order."""
    sizes: Array = field(repr=False)
    """(documents,) characters in each document, to know the documents again."""
    firsts: Array = field(repr=False)
    """(documents + 1,) the first passage of each document."""
    spans: Array | None = field(repr=False)
    """(passages, 2) first character and one past the last; None where whole documents are ranked."""
    blank: Array = field(repr=False)
    """Positions of passages without content, whose vectors are zero, rising."""
    vectors: Array = field(repr=False)
    """(passages, dimensions) float32 or float16 of length 1, memory-mapped."""

    @property
    def counts(self) -> Mapping[str, int]:
        """What the embedder counted: `texts`, `truncated`; what is absent is 0."""
        found: Mapping[str, int] = self.meta["counts"]
        return found

    def verify(self) -> None:
        """Check every byte of the vectors, which opening only samples.

        Raises:
            InputError: one of them was changed.
        """
        _check_vectors(self.folder, self.vectors, self.meta["vectors"], len(self.meta["vectors"]))


def plain(identity: Mapping[str, Any]) -> dict[str, Any]:
    """What a model says of itself, as JSON gives it back."""
    read: dict[str, Any] = json.loads(dumps(dict(identity)))
    return read


def check_same(folder: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Refuse an index, finished or not, of anything but what is wanted.

    Raises:
        InputError: they differ; it says in what.
    """
    differ = [key for key in wanted if found.get(key) != wanted[key]]
    if differ:
        what = f"holds an index with another {' and '.join(_NAMES[key] for key in differ)}"
        if differ == ["identity"] and isinstance(found.get("identity"), dict):
            old, new = found["identity"], wanted["identity"]
            keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
            what += ": " + ", ".join(f"{key} {old.get(key)!r:.60}, not {new.get(key)!r:.60}" for key in keys[:3])
        raise Damaged(str(folder), what, "name another folder, or delete this one")


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Keep other processes out by a lock file; what lies where nothing can be written is used without one."""
    try:
        file = path.open("w")
    except OSError as error:
        if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise
        yield
        return
    with file:
        lock(file, wait=True)
        yield


def shard_sum(rows: Array) -> str:
    """Checksum of a shard of vectors."""
    return hashlib.sha256(np.ascontiguousarray(rows).data).hexdigest()


def read_meta(folder: Path) -> dict[str, Any]:
    """What made a complete index.

    Raises:
        InputError: there is none, or it is of another format or damaged.
    """
    path = folder / META
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        what = "is not finished" if (folder / BUILDING).exists() else f"is not a dense index: there is no {META}"
        raise Damaged(str(folder), what, "build it with Dense.build") from None
    except (OSError, ValueError, RecursionError) as error:
        raise Damaged(str(path), f"can't be read: {error}", _AGAIN) from None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise Damaged(str(folder), "is not a dense index of canlegalrag", "build one with Dense.build")
    if meta.get("version") != VERSION:
        raise Damaged(str(folder), f"format {meta.get('version')!r} is not {VERSION}", _AGAIN)
    return meta


def open_stored(folder: Path) -> Stored:
    """Open a complete index: small files are checked whole, vectors by size and by a sample of shards.

    Raises:
        InputError: the folder holds none, or it is damaged.
    """
    meta = read_meta(folder)
    path = folder / META
    try:
        for name, (size, checksum) in meta["files"].items():
            path = folder / name
            if path.name != name or path.stat().st_size != size:
                raise ValueError(f"doesn't have {size:,} bytes")
            if name in SMALL and hashlib.sha256(path.read_bytes()).hexdigest() != checksum:
                raise ValueError("its checksum differs")
        path = folder / "ids.json"
        ids = tuple(json.loads(path.read_text(encoding="utf-8")))
        arrays = {}
        for name in (*SMALL[1:], "vectors.npy"):
            path = folder / name
            if name in meta["files"]:
                arrays[path.stem] = _map(path)
        path = folder / META
        firsts, vectors, spans = arrays["firsts"], arrays["vectors"], arrays.get("passages")
        shapes = (len(ids), len(vectors), vectors.shape[1], str(vectors.dtype))
        if shapes != tuple(meta[key] for key in ("documents", "passages", "dimensions", "dtype")):
            raise ValueError("the counts differ from those of the files")
        if len(firsts) != len(ids) + 1 or firsts[-1] != len(vectors) or len(arrays["sizes"]) != len(ids):
            raise ValueError("the files don't belong together")
        if meta["shard"] != SHARD or len(meta["vectors"]) != -(-len(vectors) // SHARD):
            raise ValueError("the checksums aren't one a shard")
        _check_vectors(folder, vectors, meta["vectors"], _SAMPLE)
    except InputError:
        raise
    except (OSError, EOFError, ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise Damaged(str(path), f"is damaged: {error}", _AGAIN) from None
    return Stored(folder, meta, ids, arrays["sizes"], firsts, spans, arrays["blank"], vectors)


def _map(path: Path) -> Array:
    """An array that stays on the disk until it is used; as a plain one, since numpy.memmap pays for every slice."""
    try:
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except ValueError:  # nothing to map: a side is 0
        array: Array = np.load(path, allow_pickle=False)
        return array


def _check_vectors(folder: Path, vectors: Array, sums: list[str], most: int) -> None:
    """Compare checksums of at most so many shards, spread evenly, the first and the last among them."""
    for shard in sorted(set(np.linspace(0, len(sums) - 1, min(most, len(sums)), dtype=int).tolist())):
        first = shard * SHARD
        if shard_sum(vectors[first : first + SHARD]) != sums[shard]:
            last = min(first + SHARD, len(vectors)) - 1
            raise Damaged(str(folder / "vectors.npy"), f"is damaged: vectors {first} to {last} changed", _AGAIN)
