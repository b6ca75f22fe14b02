"""Measures of characters: how much of the retrieved text is gold, how much of the gold was retrieved.

A hit is a stretch of a document, and k cuts hits in the order of the list. Two ways of counting, named apart:

- `span_…` merges first: a character counts once, however many hits have it. All shares lie between 0 and 1.
- `reference_span_…` is what the published scorer of LegalBench-RAG computes (Pipitone and Houir Alami, arXiv
  2408.10343; `QAResult` in zeroentropy-ai/legalbenchrag): each hit counts as it is, so that recall can exceed 1.

A query that the run forgot scores 0. A query without gold is undefined and skipped, but for `reference_span_…`, where
it scores 0 as in the published code, whose benchmark has no such query.
"""

import numpy as np

from canlegalrag.measures.names import FloatArray, define
from canlegalrag.measures.rankings import IntArray
from canlegalrag.measures.span_coding import Spanned

__all__ = [
    "chunk_precision",
    "reference_span_f1",
    "reference_span_precision",
    "reference_span_recall",
    "retrieved_characters",
    "snippet_recall",
    "span_f1",
    "span_precision",
    "span_recall",
    "wrong_document_rate",
]


@define("span_precision", "span", "needed", known_as=("character_precision", "char_precision"))
def span_precision(run: Spanned, k: int | None) -> FloatArray:
    """Share of the characters retrieved by the first k hits that are gold, each character counted once.

    Formula: |R ∩ G| / |R|, R the characters of the first k hits, G those of the gold; 0 where nothing was retrieved.
    Range: 0 to 1; undefined without gold.
    Source: LegalBench-RAG (arXiv 2408.10343), with the hits merged first.

    >>> from canlegalrag.measures.spans import per_query
    >>> per_query({"q": [("a", 0, 100)]}, {"q": [("a", 0, 80), ("a", 40, 120)]}, "span_precision@2")
    {'span_precision@2': {'q': 0.8333333333333334}}
    """
    return _where_gold(run, _over(run.upto(run.fresh_gold, _cut(k)), run.upto(run.fresh, _cut(k))))


@define("span_recall", "span", "needed", known_as=("character_recall", "char_recall"))
def span_recall(run: Spanned, k: int | None) -> FloatArray:
    """Share of the gold characters that the first k hits have, each character counted once.

    Formula: |R ∩ G| / |G|, R the characters of the first k hits, G those of the gold.
    Range: 0 to 1; undefined without gold.
    Source: LegalBench-RAG (arXiv 2408.10343), with the hits merged first.

    >>> from canlegalrag.measures.spans import per_query
    >>> per_query({"q": [("a", 0, 100)]}, {"q": [("a", 0, 80), ("a", 0, 80)]}, "span_recall@2")
    {'span_recall@2': {'q': 0.8}}
    """
    return _where_gold(run, _over(run.upto(run.fresh_gold, _cut(k)), run.gold))


@define("span_f1", "span", "needed", known_as=("character_f1", "char_f1"))
def span_f1(run: Spanned, k: int | None) -> FloatArray:
    """Harmonic mean of the query's `span_precision@k` and `span_recall@k`; the mean over queries is taken last.

    Formula: 2 |R ∩ G| / (|R| + |G|), which is 2 P R / (P + R); 0 where nothing was retrieved.
    Range: 0 to 1; undefined without gold.
    Source: van Rijsbergen 1979, chapter 7, on characters.

    >>> from canlegalrag.measures.spans import per_query
    >>> per_query({"q": [("a", 0, 100)]}, {"q": [("a", 50, 150)]}, "span_f1@1")
    {'span_f1@1': {'q': 0.5}}
    """
    both = run.upto(run.fresh, _cut(k)) + run.gold
    return _where_gold(run, _over(2 * run.upto(run.fresh_gold, _cut(k)), both))


@define("reference_span_precision", "span", "needed")
def reference_span_precision(run: Spanned, k: int | None) -> FloatArray:
    """Characters that each of the first k hits shares with the gold, over the sum of the lengths of those hits.

    Formula: Σ |h ∩ g| over hits h and gold spans g / Σ |h|; 0 where nothing was retrieved.
    Range: 0 to 1 where gold spans don't overlap; never undefined.
    Source: the published scorer of LegalBench-RAG (arXiv 2408.10343), see above.
    Parts from span_precision@k: a character that two hits have counts twice, above and below.

    >>> from canlegalrag.measures.spans import per_query
    >>> per_query({"q": [("a", 0, 100)]}, {"q": [("a", 0, 80), ("a", 40, 120)]}, "reference_span_precision@2")
    {'reference_span_precision@2': {'q': 0.875}}
    """
    return _over(run.upto(run.overlaps, _cut(k)), run.upto(run.lengths, _cut(k)))


@define("reference_span_recall", "span", "needed")
def reference_span_recall(run: Spanned, k: int | None) -> FloatArray:
    """Characters that each of the first k hits shares with the gold, over the sum of the lengths of the gold spans.

    Formula: Σ |h ∩ g| over hits h and gold spans g / Σ |g|; 0 without gold.
    Range: 0 to k, so it can exceed 1; never undefined.
    Source: the published scorer of LegalBench-RAG (arXiv 2408.10343), see above.
    Parts from span_recall@k: a character that two hits have counts twice above, once below.

    >>> from canlegalrag.measures.spans import per_query
    >>> per_query({"q": [("a", 0, 100)]}, {"q": [("a", 0, 100), ("a", 0, 100)]}, "reference_span_recall@2")
    {'reference_span_recall@2': {'q': 2.0}}
    """
    return _over(run.upto(run.overlaps, _cut(k)), run.gold_lengths)


@define("reference_span_f1", "span", "needed")
def reference_span_f1(run: Spanned, k: int | None) -> FloatArray:
    """Harmonic mean of the query's `reference_span_precision@k` and `reference_span_recall@k`.

    Formula: 2 P R / (P + R) = 2 Σ |h ∩ g| / (Σ |h| + Σ |g|); 0 where both are 0.
    Range: 0 to 2 k / (k + 1) where gold spans don't overlap, so it can exceed 1; never undefined.
    Source: ours; the published scorer has precision and recall only.

    >>> from canlegalrag.measures.spans import per_query
    >>> per_query({"q": [("a", 0, 100)]}, {"q": [("a", 0, 80), ("a", 40, 120)]}, "reference_span_f1@2")
    {'reference_span_f1@2': {'q': 1.0769230769230769}}
    """
    both = run.upto(run.lengths, _cut(k)) + run.gold_lengths
    return _over(2 * run.upto(run.overlaps, _cut(k)), both)


@define("wrong_document_rate", "span", "needed", known_as=("drm", "document_level_retrieval_mismatch"))
def wrong_document_rate(run: Spanned, k: int | None) -> FloatArray:
    """Share of the first k hits that are from documents without gold.

    Formula: hits at places 1 to k in documents without gold / hits at places 1 to k.
    Range: 0 to 1, lower is better; undefined without gold, and where nothing was retrieved, which is neither right
    nor wrong.
    Source: Document-Level Retrieval Mismatch (arXiv 2510.06999).

    >>> from canlegalrag.measures.spans import per_query
    >>> per_query({"q": [("a", 0, 100)]}, {"q": [("b", 0, 100), ("a", 500, 600)]}, "wrong_document_rate@2")
    {'wrong_document_rate@2': {'q': 0.5}}
    """
    hits = np.minimum(np.diff(run.first), _cut(k))
    return _where_gold(run, _over(run.upto(run.wrong, _cut(k)), hits, empty=np.nan))


@define("retrieved_characters", "span", "needed", known_as=("characters", "chars"))
def retrieved_characters(run: Spanned, k: int | None) -> FloatArray:
    """Characters that the first k hits have, each counted once: what a reader of the k hits reads.

    Formula: |R|, R the characters of the first k hits.
    Range: from 0, a count; never undefined.
    Source: ours, beside recall at equal k, since long hits reach more gold than short ones.

    >>> from canlegalrag.measures.spans import per_query
    >>> per_query({"q": [("a", 0, 100)]}, {"q": [("a", 0, 80), ("a", 40, 120)]}, "retrieved_characters@2")
    {'retrieved_characters@2': {'q': 120.0}}
    """
    return run.upto(run.fresh, _cut(k)).astype(np.float64)


@define("chunk_precision", "span", "needed")
def chunk_precision(run: Spanned, k: int | None) -> FloatArray:
    """Relevant hits among the first k, over k; relevant is a hit that shares a character with the gold.

    Formula: relevant hits at places 1 to k / k; a hit with the same document, start and end as one above it is none.
    Range: 0 to 1; undefined without gold.
    Source: precision@k (van Rijsbergen 1979) with chunks for documents; it depends on how texts were cut.

    >>> from canlegalrag.measures.spans import per_query
    >>> per_query({"q": [("a", 0, 100)]}, {"q": [("a", 90, 190), ("b", 0, 100)]}, "chunk_precision@2")
    {'chunk_precision@2': {'q': 0.5}}
    """
    return _where_gold(run, run.upto(run.relevant, _cut(k)) / _cut(k))


@define("snippet_recall", "span", "needed", known_as=("chunk_recall",))
def snippet_recall(run: Spanned, k: int | None) -> FloatArray:
    """Share of the gold spans that share a character with one of the first k hits.

    Formula: distinct gold spans touched by hits at places 1 to k / distinct gold spans.
    Range: 0 to 1; undefined without gold.
    Source: ours, in place of a recall over all relevant chunks: how many of those there are depends on how all texts
    were cut, which a run doesn't say.

    >>> from canlegalrag.measures.spans import per_query
    >>> per_query({"q": [("a", 0, 9), ("a", 50, 99)]}, {"q": [("a", 5, 15)]}, "snippet_recall@1")
    {'snippet_recall@1': {'q': 0.5}}
    """
    n = len(run.gold)
    touched = np.bincount(run.snippet_query[run.snippet_place <= _cut(k)], minlength=n)
    return _where_gold(run, _over(touched, np.bincount(run.snippet_query, minlength=n)))


def _cut(k: int | None) -> int:
    """k, which the names of these measures always have."""
    assert k is not None
    return k


def _over(part: IntArray, whole: IntArray, empty: float = 0.0) -> FloatArray:
    """Shares (queries,), `empty` where there is no whole."""
    share: FloatArray = np.full(len(whole), empty)
    np.divide(part, whole, out=share, where=whole > 0)
    return share


def _where_gold(run: Spanned, values: FloatArray) -> FloatArray:
    """The values (queries,), NaN for queries without gold."""
    return np.where(run.gold > 0, values, np.nan)
