"""Check and score a run: from a run and judgments to `scores.json`, with all that made the numbers."""

import dataclasses
import math
import platform
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from canlegalrag import __version__
from canlegalrag.benchmark import Benchmark, check_run, missing
from canlegalrag.files import dumps
from canlegalrag.measures import retrieval
from canlegalrag.measures.names import MEASURES, Measure
from canlegalrag.measures.stats import Comparison, compare
from canlegalrag.near import fold
from canlegalrag.types import Problem, Qrels, Run, Scores

__all__ = [
    "DEFAULT_MEASURES",
    "RESAMPLES",
    "caveats",
    "compare_runs",
    "compare_values",
    "listed",
    "number",
    "score_run",
    "scores_json",
]

DEFAULT_MEASURES = "ndcg@10 recall@10 recall@100 precision@10 hit@10 mrr map rprec judged@10"
"""What `canlegalrag score` computes when nothing is asked: the standard family."""

RESAMPLES = 10_000
"""Bootstrap resamples behind each interval."""


def number(value: float) -> float | None:
    """A float for JSON: None where it is undefined.

    >>> number(float("nan")), number(0.5)
    (None, 0.5)
    """
    return None if value != value else float(value)


def scores_json(payload: Mapping[str, Any]) -> str:
    """What `scores.json` holds, indented, but with one line a query: small enough to commit and to diff."""
    queries = ",\n".join(f"  {dumps(q)}: {dumps(row)}" for q, row in payload["per_query"].items())
    whole = dumps({**payload, "per_query": {}}, indent=1)
    return whole.replace('"per_query": {}', f'"per_query": {{\n{queries}\n }}', 1) + "\n"


def _rows(scores: Scores, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    return {
        name: {
            "mean": number(scores.values[name]),
            "n": scores.n[name],
            "skipped": scores.skipped[name],
            "low": number(scores.interval[name][0]),
            "high": number(scores.interval[name][1]),
        }
        for name in names
    }


def score_run(
    run: Run,
    measures: Sequence[Measure],
    *,
    benchmark: Benchmark | None = None,
    qrels: Qrels | None = None,
    by: Sequence[str] = (),
    made: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> tuple[dict[str, Any], list[Problem]]:
    """Score a run against a benchmark, or against bare judgments.

    Args:
        run: the rankings.
        measures: what to compute.
        benchmark: gives judgments, blocks for the intervals, fields to group by, and ids to check against.
        qrels: judgments, where there is no benchmark.
        by: fields of the queries to group by; needs a benchmark.
        made: what made the run, for the record.
        seed: of the bootstrap.

    Returns:
        What `scores.json` holds (`measures`, `per_query`, `by`, `provenance`), free of NaN, and the run's problems.
    """
    judged = benchmark.qrels if benchmark else (qrels or {})
    blocks = benchmark.blocks if benchmark else None
    problems = check_run(benchmark, run) if benchmark else _check_ids(judged, run)
    run = benchmark.counted(run) if benchmark else run
    scores = _score(judged, run, measures, (made or {}).get("k"), blocks, seed)
    names = [str(m) for m in measures]
    groups: dict[str, dict[str, Any]] = {}
    for name in by:
        assert benchmark is not None
        parts = retrieval.group(scores, benchmark.labels(name), blocks=blocks, resamples=RESAMPLES, seed=seed)
        groups[name] = {label: _rows(part, names) for label, part in parts.items()}
    payload = {
        "measures": _rows(scores, names),
        "per_query": {
            query: {name: number(scores.per_query[name][query]) for name in names}
            for query in scores.per_query[names[0]]
        },
        "by": groups,
        "provenance": {
            "canlegalrag": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "definitions": {name: MEASURES[m.name].family for name, m in zip(names, measures, strict=True)},
            "benchmark": {
                "name": benchmark.name,
                "revision": benchmark.revision,
                "fingerprint": benchmark.fingerprint,
            }
            if benchmark
            else None,
            "queries": len(judged),
            "blocks": len({blocks[q] for q in judged if q in blocks}) if blocks else len(judged),
            "bootstrap": {"resamples": RESAMPLES, "seed": seed, "level": 0.95, "unit": "block" if blocks else "query"},
            "audit": dataclasses.asdict(retrieval.audit(judged, run)),
            "run": dict(made or {}),
            "problems": [str(p) for p in problems[:100]],
            "problem_count": len(problems),
        },
    }
    return payload, problems


def listed(run: Run, measure: Measure, depth: int | None) -> Run:
    """The part of a run that a measure's family counts.

    A run of ours has below its k best passages the best passage of further documents (see `protocols.Retriever`). The
    paper's lists end after k passages, so its measures get no more than that; only `paper_mrr` has no cut of its own.
    """
    if depth is None or MEASURES[measure.name].family == "standard":
        return run
    return {query: hits[:depth] for query, hits in run.items()}


def _score(
    qrels: Qrels, run: Run, measures: Sequence[Measure], depth: int | None, blocks: Mapping[str, str] | None, seed: int
) -> Scores:
    """Score each family on its part of the run; the draws of the bootstrap are the same for both."""
    parts = [[m for m in measures if MEASURES[m.name].family == family] for family in ("standard", "paper")]
    found = [
        retrieval.score(qrels, listed(run, part[0], depth), part, blocks=blocks, resamples=RESAMPLES, seed=seed)
        for part in parts
        if part
    ]
    fields = [f.name for f in dataclasses.fields(Scores)]
    return Scores(**{name: {k: v for part in found for k, v in getattr(part, name).items()} for name in fields})


def _check_ids(qrels: Qrels, run: Run) -> list[Problem]:
    """What can be said of a run when only judgments are known: ids that miss one by case or normal form."""
    queries = {fold(q): q for q in qrels}

    def slip(id_: str, known: Mapping[str, str]) -> str:
        meant = known.get(fold(id_))
        return f"differs from {meant!r} by case or normal form only" if meant else ""

    strange = [
        Problem(f"query {q!r}", "is not in the judgments: left out", slip(q, queries), fatal=False)
        for q in run
        if q not in qrels
    ]
    for query, judged in qrels.items():
        known = {fold(d): d for d in judged}
        strange += [
            Problem(f"query {query!r}", f"document {document!r} is not judged", fix, fatal=False)
            for document in dict.fromkeys(hit.doc_id for hit in run.get(query, ()))
            if document not in judged and (fix := slip(document, known))
        ]
    return strange + missing(qrels, run)


def compare_runs(
    runs: Mapping[str, Run],
    measure: Measure,
    benchmark: Benchmark,
    *,
    depths: Mapping[str, int] | None = None,
    seed: int = 0,
) -> tuple[list[Comparison], list[Problem]]:
    """Compare every pair of runs on one measure, query by query, in the benchmark's blocks.

    Args:
        runs: name -> rankings.
        measure: what to compare by.
        benchmark: judgments and blocks.
        depths: name -> k of the runs that are ours, for the paper's family.
        seed: of the resampling.

    Returns:
        One comparison a pair, and the problems of all runs, each with its run's name.
    """
    values = {}
    problems = []
    for name, run in runs.items():
        part = listed(benchmark.counted(run), measure, (depths or {}).get(name))
        values[name] = retrieval.per_query(benchmark.qrels, part, [measure])[str(measure)]
        found = check_run(benchmark, run)
        problems += [Problem(f"{name}: {p.where}", p.what, p.fix, p.fatal) for p in found]
    return compare_values(values, benchmark, seed=seed), problems


def compare_values(
    values: Mapping[str, Mapping[str, float | None]], benchmark: Benchmark, *, seed: int = 0
) -> list[Comparison]:
    """Compare every pair of systems whose values a query are known already.

    Args:
        values: name -> query id -> value; None or NaN where undefined.
        benchmark: gives the queries and their blocks.
        seed: of the resampling.
    """
    blocks = benchmark.blocks
    table = {
        name: [math.nan if (value := by_query[q]) is None else value for q in benchmark.qrels]
        for name, by_query in values.items()
    }
    return compare(table, [blocks.get(q, q) for q in benchmark.qrels], resamples=RESAMPLES, seed=seed)


def caveats(comparisons: Sequence[Comparison], level: float = 0.05) -> list[str]:
    """What a reader of comparisons must know before taking "can't be told apart" for "equal".

    A sign-flip test over b blocks has 2^b outcomes, so its p is at least 2/2^b, and Holm's correction multiplies the
    smallest p by the number of pairs.
    """
    if not comparisons:
        return []
    blocks, pairs = comparisons[0].blocks, len(comparisons)
    least = min(1.0, 2.0 / 2.0 ** min(blocks, 60)) * pairs
    lines = []
    if least >= level:
        lines.append(
            f"{blocks} blocks and {pairs} pairs: the smallest corrected p that the test can give is {least:.3g}, "
            f"so nothing can be told apart at {level}. Compare fewer runs, or use more blocks."
        )
    elif least >= level / 10:
        lines.append(
            f"{blocks} blocks and {pairs} pairs: the smallest corrected p that the test can give is {least:.3g}, "
            "so only a difference of one sign in almost every block can be told apart. That two runs can't be told "
            "apart is no sign that they are equal."
        )
    if any(not c.apart and (c.low > 0 or c.high < 0) for c in comparisons):
        lines.append(
            "Some intervals leave zero out though the pair can't be told apart: an interval is of one pair alone, the "
            "verdict is corrected for all pairs."
        )
    return lines
