"""Recipes: a row of `baselines/retrieval.toml`, a TOML file or a short form, composed into a retriever."""

import difflib
import hashlib
import json
import math
import os
import shutil
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from canlegalrag import __version__, chunking
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.files import lock
from canlegalrag.protocols import Retriever
from canlegalrag.retrievers.bm25 import BM25
from canlegalrag.retrievers.bm25_weights import variant
from canlegalrag.text import encode

__all__ = ["Recipe", "cache_folder", "compose", "parse", "published"]

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Recipe:
    """One retrieval configuration."""

    name: str
    """What the tables call it."""
    retriever: str
    """Kind of retriever (`bm25`)."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Its settings: for `bm25` variant, tokenizer, chunk, k1, b, delta."""
    note: str = ""
    """Why the row is there."""

    @property
    def identity(self) -> str:
        """Twelve hexadecimal digits that differ where the settings do, whatever the name."""
        settings = json.dumps([self.retriever, dict(sorted(self.options.items()))])
        return hashlib.sha256(settings.encode()).hexdigest()[:12]


def published() -> dict[str, Recipe]:
    """Recipe name -> recipe, for each row of `baselines/retrieval.toml`."""
    packaged = Path(str(files("canlegalrag"))) / "baselines" / "retrieval.toml"
    path = packaged if packaged.exists() else Path(__file__).parents[2] / "baselines" / "retrieval.toml"
    return {recipe.name: recipe for recipe in _rows(path)}


def _rows(path: Path) -> list[Recipe]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(str(path), f"can't be read as TOML: {error}", "see baselines/retrieval.toml") from None
    rows = data.get("recipe", [data])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(str(path), "has no [[recipe]] table", "see baselines/retrieval.toml")
    return [_recipe(f"{path}: row {n}", {"name": path.stem, **row}) for n, row in enumerate(rows, 1)]


def _recipe(where: str, row: Mapping[str, Any]) -> Recipe:
    kind = row.get("retriever")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise InputError(where, f"retriever {kind!r} is unknown", f"one of {', '.join(_KINDS)}")
    options = {k: v for k, v in row.items() if k not in ("name", "retriever", "note")}
    for key, value in options.items():
        if type(value) not in (str, int, float) or (type(value) is float and not math.isfinite(value)):
            raise InputError(where, f"{key} = {value!r} is neither text nor a finite number")
    unknown = options.keys() - _KINDS[kind].settings
    if unknown:
        what = f"unknown setting {', '.join(sorted(unknown))}"
        raise InputError(where, what, f"{kind} has {', '.join(sorted(_KINDS[kind].settings))}")
    if "chunk" in options:
        options["chunk"] = _chunk(options["chunk"])
    _KINDS[kind].check(where, options)
    return Recipe(str(row["name"]), kind, options, str(row.get("note", "")))


def _chunk(value: Any) -> str:
    """The full form of a chunking, as it counts for the identity: `4096` is `recursive:4096:128`."""
    text = str(value)
    if not text.isdigit():
        return str(chunking.parse(text))
    return str(chunking.parse(f"recursive:{text}:{min(128, int(text) // 8)}"))


def parse(text: str) -> Recipe:
    """Find or read a recipe.

    Args:
        text: the name of a row of `baselines/retrieval.toml`, a path to a TOML file with one row, or a short form: a
            name and changes to its settings (`bm25l:chunk=4096,b=0.4`).

    Raises:
        InputError: no such recipe, file or setting; near names are listed.

    >>> parse("bm25l:chunk=4096").options["chunk"]
    'recursive:4096:128'
    """
    if text.endswith(".toml"):
        rows = _rows(Path(text))
        if len(rows) != 1:
            raise InputError(text, f"holds {len(rows)} recipes", "keep one row, or name one of the package's")
        return rows[0]
    known = published()
    base, _, changes = text.partition(":")
    if base not in known:
        near = difflib.get_close_matches(base, known, 3, 0.4) or list(known)[:5]
        raise InputError(f"recipe {base!r}", "is unknown", f"near: {', '.join(near)}; `canlegalrag recipes` lists them")
    recipe = known[base]
    if not changes:
        return recipe
    row: dict[str, Any] = {"name": text, "retriever": recipe.retriever, **recipe.options}
    for change in changes.split(","):
        key, equals, value = change.partition("=")
        if not equals or not value:
            raise InputError(f"recipe {text!r}", f"{change!r} is not setting=value", "for example bm25l:chunk=4096")
        if changes.count(f"{key}=") > 1:
            raise InputError(f"recipe {text!r}", f"sets {key.strip()!r} twice", "keep one")
        row[key.strip()] = _number(value.strip())
    return _recipe(f"recipe {text!r}", row)


def _number(value: str) -> Any:
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            pass
    return value


def cache_folder() -> Path:
    """Where indexes are kept: `$CANLEGALRAG_CACHE`, else `canlegalrag` in the user's cache folder."""
    if chosen := os.environ.get("CANLEGALRAG_CACHE"):
        return Path(chosen)
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # a user without a home
        base = Path(tempfile.gettempdir())
    return base / "canlegalrag"


def compose(
    recipe: Recipe, benchmark: Benchmark, *, cache: Path | None = None, progress: Progress | None = None
) -> Retriever:
    """Build the retriever of a recipe over a benchmark's documents, or load its index from the cache.

    Args:
        recipe: what to build.
        benchmark: whose documents to index.
        cache: folder of indexes; `cache_folder()` by default.
        progress: called with the number of documents indexed since the last call.
    """
    # The version is part of the name: another version may cut words or passages differently.
    name = f"{recipe.identity}-{benchmark.fingerprint[:16]}{benchmark.checksums[:8]}-{__version__}"
    folder = (cache or cache_folder()) / "indexes" / name
    return _KINDS[recipe.retriever].make(recipe.options, benchmark, folder, progress)


def _bm25(options: Mapping[str, Any], benchmark: Benchmark, folder: Path, progress: Progress | None) -> Retriever:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as held:
        lock(held, wait=True)  # two processes that want one index: the second finds what the first made
        if folder.exists():
            try:
                index = BM25.load(folder)
                if index.ids == tuple(benchmark.documents):
                    return index
            except InputError:
                pass
            shutil.rmtree(folder)  # damaged, or of other documents: build it again
        _build(options, benchmark, folder, progress)
        return BM25.load(folder)


def _build(options: Mapping[str, Any], benchmark: Benchmark, folder: Path, progress: Progress | None) -> None:
    settings = dict(options)
    cut = chunking.parse(settings.pop("chunk", "whole"))
    spans = None if cut.method == "whole" else lambda document: cut(document.text)
    read = 0

    def step(total: int) -> None:
        nonlocal read
        if progress:
            progress(total - read)
        read = total

    texts = (lambda d: chunking.paper_texts(d.text, cut.size, cut.overlap)) if cut.method == "paper" else None
    index = BM25.build(benchmark.documents.values(), passages=spans, texts=texts, progress=step, **settings)
    index.save(folder)


def _check_bm25(where: str, options: Mapping[str, Any]) -> None:
    """Refuse settings before anything is read or written."""
    numbers = {key: options[key] for key in ("k1", "b", "delta") if key in options}
    for key, value in numbers.items():
        if isinstance(value, str) or abs(value) > 1e6:
            raise InputError(where, f"{key} = {value!r} is no sensible number")
    variant(str(options.get("variant", "lucene")), **numbers)
    encode([], str(options.get("tokenizer", "legal")))


class _Kind(NamedTuple):
    """A kind of retriever."""

    make: Callable[[Mapping[str, Any], Benchmark, Path, Progress | None], Retriever]
    """From settings, documents, a folder for the index and a progress callback."""
    settings: set[str]
    """Names of its settings."""
    check: Callable[[str, Mapping[str, Any]], None]
    """Raises `InputError` for values that can't be."""


_KINDS: dict[str, _Kind] = {
    "bm25": _Kind(_bm25, {"variant", "tokenizer", "chunk", "k1", "b", "delta"}, _check_bm25),
}
"""Kind of retriever -> how to make and check one."""
