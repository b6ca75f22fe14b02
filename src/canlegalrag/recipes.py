"""Recipes: a row of `baselines/retrieval.toml`, a TOML file or a short form, composed into a retriever."""

import difflib
import hashlib
import json
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from canlegalrag import __version__, chunking
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.protocols import Retriever
from canlegalrag.retrievers.bm25 import BM25

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
    if kind not in _KINDS:
        raise InputError(where, f"retriever {kind!r} is unknown", f"one of {', '.join(_KINDS)}")
    options = {k: v for k, v in row.items() if k not in ("name", "retriever", "note")}
    unknown = options.keys() - _KINDS[kind][1]
    if unknown:
        what = f"unknown setting {', '.join(sorted(unknown))}"
        raise InputError(where, what, f"{kind} has {', '.join(sorted(_KINDS[kind][1]))}")
    if "chunk" in options:
        options["chunk"] = _chunk(options["chunk"])
    return Recipe(str(row["name"]), kind, options, str(row.get("note", "")))


def _chunk(value: Any) -> str:
    """The full form of a chunking, as it counts for the identity: `4096` is `recursive:4096:128`."""
    text = str(value)
    return str(chunking.parse(f"recursive:{text}" if text.isdigit() else text))


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
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "canlegalrag"


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
    name = f"{recipe.identity}-{benchmark.fingerprint[:16]}-{__version__}"
    folder = (cache or cache_folder()) / "indexes" / name
    return _KINDS[recipe.retriever][0](recipe.options, benchmark, folder, progress)


def _bm25(options: Mapping[str, Any], benchmark: Benchmark, folder: Path, progress: Progress | None) -> Retriever:
    if folder.exists():
        try:
            return BM25.load(folder)
        except InputError:
            pass  # made by another version, or damaged: build it again
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
    return BM25.load(folder)


_KINDS: dict[str, tuple[Callable[[Mapping[str, Any], Benchmark, Path, Progress | None], Retriever], set[str]]] = {
    "bm25": (_bm25, {"variant", "tokenizer", "chunk", "k1", "b", "delta"}),
}
"""Kind of retriever -> how to make one, and its settings."""
