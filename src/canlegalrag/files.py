"""Qrels and runs to and from files: TREC, TSV, JSON Lines and Parquet. Every error says file, line and field."""

import codecs
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from canlegalrag.disk import write_whole
from canlegalrag.errors import InputError
from canlegalrag.plain import id_fault, is_whole
from canlegalrag.types import Document, Hit, Passage, Qrels
from canlegalrag.wording import many

__all__ = [
    "decode",
    "dumps",
    "finite",
    "loads",
    "lock",
    "parquet_rows",
    "read_jsonl",
    "read_qrels",
    "read_run",
    "read_text",
    "run_line",
    "trec_fault",
    "write_atomic",
    "write_qrels",
    "write_trec",
]

_INFINITY = float("inf")
_BOMS = (  # UTF-32 before UTF-16: the little-endian mark of one begins with that of the other
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_QRELS_FIELDS = (
    ("query-id", "corpus-id", "score"),
    ("query_id", "doc_id", "relevance"),
    ("query_id", "corpus_id", "score"),
    ("query_id", "doc_id", "score"),
    ("qid", "docid", "rel"),
)


def dumps(value: Any, *, indent: int | None = None) -> str:
    """JSON with letters as they are and no NaN: an undefined number must be None before it gets here."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)


def write_atomic(path: Path, text: str) -> None:
    """Write a text file whole or not at all, so that a kill can't leave half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():  # /dev/stdout, or a pipe, which must not be replaced by a file
        path.write_text(text, encoding="utf-8", newline="\n")
        return
    write_whole(path, text.encode())


def lock(file: IO[Any], *, wait: bool) -> bool:
    """Hold an open file for this process alone until it is closed; where the system has no such lock, go without.

    Args:
        file: open for writing.
        wait: until another process lets go, rather than give up.

    Returns:
        Whether the file is ours.
    """
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def read_text(path: Path) -> str:
    """Decode a file: UTF-8, or UTF-16 and UTF-32 when a byte order mark says so; line ends become LF.

    Raises:
        InputError: another encoding. It is refused rather than guessed: an id with a wrong accent matches nothing
            and its query would score zero in silence.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(str(path), f"can't be read: {error.strerror or error}", "check the path") from None
    return decode(str(path), data)


def decode(where: str, data: bytes) -> str:
    """Decode bytes as `read_text` does.

    Raises:
        InputError: another encoding.
    """
    for mark, name in _BOMS:
        if data.startswith(mark):
            data, encoding = data[len(mark) :], name
            break
    else:
        encoding = "utf-8"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        fix = f"convert it: iconv -f WINDOWS-1252 -t UTF-8 {Path(where).name}"
        what = f"byte 0x{data[error.start]:02x} is not valid {encoding.upper()}, perhaps Windows-1252"
        raise InputError(f"{where}:{line}", what, fix) from None
    if "\0" in text:
        what = "holds NUL characters: UTF-16 without a byte order mark, or a binary file"
        raise InputError(where, what, f"convert it: iconv -f UTF-16 -t UTF-8 {Path(where).name}")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines that aren't blank; split at LF alone, since JSON strings may hold U+2028."""
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            yield number, line


def read_jsonl(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read the objects of a JSON Lines file with their line numbers.

    Raises:
        InputError: a line that is not a JSON object, or that holds NaN or an infinity.
    """
    for number, line in _lines(path):
        try:
            row = loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}:{number}", f"not JSON: {error}", "one JSON object a line") from None
        if not isinstance(row, dict):
            raise InputError(f"{path}:{number}", f"a {type(row).__name__}, not a JSON object", "one object a line")
        if "\\u" in line and not is_whole(dumps(row)):
            raise InputError(f"{path}:{number}", "holds half a surrogate pair, which is no character", "mend the text")
        yield number, row


def loads(text: str) -> Any:
    """The inverse of `dumps`: JSON that holds no NaN and no infinity.

    Raises:
        ValueError: it isn't JSON, or holds one of them.
    """
    return json.loads(text, parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")


def read_qrels(path: str | Path) -> dict[str, dict[str, int]]:
    """Read relevance judgments: TREC (`query 0 document grade`), TSV with or without header, JSONL or Parquet.

    Columns are named `query-id`, `corpus-id`, `score` or `query_id`, `doc_id`, `relevance`.

    Raises:
        InputError: a line that isn't a judgment, or two grades for one pair.
    """
    path = Path(path)
    qrels: dict[str, dict[str, int]] = {}
    for where, query, document, grade in _qrels_rows(path):
        if type(grade) is not int:
            number = finite(grade)
            if number is None or number != int(number):
                raise InputError(where, f"grade {grade!r} is not a whole number", "0, 1, 2 …")
            grade = int(number)
        judged = qrels.setdefault(_id(where, "query id", query), {})
        document = _id(where, "document id", document)
        if judged.get(document, grade) != grade:
            raise InputError(where, f"{query} {document} is judged {judged[document]} and {grade}", "keep one")
        judged[document] = grade
    if not qrels:
        raise InputError(str(path), "holds no judgments", "one line a pair: query 0 document grade")
    return qrels


def _id(where: str, field: str, value: Any) -> str:
    """Refuse an id that isn't a string: a number has lost its leading zeros already."""
    if value is None:
        raise InputError(where, f"has no {field}", f'"{field}": "…"')
    if not isinstance(value, str):
        raise InputError(where, f"{field} {value!r} is not a string", f'write "{value}"')
    fault = id_fault(value)
    if fault:
        raise InputError(where, f"{field} {value!r} {fault}", "of white space, ids may hold inner spaces only")
    return value


def _qrels_rows(path: Path) -> Iterator[tuple[str, Any, Any, Any]]:
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        rows: Iterable[tuple[int, dict[str, Any]]] = enumerate(parquet_rows(path), 1)
    elif _is_json(path):
        rows = read_jsonl(path)
    else:
        yield from _qrels_text(path)
        return
    for number, row in rows:
        where = f"{path}:{number}"
        names = next((n for n in _QRELS_FIELDS if all(name in row for name in n)), None)
        if names is None:
            what = f"fields are {', '.join(row) or 'none'}"
            raise InputError(where, what, "needs query-id, corpus-id, score")
        yield where, row[names[0]], row[names[1]], row[names[2]]


def _qrels_text(path: Path) -> Iterator[tuple[str, Any, Any, Any]]:
    order: list[int] | None = None
    for number, line in _lines(path):
        cells = line.rstrip("\n").split("\t") if "\t" in line else line.split()
        cells = [cell.strip() for cell in cells]
        if number == 1:
            heads = [cell.lower() for cell in cells]
            found = [[heads.index(name) for name in names] for names in _QRELS_FIELDS if set(names) <= set(heads)]
            if found:
                order = found[0]
                continue
        if order is not None:
            if len(cells) <= max(order):
                raise InputError(f"{path}:{number}", f"{len(cells)} columns, fewer than the header's", "fill the row")
            query, document, grade = (cells[n] for n in order)
            yield f"{path}:{number}", query, document, grade
        elif len(cells) == 4:
            yield f"{path}:{number}", cells[0], cells[2], cells[3]
        elif len(cells) == 3:
            yield f"{path}:{number}", cells[0], cells[1], cells[2]
        else:
            fix = "4 (query 0 document grade) or 3 (query document grade); ids with spaces need tabs or JSON Lines"
            fix = "commas aren't read: put tabs: query, document, grade; or write JSON Lines" if "," in line else fix
            raise InputError(f"{path}:{number}", many(len(cells), "column"), fix)


def parquet_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Stream the rows of a Parquet file."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            for batch in file.iter_batches():
                yield from batch.to_pylist()
    except (ArrowException, OSError) as error:
        raise InputError(str(path), f"not a readable Parquet file: {error}", "write it again") from None


def read_run(path: str | Path, documents: Mapping[str, Document] | None = None) -> dict[str, list[Hit]]:
    """Read a run: TREC (`query Q0 document rank score tag`) or the project's JSON Lines.

    A JSONL ranking keeps its order. TREC lines are put in order of falling score, ties in the order of the file, as the
    rank column is no part of the format's meaning (trec_eval ignores it too).

    Args:
        path: `.jsonl` for JSON Lines, anything else is TREC.
        documents: fills `Passage.text`; without it passages carry offsets only.

    Raises:
        InputError: a line that isn't a hit, a score that isn't finite, a query given twice.
    """
    path = Path(path)
    if _is_json(path):
        run: dict[str, list[Hit]] = {}
        for number, row in read_jsonl(path):
            where = f"{path}:{number}"
            query = _id(where, "query_id", row.get("query_id"))
            if query in run:
                raise InputError(where, f"query {query!r} stands in the file twice", "one line a query")
            if not isinstance(row.get("hits"), list):
                raise InputError(where, "has no list `hits`", '{"query_id": "q1", "hits": [{"doc_id": …, "score": …}]}')
            run[query] = [_hit(where, i, hit, documents) for i, hit in enumerate(row["hits"])]
    else:
        run = _read_trec(path)
    if not run:
        lines = '{"query_id": …, "hits": […]}' if _is_json(path) else "query Q0 document rank score tag"
        raise InputError(str(path), "holds no ranking", f"its lines are {lines}")
    return run


def finite(value: Any) -> float | None:
    """A finite number; None for anything else, among it what only Python takes for one (`1_000`, other digits)."""
    if isinstance(value, bool) or (isinstance(value, str) and ("_" in value or not value.isascii())):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if -_INFINITY < number < _INFINITY else None


def _is_json(path: Path) -> bool:
    return path.suffix.lower() in (".jsonl", ".json", ".ndjson")


def _score(where: str, value: Any) -> float:
    score = finite(value)
    if score is None:
        raise InputError(where, f"score {value!r} is not a finite number", "a ranking needs finite scores")
    return score


def _hit(where: str, n: int, row: Any, documents: Mapping[str, Document] | None) -> Hit:
    where = f"{where}: hits[{n}]"
    if not isinstance(row, dict):
        raise InputError(where, f"a {type(row).__name__}, not an object", '{"doc_id": …, "score": …}')
    doc_id = _id(where, "doc_id", row.get("doc_id"))
    score = _score(where, row.get("score"))
    if "start" not in row and "end" not in row:
        return Hit(doc_id, score)
    start, end, index = row.get("start"), row.get("end"), row.get("index", 0)
    if not (type(start) is type(end) is type(index) is int and 0 <= start <= end):
        raise InputError(where, f"span {start!r} to {end!r} is not a stretch of text", "0 <= start <= end")
    text = None
    if documents is not None and doc_id in documents:
        whole = documents[doc_id].text
        if end > len(whole):
            what = f"passage ends at {end}, but {doc_id} has {len(whole)} characters"
            raise InputError(where, what, "was the run made on another version of the corpus?")
        text = whole[start:end]
    return Hit(doc_id, score, Passage(doc_id, index, start, end, text))


def _read_trec(path: Path) -> dict[str, list[Hit]]:
    run: dict[str, list[Hit]] = {}
    for number, line in _lines(path):
        cells = line.split()
        if len(cells) not in (5, 6) or (len(cells) == 5 and finite(cells[4]) is None):  # the tag may be missing
            raise InputError(f"{path}:{number}", *trec_fault(line))
        run.setdefault(cells[0], []).append(Hit(cells[2], _score(f"{path}:{number}", cells[4])))
    for hits in run.values():
        hits.sort(key=lambda hit: -hit.score)
    return run


def trec_fault(line: str) -> tuple[str, str]:
    """What is wrong with a line that hasn't the columns of a TREC run, and the next step."""
    fix = "commas aren't read: put blanks or tabs" if "," in line else "ids with spaces need JSON Lines"
    return f"{many(len(line.split()), 'column')}, 6 expected: query Q0 document rank score tag", fix


def run_line(query_id: str, hits: Sequence[Hit]) -> str:
    """One query's ranking as a line of `run.jsonl`.

    >>> run_line("q1", [Hit("a", 2.5), Hit("b", 1.0, Passage("b", 0, 0, 9))])
    '{"query_id": "q1", "hits": [{"doc_id": "a", "score": 2.5}, \
{"doc_id": "b", "score": 1.0, "index": 0, "start": 0, "end": 9}]}'
    """
    rows: list[dict[str, Any]] = []
    for hit in hits:
        row: dict[str, Any] = {"doc_id": hit.doc_id, "score": hit.score}
        if hit.passage is not None:
            row |= {"index": hit.passage.index, "start": hit.passage.start, "end": hit.passage.end}
        rows.append(row)
    return dumps({"query_id": query_id, "hits": rows})


def write_trec(run: Mapping[str, Sequence[Hit]], path: Path, *, tag: str = "canlegalrag") -> None:
    """Write documents as a TREC run: the best passage stands for its document, since TREC ids may not repeat.

    Raises:
        InputError: an id holds white space, or the tag does.
    """
    _columns(path, [tag, *run, *dict.fromkeys(hit.doc_id for hits in run.values() for hit in hits)])
    lines = []
    for query_id, hits in run.items():
        best: dict[str, float] = {}
        for hit in hits:
            best[hit.doc_id] = max(hit.score, best.get(hit.doc_id, hit.score))
        ranked = sorted(best.items(), key=lambda item: -item[1])
        lines += [f"{query_id} Q0 {doc} {r} {s!r} {tag}\n" for r, (doc, s) in enumerate(ranked, 1)]
    write_atomic(path, "".join(lines))


def write_qrels(qrels: Qrels, path: Path) -> None:
    """Write judgments in the TREC format.

    Raises:
        InputError: an id holds white space.
    """
    _columns(path, [*qrels, *dict.fromkeys(document for judged in qrels.values() for document in judged)])
    lines = [f"{q} 0 {d} {grade}\n" for q, judged in qrels.items() for d, grade in judged.items()]
    write_atomic(path, "".join(lines))


def _columns(path: Path, ids: Iterable[str]) -> None:
    """Refuse ids that would be more than one column, or none, in a TREC file."""
    for id_ in ids:
        if id_.split() != [id_]:
            what = f"{id_!r} is blank or holds white space, which a TREC file can't carry"
            raise InputError(str(path), what, "write it as JSON Lines")
