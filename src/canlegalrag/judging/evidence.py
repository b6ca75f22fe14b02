"""Evidence: what an answer was taken from, piece by piece."""

from collections.abc import Mapping

from canlegalrag.errors import InputError
from canlegalrag.near import Near
from canlegalrag.types import Answer, Document, Passage

__all__ = ["evidence_of", "has_evidence"]

_RESERVED = ("reference", "answer", "evidence")
"""What `Verdict.against` means something else by."""


def evidence_of(answer: Answer, documents: Mapping[str, Document]) -> tuple[tuple[str, str], ...] | None:
    """Name and text of each piece that an answer was taken from, best first; None where nobody says.

    A whole document goes by its id, a passage by `id:start-end`. An answer of ours that was given nothing (its `usage`
    has the `context`) has no evidence, which is not the same as evidence that isn't known.

    Raises:
        InputError: a passage isn't in the documents.

    >>> document = Document("a", "Doe v. Roe", "Rent is due.")
    >>> evidence_of(Answer("q1", "Yes.", passages=(Passage("a", 0, 0, 12), Passage("a", 1, 0, 4))), {"a": document})
    (('a', 'Rent is due.'), ('a:0-4', 'Rent'))
    """
    if not has_evidence(answer):
        return None
    return tuple({name: text for name, text in (_piece(answer, p, documents) for p in answer.passages) if text}.items())


def has_evidence(answer: Answer) -> bool:
    """Whether anybody says what an answer was taken from."""
    return bool(answer.passages) or "context" in answer.usage


def _piece(answer: Answer, passage: Passage, documents: Mapping[str, Document]) -> tuple[str, str]:
    document = documents.get(passage.doc_id)
    where = f"answer to {answer.query_id!r}"
    if document is None:
        hint = Near(documents)(passage.doc_id) or "answers and benchmark must be of one corpus"
        raise InputError(where, f"document {passage.doc_id!r} is not in the corpus", hint)
    length = len(document.text)
    if not 0 <= passage.start <= passage.end <= length:
        what = f"passage {passage.start}:{passage.end} is outside the {length} characters of {passage.doc_id}"
        raise InputError(where, what, "were the answers made on another version of the corpus?")
    whole = (passage.start, passage.end) == (0, length) and passage.doc_id not in _RESERVED
    name = passage.doc_id if whole else f"{passage.doc_id}:{passage.start}-{passage.end}"
    return name, document.text[passage.start : passage.end]
