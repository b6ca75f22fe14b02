"""Values a query to means: with counts and intervals, by groups of queries, with equal weight for each group."""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from canlegalrag.measures.names import FloatArray
from canlegalrag.measures.stats import drawn_means, intervals, percentiles
from canlegalrag.types import Scores

__all__ = ["Values", "flat", "group", "macro", "summarise"]

Values = Mapping[str, Mapping[str, float]]
"""Measure's name to query id to value."""


def summarise(
    values: Values, queries: Sequence[str], blocks: Mapping[str, str] | None, resamples: int, seed: int
) -> Scores:
    """Means, counts and 95 % block-bootstrap intervals of values keyed by measure and query."""
    table = _table(values, queries)
    limits = intervals(table, _labels(queries, blocks), resamples, seed).tolist()
    there = ~np.isnan(table)
    n = there.sum(axis=1).tolist()
    return Scores(
        values=dict(zip(values, _means(table), strict=True)),
        n=dict(zip(values, n, strict=True)),
        skipped={name: len(queries) - count for name, count in zip(values, n, strict=True)},
        interval={name: (low, high) for name, (low, high) in zip(values, limits, strict=True)},
        per_query=values,
    )


def group(
    scores: Scores,
    labels: Mapping[str, str],
    *,
    blocks: Mapping[str, str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> dict[str, Scores]:
    """Split scores by a field of the queries (province, persona, variant …).

    Args:
        scores: from `score`.
        labels: query id to label; queries without one form the group "".
        blocks: as in `score`.
        resamples: as in `score`.
        seed: as in `score`.

    Returns:
        Label to the scores of its queries, in the order in which labels first occur.

    >>> from canlegalrag.measures.retrieval import score
    >>> scores = score({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}}, ["mrr"])
    >>> {label: part.values["mrr"] for label, part in group(scores, {"q1": "Manitoba", "q2": "Yukon"}).items()}
    {'Manitoba': 1.0, 'Yukon': 0.0}
    """
    members: dict[str, list[str]] = {}
    for query in next(iter(scores.per_query.values()), {}):
        members.setdefault(labels.get(query, ""), []).append(query)
    return {
        label: summarise(
            {name: {query: values[query] for query in queries} for name, values in scores.per_query.items()},
            queries,
            blocks,
            resamples,
            seed,
        )
        for label, queries in members.items()
    }


def macro(
    parts: Mapping[str, Scores],
    *,
    blocks: Mapping[str, str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> Scores:
    """The mean of the groups' means, each with equal weight, however many queries it has.

    A group without any value of a measure is left out of its mean. The interval is that of a stratified bootstrap,
    whose blocks are drawn within each group; NaN where a group has fewer than `stats.FEWEST` blocks with a value.

    Args:
        parts: label to scores, from `group`.
        blocks: as in `score`.
        resamples: as in `score`.
        seed: as in `score`.

    >>> from canlegalrag.measures.retrieval import score
    >>> scores = score({"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}, {"q1": {"a": 1.0}}, ["mrr"])
    >>> parts = group(scores, {"q1": "cuad", "q2": "maud", "q3": "maud"})
    >>> round(scores.values["mrr"], 3), macro(parts).values["mrr"]
    (0.333, 0.5)
    """
    if not parts:
        return Scores({}, {}, {}, {}, {})
    per_query = {
        name: {q: v for part in parts.values() for q, v in part.per_query[name].items()}
        for name in next(iter(parts.values())).values
    }
    means = np.array([list(part.values.values()) for part in parts.values()]).T  # (measures, groups)
    there = ~np.isnan(means)
    sums = np.zeros((len(means), resamples))
    for i, part in enumerate(parts.values()):
        queries = list(next(iter(part.per_query.values())))
        # Each group has draws of its own, or all would rise and fall together.
        drawn = drawn_means(_table(part.per_query, queries), _labels(queries, blocks), resamples, seed + i)
        sums += np.where(there[:, i, None], drawn, 0.0)
    limits = percentiles(sums / np.where(there.any(axis=1), there.sum(axis=1), np.nan)[:, None]).tolist()
    return Scores(
        values=dict(zip(per_query, _means(means), strict=True)),
        n={name: sum(part.n[name] for part in parts.values()) for name in per_query},
        skipped={name: sum(part.skipped[name] for part in parts.values()) for name in per_query},
        interval={name: (low, high) for name, (low, high) in zip(per_query, limits, strict=True)},
        per_query=per_query,
    )


def flat(values: Values, main: Sequence[str]) -> dict[str, float | int | None]:
    """Means as a metric of the Hub gives them: None where undefined, the headline's `n` and `skipped`.

    Args:
        values: measure's name to query to value.
        main: the measures of the headline; `n` is how many queries have a value in all of them.

    Returns:
        Measure's name to mean, `n`, `skipped`, and for a measure that runs over other than `n` queries `<measure>_n`
        and `<measure>_skipped` of its own.

    >>> flat({"mrr": {"1": 1.0, "2": float("nan")}, "judged@5": {"1": 1.0, "2": 0.0}}, ["mrr"])
    {'mrr': 1.0, 'judged@5': 0.5, 'n': 1, 'skipped': 1, 'judged@5_n': 2, 'judged@5_skipped': 0}
    """
    queries = list(next(iter(values.values()), {}))
    table = _table(values, queries)
    there = dict(zip(values, ~np.isnan(table), strict=True))
    result: dict[str, float | int | None] = {
        name: None if mean != mean else mean for name, mean in zip(values, _means(table), strict=True)
    }
    n = int(np.logical_and.reduce([there[name] for name in main]).sum())
    result |= {"n": n, "skipped": len(queries) - n}
    for name, row in there.items():
        if (own := int(row.sum())) != n:
            result |= {f"{name}_n": own, f"{name}_skipped": len(queries) - own}
    return result


def _table(values: Values, queries: Sequence[str]) -> FloatArray:
    """Values (measures, queries) float64."""
    table: FloatArray = np.array([[of[q] for q in queries] for of in values.values()], dtype=np.float64)
    return table.reshape(len(values), len(queries))


def _means(table: FloatArray) -> list[float]:
    """Mean of each row over the values that are there; NaN where none is."""
    return [float(row[~np.isnan(row)].mean()) if not np.isnan(row).all() else float("nan") for row in table]


def _labels(queries: Sequence[str], blocks: Mapping[str, str] | None) -> list[Hashable] | None:
    """Label of each query's block; a tuple for a query on its own, which can't be taken for a block's label."""
    return [blocks.get(q) or (q,) for q in queries] if blocks is not None else None
