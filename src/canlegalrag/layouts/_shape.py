"""What the published layout is: its columns, its files, and which of the files in a folder are read."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from canlegalrag.types import Problem

__all__ = ["CONFIGS", "NEEDED", "SCHEMAS", "Choice", "choose", "found", "label", "usable"]

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
        + [("block", pa.string()), ("variant", pa.string()), ("same_facts", pa.bool_())]
        + [("dataset", pa.string()), ("excluded", _strings)]
    ),
    "qrels": pa.schema([("query-id", pa.string()), ("corpus-id", pa.string()), ("score", pa.int16())]),
    "answers": pa.schema(
        [("query-id", pa.string()), ("text", pa.string()), ("parts", _strings), ("citations", _strings)]
    ),
    "snippets": pa.schema(
        [("query-id", pa.string()), ("corpus-id", pa.string())]
        + [("start", pa.int32()), ("end", pa.int32()), ("text", pa.string())]
    ),
    "claims": pa.schema(
        [("query_id", pa.string()), ("index", pa.int32()), ("text", pa.string())]
        + [("start", pa.int32()), ("end", pa.int32())]
    ),
    "pairs": pa.schema(
        [("id", pa.string()), ("claim", pa.string()), ("doc_id", pa.string())]
        + [("start", pa.int32()), ("end", pa.int32()), ("evidence", pa.string())]
        + [("label", pa.string()), ("kind", pa.string()), ("note", pa.string())]
    ),
}
"""Arrow schema of each kind of file."""

NEEDED: dict[str, tuple[str, ...]] = {
    "corpus": ("_id",),
    "queries": ("_id",),
    "qrels": ("query-id", "corpus-id", "score"),
    "answers": ("query-id",),
    "snippets": ("query-id", "corpus-id", "start", "end", "text"),
    "claims": ("query_id", "index", "text"),
    "pairs": ("id", "claim", "doc_id", "start", "end", "evidence", "label"),
}
"""Columns without which no row of a file means anything; `text` is needed too, but its lack leaves the rows."""

CONFIGS: dict[str, tuple[str, ...]] = {
    "queries": ("data/queries.parquet",),
    "corpus": ("data/corpus/gold.parquet", "data/corpus/distractors.parquet"),
    "gold_documents": ("data/corpus/gold.parquet",),
    "distractors": ("data/corpus/distractors.parquet",),
    "answers": ("data/answers.parquet",),
    "qrels": ("data/qrels.parquet",),
    "snippets": ("data/snippets.parquet",),
    "claims": ("data/claims.parquet",),
    "pairs": ("data/pairs.parquet",),
}
"""Config -> files that `canlegalrag build` writes; the first is the default, the last two only where there are any."""

_SPLIT = re.compile(r"(?:^|[-_.])(train|dev|val|test)(?:ing|elopment|id|idation)?\d*(?=$|[-_.])")


def label(path: Path) -> str:
    """A file's name with its folder, as `qrels/test.parquet` and `corpus/test.parquet` are both `test.parquet`."""
    return "/".join(path.parts[-2:])


def found(folder: Path, config: str) -> list[Path]:
    """Files of a config: where `build` puts them, and where hand-made folders usually have them."""
    paths = [folder / name for name in CONFIGS[config]]
    for base in (folder, folder / "data"):
        paths += [base / f"{config}.parquet", *sorted(base.glob(f"{config}-*.parquet"))]
        paths += sorted((base / config).glob("*.parquet"))
    return list(dict.fromkeys(p for p in paths if p.exists() and not p.name.startswith((".", "_"))))


@dataclass(slots=True)
class Choice:
    """Which files of a config are read."""

    read: list[Path] = field(default_factory=list)
    """Those that are."""
    left: list[Path] = field(default_factory=list)
    """Those of other splits than `test`."""


def choose(folder: Path, config: str, problems: list[Problem], *, listed: bool) -> Choice:
    """Choose the files of a config; what is not read is named.

    Args:
        folder: where the benchmark lies.
        config: a name in `SCHEMAS`.
        problems: where faults are added.
        listed: whether a manifest lists the files; then only those that `build` writes are read.
    """
    here = []
    for path in found(folder, config):
        if path.is_file():
            here.append(path)
        else:
            problems.append(Problem(label(path), "is not a regular file", "take it away"))
    ours = [path for name in CONFIGS[config] if (path := folder / name) in here]
    if listed and ours:
        for path in here:
            if path not in ours:
                what = "is not in the manifest, and is not read"
                problems.append(Problem(label(path), what, "take it away, or build the folder again with it"))
        return Choice(ours)
    return _test_split(config, here, problems)


def _test_split(config: str, here: list[Path], problems: list[Problem]) -> Choice:
    """Leave out the files whose names say `train` or `dev`, where others say `test`."""
    said = {path: set(_SPLIT.findall(path.stem.lower())) for path in here}
    splits = set().union(*said.values())
    if "test" not in splits:
        if len(splits) > 1:
            what = f"holds the splits {' and '.join(sorted(splits))}, but no test"
            problems.append(Problem(config, what, "say which one is meant: name its files test-….parquet"))
        return Choice(here)
    read = [path for path in here if "test" in said[path] or not said[path]]
    choice = Choice(read, [path for path in here if path not in read])
    what = "is not the test split: not read"
    problems.extend(Problem(label(path), what, fatal=False) for path in choice.left)
    return choice


def usable(where: str, schema: pa.Schema, config: str, problems: list[Problem]) -> list[str] | None:
    """Columns of a file that can be read as the config's; None where one that every row needs can't be.

    Dictionary-encoded and large strings are strings. Numbers as ids are a fault, but can be read.
    """
    columns: list[str] = []
    for wanted in SCHEMAS[config]:
        places = schema.get_all_field_indices(wanted.name)
        needed = wanted.name in NEEDED[config]
        if not places:
            if needed or wanted.name == "text":
                held = ", ".join(schema.names[:12]) or "no columns"
                problems.append(Problem(where, f"has no column {wanted.name!r}", f"it has {held}"))
        elif len(places) > 1:
            problems.append(Problem(where, f"column {wanted.name!r} stands in it {len(places)} times", "keep one"))
        else:
            kind = schema.field(places[0]).type
            as_number = wanted.name.endswith("id") and pa.types.is_integer(kind)
            if not _fits(kind, wanted.type):
                what = f"{wanted.name} is {kind}, not {_plain(wanted.type)}"
                what = f"ids must be strings: {wanted.name} is {kind}" if wanted.name.endswith("id") else what
                problems.append(Problem(where, what, "write the column anew"))
            if _fits(kind, wanted.type) or as_number:
                columns.append(wanted.name)
    return columns if set(NEEDED[config]) <= set(columns) else None


def _plain(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return "lists of strings"
    return "whole numbers" if pa.types.is_integer(kind) else "strings" if pa.types.is_string(kind) else str(kind)


def _fits(kind: pa.DataType, wanted: pa.DataType) -> bool:
    types = pa.types
    if types.is_null(kind):
        return True
    if types.is_list(wanted):
        lists = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
        return bool(lists and _fits(kind.value_type, wanted.value_type))
    if types.is_string(wanted):
        kind = kind.value_type if types.is_dictionary(kind) else kind
        return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))
    if types.is_boolean(wanted):
        return bool(types.is_boolean(kind))
    return bool(types.is_integer(kind) or types.is_floating(kind))  # pandas makes floats of whole numbers with gaps
