"""Retrievers that run here: each composed when it is first asked for, then kept, for many visitors at once."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from canlegalrag import recipes
from canlegalrag.backends._models import folder_of
from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import CanLegalRAGError, InputError
from canlegalrag.near import Near
from canlegalrag.recipes import Composed, Models, Recipe
from canlegalrag.recipes.naming import derived
from canlegalrag.retrievers.bm25 import BM25
from canlegalrag.text import terms

__all__ = ["Retrievers", "usable"]

_PLAIN = "bm25"
"""Whose index also says how common words are."""
_FIRST = ("bm25", "bm25l", "okapi", "bm25-1024", "paper-bm25l-1024", "wordllama-1024", "hybrid-bm25-wordllama-1024")
"""A short list to begin with, before all others."""


def usable() -> dict[str, Recipe]:
    """Recipe name -> recipe, of those that run here and now without a key, a GPU or a download.

    Those that most people want come first, among them a hybrid whose embedder only hashes words, so that there is one
    on every machine; then the rest of the open table.
    """
    known = recipes.published()
    stand_in = recipes.offline(known["hybrid-bm25-wordllama-1024"])
    stand_in = replace(stand_in, name=derived(stand_in.retriever, stand_in.options))
    chosen = [*(known[name] for name in _FIRST), stand_in]
    chosen += [recipe for recipe in known.values() if recipe.table == "open"]
    return {r.name: r for r in chosen if not recipes.blocked(r) and not recipes.estimate(r).paid and _at_hand(r)}


def _at_hand(recipe: Recipe) -> bool:
    """Whether no model of a recipe would have to be fetched from the Hub first."""
    names = [str(recipe.options[role]) for role in ("embedder", "reranker", "generator") if role in recipe.options]
    return all(_cached(name) for name in names)


def _cached(name: str) -> bool:
    provider, _, model = name.partition("/")
    if provider != "huggingface" or folder_of(model) is not None:
        return True
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return False
    return isinstance(try_to_load_from_cache(model, "config.json"), str)


@dataclass(eq=False)
class Retrievers:
    """The retrievers over one benchmark's documents. Threads may share it, and wait only for one that they want."""

    benchmark: Benchmark
    """Whose documents are searched."""
    cache: Path | None
    """Folder of indexes; None for `recipes.cache_folder()`."""
    models: Models
    """Where models are loaded once."""
    recipes: Mapping[str, Recipe] = field(default_factory=usable)
    """Name -> recipe."""
    _made: dict[str, Composed] = field(default_factory=dict, repr=False)
    _locks: dict[str, Lock] = field(default_factory=dict, repr=False)

    def get(self, name: str) -> Composed:
        """The retriever of that name.

        Raises:
            InputError: there is none here, or it can't be made; no path is in the message.
        """
        if not isinstance(name, str) or name not in self.recipes:
            hint = Near(self.recipes)(str(name)[:200]) or f"one of: {', '.join(list(self.recipes)[:8])} …"
            raise InputError("retriever", f"{str(name)[:80]!r} doesn't run here", hint)
        made = self._made.get(name)
        if made is not None:
            return made
        with self._locks.setdefault(name, Lock()):  # of two visitors the second gets what the first one made
            if name not in self._made:
                try:
                    made = recipes.compose(self.recipes[name], self.benchmark, cache=self.cache, models=self.models)
                except (OSError, CanLegalRAGError) as error:
                    what = f"{name!r} can't be made ready on this machine ({type(error).__name__})"
                    raise InputError("retriever", what, "choose another, or see the log") from error
                self._made[name] = made
            return self._made[name]

    def tokenizer(self, name: str) -> str:
        """Name of the tokenizer of a retriever."""
        return str(self.recipes[name].options.get("tokenizer", "legal"))

    def weights(self, text: str, tokenizer: str) -> dict[str, float]:
        """Token of a query -> its inverse document frequency in the corpus, ln(1 + (N - df + 0.5) / (df + 0.5)).

        Tokens that the index of whole documents doesn't know count as the rarest: another tokenizer may know them.
        """
        retriever = self.get(_PLAIN).retriever
        assert isinstance(retriever, BM25)
        known, idf = retriever.postings.terms, retriever.postings.idf
        rarest = float(idf.max(initial=1.0))
        return {t: float(idf[known[t]]) if t in known else rarest for t in set(terms(text, tokenizer))}
