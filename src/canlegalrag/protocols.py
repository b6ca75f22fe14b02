"""The verbs: what a retriever must be able to do. Structural: nothing here is ever inherited from."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from canlegalrag.types import Hit

__all__ = ["Retriever"]


@runtime_checkable
class Retriever(Protocol):
    """Finds documents for queries; retrievers may hold retrievers."""

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank the corpus for each query, best first, scores falling.

        A retriever of whole documents gives the k best. A retriever of passages gives the k best passages
        (the list that the paper counts) and, below them, the best passage of each further document until k
        documents are there (the list that the standard measures count). Fewer come back only where no more
        match.

        Args:
            queries: one text a query.
            k: depth, at least 1.

        Returns:
            One list of hits a query, in the order of the queries.
        """
        ...
