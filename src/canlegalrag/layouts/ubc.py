"""The layout of `UBC-VL/CanLegalRAGBench`: `documents.parquet` (or `.json`) and `queries.json`.

`queries.json` is JSON Lines in spite of its name; documents are known by their citations, which hold spaces, so ids
are made from them; statutes are among the gold.
"""

import hashlib
import json
import math
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from canlegalrag.citations import Citation, by_code, parse
from canlegalrag.errors import InputError
from canlegalrag.files import parquet_rows, read_jsonl, read_text
from canlegalrag.layouts import Content, folder_name
from canlegalrag.layouts._fields import YEARS, Row, whole
from canlegalrag.types import Answer, Document, Problem, Query

__all__ = ["document_id", "matches", "read"]

_ONE_DECISION = ("neutral", "canlii", "reporter")  # kinds whose key names one decision; a statute has many parts


def matches(folder: Path) -> bool:
    """Say whether the folder holds the published benchmark's files."""
    return _documents_file(folder) is not None and (folder / "queries.json").is_file()


def _documents_file(folder: Path) -> Path | None:
    return next((p for p in (folder / "documents.parquet", folder / "documents.json") if p.is_file()), None)


def document_id(citation: str) -> str:
    """An id without white space: the key of a decision's citation, or else its letters and digits.

    A citation without Latin letters or digits gets a digest of itself.

    >>> document_id("2019 CSC 65"), document_id("RSC 1985, c C-46, s 8"), document_id("2016 CanLII 105 (QC TAL)")
    ('2019-scc-65', 'rsc-1985-c-c-46-s-8', '2016-canlii-105')
    """
    parsed = parse(citation)
    return parsed.slug if parsed and parsed.kind in _ONE_DECISION else _letters(citation)


def _letters(citation: str) -> str:
    plain = unicodedata.normalize("NFKD", citation).encode("ascii", "ignore").decode().lower()
    letters = "-".join("".join(c if c.isalnum() else " " for c in plain).split())
    return letters or f"document-{hashlib.sha256(citation.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def read(folder: Path) -> Content:
    """Read the published benchmark; the block is its `batch_id`, and gold citations become ids."""
    path = _documents_file(folder)
    assert path is not None
    problems: list[Problem] = []
    if path.suffix == ".parquet" and (folder / "documents.json").exists():
        problems.append(Problem("documents.json", "is not read: documents.parquet is", "keep one", fatal=False))
    documents: dict[str, Document] = {}
    ids: dict[str, str] = {}
    claimed: dict[str, set[str]] = {}  # what the documents say of the gold, to compare with the queries
    for row in _rows(path, problems):
        citation = row.string("citation").strip()
        if not citation:
            row.problem("citation is blank", "it is the document's id")
            continue
        if citation in ids:
            row.problem(f"citation {citation!r} stands on two rows", "keep one")
            continue
        id_ = document_id(citation)
        if id_ in documents:  # the same decision cited in the other language, or two that look alike
            id_ = _letters(citation)
        while id_ in documents:
            row.problem(f"{citation!r} and another row make the id {id_!r}", fatal=False)
            id_ += "-x"
        ids[citation] = id_
        documents[id_] = _document(id_, citation, row)
        claimed[id_] = {str(q) for q in _list(row, "ground_truth_query_ids")}
    content = Content(documents, {}, {}, name=folder_name(folder), problems=problems)
    _read_queries(folder / "queries.json", ids, content)
    for id_, said in claimed.items():
        meant = {q for q, gold in content.qrels.items() if id_ in gold}
        if said and said != meant:
            what = f"ground_truth_query_ids differ from the queries' gold for {sorted(said ^ meant)[:5]}"
            problems.append(Problem(f"{path.name}: {id_}", what, "the queries' gold is used", fatal=False))
    return content


def _document(id_: str, citation: str, row: Row) -> Document:
    source = row.string("original_source").strip()
    parsed = parse(citation)
    court = source if source not in ("", "UNKNOWN") else _court(parsed)
    known = by_code(court)
    given = row.values.get("year")
    if given in (None, ""):
        year = parsed.year if parsed else None
    else:
        year = whole(_number(given), YEARS)
        if year is None:
            row.problem(f"year {given!r} is not a year", "read as unknown", fatal=False)
    return Document(
        id=id_,
        title=row.string("name"),
        text=row.string("text"),
        court=court,
        year=year,
        jurisdiction=parsed.jurisdiction if parsed and parsed.jurisdiction else known.jurisdiction if known else "",
        language=parsed.language if parsed else "",
        url=row.string("url"),
        licence=row.string("upstream_license"),
        citations=(citation,),
    )


def _number(value: Any) -> Any:
    """The published files have years as strings too."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return math.nan


def _court(parsed: Citation | None) -> str:
    """The English code of the court that a citation names, `STATUTE` for legislation, empty where it doesn't say."""
    if parsed is None:
        return ""
    if parsed.kind in ("statute", "regulation", "constitution"):
        return "STATUTE"
    known = by_code(parsed.court) or by_code(parsed.court_id.upper())
    return known.code if known else ""


def _read_queries(path: Path, ids: Mapping[str, str], content: Content) -> None:
    queries: dict[str, Query] = {}
    qrels: dict[str, dict[str, int]] = {}
    answers: dict[str, Answer] = {}
    for row in _rows(path, content.problems):
        id_ = _query_id(row)
        if id_ is None:
            continue
        if id_ in queries:
            row.problem(f"query id {id_!r} is used twice", "keep one")
            continue
        batch = row.values.get("batch_id")
        block = str(batch) if type(batch) is int else row.string("batch_id")
        text, province = row.string("query_text").strip(), row.string("province").strip()
        queries[id_] = Query(id_, text, province, block=block)
        gold = _gold(row)
        # Gold that isn't in the corpus stays in the qrels, where the referential check names it.
        if gold:
            qrels[id_] = {ids.get(c) or document_id(c): 1 for c in gold}
        if row.values.get("answer"):
            answers[id_] = Answer(id_, row.string("answer"), citations=tuple(gold))
    content.queries, content.qrels, content.answers = queries, qrels, answers


def _query_id(row: Row) -> str | None:
    """The id, with hyphens for white space; None where there is none."""
    given = row.values.get("query_id")
    if isinstance(given, str):
        return "-".join(given.split())
    usable = type(given) is int
    row.problem(f"query_id {given!r:.60} is not a string", "quote it, or 001 becomes 1", fatal=not usable)
    return str(given) if usable else None


def _gold(row: Row) -> list[str]:
    """Citations of the gold, each once."""
    gold = []
    for value in _list(row, "ground_truth_citations"):
        citation = value.strip() if isinstance(value, str) else ""
        if not citation:
            row.problem(f"ground_truth_citations holds {value!r:.60}, not a citation", "write it as a string")
        elif citation in gold:
            row.problem(f"ground_truth_citations holds {citation!r} twice", "counted once", fatal=False)
        else:
            gold.append(citation)
    return gold


def _list(row: Row, name: str) -> list[Any]:
    """A list, or a list written as a JSON string."""
    value = row.values.get(name)
    if isinstance(value, str) and value.strip():
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            row.problem(f"{value[:60]!r} is not a JSON list")
            return []
    if value is None or value == "":
        return []
    if not isinstance(value, list):
        row.problem(f"{value!r:.60} is not a list")
        return []
    return value


def _rows(path: Path, problems: list[Problem]) -> Iterator[Row]:
    if path.suffix == ".parquet":
        try:
            for number, values in enumerate(parquet_rows(path), 1):
                yield Row(f"{path.name}:{number}", values, problems)
        except UnicodeDecodeError as error:
            raise InputError(str(path), f"not a readable Parquet file: {error}", "write it again") from None
        return
    text = read_text(path)
    if not text.lstrip().startswith("["):
        for number, values in read_jsonl(path):
            yield Row(f"{path.name}:{number}", values, problems)
        return
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(str(path), f"not JSON: {error}") from None
    for number, values in enumerate(rows, 1):
        if not isinstance(values, dict):
            raise InputError(f"{path.name}[{number}]", f"a {type(values).__name__}, not an object")
        yield Row(f"{path.name}[{number}]", values, problems)
