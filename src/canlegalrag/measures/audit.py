"""What scoring had to decide about a run: ties, repeats, forgotten and unknown queries."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from canlegalrag.measures.coding import code_ranks
from canlegalrag.measures.rankings import AnyRun, documents, finite, float32, rows
from canlegalrag.types import Qrels

__all__ = ["Audit", "audit"]


@dataclass(frozen=True, slots=True)
class Audit:
    """What was odd about a run: nothing that scoring does to it goes unsaid."""

    queries: int
    """Queries of the qrels."""
    hits: int
    """Hits in the run for those queries."""
    repeats: int
    """Hits that were a further passage of a document: the standard measures keep the best."""
    ties: int
    """Neighbours in the rankings of documents with equal scores (as float32): broken by id, descending."""
    tied_queries: int
    """Queries with such neighbours."""
    unordered: int
    """Queries whose hits are not in falling order of score: the standard measures sort, the paper's don't."""
    missing: tuple[str, ...]
    """Queries of the qrels that the run lacks: they score 0."""
    empty: tuple[str, ...]
    """Queries whose ranking is there but empty: they score 0."""
    unknown: tuple[str, ...]
    """Queries of the run that the qrels lack: they are not scored."""
    no_relevant: tuple[str, ...]
    """Queries without a relevant document: undefined, skipped."""
    unjudged: float | None
    """Share of the documents at ranks 1 to k, over all queries, without a grade; None (undefined, `null` in JSON)
    where nothing was retrieved."""
    k: int
    """The k of `unjudged`."""


def audit(qrels: Qrels, run: AnyRun, k: int = 10) -> Audit:
    """Count what scoring had to decide about a run.

    Args:
        qrels: as in `per_query`.
        run: as in `per_query`.
        k: depth down to which unjudged documents are counted.

    Raises:
        InputError: as `per_query`.

    >>> found = audit({"q1": {"a": 1}}, {"q1": {"b": 1.0, "a": 1.0}, "q9": {}})
    >>> found.ties, found.unknown, found.unjudged
    (1, ('q9',), 0.5)
    """
    ranked = code_ranks(qrels, run)
    hits = repeats = ties = tied_queries = unordered = 0
    for query in qrels:
        ranking = run.get(query, ())
        docs = documents(query, ranking)
        best = np.sort(float32(finite("run", [query], [docs], [docs.values()])))
        equal = int((best[1:] == best[:-1]).sum())
        ties, tied_queries = ties + equal, tied_queries + (equal > 0)
        hits, repeats = hits + len(ranking), repeats + len(ranking) - len(docs)
        if not isinstance(ranking, Mapping):
            given = float32(np.array(rows(query, ranking)[1], dtype=np.float64))
            unordered += bool((given[1:] > given[:-1]).any())
    shown = int(np.minimum(ranked.length, k).sum())
    judged = int(((ranked.rank <= k) & (ranked.grade >= 0)).sum())
    return Audit(
        queries=len(qrels),
        hits=hits,
        repeats=repeats,
        ties=ties,
        tied_queries=tied_queries,
        unordered=unordered,
        missing=tuple(query for query in qrels if query not in run),
        empty=tuple(query for query in qrels if query in run and not len(run[query])),
        unknown=tuple(query for query in run if query not in qrels),
        no_relevant=tuple(q for q, found in zip(qrels, ranked.relevant.tolist(), strict=True) if not found),
        unjudged=1 - judged / shown if shown else None,
        k=k,
    )
