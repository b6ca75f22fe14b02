"""Retrieval measures: from judgements and a run to values a query, means, intervals, and what was odd about both.

Two families (see `standard` and `paper`), one register (`MEASURES`), one door. A third family counts characters
(`spans`), from gold spans in place of judgements.

>>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
>>> run = {"q1": {"a": 2.0, "x": 1.0}}
>>> scores = score(qrels, run, "recall@2 mrr")
>>> scores.values["recall@2"], scores.n["recall@2"]  # q2 was forgotten: it scores 0
(0.25, 2)
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from canlegalrag.errors import InputError
from canlegalrag.measures import paper, span_measures, standard
from canlegalrag.measures.audit import Audit, audit
from canlegalrag.measures.coding import code_list, code_ranks
from canlegalrag.measures.names import MEASURES, Measure, parse, parse_all
from canlegalrag.measures.rankings import AnyRun
from canlegalrag.measures.summary import group, summarise
from canlegalrag.types import Qrels, Scores

__all__ = [
    "MEASURES",
    "Audit",
    "Measure",
    "Measures",
    "audit",
    "group",
    "paper",
    "parse",
    "parse_all",
    "per_query",
    "score",
    "span_measures",
    "standard",
]

Measures: TypeAlias = str | Sequence[str | Measure]
"""Names with blanks between them, or a sequence of names and measures."""


def per_query(qrels: Qrels, run: AnyRun, measures: Measures) -> dict[str, dict[str, float]]:
    """Value of every measure for every query of the qrels; NaN where it is undefined.

    Args:
        qrels: query id to document id to grade; above 0 is relevant.
        run: query id to hits, best first, or to document id to score. Queries that the qrels lack are not
            scored (see `audit`); a query that the run lacks, or whose ranking is empty, scores 0.
        measures: names or measures.

    Returns:
        Measure's name to query id to value, in the order of the qrels.

    Raises:
        InputError: an unknown measure; a score that is not a finite number, a grade that is not a whole number or
            is beyond ±(2³¹ - 1), an id that is not a string or holds half a surrogate pair; bpref on qrels without
            documents judged irrelevant; a measure of characters.

    >>> per_query({"q1": {"a": 1}}, {"q1": {"x": 2.0, "a": 1.0}}, ["mrr", "hit@1"])
    {'mrr': {'q1': 0.5}, 'hit@1': {'q1': 0.0}}
    """
    wanted = [(measure, MEASURES[measure.name]) for measure in parse_all(measures)]
    families = {definition.family for _, definition in wanted}
    if "span" in families:
        name = next(str(measure) for measure, definition in wanted if definition.family == "span")
        what = "counts characters, which judgements of documents don't have"
        raise InputError(
            f"measure {name!r}", what, "canlegalrag.measures.spans takes gold spans and a run with offsets"
        )
    coded = {
        "standard": code_ranks(qrels, run) if "standard" in families else None,
        "paper": code_list(qrels, run) if "paper" in families else None,
    }
    return {
        str(measure): dict(zip(qrels, definition.function(coded[definition.family], measure.k).tolist(), strict=True))
        for measure, definition in wanted
    }


def score(
    qrels: Qrels,
    run: AnyRun,
    measures: Measures,
    *,
    blocks: Mapping[str, str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> Scores:
    """Mean of every measure over the queries of the qrels, with its 95 % block-bootstrap interval.

    Args:
        qrels: as in `per_query`.
        run: as in `per_query`.
        measures: names or measures.
        blocks: query id to the block of variations that it belongs to; a query without one (or with an empty
            one) is a block of its own. None: every query is.
        resamples: for the intervals.
        seed: of the draws.

    Returns:
        Means over the queries with a defined value (`trec_eval -c` where all have relevant documents), how
        many those are, how many were skipped, intervals, and the values.

    Raises:
        InputError: as `per_query`.
    """
    return summarise(per_query(qrels, run, measures), list(qrels), blocks, resamples, seed)
