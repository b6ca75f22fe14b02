"""The verbs: what retrievers and models must be able to do. Structural: nothing here is ever inherited from."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from canlegalrag.types import Claim, Completion, Failure, Hit, Prompt, Task, Verdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Decomposer", "Embedder", "Generator", "Judge", "Kind", "Model", "Reranker", "Retriever", "Sorter"]

Kind: TypeAlias = Literal["query", "document"]
"""What a text is embedded as: models have a prompt for each."""


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


@runtime_checkable
class Model(Protocol):
    """What every model says of itself."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What its output depends on, as JSON: `model` (`provider/model`), revision, prompts, dimensions, window,
        dtype, and the versions that matter. Indexes and caches are named by it; runs record it.
        """
        ...

    @property
    def counts(self) -> Mapping[str, int]:
        """What it did so far: `texts`, `truncated` (longer than the window, so that their end went unread), and
        `tokens` where they are known.
        """
        ...


@runtime_checkable
class Embedder(Model, Protocol):
    """Turns texts into vectors."""

    def embed(self, texts: Sequence[str], *, kind: Kind) -> "NDArray[np.float32]":
        """Embed texts.

        Returns:
            (texts, dimensions) float32, in the order of the texts, each row of length 1; a text that has no content
            for the model is a row of zeros.
        """
        ...


@runtime_checkable
class Reranker(Model, Protocol):
    """Reads a query and texts together."""

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Score each text for the query: one finite number a text, higher is better."""
        ...


@runtime_checkable
class Generator(Model, Protocol):
    """Writes texts."""

    def generate(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Answer each prompt at temperature 0, in the order of the prompts."""
        ...


@runtime_checkable
class Decomposer(Model, Protocol):
    """Takes texts apart into atomic claims."""

    def decompose(self, texts: Sequence[tuple[str, str, str]]) -> "list[list[Claim] | str]":
        """Take each text apart.

        Args:
            texts: query id, side (`answer` or `reference`), text.

        Returns:
            One entry a text, in order: its claims (none for a text that states nothing), or, where it couldn't be
            taken apart, a string that says why.
        """
        ...


@runtime_checkable
class Judge(Model, Protocol):
    """Says whether evidence entails claims."""

    def judge(self, tasks: Sequence[Task]) -> list[list[Verdict]]:
        """Judge each task: one verdict a claim, in the order of its claims, `label` None where the judge failed."""
        ...


@runtime_checkable
class Sorter(Model, Protocol):
    """Says why claims fail."""

    def sort(self, failures: Sequence[Failure]) -> list[tuple[str, str]]:
        """Sort each failure: a key of `measures.categories.CATEGORIES`, or "" where it couldn't be sorted, and the
        reason.
        """
        ...
