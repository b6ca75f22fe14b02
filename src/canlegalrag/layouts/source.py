"""The layout that people write by hand: `documents/*.md` with TOML front matter and `blocks/*.toml` with queries.

The embedded sample is kept so; `benchmark.toml` names it and its licence. A document file is `+++`, TOML (title,
citations, court, year, jurisdiction, language, url, note), `+++`, then the text as it is. A block file has `id`,
`province`, `seed` and eight `[[query]]` tables; the evidence of a query is given as exact quotes, so that a change to
a document can't silently shift it. So are the sentences that the claims of reference answers came from
(`claims/*.jsonl`) and the evidence of labelled pairs (`pairs.jsonl`), where there are any.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

from canlegalrag.errors import InputError
from canlegalrag.files import read_text
from canlegalrag.layouts import Content, folder_name
from canlegalrag.layouts._claims import read_claims, read_pairs
from canlegalrag.layouts._fields import GRADES, YEARS, Row
from canlegalrag.types import Answer, Document, Problem, Query, Snippet

__all__ = ["matches", "read"]

_FRONT = re.compile(r"\A\+\+\+\n(.*?)\n\+\+\+\n", re.DOTALL)
_DOCUMENT_KEYS = {"title", "citations", "court", "year", "jurisdiction", "language", "url", "note"}
_QUERY_KEYS = {"id", "variant", "persona", "same_facts", "text", "answer", "gold"}
_ANSWER_KEYS = {"opening", "arguments", "conclusion", "citations"}
_GOLD_KEYS = {"doc", "grade", "quotes"}


def matches(folder: Path) -> bool:
    """Say whether the folder holds hand-written sources."""
    return (folder / "documents").is_dir() and (folder / "blocks").is_dir()


def read(folder: Path) -> Content:
    """Read documents and blocks; every fault is kept as a problem with its file."""
    content = Content({}, {}, {}, name=folder_name(folder))
    about = folder / "benchmark.toml"
    if about.exists():
        row = Row(about.name, _toml(about, content.problems) or {}, content.problems)
        content.about = {key: row.string(key) for key in row.values}
        content.name = content.about.get("name") or content.name
    documents: dict[str, Document] = {}
    for path in sorted((folder / "documents").glob("*.md")):
        document = _document(path, content.about.get("licence", ""), content.problems)
        if document is not None:
            documents[document.id] = document
    content.documents = documents
    for path in sorted((folder / "blocks").glob("*.toml")):
        block = _toml(path, content.problems)
        if block is not None:
            _block(Row(_name(path), block, content.problems), content)
    content.claims, content.pairs = read_claims(folder, content), read_pairs(folder, content)
    return content


def _name(path: Path) -> str:
    """A file's name, with `?` for the bytes that are no letters."""
    return path.name.encode("utf-8", "replace").decode()


def _text(path: Path, problems: list[Problem]) -> str | None:
    """What a file holds, with line ends as LF and without byte order mark; None, and a problem, where it is no text."""
    if not path.is_file():
        problems.append(Problem(_name(path), "is not a regular file", "take it away"))
        return None
    try:
        return read_text(path)
    except InputError as error:
        problems.append(error.problem)
        return None


def _toml(path: Path, problems: list[Problem]) -> dict[str, Any] | None:
    text = _text(path, problems)
    return None if text is None else _parse(_name(path), text, "", problems)


def _parse(where: str, text: str, part: str, problems: list[Problem]) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of 5000 digits is a plain ValueError
        problems.append(Problem(where, f"{part}is not valid TOML: {error}"))
        return None


def _document(path: Path, licence: str, problems: list[Problem]) -> Document | None:
    raw = _text(path, problems)
    if raw is None:
        return None
    front = _FRONT.match(raw)
    if not front:
        problems.append(Problem(_name(path), "has no front matter", "start with +++, TOML, +++"))
        return None
    head = _parse(_name(path), front[1], "front matter ", problems)
    if head is None:
        return None
    row = Row(_name(path), head, problems)
    row.only(_DOCUMENT_KEYS)
    return Document(
        id=path.stem,
        title=row.string("title"),
        text=raw[front.end() :].strip("\n"),
        court=row.string("court"),
        year=row.whole("year", YEARS),
        jurisdiction=row.string("jurisdiction"),
        language=row.string("language"),
        url=row.string("url"),
        licence=licence,
        citations=row.strings("citations"),
    )


def _block(block: Row, content: Content) -> None:
    queries, qrels, answers = dict(content.queries), dict(content.qrels), dict(content.answers)
    snippets = list(content.snippets)
    block.only({"id", "province", "area", "seed", "query"})
    id_, province = block.string("id"), block.string("province")
    for values in block.tables("query"):
        row = Row(f"{block.where}: {values.get('id')}", values, content.problems)
        row.only(_QUERY_KEYS)
        query = Query(
            id=row.string("id"),
            text=row.string("text").strip(),
            province=province,
            persona=row.string("persona"),
            block=id_,
            variant=row.string("variant"),
            same_facts=row.flag("same_facts"),
        )
        if query.id in queries:
            row.problem("query id is used twice")
        queries[query.id] = query
        judged, found = _gold(row, query.id, content)
        if judged:
            qrels[query.id] = judged
        snippets += found
        answer = _answer(row, query.id)
        if answer is not None:
            answers[query.id] = answer
    content.queries, content.qrels, content.answers = queries, qrels, answers
    content.snippets = tuple(snippets)


def _answer(query: Row, id_: str) -> Answer | None:
    value = query.values.get("answer")
    if value is None:
        return None
    if not isinstance(value, dict):
        query.problem("answer is not a table", "write [query.answer] with opening, arguments and conclusion")
        return None
    row = Row(f"{query.where}: answer", value, query.problems)
    row.only(_ANSWER_KEYS)
    for name in ("opening", "arguments", "conclusion"):
        if name not in value:
            row.problem(f"has no {name}", "it needs opening, arguments and conclusion")
    parts = [p.strip() for p in (row.string("opening"), *row.strings("arguments"), row.string("conclusion"))]
    return Answer(id_, "\n\n".join(parts), tuple(parts), citations=row.strings("citations"))


def _gold(query: Row, id_: str, content: Content) -> tuple[dict[str, int], list[Snippet]]:
    judged: dict[str, int] = {}
    snippets: list[Snippet] = []
    for values in query.tables("gold"):
        row = Row(query.where, values, query.problems)
        row.only(_GOLD_KEYS)
        doc = row.id("doc")
        grade = row.whole("grade", GRADES, 1)
        if doc is None or grade is None:
            continue
        if doc in judged:
            row.problem(f"{doc!r} is judged twice", "keep one")
            continue
        judged[doc] = grade
        document = content.documents.get(doc)
        if document is not None:  # the referential check names the others
            snippets += _snippets(row, id_, document)
    return judged, snippets


def _snippets(gold: Row, query: str, document: Document) -> list[Snippet]:
    found = []
    for quote in gold.strings("quotes"):
        text = quote.strip()
        place = gold.place(text, document.text, document.id)
        if place is not None:
            found.append(Snippet(query, document.id, *place, text))
    return found
