"""Measures of plain lists of spans, as the `evaluate` module and the Space are given them."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from canlegalrag.errors import InputError
from canlegalrag.measures.span_rows import AnySpan, plain_rows
from canlegalrag.measures.spans import per_query, usual
from canlegalrag.measures.summary import Values, flat
from canlegalrag.plain import require_list, require_strings

__all__ = ["check_spans", "score_spans"]

Rows: TypeAlias = list[list[dict[str, Any]]]

_NAMES = ("precision", "recall", "f1", "wrong_document_rate", "retrieved_characters")


def score_spans(
    predictions: Sequence[Sequence[AnySpan]],
    references: Sequence[Sequence[AnySpan]],
    *,
    datasets: Sequence[str] | None = None,
    k: int | Sequence[int] | None = None,
    mode: str = "strict",
) -> dict[str, Any]:
    """Means from plain lists, as flat as a metric of the Hub: retrieved spans against gold spans, query by query.

    Args:
        predictions: for each query the spans retrieved, best first: `{"doc_id": …, "start": …, "end": …}`.
        references: for each query the gold spans, in any order.
        datasets: for each query the name of its data set; None: no means of data sets.
        k: how many spans count, a whole number or several; None: 1, 2, 4, 8, 16, 32, 64.
        mode: `strict` merges retrieved spans first; `reference` counts as the published scorer does.

    Returns:
        `precision@k`, `recall@k`, `f1@k`, `wrong_document_rate@k`, `retrieved_characters@k` for each k (None where no
        query has a value; without `@k` too where k is one number), `n`, the queries in the means of the first three,
        and `skipped`, the others. A measure that runs over other than `n` queries has `<measure>_n` and
        `<measure>_skipped` of its own. With data sets also `by_dataset`, the same for each, and `macro`, the mean of
        the data sets' means, each with equal weight.

    Raises:
        InputError: no lists of lists, lists of different lengths, spans that are none, are empty or reversed; an
            unsound k, mode or data set.

    >>> gold, found = [[{"doc_id": "a", "start": 0, "end": 100}]], [[{"doc_id": "a", "start": 0, "end": 80}]]
    >>> score_spans(found, gold, k=1)["recall"]
    0.8
    """
    measures = usual(k, mode)
    predictions, references = check_spans(predictions, references)
    labels = _labels(datasets, len(references))
    gold, run = ({str(i): row for i, row in enumerate(rows)} for rows in (references, predictions))
    names = {str(m): str(m).removeprefix("reference_").removeprefix("span_") for m in measures}
    values = {names[name]: of for name, of in per_query(gold, run, measures).items()}
    single = isinstance(k, int | np.integer)
    result: dict[str, Any] = _means(values, list(gold), single)
    if labels is not None:
        members: dict[str, list[str]] = {}
        for query, label in zip(gold, labels, strict=True):
            members.setdefault(label, []).append(query)
        parts = {label: _means(values, queries, single) for label, queries in members.items()}
        means = [name for name in result if name.partition("@")[0] in _NAMES and not name.endswith(("_n", "_skipped"))]
        result["by_dataset"] = parts
        result["macro"] = {name: _mean([part[name] for part in parts.values()]) for name in means}
    return result


def check_spans(predictions: Sequence[Sequence[AnySpan]], references: Sequence[Sequence[AnySpan]]) -> tuple[Rows, Rows]:
    """Both as lists of lists of `{"doc_id", "start", "end"}`, one a query, with nothing else in them.

    `evaluate` would cast what it is given to its schema: 1.5 to 1, "7" to 7.

    Raises:
        InputError: they can't be read so.
    """
    given = {"predictions": predictions, "references": references}
    for name, queries in given.items():
        require_list(name, queries, "give predictions and references, each a list of lists of spans, one a query")
    if len(predictions) != len(references):
        what = f"{len(predictions)} rankings for {len(references)} lists of references"
        raise InputError("predictions", what, "give one a query")
    found, wanted = (plain_rows(list(queries), f"{name} of query {{}}".format) for name, queries in given.items())
    return found, wanted


def _means(values: Values, queries: Sequence[str], single: bool) -> dict[str, float | int | None]:
    """Means over some queries; under the plain names too where there is a single k."""
    part = {name: {query: of[query] for query in queries} for name, of in values.items()}
    result = flat(part, [name for name in values if name.partition("@")[0] in _NAMES[:3]])
    return result | ({name.partition("@")[0]: result[name] for name in values} if single else {})


def _mean(means: Sequence[float | None]) -> float | None:
    """The mean of those that are defined; None where none is."""
    known = [mean for mean in means if mean is not None]
    return sum(known) / len(known) if known else None


def _labels(datasets: Sequence[str] | None, n: int) -> Sequence[str] | None:
    """The data sets, one a query."""
    if datasets is None:
        return None
    fix = "give one name a query"
    require_strings("datasets", datasets, fix)
    if len(datasets) != n:
        raise InputError("datasets", f"{len(datasets)} names for {n} queries", fix)
    return list(map(str, datasets))  # plain ones, as of numpy they print otherwise
