"""Measures of plain lists of ids, as the `evaluate` module and the Space are given them."""

from collections.abc import Mapping, Sequence, Set

import numpy as np

from canlegalrag.errors import InputError
from canlegalrag.measures.names import MEASURES, Measure, parse_all
from canlegalrag.measures.retrieval import Measures, per_query
from canlegalrag.types import Hit

__all__ = ["check_lists", "score_lists"]

DEFAULTS = {
    "standard": ("ndcg@{k}", "recall@{k}", "precision@{k}", "hit@{k}", "mrr", "map"),
    "paper": (
        "paper_ndcg@{k}",
        "paper_recall@{k}",
        "paper_doc_recall@{k}",
        "paper_precision@{k}",
        "paper_hit@{k}",
        "paper_mrr",
    ),
}
"""What `score_lists` computes when no measures are named, by family."""


def score_lists(
    predictions: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    grades: Sequence[Sequence[int]] | None = None,
    *,
    k: int | None = None,
    measures: Measures | None = None,
    family: str | None = None,
) -> dict[str, float | int | None]:
    """Means from plain lists, as flat as a metric of the Hub: ranked ids against relevant ids, query by query.

    Args:
        predictions: for each query the ids found, best first; a document may stand there once a passage.
        references: for each query the ids of the relevant documents.
        grades: for each query one grade a reference (0: judged, not relevant); None: all 1.
        k: cut-off of the usual measures, 10 unless said; not together with `measures`, whose names hold theirs.
        measures: names such as "ndcg@10 map"; None: the usual ones of the family.
        family: `standard` (documents count) or `paper` (passages count, as the published code does); None:
            standard, or whatever `measures` name.

    Returns:
        Measure's name to its mean (None where no query has a value), `n`, the queries that every measure
        covers, and `skipped`, the others.

    Raises:
        InputError: lists of different lengths, ids that aren't strings, conflicting grades, unknown measures.

    >>> score_lists([["a", "x"], ["y"]], [["a", "b"], ["c"]], k=2)["recall@2"]
    0.25
    """
    wanted = _choose(k, measures, family)
    check_lists(predictions, references)
    if grades is not None and len(grades) != len(references):
        raise InputError("grades", f"{len(grades)} lists for {len(references)} of references", "give one a query")
    run = {str(i): [Hit(doc, -float(place)) for place, doc in enumerate(row)] for i, row in enumerate(predictions)}
    qrels = {str(i): _graded(i, row, None if grades is None else grades[i]) for i, row in enumerate(references)}
    values = per_query(qrels, run, wanted)
    table = np.array([list(of.values()) for of in values.values()], dtype=np.float64)
    there = ~np.isnan(table)
    n = int(there.all(axis=0).sum())
    means = {
        name: float(row[ok].mean()) if ok.any() else None for name, row, ok in zip(values, table, there, strict=True)
    }
    return {**means, "n": n, "skipped": table.shape[1] - n}


def check_lists(predictions: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> None:
    """Make sure that both are lists of lists of strings, one a query.

    `evaluate` would turn a mapping of id to grade into its keys, and lose the grades without a word.

    Raises:
        InputError: they are not.
    """
    if len(predictions) != len(references):
        what = f"{len(predictions)} rankings for {len(references)} lists of references"
        raise InputError("predictions", what, "give one a query")
    for name, rows in (("predictions", predictions), ("references", references)):
        for i, row in enumerate(rows):
            if isinstance(row, str | bytes | Mapping) or (name == "predictions" and isinstance(row, Set)):
                what = f"a {type(row).__name__} stands where a list of ids should"
                raise InputError(f"{name} of query {i}", what, 'write ["2019-scc-65"], grades apart')
            for doc in row:
                if not isinstance(doc, str):
                    raise InputError(f"{name} of query {i}", f"the id {doc!r} is not a string", f'write "{doc}"')


def _choose(k: int | None, measures: Measures | None, family: str | None) -> list[Measure]:
    """The measures that `score_lists` is asked for."""
    if family is not None and family not in DEFAULTS:
        raise InputError("family", f"{family!r} is not known", "use 'standard' or 'paper'")
    if measures is None:
        depth = 10 if k is None else k
        return parse_all([name.format(k=depth) for name in DEFAULTS[family or "standard"]])
    if k is not None:
        raise InputError("k", "is given beside measures, whose names hold theirs", "write measures='ndcg@5 recall@5'")
    wanted = parse_all(measures)
    for measure in wanted:
        if family is not None and MEASURES[measure.name].family != family:
            raise InputError("family", f"{measure} is not of the family {family!r}", "leave family out to mix them")
    return wanted


def _graded(i: int, relevant: Sequence[str], grades: Sequence[int] | None) -> dict[str, int]:
    """Judgements of one query out of a list of ids and a list of grades."""
    if grades is None:
        return dict.fromkeys(relevant, 1)
    if len(grades) != len(relevant):
        raise InputError(
            f"grades of query {i}", f"{len(grades)} for {len(relevant)} references", "give one a reference"
        )
    judged: dict[str, int] = {}
    for doc, grade in zip(relevant, grades, strict=True):
        if judged.setdefault(doc, grade) != grade:
            raise InputError(f"references of query {i}", f"{doc!r} has two grades", "keep one")
    return judged
