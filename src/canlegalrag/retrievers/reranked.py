"""Reranking: a model that reads query and passage together puts the candidates of another retriever in order."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from canlegalrag.errors import CallError, InputError
from canlegalrag.protocols import Reranker, Retriever
from canlegalrag.retrievers._passages import check_search, cut, text_of
from canlegalrag.retrievers.fused import Union
from canlegalrag.types import Document, Hit

__all__ = ["Reranked"]


@dataclass(frozen=True, slots=True)
class Reranked:
    """Candidates of a retriever in the order of a reranker's scores; ties in the order of the candidates.

    The pool is the first `pool` times k hits of the inner retriever, or all that a `Union` gives for that depth: so
    many of each of its retrievers, as in the published code of CanLegalRAGBench. What is beyond the pool never comes
    back, so that passages of few documents can leave fewer documents than k; `counts` says how often.
    """

    inner: Retriever
    """Finds the candidates."""
    reranker: Reranker
    """Scores them."""
    documents: Mapping[str, Document]
    """Where their text is read."""
    pool: int = 4
    """How many times k candidates."""
    counts: dict[str, int] = field(default_factory=lambda: {"queries": 0, "short": 0, "missing": 0}, compare=False)
    """`queries` searched, those that got fewer documents than k and the corpus allow (`short`), and how many documents
    these lack together (`missing`)."""

    def __post_init__(self) -> None:
        if type(self.pool) is not int or self.pool < 1:
            raise InputError("pool", f"{self.pool!r} is out of range", "a whole number, at least 1")

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank for each query, as `protocols.Retriever` says, within the pool.

        Raises:
            InputError: `queries` is one text, `k` is below 1, or the documents lack a candidate.
            CallError: the reranker gave no usable scores.
        """
        k = check_search(queries, k)
        most = self.pool * k
        found = self.inner.search(queries, most)
        ranked = []
        for query, hits in zip(queries, found, strict=True):
            pool = hits if isinstance(self.inner, Union) else hits[:most]
            ranked.append(self._one(query, pool, k))
        return ranked

    def _one(self, query: str, pool: list[Hit], k: int) -> list[Hit]:
        scores = self._scores(query, [text_of(hit, self.documents) for hit in pool])
        order = sorted(range(len(pool)), key=lambda n: -scores[n])
        hits = cut((Hit(pool[n].doc_id, scores[n], pool[n].passage) for n in order), k)
        missing = min(k, len(self.documents)) - len({hit.doc_id for hit in hits})
        self.counts["queries"] += 1
        self.counts["short"] += missing > 0
        self.counts["missing"] += max(0, missing)
        return hits

    def _scores(self, query: str, texts: list[str]) -> list[float]:
        if not texts:
            return []
        scores = [float(score) for score in self.reranker.rerank(query, texts)]
        if len(scores) != len(texts) or not all(map(math.isfinite, scores)):
            bad = next((s for s in scores if not math.isfinite(s)), None)
            what = f"gave {len(scores)} scores for {len(texts)} texts" if bad is None else f"gave {bad} as a score"
            raise CallError(str(self.reranker.identity.get("model", "reranker")), what, "one finite number a text")
        return scores
