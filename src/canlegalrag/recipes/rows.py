"""Rows: a configuration of `baselines/retrieval.toml`, of a TOML file or of a short form, read and checked."""

import difflib
import hashlib
import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from canlegalrag.errors import InputError
from canlegalrag.plain import id_fault
from canlegalrag.recipes.naming import derived
from canlegalrag.recipes.settings import KINDS, checked

__all__ = ["TABLES", "Recipe", "averages", "baseline", "match", "offline", "parse", "published"]

TABLES = ("paper", "open")
"""Tables of `baselines/retrieval.toml`: the paper's configurations, and those that run without a key or a GPU."""

_ABOUT = ("name", "retriever", "note", "paper", "assumed")  # what isn't a setting
_STAND_INS = {"embedder": "offline/hashing", "reranker": "offline/overlap", "generator": "offline/extractive"}


@dataclass(frozen=True, slots=True)
class Recipe:
    """One retrieval configuration."""

    name: str
    """What the tables call it."""
    retriever: str
    """Kind of retriever: `bm25`, `dense` or `hybrid`."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Its settings, as `recipes.settings` has them."""
    note: str = ""
    """Why the row is there."""
    table: str = ""
    """`paper` or `open`; empty for a row of one's own."""
    paper: Mapping[str, float] = field(default_factory=dict)
    """Measure -> the paper's figure, where one is known."""
    assumed: bool = False
    """Whether no public text names this configuration, so that its settings follow from its neighbours'."""

    @property
    def identity(self) -> str:
        """Twelve hexadecimal digits that differ where the settings do, whatever the name."""
        settings = json.dumps([self.retriever, dict(sorted(self.options.items()))])
        return hashlib.sha256(settings.encode()).hexdigest()[:12]


def published() -> dict[str, Recipe]:
    """Recipe name -> recipe, for each row of `baselines/retrieval.toml`."""
    return dict(_published())


def averages() -> dict[str, float]:
    """Method -> the paper's recall@10 averaged over its rows of that method, in its own way of counting."""
    return dict(_read(baseline("retrieval.toml")).get("averages", {}).get("paper_recall@10", {}))


def baseline(name: str) -> Path:
    """Where a file of `baselines/` is: in the installed package, or in the clone."""
    packaged = Path(str(files("canlegalrag"))) / "baselines" / name
    return packaged if packaged.exists() else Path(__file__).parents[3] / "baselines" / name


@cache
def _published() -> dict[str, Recipe]:
    path = baseline("retrieval.toml")
    data = _read(path)
    found: dict[str, Recipe] = {}
    for table in TABLES:
        for recipe in _rows(path, data, table):
            if recipe.name in found:
                raise InputError(f"{path}: {recipe.name}", "stands on two rows", "keep one")
            if recipe.name != derived(recipe.retriever, recipe.options):
                right = derived(recipe.retriever, recipe.options)
                raise InputError(f"{path}: {recipe.name}", "isn't what its settings are called", f"name it {right!r}")
            found[recipe.name] = replace(recipe, table=table)
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(str(path), f"can't be read as TOML: {error}", "see baselines/retrieval.toml") from None


def _rows(path: Path, data: Mapping[str, Any], table: str) -> list[Recipe]:
    rows = data.get(table, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(str(path), f"{table} is no list of rows", "see baselines/retrieval.toml")
    return [_recipe(f"{path}: {row.get('name', f'row {n}')}", row) for n, row in enumerate(rows, 1)]


def _recipe(where: str, row: Mapping[str, Any]) -> Recipe:
    kind = row.get("retriever")
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(where, f"retriever {kind!r} is unknown", f"one of {', '.join(KINDS)}")
    options = checked(where, kind, {k: v for k, v in row.items() if k not in _ABOUT})
    name, note, paper, assumed = (
        row.get(k, d) for k, d in (("name", ""), ("note", ""), ("paper", {}), ("assumed", False))
    )
    if not isinstance(name, str) or not isinstance(note, str) or not isinstance(assumed, bool):
        raise InputError(where, "name and note are text, assumed is true or false")
    if name and (fault := id_fault(name)):
        raise InputError(where, f"name {name!r} {fault}", "a line of text")
    if not isinstance(paper, dict) or not all(type(v) is float and math.isfinite(v) for v in paper.values()):
        raise InputError(where, f"paper = {paper!r} isn't measures with their figures", '{ "paper_recall@10" = 0.4 }')
    name = name or derived(kind, options)
    if "offline" not in name and any(str(options.get(role)).startswith("offline/") for role in _STAND_INS):
        name += " (offline)"  # whatever a row calls itself: a stand-in's scores never look like a model's
    return Recipe(name, kind, options, note, paper=paper, assumed=assumed)


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
        return _own(Path(text))
    known = _published()
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


def _own(path: Path) -> Recipe:
    data = _read(path)
    rows = data.get("recipe", [data])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(str(path), "has no [[recipe]] table", "see baselines/retrieval.toml")
    if len(rows) != 1:
        raise InputError(str(path), f"holds {len(rows)} recipes", "keep one row, or name one of the package's")
    recipe = _recipe(str(path), {"name": path.stem, **rows[0]})
    known = _published().get(recipe.name)
    if known and known.identity != recipe.identity:
        what = f"{recipe.name!r} is the name of a row of the package with other settings"
        raise InputError(str(path), what, 'give it a name of its own: name = "…"')
    return recipe


def _number(value: str) -> Any:
    for kind in (int, float) if value.isascii() else ():
        try:
            return kind(value)
        except ValueError:
            pass
    return value


def match(patterns: list[str], table: str | None = None) -> list[Recipe]:
    """The published rows whose names match any of the patterns (`*` and `?`), or recipes as `parse` reads them.

    Args:
        patterns: none for all rows.
        table: only the rows of this table; a recipe that is named in full is taken from any.

    Raises:
        InputError: a pattern that matches nothing, an unknown table, two rows of one name.

    >>> [recipe.name for recipe in match(["bm25l-*"])]
    ['bm25l-1024', 'bm25l-2048', 'bm25l-4096', 'bm25l-8192']
    """
    if table is not None and table not in TABLES:
        raise InputError(f"table {table!r}", "is unknown", f"one of {', '.join(TABLES)}")
    rows = {name: recipe for name, recipe in _published().items() if table in (None, recipe.table)}
    found: dict[str, Recipe] = {}
    for pattern in patterns or ["*"]:
        if not set("*?") & set(pattern):
            recipe = parse(pattern)
            if found.setdefault(recipe.name, recipe).identity != recipe.identity:
                raise InputError(pattern, f"{recipe.name!r} is the name of another row too", "give each its own name")
            continue
        matched = {name: recipe for name, recipe in rows.items() if fnmatchcase(name, pattern)}
        if not matched:
            raise InputError(f"pattern {pattern!r}", "matches no recipe", "`canlegalrag recipes` lists them")
        found |= matched
    return list(found.values())


def offline(recipe: Recipe) -> Recipe:
    """The same configuration with every model replaced by its offline stand-in, under a name that says so.

    It shows that a configuration runs, without a key, a GPU or a download; its scores say nothing of the real one.

    >>> offline(parse("paper-gemini-embedding-2-4096-irg")).options["generator"]
    'offline/extractive'
    """
    changed = {key: value for key, value in _STAND_INS.items() if key in recipe.options}
    if not changed:
        return recipe
    # Prompts and dimensions are those of the model that is gone.
    kept = {k: v for k, v in recipe.options.items() if k not in ("query_prompt", "document_prompt", "dim", "precision")}
    return replace(recipe, name=f"{recipe.name} (offline)", options={**kept, **changed}, table="", paper={})
