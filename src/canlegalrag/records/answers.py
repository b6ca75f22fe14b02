"""Answers to and from `answers.jsonl`: one line a query; other people's systems write it too."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from canlegalrag.errors import InputError
from canlegalrag.files import dumps
from canlegalrag.near import Near
from canlegalrag.records._fields import Row, once, rows
from canlegalrag.types import Answer, Document, Passage

__all__ = ["STOPS", "answer_line", "read_answers"]

STOPS = ("stop", "length", "refusal", "empty")
"""Why an answer may have ended, as `Completion.stop` has it."""


def answer_line(answer: Answer) -> str:
    """One answer as a line of `answers.jsonl`; the text of its passages is left out, being the documents'.

    >>> answer_line(Answer("q1", "No.", passages=(Passage("a", 0, 5, 9),)))
    '{"query_id": "q1", "text": "No.", "stop": "stop", "condition": "", \
"passages": [{"doc_id": "a", "index": 0, "start": 5, "end": 9}], "citations": [], "usage": {}}'
    """
    row: dict[str, Any] = {"query_id": answer.query_id, "text": answer.text}
    if answer.parts:
        row["parts"] = list(answer.parts)
    row |= {"stop": answer.stop, "condition": answer.condition}
    row["passages"] = [{"doc_id": p.doc_id, "index": p.index, "start": p.start, "end": p.end} for p in answer.passages]
    return dumps(row | {"citations": list(answer.citations), "usage": dict(answer.usage)})


def read_answers(path: str | Path, documents: Mapping[str, Document] | None = None) -> dict[str, Answer]:
    """Read answers; `query_id` and `text` are all that a line needs.

    A passage is a `doc_id` with `start` and `end`; without these, it is the whole document. An answer without a `stop`
    is `empty` where its text is blank.

    Args:
        path: JSON Lines.
        documents: fills `Passage.text`, and its length is what offsets are checked against; without it passages carry
            offsets only.

    Raises:
        InputError: a line that is no answer, a query given twice, a passage that isn't in the documents, an `empty`
            answer with a text.
    """
    path = Path(path)
    answers: dict[str, Answer] = {}
    near = Near(documents) if documents is not None else None
    for row in rows(path):
        query_id = row.id("query_id")
        once(row, query_id, answers)
        text = row.text("text")
        passages = [_passage(one, n, documents, near) for n, one in enumerate(row.rows("passages"))]
        stop = row.choice("stop", STOPS, "stop" if text.strip() else "empty")
        if stop == "empty" and text.strip():
            raise row.fault("stop", "is empty, but there is a text, which would be passed over", '"stop": "stop"')
        answers[query_id] = Answer(
            query_id,
            text,
            parts=row.strings("parts"),
            passages=tuple(passages),
            citations=row.strings("citations"),
            stop=stop,
            condition=row.text("condition", ""),
            usage=row.object("usage"),
        )
    if not answers:
        raise InputError(str(path), "holds no answers", 'its lines are {"query_id": …, "text": …}')
    return answers


def _passage(row: Row, n: int, documents: Mapping[str, Document] | None, near: Near | None) -> Passage:
    doc_id, index = row.id("doc_id"), row.whole("index", n)
    document = documents.get(doc_id) if documents is not None else None
    if near is not None and document is None:
        hint = near(doc_id) or "answers and benchmark must be of one corpus"
        raise row.fault("doc_id", f"document {doc_id!r} is not in the corpus", hint)
    if not row.has("start") and not row.has("end"):
        if document is None:
            what = "is missing with end: the whole document, whose length isn't known here"
            raise row.fault("start", what, "read the answers with their benchmark, or give start and end")
        return Passage(doc_id, index, 0, len(document.text), document.text)
    start, end = row.whole("start"), row.whole("end")
    if end < start:
        raise row.fault("end", f"{end} is before the start, {start}", "0 <= start <= end")
    if document is None:
        return Passage(doc_id, index, start, end)
    if end > len(document.text):
        what = f"passage ends at {end}, but {doc_id} has {len(document.text)} characters"
        raise row.fault("end", what, "were the answers made on another version of the corpus?")
    return Passage(doc_id, index, start, end, document.text[start:end])
