"""The nouns of a search as people see it: what was found, and why."""

from collections.abc import Mapping
from dataclasses import dataclass

from canlegalrag.types import Document, Hit, Passage, Query

__all__ = ["Excerpt", "Found", "Seen"]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The stretch of a document that says most of a query's words."""

    start: int
    """First character."""
    end: int
    """One past the last character."""
    text: str
    """`document.text[start:end]`, always."""
    marks: tuple[tuple[int, int], ...]
    """Where in `text` words of the query stand: first character and one past the last, in order, never overlapping."""
    paragraphs: tuple[int, ...] = ()
    """Numbers of the first and the last paragraph that it touches, where the document numbers them as `[n]`."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One decision of a ranking."""

    rank: int
    """From 1; a decision counts once, by its best passage."""
    document: Document
    """In full."""
    score: float
    """The retriever's; comparable within one search only."""
    passage: Passage
    """Its best passage; of a document that was ranked as a whole, its excerpt."""
    passages: tuple[Passage, ...]
    """All of its passages that were retrieved, best first; empty where it was ranked as a whole."""
    matched: tuple[str, ...]
    """Tokens of the query in what was ranked, those that the fewest documents hold first."""
    excerpt: Excerpt
    """The part of its best passage to show."""
    gold: bool | None
    """Whether the benchmark calls it relevant; None for a query that isn't the benchmark's."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found."""

    query: Query
    """What was searched for; as `Query.asked` says it."""
    retriever: str
    """Name of the recipe."""
    k: int
    """How many decisions are shown at most."""
    hits: tuple[Seen, ...]
    """The best decisions, best first."""
    ranking: tuple[Hit, ...]
    """The whole ranking as the retriever gave it, `DEPTH` deep: what is scored, and what answers read."""
    gold: Mapping[str, int | None] | None
    """Gold document -> its rank, None where it isn't in the ranking; None for a query that isn't the benchmark's."""
    scores: Mapping[str, float | None] | None
    """Measure -> value of this query over the whole ranking, None where undefined; None for one's own query."""
    seconds: float
    """That the retriever took."""
    notes: tuple[str, ...] = ()
    """What a reader must know: nothing was found, the text was cut."""

    @property
    def ranks(self) -> dict[str, int]:
        """Document -> its rank in the whole ranking, from 1, by its best passage."""
        return {doc: n for n, doc in enumerate(dict.fromkeys(hit.doc_id for hit in self.ranking), 1)}
