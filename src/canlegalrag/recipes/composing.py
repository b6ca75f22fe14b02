"""Composing: from a recipe to a retriever over a benchmark's documents, with indexes shared between recipes."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from canlegalrag import __version__, backends, chunking
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.files import dumps
from canlegalrag.protocols import Embedder, Retriever
from canlegalrag.recipes.models import Counted, Models
from canlegalrag.recipes.rows import Recipe
from canlegalrag.recipes.settings import BM25_SETTINGS, weights
from canlegalrag.retrievers._passages import Spans, Texts
from canlegalrag.retrievers.bm25 import BM25
from canlegalrag.retrievers.dense import Dense
from canlegalrag.retrievers.dense_store import Damaged, alone
from canlegalrag.retrievers.fused import Fused, Union
from canlegalrag.retrievers.iterative import Iterative, prompt
from canlegalrag.retrievers.reranked import Reranked
from canlegalrag.types import Hit

__all__ = ["Composed", "cache_folder", "compose"]

Progress = Callable[[int], None]


def cache_folder() -> Path:
    """Where indexes and paid replies are kept: `$CANLEGALRAG_CACHE`, else `canlegalrag` in the user's cache folder."""
    if chosen := os.environ.get("CANLEGALRAG_CACHE"):
        return Path(chosen)
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # a user without a home
        base = Path(tempfile.gettempdir())
    return base / "canlegalrag"


@dataclass(frozen=True, slots=True)
class Composed:
    """A retriever made of a recipe, with what it is made of."""

    retriever: Retriever
    """Searches."""
    models: Mapping[str, Counted]
    """Role -> the model in it."""
    indexed: Mapping[str, int]
    """What the embedder did for the index when that was made: `texts`, `truncated`; empty without one."""

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank for each query, as `protocols.Retriever` says."""
        return self.retriever.search(queries, k)

    def record(self) -> dict[str, Any]:
        """What a run says of its models: role -> identity and counts, those of the index apart."""
        found: dict[str, Any] = {}
        for role, model in self.models.items():
            found[role] = {"identity": dict(model.identity), "counts": dict(model.counts)}
            if role == "embedder":
                found[role]["indexed"] = dict(self.indexed)
        if "generator" in self.models:
            found["generator"]["prompt"] = hashlib.sha256(prompt().encode()).hexdigest()
        return found


def compose(
    recipe: Recipe,
    benchmark: Benchmark,
    *,
    cache: Path | None = None,
    progress: Progress | None = None,
    models: Models | None = None,
) -> Composed:
    """Build the retriever of a recipe over a benchmark's documents, or open its indexes from the cache.

    A recipe is read from the inside out: BM25, dense or both; then the reranker over its candidates; then the rounds of
    Iter-RetGen, each of which searches, and reranks where there is a reranker.

    Args:
        recipe: what to build.
        benchmark: whose documents to index.
        cache: folder of indexes; `cache_folder()` by default.
        progress: called with the number of documents indexed since the last call.
        models: where models are loaded once for several recipes.
    """
    models = models or Models()
    indexes = (cache or cache_folder()) / "indexes"
    indexes.mkdir(parents=True, exist_ok=True)
    options = recipe.options
    used: dict[str, Counted] = {role: getattr(models, role)(recipe) for role in backends.ROLES if role in options}
    legs: list[Retriever] = []
    indexed: Mapping[str, int] = {}
    if recipe.retriever != "dense":
        legs.append(_bm25(recipe, benchmark, indexes, progress))
    if recipe.retriever != "bm25":
        dense = _dense(recipe, benchmark, indexes, progress, used["embedder"])
        legs.append(dense)
        indexed = dense.index.counts
        used["embedder"].counts.clear()  # from here on it counts queries
    found = legs[0]
    if len(legs) == 2 and "reranker" in options:
        found = Union(legs)
    elif len(legs) == 2:
        pair = weights(recipe.name, str(options.get("weights", "1:1")))
        found = Fused(legs, c=options.get("c", 60), weights=pair, depth=options.get("depth", 2))
    if "reranker" in options:
        found = Reranked(found, used["reranker"], benchmark.documents, pool=options.get("pool", 4))
    if "rounds" in options:
        tokens = options.get("answer_tokens", 1024)
        found = Iterative(found, used["generator"], benchmark.documents, rounds=options["rounds"], max_tokens=tokens)
    return Composed(found, used, indexed)


def _corpus(benchmark: Benchmark) -> str:
    """What an index is an index of: another corpus has another name, and so never meets it.

    The fingerprint is the same in any order of the documents, an index is not. Checksums fix the order; without them
    it is named where it isn't that of the ids.
    """
    return f"{benchmark.fingerprint[:16]}{(benchmark.checksums or _order(benchmark))[:8]}"


def _order(benchmark: Benchmark) -> str:
    ids = list(benchmark.documents)
    return "" if ids == sorted(ids) else hashlib.sha256(dumps(ids).encode()).hexdigest()


def _remove(path: Path) -> None:
    """Make room for an index where something else, or a damaged one, is in the way."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _bm25(recipe: Recipe, benchmark: Benchmark, indexes: Path, progress: Progress | None) -> Retriever:
    options = {name: value for name, value in recipe.options.items() if name in BM25_SETTINGS}
    # The version is part of the name: another version may cut words or passages differently.
    name = f"{Recipe('', 'bm25', options).identity}-{_corpus(benchmark)}-{__version__}"
    folder = indexes / name
    with alone(folder.with_name(f"{name}.lock")):  # of two that want one index, the second finds what the first made
        if folder.exists() or folder.is_symlink():
            try:
                index = BM25.load(folder)
                if index.ids == tuple(benchmark.documents):
                    return index
            except InputError:
                pass
            _remove(folder)  # damaged, or of other documents: build it again
        _build(options, benchmark, folder, progress)
        return BM25.load(folder)


def _build(options: Mapping[str, Any], benchmark: Benchmark, folder: Path, progress: Progress | None) -> None:
    settings = dict(options)
    spans, texts = _cut(chunking.parse(settings.pop("chunk", "whole")))
    step = _since(progress)
    index = BM25.build(benchmark.documents.values(), passages=spans, texts=texts, progress=step, **settings)
    index.save(folder)


def _dense(recipe: Recipe, benchmark: Benchmark, indexes: Path, progress: Progress | None, embedder: Embedder) -> Dense:
    cut = chunking.parse(str(recipe.options.get("chunk", "whole")))
    dtype = str(recipe.options.get("dtype", "float32"))
    settings = dumps([_corpus(benchmark), str(cut), dict(embedder.identity), dtype, __version__])
    folder = indexes / f"dense-{hashlib.sha256(settings.encode()).hexdigest()[:24]}"
    spans, texts = _cut(cut)
    search = str(recipe.options.get("search", "exact"))
    with alone(folder.with_name(f"{folder.name}.lock")):
        for last in (False, True):
            try:
                made = Dense.build(
                    benchmark.documents,
                    embedder,
                    folder,
                    passages=spans,
                    texts=texts,
                    dtype=dtype,
                    search=search,
                    progress=_since(progress),
                )
                # As of BM25, hits hold offsets alone: texts on disk are read by those who need them.
                return replace(made, documents=None)
            except Damaged:  # and nothing else: what is there may have taken days, or money
                if last:
                    raise
                _remove(folder)
    raise AssertionError


def _cut(cut: chunking.Chunking) -> tuple[Spans | None, Texts | None]:
    """How documents are cut, and what is read for each passage where it isn't the stretch of text itself."""
    spans = None if cut.method == "whole" else lambda document: cut(document.text)
    return spans, (lambda document: _paper_texts(cut, document.text)) if cut.method == "paper" else None


def _paper_texts(cut: chunking.Chunking, text: str) -> list[str]:
    """The published chunks; none of a text without content, which has no passages."""
    return [] if text.isspace() else chunking.paper_texts(text, cut.size, cut.overlap)


def _since(progress: Progress | None) -> Progress | None:
    """From the total so far to what came since the last call."""
    read = 0

    def step(total: int) -> None:
        nonlocal read
        if progress:
            progress(total - read)
        read = total

    return step if progress else None
