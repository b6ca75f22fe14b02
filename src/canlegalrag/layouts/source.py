"""The layout that people write by hand: `documents/*.md` with TOML front matter and `blocks/*.toml` with queries.

The embedded sample is kept so; `benchmark.toml` names it and its licence. A document file is `+++`, TOML (title,
citations, court, year, jurisdiction, language, url, note), `+++`, then the text as it is. A block file has `id`,
`province`, `seed` and eight `[[query]]` tables; the evidence of a query is given as exact quotes, so that a change to
a document can't silently shift it.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

from canlegalrag.layouts import Content
from canlegalrag.types import Answer, Document, Problem, Query, Snippet

__all__ = ["matches", "read"]

_FRONT = re.compile(r"\A\+\+\+\n(.*?)\n\+\+\+\n", re.DOTALL)
_DOCUMENT_KEYS = {"title", "citations", "court", "year", "jurisdiction", "language", "url", "note"}
_QUERY_KEYS = {"id", "variant", "persona", "same_facts", "text", "answer", "gold"}


def matches(folder: Path) -> bool:
    """Say whether the folder holds hand-written sources."""
    return (folder / "documents").is_dir() and (folder / "blocks").is_dir()


def read(folder: Path) -> Content:
    """Read documents and blocks; every fault is kept as a problem with its file."""
    content = Content({}, {}, {}, name=folder.name)
    about = folder / "benchmark.toml"
    if about.exists():
        content.about = tomllib.loads(about.read_text(encoding="utf-8"))
        content.name = content.about.get("name", folder.name)
    documents: dict[str, Document] = {}
    for path in sorted((folder / "documents").glob("*.md")):
        document = _document(path, content.about.get("licence", ""), content.problems)
        if document is not None:
            documents[document.id] = document
    content.documents = documents
    for path in sorted((folder / "blocks").glob("*.toml")):
        try:
            block = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            content.problems.append(Problem(f"{path.name}", f"is not valid TOML: {error}"))
            continue
        _block(path.name, block, content)
    return content


def _document(path: Path, licence: str, problems: list[Problem]) -> Document | None:
    raw = path.read_text(encoding="utf-8")
    front = _FRONT.match(raw)
    if not front:
        problems.append(Problem(path.name, "has no front matter", "start with +++, TOML, +++"))
        return None
    try:
        head = tomllib.loads(front[1])
    except tomllib.TOMLDecodeError as error:
        problems.append(Problem(path.name, f"front matter is not valid TOML: {error}"))
        return None
    _unknown(path.name, head, _DOCUMENT_KEYS, problems)
    return Document(
        id=path.stem,
        title=str(head.get("title", "")),
        text=raw[front.end() :].strip("\n"),
        court=str(head.get("court", "")),
        year=head.get("year"),
        jurisdiction=str(head.get("jurisdiction", "")),
        language=str(head.get("language", "")),
        url=str(head.get("url", "")),
        licence=licence,
        citations=tuple(head.get("citations", ())),
    )


def _block(where: str, block: dict[str, Any], content: Content) -> None:
    queries, qrels, answers = dict(content.queries), dict(content.qrels), dict(content.answers)
    snippets = list(content.snippets)
    _unknown(where, block, {"id", "province", "area", "seed", "query"}, content.problems)
    for row in block.get("query", []):
        _unknown(f"{where}: {row.get('id')}", row, _QUERY_KEYS, content.problems)
        query = Query(
            id=str(row.get("id", "")),
            text=str(row.get("text", "")).strip(),
            province=str(block.get("province", "")),
            persona=str(row.get("persona", "")),
            block=str(block.get("id", "")),
            variant=str(row.get("variant", "")),
            same_facts=row.get("same_facts"),
        )
        if query.id in queries:
            content.problems.append(Problem(f"{where}: {query.id}", "query id is used twice"))
        queries[query.id] = query
        qrels[query.id] = {g["doc"]: int(g.get("grade", 1)) for g in row.get("gold", [])}
        snippets += _snippets(where, query.id, row.get("gold", []), content)
        answer = row.get("answer")
        if answer:
            parts = [answer["opening"], *answer["arguments"], answer["conclusion"]]
            parts = [p.strip() for p in parts]
            cited = tuple(answer.get("citations", ()))
            answers[query.id] = Answer(query.id, "\n\n".join(parts), tuple(parts), citations=cited)
    content.queries, content.qrels, content.answers = queries, qrels, answers
    content.snippets = tuple(snippets)


def _snippets(where: str, query: str, gold: list[dict[str, Any]], content: Content) -> list[Snippet]:
    found = []
    for row in gold:
        document = content.documents.get(row["doc"])
        if document is None:
            continue  # the referential check names it
        for quote in row.get("quotes", []):
            text = quote.strip()
            n = document.text.count(text)
            if n != 1:
                what = f"quote occurs {n} times in {document.id}, not once: {text[:60]!r}"
                content.problems.append(Problem(f"{where}: {query}", what, "quote exactly, and enough"))
                continue
            start = document.text.index(text)
            found.append(Snippet(query, document.id, start, start + len(text), text))
    return found


def _unknown(where: str, row: dict[str, Any], known: set[str], problems: list[Problem]) -> None:
    fix = f"known are {', '.join(sorted(known))}"
    problems.extend(Problem(where, f"unknown key {key!r}", fix) for key in sorted(row.keys() - known))
