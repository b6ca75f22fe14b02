"""Labelled pairs of a person's own from JSON Lines: what a judge is measured on, with the evidence in the line."""

from collections.abc import Mapping
from pathlib import Path

from canlegalrag.errors import InputError
from canlegalrag.measures.decided import LABELS
from canlegalrag.near import Near
from canlegalrag.records._fields import Row, rows
from canlegalrag.types import Document, LabelledPair

__all__ = ["read_pairs"]


def read_pairs(path: str | Path, documents: Mapping[str, Document] | None = None) -> tuple[LabelledPair, ...]:
    """Read `{"id", "claim", "evidence", "label"}` a line; `doc`, `start`, `end`, `kind` and `note` may be there.

    Args:
        path: the file.
        documents: where evidence that names its document must stand; without them it is believed.

    Returns:
        The pairs, in order. One without a document has an empty `doc_id` and counts as a document of its own.

    Raises:
        InputError: a line that isn't so, an id given twice, evidence that isn't in its document, an empty file.
    """
    pairs: dict[str, LabelledPair] = {}
    for row in rows(Path(path)):
        id_ = row.id("id")
        if id_ in pairs:
            raise row.fault("id", f"{id_!r} stands in the file twice", "an id of its own for each pair")
        texts = {name: row.text(name) for name in ("claim", "evidence")}
        for name, value in texts.items():
            if not value.strip():
                raise row.fault(name, "is blank", f'"{name}": "…"')
        label = row.choice("label", LABELS)
        doc_id = row.id("doc") if row.has("doc") else ""
        start, end = _place(row, doc_id, texts["evidence"], documents)
        kind, note = row.text("kind", ""), row.text("note", "")
        pairs[id_] = LabelledPair(id_, texts["claim"], doc_id, start, end, texts["evidence"], label, kind, note)
    if not pairs:
        fix = 'its lines are {"id": …, "claim": …, "evidence": …, "label": …}'
        raise InputError(str(path), "holds no labelled pairs", fix)
    return tuple(pairs.values())


def _place(row: Row, doc_id: str, evidence: str, documents: Mapping[str, Document] | None) -> tuple[int, int]:
    """Where the evidence stands in its document; from 0 where nobody says."""
    said = row.has("start") or row.has("end")
    start, end = (row.whole("start"), row.whole("end")) if said else (0, len(evidence))
    if said and not doc_id:
        raise row.fault("start", "is a place in no document", '"doc": "…", or leave out start and end')
    if end - start != len(evidence):
        raise row.fault("end", f"{start} to {end} isn't as long as the evidence, {len(evidence)}", "characters, from 0")
    if documents is None or not doc_id:
        return start, end
    if doc_id not in documents:
        raise row.fault("doc", f"{doc_id!r} is not in the corpus", Near(documents)(doc_id))
    text = documents[doc_id].text
    if not said:
        start = text.find(evidence)
    if start < 0 or text[start : start + len(evidence)] != evidence:
        raise row.fault("evidence", f"doesn't stand in {doc_id}{' there' if said else ''}", "quote it exactly")
    return start, start + len(evidence)
