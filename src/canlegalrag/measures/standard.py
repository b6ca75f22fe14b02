"""The standard family: measures of documents, equal to trec_eval's.

Passages are collapsed to documents first, then k cuts. A query without relevant documents has nothing to be
found: every measure but judged@k is undefined for it (NaN; trec_eval writes 0). A query that the run lacks
scores 0.
"""

import numpy as np

from canlegalrag.errors import InputError
from canlegalrag.measures.coding import Ranked
from canlegalrag.measures.names import FloatArray, define
from canlegalrag.measures.rankings import IntArray

__all__ = ["average_precision", "bpref", "hit", "judged", "mrr", "ndcg", "precision", "r_precision", "recall"]


@define("ndcg", "standard", "allowed", known_as=("ndcg_cut", "n_dcg"))
def ndcg(run: Ranked, k: int | None) -> FloatArray:
    """Discounted gain of the ranking over that of the best ranking possible.

    Formula: Σ grade / log2(rank + 1) over ranks 1 to k, divided by the same sum for the min(k, relevant)
    highest grades; the gain is the grade itself, 0 where it is negative (in the pool, not judged) or there is none.
    Without k, over the whole ranking and all relevant documents.
    Range: 0 to 1; undefined without relevant documents.
    Source: Järvelin and Kekäläinen 2002, as trec_eval's `ndcg_cut_k` and `ndcg`.

    >>> from canlegalrag.measures.retrieval import per_query
    >>> per_query({"q": {"a": 1}}, {"q": {"x": 2.0, "a": 1.0}}, ["ndcg@10"])["ndcg@10"]["q"]  # 1 / log2(3)
    0.6309297535714575
    """
    counts = (run.grade > 0) & _within(run.rank, k)
    ideal_rank = _places(run.ideal_query, len(run.length))
    best = _within(ideal_rank, k)
    gain = _sums(run.query[counts], run.grade[counts] / np.log2(run.rank[counts] + 1.0), run)
    ideal = _sums(run.ideal_query[best], run.ideal_grade[best] / np.log2(ideal_rank[best] + 1.0), run)
    return _divide(gain, ideal)


@define("recall", "standard", "needed")
def recall(run: Ranked, k: int | None) -> FloatArray:
    """Share of the relevant documents that are among the first k.

    Formula: relevant documents at ranks 1 to k / relevant documents.
    Range: 0 to 1; undefined without relevant documents.
    Source: trec_eval's `recall_k`.

    >>> from canlegalrag.measures.retrieval import per_query
    >>> per_query({"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "x": 1.0}}, ["recall@2"])["recall@2"]["q"]
    0.5
    """
    return _divide(_hits(run, k), run.relevant)


@define("precision", "standard", "needed", known_as=("p", "prec"))
def precision(run: Ranked, k: int | None) -> FloatArray:
    """Share of the first k places that hold a relevant document.

    Formula: relevant documents at ranks 1 to k / k, however short the ranking is.
    Range: 0 to 1; undefined without relevant documents.
    Source: trec_eval's `P_k`.

    >>> from canlegalrag.measures.retrieval import per_query
    >>> per_query({"q": {"a": 1}}, {"q": {"a": 2.0}}, ["precision@10"])["precision@10"]["q"]
    0.1
    """
    return _where_relevant(run, _hits(run, k) / float(k or 1))


@define("hit", "standard", "needed", known_as=("success", "hit_rate", "hits"))
def hit(run: Ranked, k: int | None) -> FloatArray:
    """Whether a relevant document is among the first k.

    Formula: 1 if any of the ranks 1 to k holds a relevant document, else 0.
    Range: 0 or 1; undefined without relevant documents.
    Source: trec_eval's `success_k`.

    >>> from canlegalrag.measures.retrieval import per_query
    >>> per_query({"q": {"a": 1}}, {"q": {"x": 2.0, "a": 1.0}}, ["hit@1"])["hit@1"]["q"]
    0.0
    """
    return _where_relevant(run, (_hits(run, k) > 0).astype(np.float64))


@define("mrr", "standard", "allowed", known_as=("recip_rank", "rr", "reciprocal_rank"))
def mrr(run: Ranked, k: int | None) -> FloatArray:
    """Reciprocal of the rank of the first relevant document.

    Formula: 1 / rank of the first relevant document, 0 if there is none; with k, 0 if that rank is beyond k.
    Range: 0 to 1; undefined without relevant documents.
    Source: Voorhees 1999; trec_eval's `recip_rank` (which has no k).

    >>> from canlegalrag.measures.retrieval import per_query
    >>> per_query({"q": {"a": 1}}, {"q": {"x": 2.0, "a": 1.0}}, ["mrr"])["mrr"]["q"]
    0.5
    """
    counts = (run.grade > 0) & _within(run.rank, k)
    best = np.zeros(len(run.length))
    np.maximum.at(best, run.query[counts], 1.0 / run.rank[counts])
    return _where_relevant(run, best)


@define("map", "standard", "allowed", known_as=("ap", "map_cut", "average_precision"))
def average_precision(run: Ranked, k: int | None) -> FloatArray:
    """Mean of the precision at each relevant document, one not retrieved counting 0.

    Formula: Σ (relevant documents down to rank) / rank over the ranks 1 to k that hold a relevant document,
    divided by all relevant documents (also with k). Its mean over queries is MAP.
    Range: 0 to 1; undefined without relevant documents.
    Source: trec_eval's `map` and `map_cut_k`.

    >>> from canlegalrag.measures.retrieval import per_query
    >>> per_query({"q": {"a": 1, "b": 1}}, {"q": {"x": 2.0, "a": 1.0}}, ["map"])["map"]["q"]  # (1/2 + 0) / 2
    0.25
    """
    counts = (run.grade > 0) & _within(run.rank, k)
    query = run.query[counts]
    return _divide(_sums(query, _places(query, len(run.length)) / run.rank[counts], run), run.relevant)


@define("rprec", "standard", "none", known_as=("r_prec", "r_precision"))
def r_precision(run: Ranked, k: int | None = None) -> FloatArray:
    """Precision at R, where R is how many documents are relevant.

    Formula: relevant documents at ranks 1 to R / R.
    Range: 0 to 1; undefined without relevant documents.
    Source: trec_eval's `Rprec`.

    >>> from canlegalrag.measures.retrieval import per_query
    >>> per_query({"q": {"a": 1, "b": 1}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}, ["rprec"])["rprec"]["q"]
    0.5
    """
    counts = (run.grade > 0) & (run.rank <= run.relevant[run.query])
    return _divide(np.bincount(run.query[counts], minlength=len(run.length)), run.relevant)


@define("judged", "standard", "needed")
def judged(run: Ranked, k: int | None) -> FloatArray:
    """Share of the first k documents that somebody judged: how far the other numbers can be trusted.

    Formula: documents with a grade of 0 or more at ranks 1 to k / min(k, documents retrieved).
    Range: 0 to 1; defined for every query, 0 where nothing was retrieved.
    Source: ir_measures' `Judged@k`, which leaves queries without a ranking out.

    >>> from canlegalrag.measures.retrieval import per_query
    >>> per_query({"q": {"a": 1, "b": 0}}, {"q": {"x": 2.0, "b": 1.0}}, ["judged@10"])["judged@10"]["q"]
    0.5
    """
    counts = (run.grade >= 0) & _within(run.rank, k)
    seen = np.bincount(run.query[counts], minlength=len(run.length))
    shown = run.length if k is None else np.minimum(run.length, k)
    return seen / np.maximum(shown, 1)


@define("bpref", "standard", "none")
def bpref(run: Ranked, k: int | None = None) -> FloatArray:
    """How often relevant documents stand above documents judged irrelevant; unjudged ones don't count.

    Formula: 1/R Σ over retrieved relevant documents of 1 - min(irrelevant above it, R) / min(irrelevant, R),
    where irrelevant means a grade of 0 and R is how many documents are relevant.
    Range: 0 to 1; undefined without relevant documents.
    Source: Buckley and Voorhees 2004, as trec_eval's `bpref`.

    Raises:
        InputError: no document of the qrels was judged irrelevant: the measure would be mere recall.

    >>> from canlegalrag.measures.retrieval import per_query
    >>> per_query({"q": {"a": 1, "b": 0}}, {"q": {"x": 3.0, "b": 2.0, "a": 1.0}}, ["bpref"])["bpref"]["q"]
    0.0
    """
    if len(run.irrelevant) and not run.irrelevant.any():
        raise InputError(
            "bpref",
            "the qrels hold no document that was judged irrelevant (grade 0), so nothing can stand below the relevant",
            "use ndcg@10 or recall@10 with judged@10 beside it",
        )
    good = run.grade > 0
    bad_above = np.concatenate(([0], np.cumsum(run.grade == 0)))
    first = np.searchsorted(run.query, np.arange(len(run.length)))
    query = run.query[good]
    above = bad_above[:-1][good] - bad_above[first[query]]
    most = run.relevant[query]
    # Where nothing irrelevant stands above, the quotient is 0 whatever the divisor; 1 keeps it from 0 / 0.
    lost = np.minimum(above, most) / np.maximum(np.minimum(run.irrelevant[query], most), 1)
    return _divide(_sums(query, 1.0 - lost, run), run.relevant)


def _within(rank: IntArray, k: int | None) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which ranks count (n,)."""
    return np.ones(len(rank), dtype=np.bool_) if k is None else rank <= k


def _hits(run: Ranked, k: int | None) -> IntArray:
    """Relevant documents among the first k of each query (queries,)."""
    return np.bincount(run.query[(run.grade > 0) & _within(run.rank, k)], minlength=len(run.length))


def _places(query: IntArray, n: int) -> IntArray:
    """Place of each row among those of its query (rows,), from 1; the rows are in order of query."""
    start = np.searchsorted(query, np.arange(n))
    return np.arange(1, len(query) + 1) - start[query]


def _sums(query: IntArray, weights: FloatArray, run: Ranked) -> FloatArray:
    """Sum of the weights of each query (queries,)."""
    return np.bincount(query, weights=weights, minlength=len(run.length)).astype(np.float64, copy=False)


def _divide(part: FloatArray | IntArray, whole: FloatArray | IntArray) -> FloatArray:
    """Quotient of each query (queries,), NaN where the divisor is 0."""
    quotient: FloatArray = np.full(len(part), np.nan)
    np.divide(part, whole, out=quotient, where=whole > 0)
    return quotient


def _where_relevant(run: Ranked, values: FloatArray) -> FloatArray:
    """The values (queries,), NaN for queries without relevant documents."""
    known = values.copy()
    known[run.relevant == 0] = np.nan
    return known
