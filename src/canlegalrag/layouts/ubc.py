"""The layout of `UBC-VL/CanLegalRAGBench`: `documents.parquet` (or `.json`) and `queries.json`.

`queries.json` is JSON Lines in spite of its name; documents are known by their citations, which hold spaces, so ids
are made from them; statutes are among the gold.
"""

import json
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from canlegalrag.errors import InputError
from canlegalrag.files import parquet_rows, read_jsonl, read_text
from canlegalrag.layouts import Content
from canlegalrag.types import Answer, Document, Problem, Query

__all__ = ["document_id", "matches", "read"]

_JURISDICTIONS = {"BC": "BC", "AB": "AB", "SK": "SK", "MB": "MB", "ON": "ON", "QC": "QC", "NB": "NB", "NS": "NS"}
_JURISDICTIONS |= {"PE": "PE", "NL": "NL", "YK": "YT", "NW": "NT", "NU": "NU"}
_FEDERAL = {"SCC", "FC", "FCA", "FCT", "TCC", "SST", "CHRT", "CIRB", "CMAC", "RAD", "RPD", "RLLR", "PSLREB", "CT"}


def matches(folder: Path) -> bool:
    """Say whether the folder holds the published benchmark's files."""
    return _documents_file(folder) is not None and (folder / "queries.json").exists()


def _documents_file(folder: Path) -> Path | None:
    return next((p for p in (folder / "documents.parquet", folder / "documents.json") if p.exists()), None)


def document_id(citation: str) -> str:
    """An id without white space, made from a citation.

    >>> document_id("2019 SCC 65"), document_id("RSC 1985, c C-46"), document_id("2016 CanLII 105 (QC TAL)")
    ('2019-scc-65', 'rsc-1985-c-c-46', '2016-canlii-105-qc-tal')
    """
    plain = unicodedata.normalize("NFKD", citation).encode("ascii", "ignore").decode().lower()
    return "-".join("".join(c if c.isalnum() else " " for c in plain).split())


def read(folder: Path) -> Content:
    """Read the published benchmark; the block is its `batch_id`, and gold citations become ids."""
    path = _documents_file(folder)
    assert path is not None
    problems: list[Problem] = []
    documents: dict[str, Document] = {}
    ids: dict[str, str] = {}
    claimed: dict[str, set[str]] = {}  # what the documents say of the gold, to compare with the queries
    for where, row in _rows(path):
        citation = str(row.get("citation") or "").strip()
        if not citation:
            problems.append(Problem(where, "citation is blank", "it is the document's id"))
            continue
        if citation in ids:
            problems.append(Problem(where, f"citation {citation!r} stands on two rows", "keep one"))
            continue
        id_ = document_id(citation) or "document"
        while id_ in documents:
            problems.append(Problem(where, f"{citation!r} and another row make the id {id_!r}", fatal=False))
            id_ += "-x"
        ids[citation] = id_
        documents[id_] = _document(id_, citation, row, where, problems)
        claimed[id_] = {str(q) for q in _list(row.get("ground_truth_query_ids"), where, problems)}
    content = Content(documents, {}, {}, name=folder.resolve().name, problems=problems)
    _read_queries(folder / "queries.json", ids, content)
    for id_, said in claimed.items():
        meant = {q for q, gold in content.qrels.items() if id_ in gold}
        if said and said != meant:
            what = f"ground_truth_query_ids differ from the queries' gold for {sorted(said ^ meant)[:5]}"
            problems.append(Problem(f"{path.name}: {id_}", what, "the queries' gold is used", fatal=False))
    return content


def _document(id_: str, citation: str, row: Mapping[str, Any], where: str, problems: list[Problem]) -> Document:
    source = str(row.get("original_source") or "").strip()
    court = "" if source == "UNKNOWN" else source
    try:
        year = int(float(row["year"])) if row.get("year") not in (None, "") else None
    except (TypeError, ValueError, OverflowError):
        problems.append(Problem(where, f"year {row['year']!r} is not a year", fatal=False))
        year = None
    return Document(
        id=id_,
        title=str(row.get("name") or ""),
        text=str(row.get("text") or ""),
        court=court,
        year=year,
        jurisdiction="CA" if court in _FEDERAL else _JURISDICTIONS.get(court[:2], "") if court != "STATUTE" else "",
        url=str(row.get("url") or ""),
        licence=str(row.get("upstream_license") or ""),
        citations=(citation,),
    )


def _read_queries(path: Path, ids: Mapping[str, str], content: Content) -> None:
    queries: dict[str, Query] = {}
    qrels: dict[str, dict[str, int]] = {}
    answers: dict[str, Answer] = {}
    for where, row in _rows(path):
        given = row.get("query_id")
        if not isinstance(given, str):
            what = f"query_id {given!r} is not a string"
            content.problems.append(Problem(where, what, "quote it, or 001 becomes 1", fatal=given is None))
        id_ = "-".join(str("" if given is None else given).split())
        if id_ in queries:
            content.problems.append(Problem(where, f"query id {id_!r} is used twice", "keep one"))
            continue
        batch = row.get("batch_id")
        text, province = str(row.get("query_text") or "").strip(), str(row.get("province") or "").strip()
        queries[id_] = Query(id_, text, province, block="" if batch is None else str(batch))
        gold = [str(c).strip() for c in _list(row.get("ground_truth_citations"), where, content.problems)]
        # Gold that isn't in the corpus stays in the qrels, where the referential check names it.
        qrels[id_] = {ids.get(c) or document_id(c) or "-": 1 for c in gold}
        if row.get("answer"):
            answers[id_] = Answer(id_, str(row["answer"]), citations=tuple(gold))
    content.queries, content.qrels, content.answers = queries, qrels, answers


def _list(value: Any, where: str, problems: list[Problem]) -> list[Any]:
    """A list, or a list written as a JSON string."""
    if isinstance(value, str) and value.strip():
        try:
            value = json.loads(value)
        except ValueError:
            problems.append(Problem(where, f"{value[:60]!r} is not a JSON list"))
            return []
    if value is None or value == "":
        return []
    if not isinstance(value, list):
        problems.append(Problem(where, f"{value!r} is not a list"))
        return []
    return value


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if path.suffix == ".parquet":
        for number, row in enumerate(parquet_rows(path), 1):
            yield f"{path.name}:{number}", row
        return
    text = read_text(path)
    if not text.lstrip().startswith("["):
        for number, row in read_jsonl(path):
            yield f"{path.name}:{number}", row
        return
    try:
        rows = json.loads(text)
    except ValueError as error:
        raise InputError(str(path), f"not JSON: {error}") from None
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise InputError(f"{path.name}[{number}]", f"a {type(row).__name__}, not an object")
        yield f"{path.name}[{number}]", row
