"""Costs: what a recipe needs before it can run, and what it would cost on a corpus, before anything is spent."""

import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from canlegalrag import backends, chunking
from canlegalrag.calls import CHARACTERS_A_TOKEN
from canlegalrag.recipes.rows import Recipe

__all__ = ["Estimate", "Size", "blocked", "estimate", "needs"]

_READ, _READ_CHARACTERS = 25, 100_000  # what the generator of Iter-RetGen reads of what was found, at most
_AROUND = 40  # characters around each text that is sent: prompt, title, special tokens
_TITLE, _STANDING = 200, 1000  # characters of a passage's title, and of the standing instructions
_PACKAGES = {
    "dense": "sentence_transformers",
    "static": "wordllama",
    "google": "google.genai",
    "hub": "huggingface_hub",
    "inference": "huggingface_hub",
}
"""Extra -> a package that it brings."""


@dataclass(frozen=True, slots=True)
class Size:
    """How large a job is."""

    characters: int
    """Characters of the corpus."""
    queries: int
    """Number of queries."""
    query_characters: int
    """Characters of all queries."""
    k: int = 100
    """Depth of the run."""
    documents: int = 1
    """Number of documents."""
    longest: int = 20_000
    """Characters of the longest document."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a recipe needs, model by model, and what a job would take."""

    extras: tuple[str, ...]
    """Extras to install, of those that aren't there."""
    keys: tuple[str, ...]
    """Environment variables that hold keys, of those that aren't set."""
    gpu: bool
    """Whether it is sensible only with a GPU."""
    gigabytes: float | None
    """Memory for the weights of all models; None where one is unknown."""
    tokens: int | None
    """Tokens read and written by paid models; None without a `Size`."""
    cost: float | None
    """US dollars, an upper estimate; None without a `Size` or a known price, 0 where nothing is paid for."""
    paid: bool = False
    """Whether a model is paid for."""

    @property
    def missing(self) -> list[str]:
        """What to do before it can run at all: packages and keys."""
        return [f"pip install 'canlegalrag[{extra}]'" for extra in self.extras] + [f"set {key}" for key in self.keys]

    def said(self) -> str:
        """What is needed, in words; empty where nothing is."""
        parts = self.missing
        parts += ["a GPU"] if self.gpu else []
        parts += [f"{self.gigabytes:g} GB"] if self.gigabytes else []
        return ", ".join(parts)


def needs(recipe: Recipe) -> dict[str, backends.Needs]:
    """Role -> what the model in that role needs."""
    return {role: backends.needs(str(recipe.options[role]), role) for role in backends.ROLES if role in recipe.options}


def estimate(recipe: Recipe, size: Size | None = None) -> Estimate:
    """Say what a recipe needs, and on a job of some size what it would cost.

    Tokens are estimated at `CHARACTERS_A_TOKEN`: the embedder reads the corpus (overlaps twice) and each round's
    queries, the reranker each candidate with its query, the generator up to 25 passages a round, and it writes
    `answer_tokens` and what it may think. Each is the most that it can be; only replies that are of no use, and have
    to be asked for again, come on top. Nothing of it counts what is in the caches already.
    """
    found = needs(recipe)
    gigabytes = [need.gigabytes for need in found.values()]
    read = _tokens(recipe, size, found) if size else {}
    paid = [role for role, need in found.items() if need.price_in != 0 or need.price_out != 0]
    costs = [_cost(found[role], *read[role]) for role in paid if size]
    return Estimate(
        extras=tuple(dict.fromkeys(n.extra for n in found.values() if n.extra and not _installed(n.extra))),
        keys=tuple(dict.fromkeys(n.key for n in found.values() if n.key and not os.environ.get(n.key, "").strip())),
        gpu=any(need.gpu for need in found.values()),
        gigabytes=None if None in gigabytes else round(sum(g for g in gigabytes if g), 2),
        tokens=round(sum(sum(read[role]) for role in paid)) if size else None,
        cost=None if size is None or None in costs else sum(c for c in costs if c),
        paid=bool(paid),
    )


def _cost(need: backends.Needs, read: float, written: float) -> float | None:
    if need.price_in is None or (written and need.price_out is None):
        return None
    return (read * need.price_in + written * (need.price_out or 0.0)) / 1e6


def blocked(recipe: Recipe) -> str:
    """Why a recipe can't run here; empty where it can. A model that wants a GPU would take days without one."""
    needed = estimate(recipe)
    parts = needed.missing
    if needed.gpu and not _accelerated():
        parts.append("needs a GPU (`canlegalrag retrieve` runs it by name without one)")
    return ", ".join(parts)


def _installed(extra: str) -> bool:
    try:
        return importlib.util.find_spec(_PACKAGES.get(extra, extra)) is not None
    except ModuleNotFoundError:  # the parent package of a dotted name
        return False


@cache
def _accelerated() -> bool:
    """Whether PyTorch finds an accelerator; the import takes seconds, so it is asked for only where one is wanted."""
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available() or torch.backends.mps.is_available())


def _tokens(recipe: Recipe, size: Size, found: Mapping[str, backends.Needs]) -> Mapping[str, tuple[float, float]]:
    """Role -> tokens read and written, at most."""
    options: Mapping[str, Any] = recipe.options
    count, corpus, passage = _passages(chunking.parse(str(options.get("chunk", "whole"))), size)
    rounds = options.get("rounds", 1)
    answer = options.get("answer_tokens", 1024)
    asked = (size.query_characters + size.queries * _AROUND) * rounds
    asked += size.queries * answer * CHARACTERS_A_TOKEN * (rounds - 1)  # the answers, which are asked for with them
    legs = 2 if recipe.retriever == "hybrid" else 1
    pool = min(options.get("pool", 4) * size.k * legs, count)
    shown = min(min(2 * size.k, _READ) * (passage + _AROUND), _READ_CHARACTERS) + _READ * _TITLE + _STANDING
    characters = {
        "embedder": corpus + asked,
        "reranker": rounds * size.queries * min(pool * (passage + _AROUND), corpus) + pool * asked,
        "generator": (rounds - 1) * (size.queries * shown + 2 * size.query_characters),
    }
    generator = found.get("generator")
    thinking = generator.thinking if generator else 0
    written = {"generator": (rounds - 1) * size.queries * (answer + thinking)}
    return {role: (n / CHARACTERS_A_TOKEN, float(written.get(role, 0))) for role, n in characters.items()}


def _passages(cut: chunking.Chunking, size: Size) -> tuple[float, float, float]:
    """Number of passages, characters of all with what is around them, and of the longest one, at most.

    Passages are as long as fits, so that two neighbours have more than `size` together, less what they share.
    """
    if not cut.size:
        return size.documents, size.characters + size.documents * _AROUND, size.longest
    count = 2 * size.characters / (cut.size - cut.overlap) + size.documents
    return count, size.characters + count * (cut.overlap + _AROUND), cut.size + cut.overlap
