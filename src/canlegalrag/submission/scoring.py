"""Check and score a run: from a run and judgments to `scores.json`, with all that made the numbers."""

import dataclasses
import platform
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from canlegalrag import __version__
from canlegalrag.benchmark import Benchmark, check_run, missing
from canlegalrag.measures import retrieval, spans
from canlegalrag.measures.names import MEASURES, Family, Measure, parse, parse_all
from canlegalrag.measures.span_faults import Place, in_query
from canlegalrag.near import Near
from canlegalrag.submission.characters import gold_spans, require_offsets, span_measures, span_report, without_gold
from canlegalrag.submission.rows import RESAMPLES, number, rows
from canlegalrag.types import Problem, Qrels, Run, Scores
from canlegalrag.wording import many

__all__ = ["DEFAULT_MEASURES", "counted", "score_run", "shallow"]

DEFAULT_MEASURES = "ndcg@10 recall@10 recall@100 precision@10 hit@10 mrr map rprec judged@10"
"""What `canlegalrag score` computes when nothing is asked: the standard family."""


def score_run(
    run: Run,
    measures: Sequence[Measure] | None = None,
    *,
    benchmark: Benchmark | None = None,
    qrels: Qrels | None = None,
    by: Sequence[str] = (),
    made: Mapping[str, Any] | None = None,
    seed: int = 0,
    place: Place = in_query,
    depths: Sequence[int] | None = None,
) -> tuple[dict[str, Any], list[Problem]]:
    """Score a run against a benchmark, or against bare judgments.

    Args:
        run: the rankings.
        measures: what to compute; None: `DEFAULT_MEASURES`, and `SPAN_MEASURES` where there is what they need.
        benchmark: gives judgments, gold spans, blocks for the intervals, fields to group by, and ids to check against.
        qrels: judgments, where there is no benchmark.
        by: fields of the queries to group by; needs a benchmark.
        made: what made the run, for the record.
        seed: of the bootstrap.
        place: how to name a place in the run, see `lines_of`.
        depths: numbers of hits at which to count characters too, strictly and as published, where there is what that
            needs; None: as `measures` says.

    Returns:
        What `scores.json` holds (`measures`, `per_query`, `by`, `provenance`; `spans` where characters are counted:
        by data set, their mean with equal weight, and recall at equal retrieved characters), free of NaN, and the
        run's problems.

    Raises:
        InputError: a measure of characters without gold spans, or on a run whose offsets can't be used.
    """
    judged = benchmark.qrels if benchmark else (qrels or {})
    blocks = benchmark.blocks if benchmark else None
    depth = (made or {}).get("k")
    problems = check_run(benchmark, run, place) if benchmark else _check_ids(judged, run, place)
    wanted = parse_all(DEFAULT_MEASURES) if measures is None else measures
    require_offsets(benchmark, run, wanted, depth, place)
    if measures is None or depths is not None:
        more, unusable = span_measures(benchmark, run, depth, place, depths)
        wanted, problems = list(dict.fromkeys([*wanted, *more])), problems + unusable
    problems += without_gold(benchmark, wanted) if benchmark else []
    parts = _score(judged, benchmark, run, wanted, depth, seed)
    scores = _joined(list(parts.values()))
    names = [str(m) for m in wanted]
    groups: dict[str, dict[str, Any]] = {}
    for name in by:
        assert benchmark is not None
        grouped = retrieval.group(scores, benchmark.labels(name), blocks=blocks, resamples=RESAMPLES, seed=seed)
        groups[name] = {label: rows(part, names) for label, part in grouped.items()}
    payload = {
        "measures": rows(scores, names),
        "per_query": {
            query: {name: number(scores.per_query[name][query]) for name in names}
            for query in scores.per_query[names[0]]
        },
        "by": groups,
    }
    if benchmark and "span" in parts:
        payload["spans"] = span_report(benchmark, counted(benchmark, run, "span", depth), parts["span"], seed)
    definitions = {name: MEASURES[m.name].family for name, m in zip(names, wanted, strict=True)}
    payload["provenance"] = _provenance(judged, benchmark, run, definitions, dict(made or {}), problems, seed)
    return payload, problems


def _provenance(
    judged: Qrels,
    benchmark: Benchmark | None,
    run: Run,
    definitions: Mapping[str, str],
    made: Mapping[str, Any],
    problems: Sequence[Problem],
    seed: int,
) -> dict[str, Any]:
    """What made the numbers."""
    blocks = benchmark.blocks if benchmark else None
    return {
        "canlegalrag": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "definitions": definitions,
        "benchmark": benchmark.identity if benchmark else None,
        "queries": len(judged),
        "documents": len(benchmark.documents) if benchmark else None,
        "depth": max((len({hit.doc_id for hit in hits}) for hits in run.values()), default=0),
        "blocks": len({blocks[q] for q in judged if q in blocks}) if blocks else len(judged),
        "bootstrap": {"resamples": RESAMPLES, "seed": seed, "level": 0.95, "unit": "block" if blocks else "query"},
        "audit": dataclasses.asdict(retrieval.audit(judged, benchmark.counted(run) if benchmark else run)),
        "run": made,
        "problems": [str(p) for p in problems[:100]],
        "problem_count": len(problems),
    }


def shallow(payload: Mapping[str, Any]) -> str:
    """Say where measures look deeper than a run lists documents, so that nobody takes `recall@100` of ten for more.

    A run of ours was asked for k: where it lists fewer, no more match. Empty where there is nothing to say.

    Args:
        payload: what `score_run` gave.
    """
    made = payload.get("provenance", {})
    depth = made.get("depth")
    if not depth:  # scored before it was counted, or nothing is listed at all
        return ""
    known = {name: parse(name) for name, family in made["definitions"].items() if family == "standard"}
    reach = max(depth, made["run"].get("k") or 0)
    deepest = max((m.k or 0 for m in known.values()), default=0)
    if reach >= min(deepest, made.get("documents") or deepest):
        return ""
    whole = [name for name, m in known.items() if m.k is None and MEASURES[m.name].cutoff == "allowed"]
    names = [name for name, m in known.items() if (m.k or 0) > reach] + whole
    listed = f"{', '.join(names[:-1])} and {names[-1]} count" if len(names) > 1 else f"{names[0]} counts"
    return f"The run lists at most {many(reach, 'document')} a query: {listed} what is in those."


def counted(benchmark: Benchmark | None, run: Run, family: Family, depth: int | None) -> Run:
    """The part of a run that a family of measures counts.

    A run of ours has below its k best passages the best passage of further documents (see `protocols.Retriever`). The
    paper's lists end after k passages, so its measures and those of characters get no more than that; only `paper_mrr`
    has no cut of its own. Documents that don't count for their query leave what is left.
    """
    if depth is not None and family != "standard":
        run = {query: hits[:depth] for query, hits in run.items()}
    return benchmark.counted(run) if benchmark else run


def _score(
    qrels: Qrels, benchmark: Benchmark | None, run: Run, measures: Sequence[Measure], depth: int | None, seed: int
) -> dict[Family, Scores]:
    """Score each family on its part of the run; the draws of the bootstrap are the same for all."""
    found: dict[Family, Scores] = {}
    blocks = benchmark.blocks if benchmark else None
    for family in dict.fromkeys(MEASURES[m.name].family for m in measures):
        part = [m for m in measures if MEASURES[m.name].family == family]
        hits = counted(benchmark, run, family, depth)
        if benchmark and family == "span":
            gold = gold_spans(benchmark)
            found[family] = spans.score(gold, hits, part, blocks=blocks, resamples=RESAMPLES, seed=seed)
        else:
            found[family] = retrieval.score(qrels, hits, part, blocks=blocks, resamples=RESAMPLES, seed=seed)
    return found


def _joined(parts: Sequence[Scores]) -> Scores:
    """The scores of all families."""
    fields = [f.name for f in dataclasses.fields(Scores)]
    return Scores(**{name: {k: v for part in parts for k, v in getattr(part, name).items()} for name in fields})


def _check_ids(qrels: Qrels, run: Run, place: Place) -> list[Problem]:
    """What can be said of a run when only judgments are known: of documents, ids that miss a judged one by a trifle."""
    # Where no query is known, a like id is another query's; most documents are rightly not judged.
    near_query = Near(qrels, 0 if run.keys().isdisjoint(qrels) else 50)
    strange = [
        Problem(f"query {q!r}", "is not in the judgments: left out", near_query(q), fatal=False)
        for q in run
        if q not in qrels
    ]
    for query, judged in qrels.items():
        near_document = Near(judged, 0)
        first: dict[str, int] = {}
        for i, hit in enumerate(run.get(query, ())):
            first.setdefault(hit.doc_id, i)
        strange += [
            Problem(place(query, i, document), f"document {document!r} is not judged", fix, fatal=False)
            for document, i in first.items()
            if document not in judged and (fix := near_document(document))
        ]
    return strange + missing(qrels, run)
