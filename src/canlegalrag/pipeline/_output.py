"""What the stages share: an output that is appended to, resumed, locked, and says what made it."""

import hashlib
import json
import os
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from canlegalrag.errors import InputError
from canlegalrag.files import dumps, loads, lock, write_atomic

if TYPE_CHECKING:
    from canlegalrag.calls import Calls

__all__ = [
    "Output",
    "batches",
    "checksum",
    "counted_since",
    "meta_path",
    "opened",
    "read_meta",
    "spending",
    "trusting",
]

BATCH = 32
"""Queries between two writes: what a kill can lose."""

_LINE = b'{"query_id"'  # how each line of ours begins: nothing else is ever cut off

T = TypeVar("T")


def meta_path(out: Path) -> Path:
    """The file beside an output that says what made it: `run.jsonl` -> `run.jsonl.meta.json`."""
    return out.with_name(f"{out.name}.meta.json")


def _read_meta(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        meta = loads(path.read_text(encoding="utf-8"))
        assert isinstance(meta, dict)
    except (ValueError, RecursionError, OSError, AssertionError) as error:
        what = f"can't be read: {error or 'not a JSON object'}"
        fix = f"delete it and {path.name.removesuffix('.meta.json')}, and make both again"
        raise InputError(str(path), what, fix) from None
    return meta


def read_meta(out: Path) -> dict[str, Any]:
    """What made an output; empty where nothing says so, or where it was changed since (its checksum differs).

    Raises:
        InputError: the file beside the output isn't JSON.
    """
    meta = _read_meta(meta_path(out))
    if "recipe" in meta and (type(meta.get("k")) is not int or meta["k"] < 1):
        return {}  # a run's depth decides what is scored
    if not meta or not out.exists():
        return {}
    with out.open("rb") as file:
        same = hashlib.file_digest(file, "sha256").hexdigest() == meta.get("sha256")
    return meta if same else {}


def checksum(lines: Iterable[str]) -> str:
    """SHA-256 over lines, sorted: what is read from a file has no order that matters."""
    total = hashlib.sha256()
    for line in sorted(lines):
        total.update(line.encode("utf-8", "surrogatepass") + b"\n")
    return total.hexdigest()


def batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """The same batches in every run: a model's last digits may depend on what else is in the batch, so a run that was
    killed asks the batch it was killed in again, whole, and its result is that of an undisturbed one.
    """
    for first in range(0, len(items), BATCH):
        yield items[first : first + BATCH]


def counted_since(counts: Mapping[str, int], start: Mapping[str, int], earlier: Mapping[str, int]) -> dict[str, int]:
    """What a model did in this stage: since its start, and before it was interrupted."""
    return {name: n - start.get(name, 0) + earlier.get(name, 0) for name, n in counts.items()}


def trusting(output: "Output", calls: "Calls | None", *models: Any) -> None:
    """Have the calls know that models answer where lines are there that they made: after a kill, the rest may hold
    nothing but what their provider refuses.
    """
    if calls is not None and output.found:
        for model in models:
            calls.trust(str(model.identity.get("model", "")))


def spending(calls: "Calls | None") -> AbstractContextManager[list[float | None]]:
    """As `Calls.spending`; nothing is spent where there are no paid calls."""
    return nullcontext([0.0]) if calls is None else calls.spending()


@dataclass(slots=True)
class Output:
    """An output that is open for appending."""

    path: Path
    """Where it is."""
    file: BinaryIO
    """At its end, ours alone."""
    digest: Any
    """SHA-256 of what it holds."""
    landed: tuple[str, int]
    """The same, in hexadecimal, of what is on the disk for sure, and how many lines that is."""
    passed: set[str]
    """What that was after each line that was found."""
    found: dict[Any, Any] = field(default_factory=dict)
    """What each line is about (query id) -> what the stage wants to know of it."""
    meta: dict[str, Any] = field(default_factory=dict)
    """What made it, so far."""

    def start(self, made: Mapping[str, Any], stages: Sequence[str], **later: Any) -> None:
        """Take up the record of this output where it was left.

        Args:
            made: what decides the output.
            stages: names under which seconds are booked.
            later: what the record says besides, as it is before the first line.

        Raises:
            InputError: it was begun with something else, which must not be mixed, or was changed since.
        """
        meta, now = _read_meta(meta_path(self.path)), loads(dumps(dict(made)))
        if self.found and not meta:
            raise InputError(str(self.path), "exists, and nothing says what made it", "choose another --out")
        # A kill leaves lines that the record doesn't know yet, and who deletes lines has them made again; but where
        # there are as many as it knows, they must stand as they were: it would vouch for what was written by hand.
        known, sha256 = meta.get("lines"), meta.get("sha256")
        if type(known) is int and len(self.found) >= known > 0 and sha256 and sha256 not in self.passed:
            raise InputError(str(self.path), "was changed since it was made", "delete it, or choose another --out")
        other = next((key for key in now if meta.get(key) != now[key]), None)
        if self.found and other:
            before, after = _apart(meta.get(other), now[other])
            what = f"was made with {other} {before}, not {after}"
            raise InputError(str(self.path), what, "delete it, or choose another --out")
        # A run that stopped before its first line has a record too: it may have been paid for.
        if not other and set(meta.get("seconds") or ()) == set(stages):
            self.meta = later | {"cost": 0.0} | meta
            return
        self.meta = now | {"seconds": dict.fromkeys(stages, 0.0), "cost": 0.0} | later | {"sha256": ""}
        write_atomic(meta_path(self.path), dumps(self.meta, indent=1) + "\n")

    def append(self, line: str, key: Hashable, known: Any) -> None:
        """Write a line; it is on the disk after `sync`. Half a surrogate pair, which no file can hold, becomes `?`."""
        data = (line + "\n").encode("utf-8", "replace")
        self.file.write(data)
        self.digest.update(data)
        self.found[key] = known

    def sync(self) -> None:
        """Put it on the disk."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.landed = self.digest.hexdigest(), len(self.found)

    def record(self) -> None:
        """Write what is known of the output so far; lines that a full disk refused aren't among it."""
        self.meta["sha256"], self.meta["lines"] = self.landed
        text, path = dumps(self.meta, indent=1) + "\n", meta_path(self.path)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            write_atomic(path, text)

    @contextmanager
    def booked(self, stage: str, book: AbstractContextManager[list[float | None]]) -> Iterator[None]:
        """Book the seconds and the money that a piece of work takes, whether it succeeds or not."""
        start = time.perf_counter()
        with book as spent:
            try:
                yield
            finally:
                seconds, before = self.meta["seconds"], self.meta["cost"]
                seconds[stage] = round(seconds[stage] + time.perf_counter() - start, 6)
                known = before is not None and spent[0] is not None
                self.meta["cost"] = round(before + spent[0], 9) if known else None


def _apart(before: Any, after: Any) -> tuple[Any, Any]:
    """What two values differ in: of objects the fields that do."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return before, after
    keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    return {k: before[k] for k in keys if k in before}, {k: after[k] for k in keys if k in after}


@contextmanager
def opened(path: Path, noun: str, read: Callable[[dict[str, Any]], tuple[Hashable, Any]]) -> Iterator[Output]:
    """Open an output for appending, alone; a torn last line is cut off.

    Args:
        path: `.jsonl`.
        noun: what a line is, for errors.
        read: from a line to what it is about, and what the stage wants to know of it; raises where it is something
            else.
    """
    if path.suffix != ".jsonl":
        raise InputError(str(path), "is not named .jsonl, so it would be read as another format", "name it so")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if not lock(file, wait=False):
            raise InputError(str(path), "another process is writing it", "wait, or choose another --out")
        file.seek(0)
        digest = hashlib.sha256()
        output = Output(path, file, digest, (digest.hexdigest(), 0), set())
        good = 0
        for line in file:
            if not line.endswith(b"\n") and line.startswith(_LINE[: len(line)]):
                break  # killed in the middle of this line
            key, known = _known(path, noun, line, read)
            if key in output.found:
                about = key[0] if isinstance(key, tuple) else key
                raise InputError(str(path), f"holds query {about!r} twice", "delete it, or choose another --out")
            output.found[key] = known
            output.digest.update(line)
            output.passed.add(output.digest.hexdigest())
            good += len(line)
        file.truncate(good)
        output.landed = output.digest.hexdigest(), len(output.found)
        yield output


def _known(
    path: Path, noun: str, line: bytes, read: Callable[[dict[str, Any]], tuple[Hashable, Any]]
) -> tuple[Hashable, Any]:
    """What a line of an output says to its stage."""
    try:
        row = json.loads(line)
        if not isinstance(row["query_id"], str):
            raise ValueError
        return read(row)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        what = f"holds a line that is no {noun}"
        raise InputError(str(path), what, "delete it, or choose another --out") from None
