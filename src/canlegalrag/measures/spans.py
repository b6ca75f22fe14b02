"""Span measures: from gold spans and retrieved spans to values a query, means, data sets, and a fair curve.

>>> gold = {"q1": [("a.txt", 0, 100)], "q2": [("b.txt", 0, 50)]}
>>> run = {"q1": [("a.txt", 0, 80), ("a.txt", 40, 120)]}
>>> scores = score(gold, run, "span_recall@2 reference_span_recall@2")
>>> scores.values["span_recall@2"], scores.values["reference_span_recall@2"]  # q2 was forgotten: it scores 0
(0.5, 0.7)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from canlegalrag.errors import InputError
from canlegalrag.measures.names import MEASURES, FloatArray, Measure, parse_all
from canlegalrag.measures.retrieval import Measures
from canlegalrag.measures.span_coding import BoolArray, Spanned, code_spans
from canlegalrag.measures.span_rows import AnySpan, Spans
from canlegalrag.measures.summary import group, macro, summarise
from canlegalrag.plain import require_list
from canlegalrag.types import Scores

__all__ = [
    "BUDGETS",
    "DEPTHS",
    "AnySpan",
    "Curve",
    "Spanned",
    "Spans",
    "by_dataset",
    "code_spans",
    "curve",
    "per_query",
    "score",
    "usual",
]

DEPTHS = (1, 2, 4, 8, 16, 32, 64)
"""Numbers of hits at which LegalBench-RAG is scored (arXiv 2408.10343)."""

BUDGETS = (500, 1000, 2000, 4000, 8000, 16000, 32000)
"""Numbers of characters at which `curve` cuts: those of 1 to 64 hits of 500 characters."""

_USUAL = ("span_precision", "span_recall", "span_f1")
_MODES = ("strict", "reference")


@dataclass(frozen=True, slots=True)
class Curve:
    """Recall at equal retrieved characters; every row has one value a budget, NaN where no query has gold."""

    characters: tuple[int, ...]
    """The budgets."""
    recall: tuple[float, ...]
    """Mean over the queries with gold."""
    filled: tuple[float, ...]
    """Share of those queries whose hits fill the budget; below 1, a deeper run might have found more."""
    by_dataset: Mapping[str, tuple[float, ...]]
    """Mean over the queries of each data set; empty where no data sets are given."""
    macro: tuple[float, ...]
    """Mean of the data sets' means, each with equal weight; empty where no data sets are given."""


def usual(k: int | Sequence[int] | None = None, mode: str = "strict") -> list[Measure]:
    """Precision, recall and F1 of characters, wrong documents and characters retrieved, at every k.

    Args:
        k: how many hits count; None: `DEPTHS`.
        mode: `strict` merges retrieved spans first; `reference` counts as the published scorer does.

    Raises:
        InputError: a k that is no whole number from 1, an unknown mode.

    >>> [str(m) for m in usual(8, "reference")][:2]
    ['reference_span_precision@8', 'reference_span_recall@8']
    """
    if mode not in _MODES:
        raise InputError("mode", f"{mode!r} is not known", "use 'strict' or 'reference'")
    depths = DEPTHS if k is None else (k,) if isinstance(k, int | np.integer) else k
    require_list("k", depths, "give a whole number from 1, or a list of them")
    if not len(depths):
        raise InputError("k", "is an empty list", "give for example 8, or [1, 8, 64]")
    for depth in depths:
        if isinstance(depth, bool | np.bool_) or not isinstance(depth, int | np.integer) or depth < 1:
            raise InputError("k", f"{depth!r} is not a whole number from 1", "give for example 8, or [1, 8, 64]")
    prefix = "reference_" if mode == "reference" else ""
    names = [*(f"{prefix}{name}" for name in _USUAL), "wrong_document_rate", "retrieved_characters"]
    return parse_all([f"{name}@{depth}" for depth in depths for name in names])


def per_query(
    gold: Spans,
    run: Spans,
    measures: Measures | None = None,
    *,
    k: int | Sequence[int] | None = None,
    mode: str = "strict",
) -> dict[str, dict[str, float]]:
    """Value of every measure for every query of the gold; NaN where it is undefined.

    Args:
        gold: query id to gold spans, in any order. A span is `(doc_id, start, end)`, a mapping of these, a `Snippet`, a
            `Passage`, or a `Hit` that has one.
        run: query id to retrieved spans, best first. Queries that the gold lacks are not scored; a query that the run
            lacks, or whose list is empty, scores 0.
        measures: names or measures of the family `span`; None: the `usual` ones of `k` and `mode`.
        k: as in `usual`; not together with `measures`, whose names hold theirs.
        mode: as in `usual`.

    Returns:
        Measure's name to query id to value, in the order of the gold.

    Raises:
        InputError: an unknown measure, or one of another family; a span that is none, is empty or reversed, or has an
            offset below 0, each named by query and place; an id that is not a string.

    >>> per_query({"q1": [("a", 0, 10)]}, {"q1": [("b", 0, 10), ("a", 0, 5)]}, "span_recall@1 span_recall@2")
    {'span_recall@1': {'q1': 0.0}, 'span_recall@2': {'q1': 0.5}}
    """
    wanted = _choose(measures, k, mode)
    coded = code_spans(gold, run)
    return {str(m): dict(zip(gold, MEASURES[m.name].function(coded, m.k).tolist(), strict=True)) for m in wanted}


def score(
    gold: Spans,
    run: Spans,
    measures: Measures | None = None,
    *,
    datasets: Mapping[str, str] | None = None,
    k: int | Sequence[int] | None = None,
    mode: str = "strict",
    blocks: Mapping[str, str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> Scores:
    """Mean of every measure with its 95 % block-bootstrap interval.

    Args:
        gold: as in `per_query`.
        run: as in `per_query`.
        measures: as in `per_query`.
        datasets: query id to the data set that it is from: the means are then those of the data sets' means, each with
            equal weight. None: over all queries alike, so that a large data set weighs more.
        k: as in `per_query`.
        mode: as in `per_query`.
        blocks: query id to the block of variations that it belongs to; a query without one is a block of its own.
        resamples: for the intervals.
        seed: of the draws.

    Raises:
        InputError: as `per_query`.
    """
    values = per_query(gold, run, measures, k=k, mode=mode)
    scores = summarise(values, list(gold), blocks, resamples, seed)
    if datasets is None:
        return scores
    return by_dataset(scores, datasets, blocks=blocks, resamples=resamples, seed=seed)[1]


def by_dataset(
    scores: Scores,
    datasets: Mapping[str, str],
    *,
    blocks: Mapping[str, str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> tuple[dict[str, Scores], Scores]:
    """The scores of each data set, and the mean of the data sets with equal weight (`summary.macro`).

    Averaging over all queries instead is a known pitfall: of LegalBench-RAG's 6,858 queries, 194 are of PrivacyQA.

    >>> gold = {"q1": [("a", 0, 9)], "q2": [("b", 0, 9)], "q3": [("b", 0, 9)]}
    >>> scores = score(gold, {"q1": [("a", 0, 9)]}, "span_recall@1")
    >>> parts, mean = by_dataset(scores, {"q1": "privacy_qa", "q2": "cuad", "q3": "cuad"})
    >>> parts["cuad"].values["span_recall@1"], mean.values["span_recall@1"]
    (0.0, 0.5)
    """
    parts = group(scores, datasets, blocks=blocks, resamples=resamples, seed=seed)
    return parts, macro(parts, blocks=blocks, resamples=resamples, seed=seed)


def curve(
    gold: Spans, run: Spans, budgets: Sequence[int] = BUDGETS, *, datasets: Mapping[str, str] | None = None
) -> Curve:
    """Mean `span_recall` where each ranking is cut after the same number of characters, whatever its hits' length.

    At equal k, hits of 1,000 characters are given twice the text of hits of 500. Here each ranking is read from its top
    until so many characters are read: what a hit has in common with hits above it is not charged again, and of the
    hit at which the budget ends the first characters count, up to the budget.

    Args:
        gold: as in `per_query`.
        run: as in `per_query`.
        budgets: numbers of characters.
        datasets: query id to the data set that it is from; None: no means of data sets.

    Raises:
        InputError: as `per_query`; a budget that is no whole number from 1.

    >>> curve({"q": [("a", 50, 150)]}, {"q": [("a", 0, 100), ("a", 50, 200)]}, [75, 120, 500]).recall
    (0.25, 0.7, 1.0)
    """
    require_list("budgets", budgets, "give numbers of characters, for example [1000, 4000]")
    for budget in budgets:
        if isinstance(budget, bool | np.bool_) or not isinstance(budget, int | np.integer) or budget < 1:
            raise InputError("budgets", f"{budget!r} is not a number of characters", "a whole number from 1")
    coded = code_spans(gold, run)
    known = coded.gold > 0
    columns = [_within(coded, int(budget)) for budget in budgets]
    labels = np.array([(datasets or {}).get(q, "") for q in gold])
    parts = {}
    for label in dict.fromkeys(labels.tolist()) if datasets is not None else ():
        parts[label] = tuple(_mean(recall, known & (labels == label)) for recall, _ in columns)
    means = np.array(list(parts.values())).T
    return Curve(
        characters=tuple(int(budget) for budget in budgets),
        recall=tuple(_mean(recall, known) for recall, _ in columns),
        filled=tuple(_mean(filled, known) for _, filled in columns),
        by_dataset=parts,
        macro=tuple(_mean(row, ~np.isnan(row)) for row in means),
    )


def _within(run: Spanned, budget: int) -> tuple[FloatArray, FloatArray]:
    """Recall (queries,) of the first characters of each ranking, and whether (1.0) it has as many."""
    begin, end = run.piece_fresh[run.piece[:-1]], run.piece_fresh[run.piece[1:]]
    last = begin + np.minimum(end - begin, budget)
    at = np.searchsorted(run.piece_fresh, last, "right") - 1
    start = run.piece_start[at]
    part = run.cover.before(start + last - run.piece_fresh[at]) - run.cover.before(start)
    found = run.piece_gold[at] - run.piece_gold[run.piece[:-1]] + part
    return found / np.maximum(run.gold, 1), (end - begin >= budget).astype(np.float64)


def _mean(values: FloatArray, known: BoolArray) -> float:
    """Mean of the values that are known; NaN where none is."""
    return float(values[known].mean()) if known.any() else float("nan")


def _choose(measures: Measures | None, k: int | Sequence[int] | None, mode: str) -> list[Measure]:
    """The measures that are asked for."""
    if measures is None:
        return usual(k, mode)
    if k is not None or mode != "strict":
        what = "are given beside measures, whose names hold both"
        raise InputError("k and mode", what, "write measures='reference_span_recall@8'")
    wanted = parse_all(measures)
    for measure in wanted:
        if MEASURES[measure.name].family != "span":
            fix = "canlegalrag.measures.retrieval scores rankings of documents"
            raise InputError(f"measure {str(measure)!r}", "does not count characters", fix)
    return wanted
