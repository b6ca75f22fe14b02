"""What keeps a run from being scored by characters: hits without offsets, or with some that can't be right."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import TypeAlias

from canlegalrag.types import Document, Hit, Problem, Run
from canlegalrag.wording import many

__all__ = ["Place", "faults", "has_offsets", "in_query"]

Place: TypeAlias = Callable[[str, int, str], str]
"""From a query's id, the place of a hit in its list and the hit's document to how to name it in a message."""

_SHOWN = 5


def in_query(query: str, place: int, _: str) -> str:
    """A `Place` that knows no file.

    >>> in_query("q1", 3, "2019-scc-65")
    "query 'q1': hits[3]"
    """
    return f"query {query!r}: hits[{place}]"


def has_offsets(run: Run) -> bool:
    """Whether any hit says where in its document it is."""
    return any(hit.passage is not None for hits in run.values() for hit in hits)


def faults(run: Run, documents: Mapping[str, Document], place: Place = in_query) -> list[Problem]:
    """Name the hits whose offsets are missing, empty, or beyond the end of their document; many are one problem.

    Args:
        run: the hits that count.
        documents: the corpus; each document is looked up once, in the order of the corpus, as it may lie on disk. A hit
            in a document that it lacks has no fault here: it is in a wrong document.
        place: how to name a hit.
    """
    named = {hit.doc_id for hits in run.values() for hit in hits if hit.passage is not None}
    ends = {id_: len(documents[id_].text) for id_ in documents if id_ in named}
    found = _faults(run, ends, place)
    shown = list(islice(found, _SHOWN))
    more = sum(1 for _ in found)
    return shown + (
        [Problem("run", f"{many(more, 'more hit')} with offsets that can't be used", fatal=False)] if more else []
    )


def _faults(run: Run, ends: Mapping[str, int], place: Place) -> Iterator[Problem]:
    for query, hits in run.items():
        for i, hit in enumerate(hits):
            said = _fault(hit, ends)
            if said:
                yield Problem(place(query, i, hit.doc_id), *said, fatal=False)


def _fault(hit: Hit, ends: Mapping[str, int]) -> tuple[str, str] | None:
    """What is wrong with the offsets of a hit, and the next step."""
    passage = hit.passage
    if passage is None:
        fix = 'write "start" and "end" with every hit, or retrieve passages'
        return "has no offsets, which measures of characters need", fix
    if passage.start >= passage.end:
        return f"{passage.start} to {passage.end} holds no character", "leave empty passages out of the run"
    if passage.end > ends.get(hit.doc_id, passage.end):
        what = f"passage ends at {passage.end}, but {hit.doc_id} has {ends[hit.doc_id]} characters"
        return what, "was the run made on another version of the corpus?"
    return None
