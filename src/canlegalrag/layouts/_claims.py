"""Claims of reference answers and labelled pairs as people write them: JSON Lines whose places are exact quotes.

A line of `claims/*.jsonl` or `claims.jsonl` is `{"query_id", "sentence", "claim"}`, a line of `pairs.jsonl` is
`{"id", "claim", "doc", "quote", "label", "kind", "note"}`, the last two optional.
"""

from collections.abc import Iterator
from pathlib import Path

from canlegalrag.errors import InputError
from canlegalrag.files import read_jsonl
from canlegalrag.layouts import Content
from canlegalrag.layouts._fields import Row
from canlegalrag.near import Near
from canlegalrag.types import Claim, LabelledPair, Problem

__all__ = ["read_claims", "read_pairs"]


def read_claims(folder: Path, content: Content) -> dict[str, tuple[Claim, ...]]:
    """Read the claims of the reference answers, in the order of the files; a claim without its sentence is left out."""
    claims: dict[str, list[Claim]] = {}
    near = Near(content.queries)
    for path in [*sorted((folder / "claims").glob("*.jsonl")), folder / "claims.jsonl"]:
        for row in _rows(path, ("query_id", "sentence", "claim"), (), content.problems):
            id_ = row.string("query_id")
            answer = content.answers.get(id_)
            if id_ not in content.queries:
                row.problem(f"query {id_!r} is not in the benchmark", near(id_))
            elif answer is None:
                row.problem(f"query {id_!r} has no reference answer", "claims are what a reference answer says")
            elif place := row.place(row.string("sentence"), answer.text, f"the answer to {id_}"):
                found = claims.setdefault(id_, [])
                found.append(Claim(id_, "reference", len(found), row.string("claim"), *place))
    return {id_: tuple(found) for id_, found in claims.items()}


def read_pairs(folder: Path, content: Content) -> tuple[LabelledPair, ...]:
    """Read the labelled pairs; one without its evidence is left out."""
    pairs: list[LabelledPair] = []
    near = Near(content.documents)
    needed = ("id", "claim", "doc", "quote", "label")
    for row in _rows(folder / "pairs.jsonl", needed, ("kind", "note"), content.problems):
        doc, quote = row.string("doc"), row.string("quote")
        document = content.documents.get(doc)
        if document is None:
            row.problem(f"document {doc!r} is not in the corpus", near(doc))
        elif place := row.place(quote, document.text, doc):
            strings = {name: row.string(name) for name in ("id", "claim", "label", "kind", "note")}
            pairs.append(LabelledPair(**strings, doc_id=doc, start=place[0], end=place[1], evidence=quote))
    return tuple(pairs)


def _rows(path: Path, needed: tuple[str, ...], optional: tuple[str, ...], problems: list[Problem]) -> Iterator[Row]:
    """Lines of a file, if it is there, that have every needed field; what follows a line that is no JSON isn't read."""
    if not path.exists():
        return
    where = "/".join(path.parts[-2:]).encode("utf-8", "replace").decode()
    if not path.is_file():
        problems.append(Problem(where, "is not a regular file", "take it away"))
        return
    try:
        for number, values in read_jsonl(path):
            row = Row(f"{where}:{number}", values, problems)
            row.only({*needed, *optional})
            missing = [name for name in needed if values.get(name) is None]
            for name in missing:
                row.problem(f"has no {name}", f"every line needs {', '.join(needed)}")
            if not missing:
                yield row
    except InputError as error:
        problems.append(error.problem)
