"""Several retrievers as one: fused by rank, or put together into a pool for a reranker."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from canlegalrag.errors import InputError
from canlegalrag.protocols import Retriever
from canlegalrag.retrievers._passages import check_search, cut
from canlegalrag.types import Hit

__all__ = ["Fused", "Union"]

Key = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Fused:
    """Reciprocal rank fusion: score = sum over the lists of weight / (c + rank), ranks from 1.

    Each retriever is asked for `depth` times k. Passages are fused where all lists of a query hold passages of one
    cut, a further document's passage by its place in the list like any other. Otherwise, where one ranks whole
    documents or two cut differently (a document's n-th passage has other ends), documents are: each list collapses
    to the best hit of each document first, and a document keeps its passage, where lists have one: that from the list
    where it stands highest.
    Ties go to what the first list has first. A score lies between 0 and the sum of the weights / (c + 1).

    Source: Cormack, Clarke and Büttcher, Reciprocal Rank Fusion (SIGIR 2009), c = 60. The published code of
    CanLegalRAGBench counts ranks from 0, so that its 60 is our 59.
    """

    retrievers: Sequence[Retriever]
    """What to fuse; the first one's order breaks ties."""
    c: float = 60
    """How little the first ranks stand out, from 0."""
    weights: Sequence[float] | None = None
    """One above 0 a retriever; None for 1 each."""
    depth: int = 2
    """How many times k each retriever is asked for."""

    def __post_init__(self) -> None:
        _check(self.retrievers, self.depth)
        if not _finite(self.c) or self.c < 0:
            raise InputError("c", f"{self.c!r} is out of range", "a number, at least 0; 60 is usual")
        weights = [1.0] * len(self.retrievers) if self.weights is None else list(self.weights)
        if len(weights) != len(self.retrievers):
            raise InputError("weights", f"{len(weights)} for {len(self.retrievers)} retrievers", "one each")
        if not all(_finite(weight) and weight > 0 for weight in weights):
            raise InputError("weights", f"{weights!r} are not all above 0", "leave a retriever out rather than at 0")

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank for each query, as `protocols.Retriever` says.

        Raises:
            InputError: `queries` is one text, or `k` is below 1.
        """
        k = check_search(queries, k)
        found = [_ask(retriever, queries, self.depth * k) for retriever in self.retrievers]
        return [self._fuse(lists, k) for lists in zip(*found, strict=True)]

    def _fuse(self, lists: Sequence[list[Hit]], k: int) -> list[Hit]:
        if not _one_cut(hit for hits in lists for hit in hits):
            lists = [_collapsed(hits)[: self.depth * k] for hits in lists]
            keyed = [{(hit.doc_id, 0, 0): hit for hit in hits} for hits in lists]
        else:
            keyed = [_keyed(hits) for hits in lists]
        parts: dict[Key, list[float]] = {}
        best: dict[Key, tuple[tuple[bool, int], Hit]] = {}
        for hits, weight in zip(keyed, self.weights or [1.0] * len(keyed), strict=True):
            for rank, (key, hit) in enumerate(hits.items(), 1):
                parts.setdefault(key, []).append(weight / (self.c + rank))
                worth = (hit.passage is None, rank)
                if key not in best or worth < best[key][0]:
                    best[key] = (worth, hit)
        # fsum, as the order of the lists must not decide between scores that are equal
        scores = {key: math.fsum(values) for key, values in parts.items()}
        order = sorted(scores, key=lambda key: -scores[key])
        return cut((replace(best[key][1], score=scores[key]) for key in order), k)


@dataclass(frozen=True, slots=True)
class Union:
    """A pool of what several retrievers find, to be reranked: the first one's list, then what each next one adds.

    It gives the `depth` times k best of every retriever, which can be more than k: `Reranked` takes them all. Places
    say nothing across retrievers, so the score is 1 / place.
    """

    retrievers: Sequence[Retriever]
    """In the order in which their lists are put together."""
    depth: int = 1
    """How many times k each retriever gives."""

    def __post_init__(self) -> None:
        _check(self.retrievers, self.depth)

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """The pool of each query.

        Raises:
            InputError: `queries` is one text, or `k` is below 1.
        """
        most = self.depth * check_search(queries, k)
        found = [_ask(retriever, queries, most) for retriever in self.retrievers]
        pools = [_keyed(hit for hits in lists for hit in hits[:most]) for lists in zip(*found, strict=True)]
        return [[replace(hit, score=1 / n) for n, hit in enumerate(pool.values(), 1)] for pool in pools]


def _check(retrievers: Sequence[Retriever], depth: int) -> None:
    if not retrievers:
        raise InputError("retrievers", "there are none", "give at least one")
    if type(depth) is not int or depth < 1:
        raise InputError("depth", f"{depth!r} is out of range", "a whole number, at least 1")


def _finite(value: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _ask(retriever: Retriever, queries: Sequence[str], k: int) -> list[list[Hit]]:
    found = retriever.search(queries, k)
    if len(found) != len(queries):
        raise InputError(type(retriever).__name__, f"gave {len(found)} lists for {len(queries)} queries", "one a query")
    return found


def _keyed(hits: Iterable[Hit]) -> dict[Key, Hit]:
    """What each hit is, in order and once."""
    keyed: dict[Key, Hit] = {}
    for hit in hits:
        keyed.setdefault((hit.doc_id, hit.passage.start, hit.passage.end) if hit.passage else (hit.doc_id, -1, -1), hit)
    return keyed


def _collapsed(hits: Iterable[Hit]) -> list[Hit]:
    """The best hit of each document."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.doc_id, hit)
    return list(first.values())


def _one_cut(hits: Iterable[Hit]) -> bool:
    """Whether all are passages, and passages of one cut as far as they show it."""
    ends: dict[tuple[str, int], tuple[int, int]] = {}
    for hit in hits:
        if hit.passage is None:
            return False
        span = (hit.passage.start, hit.passage.end)
        if ends.setdefault((hit.doc_id, hit.passage.index), span) != span:
            return False
    return True
