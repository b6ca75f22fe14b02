"""Exact search over vectors: a blocked matrix product finds the few passages that matter, which are then scored anew.

The product runs in float32, whose last digits depend on how many queries are asked at once. So it only chooses: every
passage within its error bound of a query's k-th best document is a candidate. Candidates are scored in float64, one by
one and in one order of summation, and rounded to float32, so that a query gives the same list alone and in a batch.
"""

import numpy as np
import numpy.typing as npt

from canlegalrag.retrievers._passages import Array, Top, ranked

__all__ = ["margin", "rescore", "search"]

Ints = npt.NDArray[np.int64]

_BLOCK = 8192  # passages a product at least: each waits for all cores, so that short ones cost on a busy machine
_WIDE = 8  # times as many at most; float16 stays at one, as it is converted block by block
_PRODUCT = 1 << 19  # scores that a product of few queries may have
_FIRST = 1 << 24  # scores of the first product at most, which is to hold twice k documents
_QUERIES = 1024  # queries a product
_HELD = 1 << 24  # candidates that may be held at once, about


def search(vectors: Array, blank: Ints, firsts: Ints, queries: Array, k: int) -> list[Top]:
    """Rank passages for each query, as `protocols.Retriever` says, ties in corpus order.

    Args:
        vectors: (passages, dimensions) float32 or float16, of length 1.
        blank: positions of passages without content, rising; they never match.
        firsts: (documents + 1,) the first passage of each document.
        queries: (queries, dimensions) float32, of length 1; one of zeros finds nothing.
        k: passages and documents to find.
    """
    if not len(queries):
        return []
    n = len(vectors)
    documents = int(np.count_nonzero(np.diff(firsts)))
    each = n if k >= documents else min(n, 8 * k * -(-n // documents))
    most = max(1, min(_QUERIES, _HELD // max(1, each)))
    step = -(-len(queries) // -(-len(queries) // most))  # batches of like size: each reads all vectors
    batches = [queries[first : first + step] for first in range(0, len(queries), step)][::-1]
    tops = []
    while batches:
        some = batches.pop()
        found = _candidates(vectors, blank, firsts, some, k)
        if found is None:  # most passages are as good as the k-th: take fewer queries at once
            batches += [some[len(some) // 2 :], some[: len(some) // 2]]
            continue
        units, ends = found
        for query, start, end in zip(some, np.append(0, ends[:-1]), ends, strict=True):
            mine = units[start:end]
            tops.append(ranked(mine, rescore(vectors, mine, query), firsts, k))
    return tops


def margin(dimensions: int) -> float:
    """How far two float32 inner products of unit vectors may be from their order in exact arithmetic.

    Each is within n u / (1 - n u) of the exact product, where u = 2^-24 (Higham, Accuracy and Stability of Numerical
    Algorithms, section 3.1), and a rounded score within u; a hundredth is added for lengths that aren't quite 1.
    """
    u = 2.0**-24
    return 1.01 * 2 * (dimensions * u / (1 - dimensions * u) + 2 * u)


def rescore(vectors: Array, units: Ints, query: Array) -> Array:
    """(units,) float32 inner products, each the same whatever else is asked for."""
    scores = np.empty(len(units), dtype=np.float32)
    wide = query.astype(np.float64)
    for first in range(0, len(units), 2048):
        rows = vectors[units[first : first + 2048]].astype(np.float64)
        scores[first : first + 2048] = np.multiply(rows, wide, out=rows).sum(axis=1)  # not BLAS: it sums by blocks
    return scores


def _candidates(vectors: Array, blank: Ints, firsts: Ints, queries: Array, k: int) -> tuple[Ints, Ints] | None:
    """Passages that may be among the best of each query, rising within one, and where each query's end.

    None where there are too many to hold for more than one query.
    """
    pool = _Pool(firsts, queries, k, margin(vectors.shape[1]))
    columns = np.ascontiguousarray(queries.T)
    n = len(vectors)
    most = _BLOCK * (_WIDE if vectors.dtype == np.float32 else 1)
    block = min(most, max(_BLOCK, _PRODUCT // len(queries)))
    first = min(n, max(block, min(most, _FIRST // len(queries), int(firsts[min(2 * k, len(firsts) - 1)]))))
    scores = np.empty((first, len(queries)), dtype=np.float32)
    start, end = 0, first
    while start < n:
        part = scores[: end - start]
        np.matmul(vectors[start:end].astype(np.float32, copy=False), columns, out=part)
        empty = blank[slice(*np.searchsorted(blank, (start, end)))]
        part[empty - start] = -np.inf
        if start == 0:
            pool.begin(part)
        pool.add(start, part)
        if len(pool.units) > 2 * _HELD and len(queries) > 1:
            return None
        start, end = end, min(n, end + block)
    pool.prune()
    return pool.units, np.searchsorted(pool.queries, np.arange(len(queries)), "right")


class _Pool:
    """Candidates of a batch of queries: what lies above each query's floor, which rises as better documents come."""

    def __init__(self, firsts: Ints, queries: Array, k: int, margin: float) -> None:
        self.k, self.margin = k, margin
        self.documents = np.repeat(np.arange(len(firsts) - 1, dtype=np.int32), np.diff(firsts))
        self.floors = np.where(queries.any(axis=1), -np.inf, np.inf).astype(np.float32)
        self.queries = np.zeros(0, dtype=np.uint16)
        self.units = np.zeros(0, dtype=np.int64)
        self.scores = np.zeros(0, dtype=np.float32)
        self._parts: list[tuple[Array, Array, Array]] = []
        self._new = 0

    def begin(self, scores: Array) -> None:
        """Set the floors by the first passages, so that not all of them become candidates."""
        documents = self.documents[: len(scores)]
        heads = np.append(0, np.flatnonzero(documents[1:] != documents[:-1]) + 1)
        if len(heads) >= self.k:
            best = np.maximum.reduceat(scores, heads, axis=0)
            place = len(heads) - self.k
            best.partition(place, axis=0)
            np.maximum(self.floors, best[place] - np.float32(self.margin), out=self.floors)

    def add(self, start: int, scores: Array) -> None:
        """Take what is above the floors out of (passages, queries) scores of the passages from `start`."""
        at = np.flatnonzero(scores > self.floors)
        rows, queries = np.divmod(at, scores.shape[1])
        self._parts.append((queries.astype(np.uint16), rows + start, scores.ravel()[at]))
        self._new += len(at)
        if self._new > len(self.units):  # so that pruning costs no more than adding did
            self.prune()

    def prune(self) -> None:
        """Raise each floor to the k-th best document, and drop what is below."""
        parts = zip((self.queries, self.units, self.scores), *self._parts, strict=True)
        queries, units, scores = map(np.concatenate, parts)
        self._parts, self._new = [], 0
        order = np.argsort(queries, kind="stable")  # passages keep rising within a query
        queries, units, scores = queries[order], units[order], scores[order]
        if len(units):
            documents = self.documents[units]
            new = (queries[1:] != queries[:-1]) | (documents[1:] != documents[:-1])
            heads = np.append(0, np.flatnonzero(new) + 1)
            best = np.maximum.reduceat(scores, heads)
            # Scores lie between -2 and 2, so one sort puts them in order within each query.
            keys = np.sort(queries[heads] * 4.0 - best)
            asked = np.arange(len(self.floors))
            ends = np.searchsorted(queries[heads], asked, "right")
            last = np.append(0, ends[:-1]) + self.k - 1
            full = np.flatnonzero(last < ends)
            self.floors[full] = full * 4.0 - keys[last[full]] - self.margin
            kept = scores > self.floors[queries]
            queries, units, scores = queries[kept], units[kept], scores[kept]
        self.queries, self.units, self.scores = queries, units, scores
