"""Models: each loaded once for all recipes that use it, asked by one of them at a time, counted for each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import RLock
from typing import TYPE_CHECKING, Any, Self

from canlegalrag import backends
from canlegalrag.files import dumps
from canlegalrag.protocols import Embedder, Generator, Kind, Model, Reranker
from canlegalrag.recipes.rows import Recipe
from canlegalrag.types import Completion, Prompt

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from canlegalrag.calls import Calls

__all__ = ["Counted", "Models"]


@dataclass(eq=False, slots=True)
class Counted:
    """A model as one recipe uses it: an embedder, a reranker or a generator, as the model inside is."""

    inner: Any
    """The model, which other recipes may use at the same time."""
    lock: RLock
    """Held while the model works: models on this machine aren't made for several threads."""
    counts: dict[str, int] = field(default_factory=dict)
    """What the model did for this recipe."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """That of the model."""
        found: Mapping[str, Any] = self.inner.identity
        return found

    @contextmanager
    def _counting(self) -> Iterator[None]:
        with self.lock:
            before = dict(self.inner.counts)
            try:
                yield
            finally:
                for name, value in self.inner.counts.items():
                    self.counts[name] = self.counts.get(name, 0) + value - before.get(name, 0)

    def embed(self, texts: Sequence[str], *, kind: Kind) -> "NDArray[np.float32]":
        """As `protocols.Embedder` says."""
        with self._counting():
            vectors: NDArray[np.float32] = self.inner.embed(texts, kind=kind)
            return vectors

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """As `protocols.Reranker` says."""
        with self._counting():
            scores: list[float] = self.inner.rerank(query, texts)
            return scores

    def generate(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """As `protocols.Generator` says."""
        with self._counting():
            completions: list[Completion] = self.inner.generate(prompts)
            return completions


@dataclass(eq=False)
class Models:
    """The models of some recipes."""

    calls: "Calls | None" = None
    """How paid replies are fetched, kept and counted; None where no model is paid for."""
    _loaded: dict[str, tuple[Model, RLock]] = field(default_factory=dict, repr=False)
    _loading: RLock = field(default_factory=RLock, repr=False)

    def __enter__(self) -> Self:
        """Use the models."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close what the paid calls hold open."""
        if self.calls is not None:
            self.calls.close()

    @contextmanager
    def spending(self) -> Iterator[list[float | None]]:
        """As `Calls.spending`; nothing is spent where there are no paid calls."""
        if self.calls is None:
            yield [0.0]
        else:
            with self.calls.spending() as spent:
                yield spent

    def embedder(self, recipe: Recipe) -> Embedder:
        """The embedder of a recipe."""
        options = {k: recipe.options[k] for k in ("dim", "query_prompt", "document_prompt") if k in recipe.options}
        if "precision" in recipe.options:
            options["dtype"] = recipe.options["precision"]
        return self._get(backends.embedder, str(recipe.options["embedder"]), options)

    def reranker(self, recipe: Recipe) -> Reranker:
        """The reranker of a recipe."""
        return self._get(backends.reranker, str(recipe.options["reranker"]), {})

    def generator(self, recipe: Recipe) -> Generator:
        """The generator of a recipe."""
        return self._get(backends.generator, str(recipe.options["generator"]), {})

    def _get(self, make: Callable[..., Model], name: str, options: Mapping[str, Any]) -> Counted:
        key = dumps([make.__name__, name, dict(sorted(options.items()))])
        with self._loading:  # two recipes at once must not load a model twice
            if key not in self._loaded:
                self._loaded[key] = (make(name, self.calls, **options), RLock())
            return Counted(*self._loaded[key])
