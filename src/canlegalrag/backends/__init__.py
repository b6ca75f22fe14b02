"""Backends: embedders, rerankers and generators by name, `provider/model`, one module a provider."""

import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from importlib import metadata
from types import ModuleType
from typing import TYPE_CHECKING, Any

from canlegalrag.backends._needs import Needs
from canlegalrag.errors import InputError
from canlegalrag.near import Near
from canlegalrag.protocols import Embedder, Generator, Reranker

if TYPE_CHECKING:
    from canlegalrag.calls import Calls

__all__ = ["ROLES", "Needs", "embedder", "generator", "needs", "providers", "reranker", "roles"]

ROLES = ("embedder", "reranker", "generator")
"""What a model can be; a provider's module has a function of that name for each that it has."""

_GROUP = "canlegalrag.backends"


def embedder(name: str, calls: "Calls | None" = None, **options: Any) -> Embedder:
    """The embedder of that name.

    Args:
        name: `provider/model`, such as `static/wordllama` or `huggingface/Qwen/Qwen3-Embedding-0.6B`.
        calls: how paid replies are fetched, kept and counted; providers that run here need none.
        options: what the provider lets one set.

    Raises:
        InputError: nothing has that name, or the provider doesn't have that option.
        MissingExtra: a package that it needs isn't installed.

    >>> embedder("offline/hashing").embed(["a deposit"], kind="query").shape
    (1, 512)
    """
    made: Embedder = _make("embedder", name, calls, options)
    return made


def reranker(name: str, calls: "Calls | None" = None, **options: Any) -> Reranker:
    """The reranker of that name; arguments and errors are those of `embedder`.

    >>> reranker("offline/overlap").rerank("the deposit", ["no word", "the deposit"])
    [0.0, 1.0]
    """
    made: Reranker = _make("reranker", name, calls, options)
    return made


def generator(name: str, calls: "Calls | None" = None, **options: Any) -> Generator:
    """The generator of that name; arguments and errors are those of `embedder`."""
    made: Generator = _make("generator", name, calls, options)
    return made


def needs(name: str, role: str) -> Needs:
    """What a model takes in a role, known without loading or paying for it.

    Raises:
        InputError: nothing has that name, or it doesn't have that role.

    >>> needs("offline/hashing", "embedder").price_in
    0.0
    """
    module, model = _part(name, role)
    found: Needs = module.needs(model, role)
    return found


def providers() -> list[str]:
    """Names of all providers: modules of this package, and what the entry points `canlegalrag.backends` name."""
    return sorted({*_own(), *_plugged()})


def roles(provider: str) -> list[str]:
    """What a provider has, of `ROLES`.

    Raises:
        InputError: there is no such provider.

    >>> roles("offline")
    ['embedder', 'reranker', 'generator']
    """
    module = _module(provider, provider)
    return [role for role in ROLES if callable(getattr(module, role, None))]


def _make(role: str, name: str, calls: "Calls | None", options: Mapping[str, Any]) -> Any:
    module, model = _part(name, role)
    make = getattr(module, role)
    known = list(inspect.signature(make).parameters.values())[2:]
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in known):
        names = dict.fromkeys(parameter.name for parameter in known)
        for option in options:
            if option not in names:
                hint = Near(names)(option) or f"it has: {', '.join(names) or 'none'}"
                raise InputError(name, f"there is no option {option!r}", hint)
    return make(model, calls, **options)


def _part(name: str, role: str) -> tuple[ModuleType, str]:
    """Module of the provider and name of the model, once it is sure that the provider has the role."""
    if role not in ROLES:
        raise InputError("backends", f"there is no role {role!r}", f"one of: {', '.join(ROLES)}")
    if not isinstance(name, str) or not name.partition("/")[2].strip():
        raise InputError(f"{role} {name!r}", "is not written provider/model", "such as offline/hashing")
    provider, _, model = name.partition("/")
    module = _module(provider, name)
    if not callable(getattr(module, role, None)):
        others = [p for p in providers() if role in _roles_or_none(p)]
        has = ", ".join(roles(provider)) or "nothing"
        raise InputError(name, f"{provider} has no {role}", f"it has: {has}; a {role} is with: {', '.join(others)}")
    return module, model


def _roles_or_none(provider: str) -> list[str]:
    try:
        return roles(provider)
    except InputError:  # a plug-in that can't be imported must not hide the others
        return []


def _own() -> list[str]:
    return [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]


def _plugged() -> dict[str, metadata.EntryPoint]:
    return {point.name: point for point in metadata.entry_points(group=_GROUP)}


def _module(provider: str, name: str) -> ModuleType:
    """The module of a provider; one of ours comes before a plug-in of the same name."""
    if provider in _own():
        return importlib.import_module(f"{__name__}.{provider}")
    point = _plugged().get(provider)
    if point is None:
        hint = Near(dict.fromkeys(providers()))(provider) or f"providers: {', '.join(providers())}"
        raise InputError(name, f"there is no provider {provider!r}", hint)
    try:
        module = point.load()
    except Exception as error:
        what = f"the plug-in {point.value!r} can't be imported: {type(error).__name__}: {error}"
        raise InputError(name, what, "mend or uninstall the package that brings it") from error
    if not isinstance(module, ModuleType):
        raise InputError(name, f"the plug-in {point.value!r} is not a module", "its entry point must name a module")
    return module
