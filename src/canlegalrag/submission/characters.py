"""Scoring a run by characters: what of it counts, what keeps it from being scored, means by data set."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.files import loads, read_text
from canlegalrag.measures import spans
from canlegalrag.measures.names import MEASURES, Measure, parse_all
from canlegalrag.measures.span_faults import Place, faults, has_offsets
from canlegalrag.submission.rows import RESAMPLES, number, rows
from canlegalrag.types import Problem, Run, Scores, Snippet
from canlegalrag.wording import many

__all__ = [
    "SPAN_DEPTHS",
    "SPAN_MEASURES",
    "gold_spans",
    "lines_of",
    "require_offsets",
    "span_measures",
    "span_report",
    "without_gold",
]

SPAN_MEASURES = ("span_precision", "span_recall", "span_f1", "wrong_document_rate")
"""What is computed, at each of `SPAN_DEPTHS`, where the benchmark has gold spans and the run has offsets."""

SPAN_DEPTHS = (1, 8, 64)
"""One hit, what fits a prompt, and all that LegalBench-RAG looks at; those deeper than the run are left out."""

_AT_DEPTHS = (*SPAN_MEASURES, "retrieved_characters", "reference_span_precision", "reference_span_recall")
"""What is computed at depths that are asked for: also what was read, and the two measures as they were published."""


def gold_spans(benchmark: Benchmark) -> dict[str, list[Snippet]]:
    """Query id -> its gold spans, for every query of the benchmark."""
    gold: dict[str, list[Snippet]] = {query: [] for query in benchmark.qrels}
    for snippet in benchmark.snippets:
        if snippet.query_id in gold:
            gold[snippet.query_id].append(snippet)
    return gold


def span_measures(
    benchmark: Benchmark | None, run: Run, depth: int | None, place: Place, depths: Sequence[int] | None = None
) -> tuple[list[Measure], list[Problem]]:
    """The measures of characters that can be computed; none where gold spans or offsets are missing.

    Args:
        benchmark: gives the gold spans and the texts.
        run: the rankings.
        depth: how many hits of each count, where the run is ours.
        place: how to name a hit.
        depths: numbers of hits to count at, also where the run has fewer; None: `SPAN_MEASURES` at `SPAN_DEPTHS`.

    Returns:
        The measures, and what keeps a run that has offsets from being scored so.
    """
    if benchmark is None or not benchmark.snippets or (depths is not None and not depths):
        return [], []
    part = {query: hits[:depth] for query, hits in run.items() if query in benchmark.qrels}
    if not has_offsets(part):
        return [], []
    longest = max(len(hits) for hits in part.values())
    if depths is None:
        names = [f"{name}@{k}" for k in SPAN_DEPTHS if k <= longest for name in SPAN_MEASURES]
    else:
        names = [f"{name}@{k}" for k in depths for name in _AT_DEPTHS]
    found = faults(part, benchmark.documents, place)
    if not found:
        return parse_all(names), []
    what = "are left out: not all offsets can be used"
    return [], [*found, Problem("measures of characters", what, "mend the hits named above", fatal=False)]


def require_offsets(
    benchmark: Benchmark | None, run: Run, measures: Sequence[Measure], depth: int | None, place: Place
) -> None:
    """Make sure that measures of characters have gold spans, and that the run's offsets can be used.

    Raises:
        InputError: one or the other isn't so.
    """
    name = next((str(m) for m in measures if MEASURES[m.name].family == "span"), None)
    if name is None:
        return
    if benchmark is None or not benchmark.snippets:
        fix = "give --benchmark with a benchmark that has snippets"
        raise InputError(f"measure {name!r}", "counts characters, but there are no gold spans", fix)
    part = {query: hits[:depth] for query, hits in run.items() if query in benchmark.qrels}
    for fault in faults(part, benchmark.documents, place):
        raise InputError(fault.where, fault.what, fault.fix)


def without_gold(benchmark: Benchmark, measures: Sequence[Measure]) -> list[Problem]:
    """A note on queries that count as zero only because nothing can be found for them."""
    name = next((str(m) for m in measures if m.name.startswith("reference_")), None)
    empty = sum(not spans_ for spans_ in gold_spans(benchmark).values()) if name else 0
    what = f"{many(empty, 'query')} without a gold span: counted as zero, as in the published code"
    return [Problem(f"measure {name!r}", what, "span_… leaves them out", fatal=False)] if empty else []


def span_report(benchmark: Benchmark, run: Run, scores: Scores, seed: int) -> dict[str, Any]:
    """Means by data set, their mean with equal weight, and recall at equal retrieved characters; free of NaN."""
    names = list(scores.values)
    report: dict[str, Any] = {"by_dataset": {}, "macro": {}}
    labels = benchmark.labels("dataset") if any(q.dataset for q in benchmark.queries.values()) else None
    if labels:
        parts, mean = spans.by_dataset(scores, labels, blocks=benchmark.blocks, resamples=RESAMPLES, seed=seed)
        report["by_dataset"] = {label: rows(part, names) for label, part in parts.items()}
        report["macro"] = rows(mean, names)
    curve = spans.curve(gold_spans(benchmark), run, datasets=labels)
    report["curve"] = {
        "characters": list(curve.characters),
        "recall": [number(v) for v in curve.recall],
        "filled": [number(v) for v in curve.filled],
        "by_dataset": {label: [number(v) for v in row] for label, row in curve.by_dataset.items()},
        "macro": [number(v) for v in curve.macro],
    }
    return report


def lines_of(path: Path) -> Place:
    """How to name a place in a run by its line; the file is read again, once something is wrong with it.

    `run.jsonl:17: hits[3]`, and `run.trec:17` where a line is a hit.
    """

    @cache
    def lines() -> dict[tuple[str, str | None], int]:
        known: dict[tuple[str, str | None], int] = {}
        for n, line in enumerate(read_text(path).split("\n"), 1):
            cells = line.split()
            try:
                known.setdefault((loads(line)["query_id"], None), n)
            except (ValueError, TypeError):  # a TREC line, or a blank one
                if len(cells) > 2:
                    known.setdefault((cells[0], cells[2]), n)
        return known

    def place(query: str, position: int, document: str) -> str:
        if (query, document) in lines():
            return f"{path}:{lines()[query, document]}"
        return f"{path}:{lines()[query, None]}: hits[{position}]"

    return place
