"""The layout in which the benchmark is published: one Parquet file a config, with explicit Arrow types.

The column names are those that MTEB's retrieval loader reads unchanged (`_id`, `title`, `text`; `query-id`,
`corpus-id`, `score`). The corpus stays on disk and is read a row group at a time.
"""

import bisect
import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow.parquet import ParquetFile, ParquetWriter

from canlegalrag.errors import InputError
from canlegalrag.layouts import Content, first_repeat
from canlegalrag.types import Answer, Document, Problem, Query, Snippet

__all__ = ["CONFIGS", "SCHEMAS", "Documents", "matches", "read", "sha256", "write_table"]

_strings = pa.list_(pa.string())
# Written out, since pandas 3 and Polars would infer large_string and int64.
SCHEMAS: dict[str, pa.Schema] = {
    "corpus": pa.schema(
        [("_id", pa.string()), ("title", pa.string()), ("text", pa.string()), ("court", pa.string())]
        + [("year", pa.int16()), ("jurisdiction", pa.string()), ("language", pa.string())]
        + [("url", pa.string()), ("licence", pa.string()), ("citations", _strings)]
    ),
    "queries": pa.schema(
        [("_id", pa.string()), ("text", pa.string()), ("province", pa.string()), ("persona", pa.string())]
        + [("block", pa.string()), ("variant", pa.string()), ("same_facts", pa.bool_()), ("excluded", _strings)]
    ),
    "qrels": pa.schema([("query-id", pa.string()), ("corpus-id", pa.string()), ("score", pa.int16())]),
    "answers": pa.schema(
        [("query-id", pa.string()), ("text", pa.string()), ("parts", _strings), ("citations", _strings)]
    ),
    "snippets": pa.schema(
        [("query-id", pa.string()), ("corpus-id", pa.string())]
        + [("start", pa.int32()), ("end", pa.int32()), ("text", pa.string())]
    ),
}
"""Arrow schema of each kind of file."""

CONFIGS: dict[str, tuple[str, ...]] = {
    "queries": ("data/queries.parquet",),
    "corpus": ("data/corpus/gold.parquet", "data/corpus/distractors.parquet"),
    "gold_documents": ("data/corpus/gold.parquet",),
    "distractors": ("data/corpus/distractors.parquet",),
    "answers": ("data/answers.parquet",),
    "qrels": ("data/qrels.parquet",),
    "snippets": ("data/snippets.parquet",),
}
"""Config -> files that `canlegalrag build` writes; the first is the default."""

_ROW_GROUP = 64  # documents: small, so that reading one decision doesn't decode many
_CACHED_GROUPS = 8


def matches(folder: Path) -> bool:
    """Say whether the folder holds Parquet in our layout or in MTEB's."""
    return bool(_files(folder, "corpus") and _files(folder, "queries") and _files(folder, "qrels"))


def _files(folder: Path, config: str) -> list[Path]:
    """Files of a config: where `build` puts them, or where hand-made folders usually have them."""
    ours = [folder / name for name in CONFIGS[config] if (folder / name).exists()]
    if ours:
        return ours
    places = [folder / f"{config}.parquet", folder / "data" / f"{config}.parquet"]
    for place in places:
        if place.exists():
            return [place]
    return sorted(p for base in (folder, folder / "data") for p in (base / config).glob("*.parquet"))


def write_table(path: Path, config: str, rows: Iterable[dict[str, Any]]) -> int:
    """Stream rows into a Parquet file with the config's schema; gives the number of rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    schema, n, rows = SCHEMAS[config], 0, iter(rows)
    with ParquetWriter(path, schema, compression="zstd", write_page_index=True) as writer:
        size = _ROW_GROUP if config == "corpus" else 10_000
        while batch := list(islice(rows, size)):
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
            n += len(batch)
    return n


def sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Documents(Mapping[str, Document]):
    """A corpus in Parquet files: document id -> document, in the order of the files, few row groups in memory.

    Iterating over `values()` decodes each row group once. Safe to share between threads.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._files = [_open(path) for path in paths]
        self._groups: list[tuple[ParquetFile, int]] = []
        self._firsts: list[int] = []
        ids: list[str] = []
        for file in self._files:
            names = set(file.schema_arrow.names)
            for group in range(file.num_row_groups):
                self._firsts.append(len(ids))
                self._groups.append((file, group))
                ids += file.read_row_group(group, columns=["_id"]).column(0).to_pylist()
            self._columns = [name for name in SCHEMAS["corpus"].names if name in names]
        self.repeated = first_repeat(ids)
        """Ids that stand in the files more than once; the last one is read."""
        self._rows = {id_: row for row, id_ in enumerate(ids)}
        self._cache: OrderedDict[int, list[dict[str, Any]]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __getitem__(self, key: str) -> Document:
        row = self._rows[key]
        group = bisect.bisect_right(self._firsts, row) - 1
        with self._lock:
            if group not in self._cache:
                file, number = self._groups[group]
                self._cache[group] = file.read_row_group(number, columns=self._columns).to_pylist()
                if len(self._cache) > _CACHED_GROUPS:
                    self._cache.popitem(last=False)
            fields = dict(self._cache[group][row - self._firsts[group]])
        fields["id"] = fields.pop("_id")
        fields["citations"] = tuple(fields.get("citations") or ())
        for name, value in fields.items():
            if value is None and name != "year":
                fields[name] = ""
        return Document(**fields)


def _open(path: Path) -> ParquetFile:
    try:
        return ParquetFile(path, memory_map=True)
    except (pa.ArrowException, OSError) as error:
        raise InputError(str(path), f"not a readable Parquet file: {error}", "build it again") from None


def _rows(folder: Path, config: str, problems: list[Problem]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in _files(folder, config):
        file = _open(path)
        wrong = [
            f"{field.name} is {file.schema_arrow.field(field.name).type}"
            for field in SCHEMAS[config]
            if field.name.endswith("id")
            and field.name in file.schema_arrow.names
            and not pa.types.is_string(file.schema_arrow.field(field.name).type)
            and not pa.types.is_large_string(file.schema_arrow.field(field.name).type)
        ]
        if wrong:
            problems.append(Problem(str(path), f"ids must be strings: {', '.join(wrong)}", "write them as strings"))
        number = 0
        for batch in file.iter_batches():
            for row in batch.to_pylist():
                number += 1
                yield f"{path.name}:{number}", {k: str(v) if k.endswith("id") else v for k, v in row.items()}


def read(folder: Path) -> Content:
    """Read a folder in the published layout; the corpus stays on disk."""
    problems: list[Problem] = []
    documents = Documents(_files(folder, "corpus"))
    problems += [Problem(f"corpus: {i}", f"document id is used {n} times") for i, n in documents.repeated.items()]
    content = Content(documents, {}, {}, name=folder.resolve().name, problems=problems)
    known = set(Query.__dataclass_fields__)
    queries: dict[str, Query] = {}
    for where, row in _rows(folder, "queries", problems):
        fields = {"id" if k == "_id" else k: v for k, v in row.items()}
        fields = {k: "" if v is None and k != "same_facts" else v for k, v in fields.items() if k in known}
        fields["excluded"] = tuple(fields.get("excluded") or ())
        if fields["id"] in queries:
            problems.append(Problem(where, f"query id {fields['id']!r} is used twice"))
        queries[fields["id"]] = Query(**fields)
    qrels: dict[str, dict[str, int]] = {}
    for where, row in _rows(folder, "qrels", problems):
        judged = qrels.setdefault(row["query-id"], {})
        if row["corpus-id"] in judged:
            problems.append(Problem(where, f"{row['query-id']} {row['corpus-id']} is judged twice", "keep one"))
        judged[row["corpus-id"]] = int(row["score"])
    content.queries, content.qrels = queries, qrels
    content.answers = {
        row["query-id"]: Answer(
            row["query-id"], row["text"], tuple(row.get("parts") or ()), citations=tuple(row.get("citations") or ())
        )
        for _, row in _rows(folder, "answers", problems)
    }
    content.snippets = tuple(
        Snippet(row["query-id"], row["corpus-id"], row["start"], row["end"], row["text"])
        for _, row in _rows(folder, "snippets", problems)
    )
    _manifest(folder, content)
    return content


def _manifest(folder: Path, content: Content) -> None:
    """Take name and fingerprint from `manifest.json`, once its checksums are seen to hold."""
    path = folder / "manifest.json"
    if not path.exists():
        return
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        content.name, content.about = manifest["name"], manifest["about"]
        faults = [fault for name, entry in manifest["files"].items() if (fault := _fault(folder / name, entry))]
        if not faults and not manifest["problems"]:
            content.fingerprint = manifest["fingerprint"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        faults = [Problem(str(path), f"is not a manifest: {error!r}", "build the folder again")]
    content.problems += faults


def _fault(file: Path, entry: Mapping[str, Any]) -> Problem | None:
    if not file.exists():
        return Problem(str(file), "is in the manifest but not in the folder", "build the folder again")
    if sha256(file) != entry["sha256"]:
        return Problem(str(file), "differs from its checksum in the manifest", "build the folder again")
    return None


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
