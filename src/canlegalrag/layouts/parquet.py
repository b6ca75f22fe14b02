"""The layout in which the benchmark is published: one Parquet file a config, with explicit Arrow types.

The column names are those that MTEB's retrieval loader reads unchanged (`_id`, `title`, `text`; `query-id`,
`corpus-id`, `score`). The corpus stays on disk and is read a row group at a time.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow.parquet import ParquetWriter

from canlegalrag.errors import InputError
from canlegalrag.layouts import Content, folder_name
from canlegalrag.layouts._corpus import Documents
from canlegalrag.layouts._fields import GRADES
from canlegalrag.layouts._manifest import Manifest, read_manifest, sha256, verify
from canlegalrag.layouts._shape import CONFIGS, SCHEMAS, choose, found
from canlegalrag.layouts._tables import rows
from canlegalrag.types import Answer, Claim, Document, LabelledPair, Problem, Query, Snippet
from canlegalrag.wording import many

__all__ = ["CONFIGS", "SCHEMAS", "Documents", "matches", "read", "sha256", "write_table"]

_ROW_GROUP = 64  # documents: small, so that reading one decision doesn't decode many
_OFFSETS = (-(2**31), 2**31 - 1)
_QUERY_STRINGS = ("text", "province", "persona", "block", "variant", "dataset")


def matches(folder: Path) -> bool:
    """Say whether the folder holds Parquet in our layout or in MTEB's."""
    return bool(found(folder, "corpus") and found(folder, "queries") and found(folder, "qrels"))


def read(folder: Path) -> Content:
    """Read a folder in the published layout; the corpus stays on disk.

    Raises:
        InputError: a file that is not Parquet.
    """
    problems: list[Problem] = []
    manifest: Manifest | None = None
    try:
        manifest = read_manifest(folder)
    except InputError as error:
        problems.append(error.problem)
    files = {config: choose(folder, config, problems, listed=manifest is not None) for config in SCHEMAS}
    documents = Documents(files["corpus"].read)
    problems += documents.problems
    content = Content(documents, {}, {}, name=folder_name(folder), problems=problems)
    content.qrels = _qrels(files["qrels"].read, problems)
    elsewhere = _qrels(files["qrels"].left, []).keys() - content.qrels.keys()
    content.queries = _queries(files["queries"].read, elsewhere, problems)
    content.answers = _answers(files["answers"].read, elsewhere, problems)
    content.snippets = tuple(s for s in _snippets(files["snippets"].read, problems) if s.query_id not in elsewhere)
    content.claims = _claims(files["claims"].read, elsewhere, problems)
    content.pairs = tuple(_pairs(files["pairs"].read, problems))
    if manifest is not None:
        content.name, content.about = manifest.name, manifest.about
        faults, content.checksums = verify(manifest, folder, [p for choice in files.values() for p in choice.read])
        problems += faults
        if content.checksums and not manifest.problems and not any(p.fatal for p in problems):
            content.fingerprint = manifest.fingerprint
    return content


def _queries(paths: list[Path], elsewhere: Iterable[str], problems: list[Problem]) -> Mapping[str, Query]:
    """Queries but those that are judged in other splits only."""
    queries: dict[str, Query] = {}
    left = 0
    elsewhere = set(elsewhere)
    for row in rows(paths, "queries", problems):
        id_ = row.string("_id")
        if id_ in elsewhere:
            left += 1
            continue
        if id_ in queries:
            row.problem(f"query id {id_!r} is used twice")
        strings = {name: row.string(name) for name in _QUERY_STRINGS}
        queries[id_] = Query(id_, **strings, same_facts=row.flag("same_facts"), excluded=row.strings("excluded"))
    if left:
        what = f"{many(left, 'query')} {'is' if left == 1 else 'are'} judged in other splits only: left out"
        problems.append(Problem("queries", what, fatal=False))
    return queries


def _qrels(paths: list[Path], problems: list[Problem]) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    for row in rows(paths, "qrels", problems):
        query, document = row.string("query-id"), row.string("corpus-id")
        grade = row.whole("score", GRADES)
        if grade is None:
            continue
        judged = qrels.setdefault(query, {})
        if document in judged:
            row.problem(f"{query} {document} is judged twice", "keep one")
        judged[document] = grade
    return qrels


def _answers(paths: list[Path], elsewhere: Iterable[str], problems: list[Problem]) -> Mapping[str, Answer]:
    answers: dict[str, Answer] = {}
    elsewhere = set(elsewhere)
    for row in rows(paths, "answers", problems):
        id_ = row.string("query-id")
        if id_ in elsewhere:
            continue
        if id_ in answers:
            row.problem(f"query {id_!r} has a second answer", "keep one")
            continue
        answers[id_] = Answer(id_, row.string("text"), row.strings("parts"), citations=row.strings("citations"))
    return answers


def _snippets(paths: list[Path], problems: list[Problem]) -> Iterable[Snippet]:
    for row in rows(paths, "snippets", problems):
        start, end = row.whole("start", _OFFSETS), row.whole("end", _OFFSETS)
        if start is not None and end is not None:
            yield Snippet(row.string("query-id"), row.string("corpus-id"), start, end, row.string("text"))


def _claims(paths: list[Path], elsewhere: Iterable[str], problems: list[Problem]) -> dict[str, tuple[Claim, ...]]:
    """Claims by query, each query's in the order of their index: rows may come in any."""
    claims: dict[str, list[Claim]] = {}
    elsewhere = set(elsewhere)
    for row in rows(paths, "claims", problems):
        id_, index = row.string("query_id"), row.whole("index", _OFFSETS)
        if index is not None and id_ not in elsewhere:
            place = [None if row.values.get(end) is None else row.whole(end, _OFFSETS) for end in ("start", "end")]
            claims.setdefault(id_, []).append(Claim(id_, "reference", index, row.string("text"), *place))
    return {id_: tuple(sorted(found, key=lambda claim: claim.index)) for id_, found in claims.items()}


def _pairs(paths: list[Path], problems: list[Problem]) -> Iterable[LabelledPair]:
    for row in rows(paths, "pairs", problems):
        start, end = row.whole("start", _OFFSETS), row.whole("end", _OFFSETS)
        if start is not None and end is not None:
            strings = {name: row.string(name) for name in ("claim", "doc_id", "evidence", "label", "kind", "note")}
            yield LabelledPair(row.string("id"), start=start, end=end, **strings)


def write_table(path: Path, config: str, rows: Iterable[dict[str, Any]]) -> int:
    """Stream rows into a Parquet file with the config's schema; gives the number of rows.

    Raises:
        InputError: a value that the schema can't hold.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    schema, n, rows = SCHEMAS[config], 0, iter(rows)
    size = _ROW_GROUP if config == "corpus" else 10_000
    with ParquetWriter(path, schema, compression="zstd", write_page_index=True) as writer:
        while batch := list(islice(rows, size)):
            try:
                table = pa.Table.from_pylist(batch, schema=schema)
            except (pa.ArrowException, UnicodeError, OverflowError, TypeError, ValueError) as error:
                raise InputError(f"{config}: rows {n + 1} to {n + len(batch)}", f"can't be written: {error}") from None
            writer.write_table(table)
            n += len(batch)
    return n


def document_row(document: Document) -> dict[str, Any]:
    """A document as a row of the corpus."""
    row = asdict(document)
    row["_id"] = row.pop("id")
    row["citations"] = list(document.citations)
    return row


def query_row(query: Query) -> dict[str, Any]:
    """A query as a row of the queries."""
    row = asdict(query)
    row["_id"] = row.pop("id")
    row["excluded"] = list(query.excluded)
    return row


def claim_row(claim: Claim) -> dict[str, Any]:
    """A claim of a reference answer as a row of the claims."""
    row = asdict(claim)
    del row["side"]
    return row
