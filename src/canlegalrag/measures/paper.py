"""The paper's family: what the published code of CanLegalRAGBench computes, to compare with its tables.

k cuts *passages*, in the order of the list; repeats of a document are dropped afterwards or not at all, and
grades above 0 all count alike. Source of every formula: `evaluate_retrieval/benchmark_rag/evaluation/metrics.py`
of NLP-UBC/CanLegalRAGBench (arXiv 2605.30497). Two outcomes are ours: a query that the run lacks scores 0 (that
code leaves failed queries out), and a query without relevant documents is undefined and skipped (that code never
gets to score one, its runner leaves them out).
"""

import math

import numpy as np

from canlegalrag.measures.coding import Listed
from canlegalrag.measures.names import FloatArray, define
from canlegalrag.measures.rankings import IntArray

__all__ = ["paper_doc_recall", "paper_hit", "paper_mrr", "paper_ndcg", "paper_precision", "paper_recall"]


@define("paper_ndcg", "paper", "needed")
def paper_ndcg(run: Listed, k: int | None) -> FloatArray:
    """Discounted gain of the documents in the first k passages over that of as many relevant ones.

    Formula: Σ 1 / log2(u + 1) over the relevant among the distinct documents of the first k passages, u being
    their place among the distinct, divided by the same sum for the places 1 to min(distinct, relevant).
    Range: 0 to 1; undefined without relevant documents.
    Parts from ndcg@k: the ideal shrinks with the number of distinct documents, so that many passages of one
    relevant document score 1.0.

    >>> from canlegalrag.measures.lists import score_lists
    >>> score_lists([["a", "a", "a"]], [["a", "b", "c"]], measures="paper_ndcg@3 ndcg@3")["paper_ndcg@3"]
    1.0
    """
    counts = (run.place <= _cut(k)) & run.first & run.gold
    distinct = _distinct(run, k)
    # Python's log2 and sums in order of rank: the last bit is that of the published code.
    discount = np.array([1.0 / math.log2(u + 1) for u in range(1, int(distinct.max(initial=0)) + 1)])
    sums = np.bincount(run.query[counts], weights=discount[run.unique[counts] - 1], minlength=len(run.relevant))
    ideal = np.concatenate(([0.0], np.cumsum(discount)))[np.minimum(distinct, run.relevant)]
    found = np.divide(sums, ideal, out=np.zeros(len(ideal)), where=ideal > 0)
    return _where_relevant(run, found)


@define("paper_recall", "paper", "needed")
def paper_recall(run: Listed, k: int | None) -> FloatArray:
    """Passages of relevant documents among the first k passages, over the relevant documents.

    Formula: relevant passages at places 1 to k / relevant documents.
    Range: 0 to k / relevant documents, so it can exceed 1; undefined without relevant documents.
    Parts from recall@k: a document found five times counts five times.

    >>> from canlegalrag.measures.lists import score_lists
    >>> score_lists([["a", "a", "a"]], [["a", "b"]], measures="paper_recall@3")["paper_recall@3"]
    1.5
    """
    counts = (run.place <= _cut(k)) & run.gold
    return _over_relevant(run, np.bincount(run.query[counts], minlength=len(run.relevant)))


@define("paper_doc_recall", "paper", "needed", known_as=("doc_recall",))
def paper_doc_recall(run: Listed, k: int | None) -> FloatArray:
    """Share of the relevant documents that have a passage among the first k passages.

    Formula: distinct relevant documents at places 1 to k / relevant documents.
    Range: 0 to 1; undefined without relevant documents.
    Parts from recall@k: k counts passages, so repeats push other documents out.

    >>> from canlegalrag.measures.lists import score_lists
    >>> score_lists([["a", "a", "b"]], [["a", "b"]], measures="paper_doc_recall@2")["paper_doc_recall@2"]
    0.5
    """
    return _over_relevant(run, _found(run, k))


@define("paper_precision", "paper", "needed")
def paper_precision(run: Listed, k: int | None) -> FloatArray:
    """Share of the distinct documents among the first k passages that are relevant.

    Formula: distinct relevant documents at places 1 to k / distinct documents there; 0 for an empty list.
    Range: 0 to 1; undefined without relevant documents.
    Parts from precision@k: the divisor is what was found, not k.

    >>> from canlegalrag.measures.lists import score_lists
    >>> score_lists([["a", "a", "x"]], [["a", "b"]], measures="paper_precision@3")["paper_precision@3"]
    0.5
    """
    return _where_relevant(run, _found(run, k) / np.maximum(_distinct(run, k), 1))


@define("paper_hit", "paper", "needed")
def paper_hit(run: Listed, k: int | None) -> FloatArray:
    """Whether one of the first k passages is of a relevant document.

    Formula: 1 if so, else 0.
    Range: 0 or 1; undefined without relevant documents.
    Parts from hit@k: k counts passages.

    >>> from canlegalrag.measures.lists import score_lists
    >>> score_lists([["x", "x", "a"]], [["a"]], measures="paper_hit@2 hit@2")
    {'paper_hit@2': 0.0, 'hit@2': 1.0, 'n': 1, 'skipped': 0}
    """
    return _where_relevant(run, (_found(run, k) > 0).astype(np.float64))


@define("paper_mrr", "paper", "none")
def paper_mrr(run: Listed, k: int | None = None) -> FloatArray:
    """Reciprocal of the place of the first relevant document among the distinct documents of the whole list.

    Formula: 1 / place, 0 if there is none.
    Range: 0 to 1; undefined without relevant documents.
    Parts from mrr: the order is that of the list, whatever the scores; no k.

    >>> from canlegalrag.measures.lists import score_lists
    >>> score_lists([["x", "x", "a"]], [["a"]], measures="paper_mrr")["paper_mrr"]
    0.5
    """
    best = np.zeros(len(run.relevant))
    np.maximum.at(best, run.query[run.gold], 1.0 / run.unique[run.gold])
    return _where_relevant(run, best)


def _cut(k: int | None) -> int:
    """k, which the names of these measures always have."""
    assert k is not None
    return k


def _found(run: Listed, k: int | None) -> IntArray:
    """Distinct relevant documents among the first k passages of each query (queries,)."""
    return np.bincount(run.query[(run.place <= _cut(k)) & run.first & run.gold], minlength=len(run.relevant))


def _distinct(run: Listed, k: int | None) -> IntArray:
    """Distinct documents among the first k passages of each query (queries,)."""
    return np.bincount(run.query[(run.place <= _cut(k)) & run.first], minlength=len(run.relevant))


def _over_relevant(run: Listed, counts: IntArray) -> FloatArray:
    """Counts over the relevant documents (queries,), NaN without any."""
    share: FloatArray = np.full(len(counts), np.nan)
    np.divide(counts, run.relevant, out=share, where=run.relevant > 0)
    return share


def _where_relevant(run: Listed, values: FloatArray) -> FloatArray:
    """The values (queries,), NaN for queries without relevant documents."""
    known = values.copy()
    known[run.relevant == 0] = np.nan
    return known
