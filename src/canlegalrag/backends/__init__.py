"""Backends: embedders, rerankers, generators and judges by name, `provider/model`, one module a provider."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from importlib import metadata
from types import ModuleType
from typing import TYPE_CHECKING, Any

from canlegalrag.backends._needs import Needs
from canlegalrag.errors import InputError
from canlegalrag.near import Near
from canlegalrag.protocols import Decomposer, Embedder, Generator, Judge, Reranker, Sorter

if TYPE_CHECKING:
    from canlegalrag.calls import Calls

__all__ = [
    "ROLES",
    "Needs",
    "decomposer",
    "decomposer_for",
    "embedder",
    "generator",
    "judge",
    "needs",
    "providers",
    "reranker",
    "roles",
    "sorter",
]

ROLES = ("embedder", "reranker", "generator", "judge", "decomposer", "sorter")
"""What a model can be; a provider's module has a function of that name for each that it has."""

_CHAT = {"judge": "ChatJudge", "decomposer": "ChatDecomposer", "sorter": "ChatSorter"}
"""Role -> class of `judging.chat` that fills it with any generator, where the provider has no way of its own."""
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


def judge(name: str, calls: "Calls | None" = None, **options: Any) -> Judge:
    """The judge of that name; arguments and errors are those of `embedder`.

    A provider without judges of its own has them through its generators, asked with a prompt and a JSON schema: the
    options are then those of the generator and of `judging.chat.ChatJudge`.

    >>> judge("offline/lexical").identity["model"]
    'offline/lexical'
    """
    made: Judge = _make("judge", name, calls, options)
    return made


def decomposer(name: str, calls: "Calls | None" = None, **options: Any) -> Decomposer:
    """The decomposer of that name; as `judge`, and `judging.chat.ChatDecomposer` around generators."""
    made: Decomposer = _make("decomposer", name, calls, options)
    return made


def decomposer_for(judge: str, calls: "Calls | None" = None, **options: Any) -> Decomposer:
    """What takes answers apart for a judge where nothing else is asked for: the judge itself if it can, else
    `offline/sentences`.

    >>> decomposer_for("offline/lexical").identity["model"]
    'offline/sentences'
    """
    try:
        return decomposer(judge, calls, **options)
    except InputError:  # a model that judges only
        return decomposer("offline/sentences")


def sorter(name: str, calls: "Calls | None" = None, **options: Any) -> Sorter:
    """The sorter of that name; as `judge`, and `judging.chat.ChatSorter` around generators.

    >>> sorter("offline/rules").identity["model"]
    'offline/rules'
    """
    made: Sorter = _make("sorter", name, calls, options)
    return made


def needs(name: str, role: str) -> Needs:
    """What a model takes in a role, known without loading or paying for it.

    Raises:
        InputError: nothing has that name, or it doesn't have that role.

    >>> needs("offline/hashing", "embedder").price_in
    0.0
    """
    module, model = _part(name, role)
    found: Needs = module.needs(model, role if _has(module, role) else "generator")
    return found


def providers() -> list[str]:
    """Names of all providers: modules of this package, and what the entry points `canlegalrag.backends` name."""
    return sorted({*_own(), *_plugged()})


def roles(provider: str) -> list[str]:
    """What a provider has, of `ROLES`.

    Raises:
        InputError: there is no such provider.

    >>> roles("offline")
    ['embedder', 'reranker', 'generator', 'judge', 'decomposer', 'sorter']
    """
    module = _module(provider, provider)
    return [role for role in ROLES if _has(module, role) or _chats(module, role)]


def _has(module: ModuleType, role: str) -> bool:
    return callable(getattr(module, role, None))


def _chats(module: ModuleType, role: str) -> bool:
    """Whether a provider fills a role through its generators."""
    return role in _CHAT and not _has(module, role) and _has(module, "generator")


def _make(role: str, name: str, calls: "Calls | None", options: Mapping[str, Any]) -> Any:
    module, model = _part(name, role)
    if not _chats(module, role):
        make = getattr(module, role)
        _check_options(name, options, _options(make, 2))
        return make(model, calls, **options)
    chat = getattr(importlib.import_module("canlegalrag.judging.chat"), _CHAT[role])
    own, theirs = _options(chat, 1), _options(module.generator, 2)
    _check_options(name, options, None if theirs is None else [*(own or ()), *theirs])
    generator = module.generator(model, calls, **{k: v for k, v in options.items() if k not in (own or ())})
    return chat(generator, **{k: v for k, v in options.items() if k in (own or ())})


def _options(make: Callable[..., Any], given: int) -> list[str] | None:
    """Names of what can be set, after as many parameters as are given in any case; None where any name goes."""
    known = list(inspect.signature(make).parameters.values())[given:]
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in known):
        return None
    return [parameter.name for parameter in known]


def _check_options(name: str, options: Mapping[str, Any], known: list[str] | None) -> None:
    if known is None:
        return
    for option in options:
        if option not in known:
            hint = Near(dict.fromkeys(known))(option) or f"it has: {', '.join(known) or 'none'}"
            raise InputError(name, f"there is no option {option!r}", hint)


def _part(name: str, role: str) -> tuple[ModuleType, str]:
    """Module of the provider and name of the model, once it is sure that the provider has the role."""
    if role not in ROLES:
        raise InputError("backends", f"there is no role {role!r}", f"one of: {', '.join(ROLES)}")
    if not isinstance(name, str) or not name.partition("/")[2].strip():
        raise InputError(f"{role} {name!r}", "is not written provider/model", "such as offline/hashing")
    provider, _, model = name.partition("/")
    module = _module(provider, name)
    if not (_has(module, role) or _chats(module, role)):
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
