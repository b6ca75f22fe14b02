"""Measures of plain lists of ids, as the `evaluate` module and the Space are given them."""

from collections.abc import Sequence

from canlegalrag.errors import InputError
from canlegalrag.measures.names import MEASURES, Measure, parse_all
from canlegalrag.measures.retrieval import Measures, per_query
from canlegalrag.measures.summary import flat
from canlegalrag.plain import require_list, require_strings
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
        grades: for each query one grade a reference, a whole number of at most ±(2³¹ - 1) (0: judged, not relevant;
            below 0: in the pool, not judged); None: all 1.
        k: cut-off of the usual measures, 10 unless said; not together with `measures`, whose names hold theirs.
        measures: names such as "ndcg@10 map"; None: the usual ones of the family.
        family: `standard` (documents count) or `paper` (passages count, as the published code does); None:
            standard, or whatever `measures` name.

    Returns:
        Measure's name to its mean (None where no query has a value), `n`, the queries in that mean, and `skipped`,
        the others. A measure that runs over more queries than `n` (`judged@k` is defined for every query) has
        `<measure>_n` and `<measure>_skipped` of its own; `n` and `skipped` are those of all the rest.

    Raises:
        InputError: no lists of lists, lists of different lengths, ids that aren't strings or that UTF-8 can't write,
            unsound or conflicting grades, unknown measures.

    >>> score_lists([["a", "x"], ["y"]], [["a", "b"], ["c"]], k=2)["recall@2"]
    0.25
    >>> score_lists([["a"], ["b"]], [["a"], []], measures="mrr judged@5")
    {'mrr': 1.0, 'judged@5': 0.5, 'n': 1, 'skipped': 1, 'judged@5_n': 2, 'judged@5_skipped': 0}
    """
    wanted = _choose(k, measures, family)
    check_lists(predictions, references)
    run = {str(i): [Hit(doc, -float(place)) for place, doc in enumerate(row)] for i, row in enumerate(predictions)}
    qrels = _judgements(references, grades)
    values = per_query(qrels, run, wanted)
    return flat(values, list(values))


def check_lists(predictions: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> None:
    """Make sure that both are lists of lists of strings, one a query.

    `evaluate` would turn a mapping of id to grade into its keys, and lose the grades without a word; a set has no order
    for its grades to follow.

    Raises:
        InputError: they are not, or an id holds half a surrogate pair, which no file can.
    """
    given = {"predictions": predictions, "references": references}
    for name, queries in given.items():
        require_list(name, queries, "give predictions and references, each a list of lists of ids, one a query")
    if len(predictions) != len(references):
        what = f"{len(predictions)} rankings for {len(references)} lists of references"
        raise InputError("predictions", what, "give one a query")
    for name, queries in given.items():
        for i, row in enumerate(queries):
            require_strings(f"{name} of query {i}", row, 'write ["2019-scc-65"], grades apart')


def _choose(k: int | None, measures: Measures | None, family: str | None) -> list[Measure]:
    """The measures that `score_lists` is asked for."""
    if family is not None and (not isinstance(family, str) or family not in DEFAULTS):
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


def _judgements(
    references: Sequence[Sequence[str]], grades: Sequence[Sequence[int]] | None
) -> dict[str, dict[str, int]]:
    """Judgements of every query out of lists of ids and lists of grades, keyed by the query's place."""
    if grades is None:
        return {str(i): dict.fromkeys(row, 1) for i, row in enumerate(references)}
    fix = "give a list a query, with one whole number a reference"
    require_list("grades", grades, fix)
    if len(grades) != len(references):
        raise InputError("grades", f"{len(grades)} lists for {len(references)} of references", fix)
    qrels: dict[str, dict[str, int]] = {}
    for i, (ids, levels) in enumerate(zip(references, grades, strict=True)):
        require_list(f"grades of query {i}", levels, fix)
        if len(levels) != len(ids):
            raise InputError(f"grades of query {i}", f"{len(levels)} for {len(ids)} references", fix)
        judged = qrels[str(i)] = {}
        for doc, grade in zip(ids, levels, strict=True):
            if judged.setdefault(doc, grade) != grade:
                raise InputError(f"references of query {i}", f"{doc!r} has two grades", "keep one")
    return qrels
