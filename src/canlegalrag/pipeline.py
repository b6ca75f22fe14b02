"""The stages: loops over records that write JSON Lines and go on where they stopped."""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from canlegalrag import __version__
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.files import dumps, loads, lock, run_line, write_atomic
from canlegalrag.protocols import Retriever
from canlegalrag.recipes import Recipe, compose
from canlegalrag.types import Hit, Query

__all__ = ["meta_path", "read_meta", "retrieve"]

_LINE = b'{"query_id"'  # how each line of ours begins: nothing else is ever cut off
_BATCH = 32  # queries between two writes: what a kill can lose
_SAME = ("recipe", "benchmark", "k", "canlegalrag")


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
        raise InputError(str(path), what, "delete it and the run, and retrieve again") from None
    return meta


def read_meta(out: Path) -> dict[str, Any]:
    """What made a run; empty where nothing says so, or where the run was changed since (its checksum differs).

    Raises:
        InputError: the file beside the run isn't JSON.
    """
    meta = _read_meta(meta_path(out))
    if type(meta.get("k")) is not int or meta["k"] < 1 or not out.exists():
        return {}
    with out.open("rb") as file:
        same = hashlib.file_digest(file, "sha256").hexdigest() == meta.get("sha256")
    return meta if same else {}


@dataclass(slots=True)
class _Output:
    """An output that is open for appending."""

    file: BinaryIO
    """At its end, ours alone."""
    digest: Any
    """SHA-256 of what it holds."""
    found: dict[str, int] = field(default_factory=dict)
    """Query id -> number of documents in its ranking."""

    def append(self, line: str, query: str, documents: int) -> None:
        """Write a ranking; it is on the disk after `sync`."""
        data = line.encode()
        self.file.write(data)
        self.digest.update(data)
        self.found[query] = documents

    def sync(self) -> None:
        """Put it on the disk."""
        self.file.flush()
        os.fsync(self.file.fileno())


@contextmanager
def _open(path: Path) -> Iterator[_Output]:
    """Open an output for appending, alone; a torn last line is cut off."""
    if path.suffix != ".jsonl":
        raise InputError(str(path), "is not named .jsonl, so it would be read as another format", "name it run.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if not lock(file, wait=False):
            raise InputError(str(path), "another process is writing it", "wait, or choose another --out")
        file.seek(0)
        output = _Output(file, hashlib.sha256())
        good = 0
        for line in file:
            if not line.endswith(b"\n") and line.startswith(_LINE[: len(line)]):
                break  # killed in the middle of this line
            query, documents = _ranking(path, line)
            if query in output.found:
                raise InputError(str(path), f"holds query {query!r} twice", "delete it, or choose another --out")
            output.found[query] = documents
            output.digest.update(line)
            good += len(line)
        file.truncate(good)
        yield output


def _ranking(path: Path, line: bytes) -> tuple[str, int]:
    """Query id and number of documents of a line."""
    try:
        row = json.loads(line)
        if not isinstance(row["query_id"], str) or not isinstance(row["hits"], list):
            raise ValueError
        return row["query_id"], len({hit["doc_id"] for hit in row["hits"]})
    except (ValueError, KeyError, TypeError, RecursionError):
        what = "holds a line that is no ranking"
        raise InputError(str(path), what, "delete it, or choose another --out") from None


def retrieve(
    recipe: Recipe,
    benchmark: Benchmark,
    out: Path,
    *,
    k: int = 100,
    cache: Path | None = None,
    indexed: Callable[[int], None] | None = None,
    searched: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """Rank the corpus for each query of a benchmark into `out`, one line a query; resumes an interrupted run.

    Args:
        recipe: the retriever.
        benchmark: queries (asked with their province) and documents.
        out: `run.jsonl`; what made it is written beside it.
        k: documents a query.
        cache: folder of indexes.
        indexed: called with documents indexed since the last call.
        searched: called with queries done since the last call.

    Returns:
        What made the run: recipe, benchmark, k, versions, seconds, checksum, and how many queries got fewer documents
        than k and the corpus allow (`short`).

    Raises:
        InputError: `out` was made by another recipe, benchmark or k, or is being written.
    """
    if k < 1:
        raise InputError(f"--k {k}", "must be at least 1")
    made = {
        "recipe": {"name": recipe.name, "retriever": recipe.retriever, **recipe.options},
        "benchmark": {
            "name": benchmark.name,
            "revision": benchmark.revision,
            "fingerprint": benchmark.fingerprint,
        },
        "k": k,
        "canlegalrag": __version__,
    }
    with _open(out) as output:
        meta = _continue(out, made, bool(output.found))
        if searched and output.found:
            searched(len(output.found))
        todo = [q for i, q in benchmark.queries.items() if i not in output.found]
        if todo:
            start = time.perf_counter()
            retriever = compose(recipe, benchmark, cache=cache, progress=indexed)
            meta["seconds"]["index"] += round(time.perf_counter() - start, 3)
        for first in range(0, len(todo), _BATCH):
            batch = todo[first : first + _BATCH]
            start = time.perf_counter()
            rankings = _search(retriever, batch, k)
            meta["seconds"]["search"] = round(meta["seconds"]["search"] + time.perf_counter() - start, 6)
            for query, hits in zip(batch, rankings, strict=True):
                output.append(run_line(query.id, hits) + "\n", query.id, len({hit.doc_id for hit in hits}))
            output.sync()
            _record(out, meta, output)
            if searched:
                searched(len(batch))
        corpus = len(benchmark.documents)
        most = {i: min(k, corpus - len(q.excluded)) for i, q in benchmark.queries.items()}
        meta["short"] = sum(n < most.get(query, 0) for query, n in output.found.items())
        _record(out, meta, output)
    return meta


def _record(out: Path, meta: dict[str, Any], output: _Output) -> None:
    """Write what is known of the run so far."""
    meta["sha256"] = output.digest.hexdigest()
    text = dumps(meta, indent=1) + "\n"
    if not meta_path(out).exists() or meta_path(out).read_text(encoding="utf-8") != text:
        write_atomic(meta_path(out), text)


def _search(retriever: Retriever, queries: Sequence[Query], k: int) -> list[list[Hit]]:
    """Search, and go deeper where documents that don't count for a query take places of the k."""
    depth = k + max(len(query.excluded) for query in queries)
    found = retriever.search([query.asked for query in queries], depth)
    return [
        _counted(retriever, query, hits, depth, k) if query.excluded else _cut(hits, k)
        for query, hits in zip(queries, found, strict=True)
    ]


def _counted(retriever: Retriever, query: Query, hits: list[Hit], depth: int, k: int) -> list[Hit]:
    while True:
        left = [hit for hit in hits if hit.doc_id not in query.excluded]
        exact = sum(hit.doc_id not in query.excluded for hit in hits[:depth])  # these are the best passages, in order
        if exact >= k or len(hits) < depth:
            return _cut(left, k)
        depth *= 2
        (hits,) = retriever.search([query.asked], depth)


def _cut(hits: list[Hit], k: int) -> list[Hit]:
    """The k best hits and, below them, the best of each further document until k documents (see `Retriever`)."""
    kept = hits[:k]
    seen = {hit.doc_id for hit in kept}
    for hit in hits[k:]:
        if len(seen) == k:
            break
        if hit.doc_id not in seen:
            seen.add(hit.doc_id)
            kept.append(hit)
    return kept


def _continue(out: Path, made: dict[str, Any], started: bool) -> dict[str, Any]:
    """The record of this run, taken up where it was left; refuses to mix two runs in one file."""
    if started:
        meta = _read_meta(meta_path(out))
        if not meta:
            raise InputError(str(out), "exists, and nothing says what made it", "choose another --out")
        for key in _SAME:
            if meta.get(key) != json.loads(dumps(made[key])):
                what = f"was made with {key} {meta.get(key)}, not {made[key]}"
                raise InputError(str(out), what, "delete it, or choose another --out")
        if set(meta.get("seconds") or ()) == {"index", "search"}:
            return meta
    meta = made | {"seconds": {"index": 0.0, "search": 0.0}, "short": 0, "sha256": ""}
    write_atomic(meta_path(out), dumps(meta, indent=1) + "\n")
    return meta
