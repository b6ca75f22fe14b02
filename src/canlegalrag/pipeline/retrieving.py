"""Retrieve: rank the corpus for each query."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from canlegalrag import __version__, text
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.files import dumps, loads, run_line
from canlegalrag.pipeline._output import Output, batches, opened
from canlegalrag.protocols import Retriever
from canlegalrag.recipes import Composed, Models, Recipe, compose
from canlegalrag.retrievers._passages import cut
from canlegalrag.types import Hit, Query

__all__ = ["retrieve", "search"]


def _ranking(row: dict[str, Any]) -> tuple[str, int]:
    """Query id and number of documents of a line."""
    if not isinstance(row["hits"], list):
        raise ValueError
    return row["query_id"], len({hit["doc_id"] for hit in row["hits"]})


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
        "benchmark": benchmark.identity,
        "k": k,
        "canlegalrag": __version__,
    }
    with opened(out, "ranking", _ranking) as output:
        output.start(made, ("index", "search"), models={}, short=0)
        if searched and output.found:
            searched(len(output.found))
        job = _Job(benchmark, models or Models(), output)
        try:
            job.run(lambda: compose(recipe, benchmark, cache=cache, progress=indexed, models=job.models), searched)
        finally:
            output.record()  # what was paid for is booked, whatever happened
        corpus = len(benchmark.documents)
        most = {i: min(k, corpus - len(q.excluded)) for i, q in benchmark.queries.items()}
        output.meta["short"] = sum(n < most.get(query, 0) for query, n in output.found.items())
        output.record()
    return output.meta


@dataclass(slots=True)
class _Job:
    """A run on its way."""

    benchmark: Benchmark
    """Whose queries are searched."""
    models: Models
    """Whose calls are counted."""
    output: Output
    """What is there already, and what made it."""

    def run(self, make: Callable[[], Composed], searched: Callable[[int], None] | None) -> None:
        """Search what is missing, batch by batch."""
        output, k = self.output, self.output.meta["k"]
        queries = list(self.benchmark.queries.values())
        missing = [batch for batch in batches(queries) if any(q.id not in output.found for q in batch)]
        if not missing:
            return
        with output.booked("index", self.models.spending()):
            composed = make()
            text.encode(
                ["a deposit"]
            )  # the tokenizer's tables take half a second, once: no query should be charged with them
        before = _same_models(output, composed)
        for batch in missing:
            with output.booked("search", self.models.spending()):
                rankings = search(composed, batch, k)
            output.meta["models"] = _added(before, composed.record())
            todo = [(q, hits) for q, hits in zip(batch, rankings, strict=True) if q.id not in output.found]
            for query, hits in todo:
                output.append(run_line(query.id, hits), query.id, len({hit.doc_id for hit in hits}))
            output.sync()
            output.record()
            if searched:
                searched(len(todo))


def _same_models(output: Output, composed: Composed) -> dict[str, dict[str, int]]:
    """Refuse to go on with other models than the run was begun with.

    Returns:
        Role -> what its model had done for the run before.
    """
    before, now = output.meta["models"], loads(dumps(composed.record()))
    for role, model in now.items():
        for key in ("identity", "prompt"):
            if role in before and before[role].get(key) != model.get(key):
                what = f"was begun with another {role} ({key} {before[role].get(key)}, now {model.get(key)})"
                raise InputError(str(output.path), what, "delete it, or choose another --out")
    output.meta["models"] = now
    return {role: model["counts"] for role, model in before.items()}


def _added(before: dict[str, dict[str, int]], record: dict[str, Any]) -> dict[str, Any]:
    """The record with what was counted before a run was interrupted."""
    for role, model in record.items():
        earlier = before.get(role, {})
        model["counts"] = {name: n + earlier.get(name, 0) for name, n in model["counts"].items()}
    return record


def search(retriever: Retriever, queries: Sequence[Query], k: int) -> list[list[Hit]]:
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
