"""What of a submission the benchmark knows: its queries, and how long its documents are."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from canlegalrag.benchmark import Benchmark
from canlegalrag.near import Near
from canlegalrag.plain import id_fault
from canlegalrag.submission.faults import shown
from canlegalrag.submission.tolerant import Source

__all__ = ["Queries", "id_problem", "lengths"]


@dataclass(slots=True)
class Queries:
    """The queries of a file: refuses what is none, what the benchmark lacks, and what was there before."""

    source: Source
    """The file, and where its faults go."""
    benchmark: Benchmark
    """Whose queries they are."""
    strangers: dict[str, str] = field(default_factory=dict)
    """Queries that the benchmark lacks -> where each is met first."""

    def known(self, where: str, row: Mapping[str, Any], before: Collection[str]) -> str | None:
        """The query of a line; None where it has none that can be used."""
        query = row.get("query_id")
        if not isinstance(query, str) or query not in self.benchmark.queries:
            fault = id_problem(query, self.source.limits.id_chars)
            if fault:
                kind = "lines without a usable query_id"
                self.source.faults.add(kind, f"{where}: query_id", f"{fault}: left out", '"query_id": "…"')
            else:
                self.strangers.setdefault(str(query), where)
            return None
        if query in before:
            what = f"query {shown(query)} stands in the file twice: the first counts"
            self.source.faults.add("queries given twice", where, what, "one line a query")
            return None
        return query

    def say(self, some: bool) -> None:
        """Name the strangers.

        Args:
            some: whether any query is known; where none is, a like id is another query's, and isn't suggested.
        """
        near = Near(self.benchmark.queries, 50 if some else 0)
        for query, where in self.strangers.items():
            what = f"query {shown(query)} is not in the benchmark: left out"
            self.source.faults.add("queries that aren't in the benchmark", where, what, near(query))


def lengths(benchmark: Benchmark, ids: Collection[str]) -> dict[str, int]:
    """Characters of documents, read in the order of the corpus: it may lie on disk, where jumping about is slow."""
    return {id_: len(benchmark.documents[id_].text) for id_ in benchmark.documents if id_ in ids}


def id_problem(value: Any, most: int) -> str:
    """What keeps a value from being an id; empty where nothing does."""
    if value is None:
        return "is missing"
    if not isinstance(value, str):
        return f"{shown(value)} is not a string"
    if len(value) > most:
        return f"has {len(value):,} characters, more than {most}"
    fault = id_fault(value)
    return f"{shown(value)} {fault}" if fault else ""
