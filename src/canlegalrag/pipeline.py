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
from canlegalrag.recipes import Composed, Models, Recipe, compose
from canlegalrag.retrievers._passages import cut
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
    models: Models | None = None,
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
        models: where models are loaded once for several recipes.
        indexed: called with documents indexed since the last call.
        searched: called with queries done since the last call.

    Returns:
        What made the run: recipe, benchmark, k, versions, models, seconds, cost, checksum, and how many queries got
        fewer documents than k and the corpus allow (`short`).

    Raises:
        InputError: `out` was made by another recipe, benchmark or k, or is being written.
        BudgetSpent: a model's next call would cost more than is left; what was found so far is in `out`.
        CallError: a model's provider fails; likewise.
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
        job = _Job(benchmark, models or Models(), out, meta, output)
        try:
            job.run(lambda: compose(recipe, benchmark, cache=cache, progress=indexed, models=job.models), searched)
        finally:
            _record(out, meta, output)  # what was paid for is booked, whatever happened
        corpus = len(benchmark.documents)
        most = {i: min(k, corpus - len(q.excluded)) for i, q in benchmark.queries.items()}
        meta["short"] = sum(n < most.get(query, 0) for query, n in output.found.items())
        _record(out, meta, output)
    return meta


def _batches(queries: list[Query]) -> Iterator[list[Query]]:
    """The same batches in every run: a model's last digits may depend on what else is in the batch, so a run that was
    killed asks the batch it was killed in again, whole, and its result is that of an undisturbed one.
    """
    for first in range(0, len(queries), _BATCH):
        yield queries[first : first + _BATCH]


@dataclass(slots=True)
class _Job:
    """A run on its way."""

    benchmark: Benchmark
    """Whose queries are searched."""
    models: Models
    """Whose calls are counted."""
    out: Path
    """Where the run goes."""
    meta: dict[str, Any]
    """What made it, so far."""
    output: _Output
    """What is there already."""

    def run(self, make: Callable[[], Composed], searched: Callable[[int], None] | None) -> None:
        """Search what is missing, batch by batch."""
        found, k = self.output.found, self.meta["k"]
        batches = [b for b in _batches(list(self.benchmark.queries.values())) if any(q.id not in found for q in b)]
        if not batches:
            return
        with self.booked("index"):
            composed = make()
        before = _same_models(self.out, self.meta, composed)
        for batch in batches:
            with self.booked("search"):
                rankings = _search(composed, batch, k)
            self.meta["models"] = _added(before, composed.record())
            todo = [(q, hits) for q, hits in zip(batch, rankings, strict=True) if q.id not in found]
            for query, hits in todo:
                self.output.append(run_line(query.id, hits) + "\n", query.id, len({hit.doc_id for hit in hits}))
            self.output.sync()
            _record(self.out, self.meta, self.output)
            if searched:
                searched(len(todo))

    @contextmanager
    def booked(self, stage: str) -> Iterator[None]:
        """Book the seconds and the money that a piece of work takes, whether it succeeds or not."""
        start = time.perf_counter()
        with self.models.spending() as spent:
            try:
                yield
            finally:
                seconds = self.meta["seconds"]
                seconds[stage] = round(seconds[stage] + time.perf_counter() - start, 6)
                known = self.meta["cost"] is not None and spent[0] is not None
                self.meta["cost"] = round(self.meta["cost"] + spent[0], 9) if known else None


def _same_models(out: Path, meta: dict[str, Any], composed: Composed) -> dict[str, dict[str, int]]:
    """Refuse to go on with other models than the run was begun with.

    Returns:
        Role -> what its model had done for the run before.
    """
    before, now = meta["models"], loads(dumps(composed.record()))
    for role, model in now.items():
        for key in ("identity", "prompt"):
            if role in before and before[role].get(key) != model.get(key):
                what = f"was begun with another {role} ({key} {before[role].get(key)}, now {model.get(key)})"
                raise InputError(str(out), what, "delete it, or choose another --out")
    meta["models"] = now
    return {role: model["counts"] for role, model in before.items()}


def _added(before: dict[str, dict[str, int]], record: dict[str, Any]) -> dict[str, Any]:
    """The record with what was counted before a run was interrupted."""
    for role, model in record.items():
        earlier = before.get(role, {})
        model["counts"] = {name: n + earlier.get(name, 0) for name, n in model["counts"].items()}
    return record


def _record(out: Path, meta: dict[str, Any], output: _Output) -> None:
    """Write what is known of the run so far."""
    meta["sha256"] = output.digest.hexdigest()
    text = dumps(meta, indent=1) + "\n"
    if not meta_path(out).exists() or meta_path(out).read_text(encoding="utf-8") != text:
        write_atomic(meta_path(out), text)


def _search(retriever: Retriever, queries: Sequence[Query], k: int) -> list[list[Hit]]:
    """Search, and go deeper where documents that don't count for a query take places of the k.

    Queries go together that leave out as many documents, since a pool or a fusion may depend on the depth: what one
    leaves out changes nothing for another.
    """
    found: dict[str, list[Hit]] = {}
    for out in sorted({len(query.excluded) for query in queries}):
        group = [query for query in queries if len(query.excluded) == out]
        rankings = retriever.search([query.asked for query in group], k + out)
        for query, hits in zip(group, rankings, strict=True):
            found[query.id] = _counted(retriever, query, hits, k + out, k) if out else cut(hits, k)
    return [found[query.id] for query in queries]


def _counted(retriever: Retriever, query: Query, hits: list[Hit], depth: int, k: int) -> list[Hit]:
    while True:
        left = [hit for hit in hits if hit.doc_id not in query.excluded]
        exact = sum(hit.doc_id not in query.excluded for hit in hits[:depth])  # these are the best passages, in order
        if exact >= k or len(hits) < depth:
            return cut(left, k)
        depth *= 2
        (hits,) = retriever.search([query.asked], depth)


def _continue(out: Path, made: dict[str, Any], started: bool) -> dict[str, Any]:
    """The record of this run, taken up where it was left; refuses to mix two runs in one file."""
    meta = _read_meta(meta_path(out))
    if started and not meta:
        raise InputError(str(out), "exists, and nothing says what made it", "choose another --out")
    other = next((key for key in _SAME if meta.get(key) != loads(dumps(made[key]))), None)
    if started and other:
        what = f"was made with {other} {meta.get(other)}, not {made[other]}"
        raise InputError(str(out), what, "delete it, or choose another --out")
    # A run that stopped before its first ranking has a record too: its index may have been paid for.
    if not other and set(meta.get("seconds") or ()) == {"index", "search"}:
        return {"models": {}, "cost": 0.0} | meta
    meta = made | {"seconds": {"index": 0.0, "search": 0.0}, "models": {}, "cost": 0.0, "short": 0, "sha256": ""}
    write_atomic(meta_path(out), dumps(meta, indent=1) + "\n")
    return meta
