"""The stages: loops over records that write JSON Lines and go on where they stopped."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from canlegalrag import __version__
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.files import dumps, run_line, write_atomic
from canlegalrag.protocols import Retriever
from canlegalrag.recipes import Recipe, compose
from canlegalrag.types import Hit, Query

__all__ = ["meta_path", "read_meta", "retrieve"]

_LINE = b'{"query_id"'  # how each line of ours begins: nothing else is ever cut off
_BATCH = 32  # queries between two writes: what a kill can lose


def meta_path(out: Path) -> Path:
    """The file beside an output that says what made it: `run.jsonl` -> `run.meta.json`."""
    return out.with_name(f"{out.name.removesuffix(out.suffix)}.meta.json")


def read_meta(out: Path) -> dict[str, Any]:
    """What made an output; empty where nothing says so.

    Raises:
        InputError: the file beside the output isn't JSON.
    """
    path = meta_path(out)
    if not path.exists():
        return {}
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(str(path), f"not JSON: {error}", "delete it and the run, and retrieve again") from None
    return meta if isinstance(meta, dict) else {}


@contextmanager
def _output(path: Path) -> Iterator[tuple[BinaryIO, set[str]]]:
    """Open an output for appending, alone, with the ids of the queries that it holds; a torn last line is cut off."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        _lock(path, file)
        file.seek(0)
        done: set[str] = set()
        good = 0
        for line in file:
            try:
                if not line.endswith(b"\n") and line.startswith(_LINE[: len(line)]):
                    break  # killed in the middle of this line
                done.add(json.loads(line)["query_id"])
            except (ValueError, KeyError, TypeError):
                what = "holds a line that is no ranking"
                raise InputError(str(path), what, "delete it, or choose another --out") from None
            good += len(line)
        file.truncate(good)
        yield file, done


def _lock(path: Path, file: BinaryIO) -> None:
    """Hold the output for this process alone; where the system has no such lock, go without."""
    if sys.platform == "win32":
        return
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InputError(str(path), "another process is writing it", "wait, or choose another --out") from None


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
        What made the run: recipe, benchmark, k, versions, seconds, and how many queries got fewer documents than
        k and the corpus allow.

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
    with _output(out) as (file, done):
        meta = _continue(out, made, bool(done))
        if searched and done:
            searched(len(done))
        full = min(k, len(benchmark.documents))
        todo = [q for i, q in benchmark.queries.items() if i not in done]
        if todo:
            start = time.perf_counter()
            retriever = compose(recipe, benchmark, cache=cache, progress=indexed)
            meta["seconds"]["index"] += round(time.perf_counter() - start, 3)
        for first in range(0, len(todo), _BATCH):
            batch = todo[first : first + _BATCH]
            start = time.perf_counter()
            rankings = _search(retriever, batch, k)
            meta["seconds"]["search"] = round(meta["seconds"]["search"] + time.perf_counter() - start, 6)
            meta["short"] += sum(len({hit.doc_id for hit in hits}) < full for hits in rankings)
            lines = [run_line(q.id, hits) + "\n" for q, hits in zip(batch, rankings, strict=True)]
            file.write("".join(lines).encode())
            file.flush()
            os.fsync(file.fileno())
            write_atomic(meta_path(out), dumps(meta, indent=1) + "\n")
            if searched:
                searched(len(batch))
    return meta


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
    meta = read_meta(out)
    if started:
        for key in ("recipe", "benchmark", "k", "canlegalrag"):
            if meta.get(key) != json.loads(dumps(made[key])):
                what = f"was made with {key} {meta.get(key)}, not {made[key]}"
                raise InputError(str(out), what, "delete it, or choose another --out")
        return meta
    meta = made | {"seconds": {"index": 0.0, "search": 0.0}, "short": 0}
    write_atomic(meta_path(out), dumps(meta, indent=1) + "\n")
    return meta
