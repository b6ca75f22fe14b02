"""What retrievers share: checks of what is given, rankings with their two lists, hits with their text."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canlegalrag.errors import InputError
from canlegalrag.plain import id_fault
from canlegalrag.types import Document, Hit, Passage

__all__ = [
    "Array",
    "Spans",
    "Texts",
    "Top",
    "check_document",
    "check_search",
    "check_spans",
    "cut",
    "documents_of",
    "passage_hits",
    "ranked",
    "text_of",
]

Array = npt.NDArray[Any]
Spans = Callable[[Document], Sequence[tuple[int, int]]]
"""Where to cut a document: first character, and one past the last, of each passage."""
Texts = Callable[[Document], Sequence[str]]
"""What to read for each passage in place of its stretch of the document."""

_DEEPEST = 1 << 31  # deeper than any corpus, and far from where sums with it leave 64 bits


class Top(NamedTuple):
    """A ranking as arrays."""

    units: npt.NDArray[np.int64]
    """Positions of documents, or of passages in corpus order, best first."""
    scores: Array
    """Their scores."""


def check_search(queries: Sequence[str], k: int) -> int:
    """Refuse what can't be searched for; gives k as a plain integer, not above what a corpus can hold.

    Raises:
        InputError: `queries` is one text, or `k` is below 1.
    """
    if isinstance(queries, str):
        raise InputError("queries", "is one text", "give a list of texts: [query]")
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError("k", f"{k!r} is not a depth", "a whole number, at least 1")
    return min(int(k), _DEEPEST)


def check_document(document: Document, known: Mapping[str, int]) -> None:
    """Refuse what can't be indexed after the documents already known.

    Raises:
        InputError: it is no document, its id is bad or known, or its text is no text.
    """
    where = f"document {len(known) + 1}"
    if not isinstance(document, Document):
        raise InputError(where, f"is {type(document).__name__}", "give Document objects")
    name = document.id
    fault = id_fault(name) if isinstance(name, str) else "is not a string"
    if fault:
        raise InputError(where, f"id {name!r} {fault}", "give each its own id")
    if name in known:
        raise InputError(repr(name), "is the id of two documents", "give each its own id")
    if not isinstance(document.text, str):
        raise InputError(repr(name), f"text is {type(document.text).__name__}", "give a string")


def check_spans(document: Document, spans: Sequence[tuple[int, int]], texts: Sequence[str] | None) -> None:
    """Refuse passages outside their document, and texts that aren't one a passage.

    Raises:
        InputError: it is so.
    """
    if texts is not None and len(texts) != len(spans):
        raise InputError(repr(document.id), f"has {len(spans)} passages but {len(texts)} texts for them")
    length = len(document.text)
    for start, end in spans:
        if not 0 <= start <= end <= length:
            raise InputError(repr(document.id), f"passage {start}:{end} is outside its {length} characters")


def documents_of(units: Array, firsts: Array) -> npt.NDArray[np.int64]:
    """(units,) the document of each passage."""
    return np.searchsorted(firsts, units, "right") - 1


def ranked(units: npt.NDArray[np.int64], scores: Array, firsts: Array, k: int) -> Top:
    """The k best passages and, below them, the best of each further document until k documents; ties in corpus order.

    Args:
        units: passages, rising; all that can be among these.
        scores: their scores.
        firsts: (documents + 1,) the first passage of each document.
        k: depth.
    """
    order = np.argsort(-scores, kind="stable")
    heads = np.sort(np.unique(documents_of(units[order], firsts), return_index=True)[1])[:k]
    order = np.append(order[:k], order[heads[heads >= k]])
    return Top(units[order], scores[order])


def cut(hits: Iterable[Hit], k: int) -> list[Hit]:
    """The k best of ranked hits and, below them, the best of each further document until k documents.

    >>> [hit.doc_id for hit in cut([Hit("a", 3.0), Hit("a", 2.0), Hit("a", 1.5), Hit("b", 1.0), Hit("c", 0.5)], 2)]
    ['a', 'a', 'b']
    """
    kept: list[Hit] = []
    seen: set[str] = set()
    for hit in hits:
        if len(kept) < k or hit.doc_id not in seen:
            if len(kept) >= k and len(seen) == k:
                break
            kept.append(hit)
            seen.add(hit.doc_id)
    return kept


def passage_hits(
    top: Top, ids: Sequence[str], sizes: Array, firsts: Array, spans: Array, documents: Mapping[str, Document] | None
) -> list[Hit]:
    """Hits of passages, with their text where the documents are at hand.

    Raises:
        InputError: the documents are not the ones that were indexed.
    """
    docs = documents_of(top.units, firsts)
    indexes = (top.units - firsts[docs]).tolist()
    hits = []
    for doc, index, (start, end), score in zip(
        docs.tolist(), indexes, spans[top.units].tolist(), top.scores.tolist(), strict=True
    ):
        text = None
        if documents is not None:
            document = documents.get(ids[doc])
            if document is None or len(document.text) != sizes[doc]:
                what = "is missing from" if document is None else "has another length in"
                raise InputError(repr(ids[doc]), f"{what} the attached documents", "attach those that were indexed")
            text = document.text[start:end]
        hits.append(Hit(ids[doc], score, Passage(ids[doc], index, start, end, text)))
    return hits


def text_of(hit: Hit, documents: Mapping[str, Document]) -> str:
    """The text of what was found: of the passage, or of the whole document where no passage was ranked.

    Raises:
        InputError: the documents lack it.
    """
    passage = hit.passage
    if passage is not None and passage.text is not None:
        return passage.text
    document = documents.get(hit.doc_id)
    if document is None:
        raise InputError(repr(hit.doc_id), "was found but is not among the documents", "give those that were indexed")
    if passage is None:
        return document.text
    if passage.end > len(document.text):
        what = f"passage ends at {passage.end}, but the document has {len(document.text)} characters"
        raise InputError(repr(hit.doc_id), what, "give the documents that were indexed")
    return document.text[passage.start : passage.end]
