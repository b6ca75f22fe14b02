"""Settings: what each kind of retriever may be told, and which values and pairs can't be."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from canlegalrag import chunking
from canlegalrag.errors import InputError
from canlegalrag.retrievers.bm25_weights import variant
from canlegalrag.text import encode

__all__ = ["BM25_SETTINGS", "KINDS", "checked", "weights"]


class _Setting(NamedTuple):
    """A setting."""

    type: type
    """`str`, `int` or `float`; a float may be written as a whole number."""
    low: float = -math.inf
    """The least that it may be."""
    high: float = math.inf
    """The most."""
    choices: tuple[str, ...] = ()
    """What it may be, where there is a list."""


_BM25 = {
    "variant": _Setting(str),
    "tokenizer": _Setting(str),
    "chunk": _Setting(str),
    "k1": _Setting(float, -1e6, 1e6),
    "b": _Setting(float, -1e6, 1e6),
    "delta": _Setting(float, -1e6, 1e6),
}
_DENSE = {
    "embedder": _Setting(str),
    "chunk": _Setting(str),
    "dtype": _Setting(str, choices=("float32", "float16")),
    "search": _Setting(str, choices=("exact", "hnsw", "ivfpq")),
    "dim": _Setting(int, 1, 1 << 20),
    "precision": _Setting(str, choices=("float32", "bfloat16", "float16")),
    "query_prompt": _Setting(str),
    "document_prompt": _Setting(str),
}
_FUSION = {"c": _Setting(int, 1, 1_000_000), "weights": _Setting(str), "depth": _Setting(int, 1, 1000)}
_AROUND = {
    "reranker": _Setting(str),
    "pool": _Setting(int, 1, 1000),
    "rounds": _Setting(int, 2, 20),
    "generator": _Setting(str),
    "answer_tokens": _Setting(int, 1, 100_000),
}

KINDS: dict[str, dict[str, _Setting]] = {
    "bm25": _BM25 | _AROUND,
    "dense": _DENSE | _AROUND,
    "hybrid": _BM25 | _DENSE | _FUSION | _AROUND,
}
"""Kind of retriever -> name of setting -> what it may be."""

BM25_SETTINGS = frozenset(_BM25)
"""Names of the settings of a BM25 index."""

_NEEDS = (("pool", "reranker"), ("rounds", "generator"), ("generator", "rounds"), ("answer_tokens", "generator"))


def checked(where: str, kind: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The settings in their full form.

    Raises:
        InputError: an unknown setting, a value of another type or out of range, a pair that can't be.
    """
    known = KINDS[kind]
    unknown = options.keys() - known.keys()
    if unknown:
        what = f"unknown setting {', '.join(sorted(unknown))}"
        raise InputError(where, what, f"{kind} has {', '.join(sorted(known))}")
    found = {name: _value(where, name, value, known[name]) for name, value in options.items()}
    for name, needed in _NEEDS:
        if name in found and needed not in found:
            raise InputError(where, f"{name} without {needed}", f"give {needed}, or leave {name} out")
    if kind != "bm25" and "embedder" not in found:
        raise InputError(where, f"{kind} without embedder", 'embedder = "static/wordllama"')
    for role in ("embedder", "reranker", "generator"):
        provider, slash, model = str(found.get(role, "a/b")).partition("/")
        if not (provider and slash and model):
            raise InputError(where, f"{role} {found[role]!r} is no model", "write provider/model")
    if kind != "dense":
        _check_bm25(where, found)
    if "weights" in found:
        weights(where, found["weights"])
    return found


def _value(where: str, name: str, value: Any, setting: _Setting) -> Any:
    if name == "chunk":
        return _chunk(where, value)
    if setting.type is str:
        if not isinstance(value, str):
            raise InputError(where, f"{name} = {value!r} is no text", f'{name} = "…"')
        if setting.choices and value not in setting.choices:
            raise InputError(where, f"{name} = {value!r} is unknown", f"one of {', '.join(setting.choices)}")
        return value
    whole = type(value) is int
    if not (whole or (setting.type is float and type(value) is float)):
        kind = "whole number" if setting.type is int else "finite number"
        raise InputError(where, f"{name} = {value!r} is no {kind}")
    if not setting.low <= value <= setting.high:  # NaN is never in a range
        raise InputError(where, f"{name} = {value!r} is no sensible number", f"{setting.low} to {setting.high}")
    return value


def _chunk(where: str, value: Any) -> str:
    """The full form of a chunking, as it counts for the identity: `4096` is `recursive:4096:128`."""
    if type(value) not in (str, int):
        raise InputError(where, f"chunk = {value!r} is neither a size nor text", 'chunk = "recursive:4096:128"')
    text = str(value)
    if text.isascii() and text.isdigit():
        text = f"recursive:{text}:{min(128, int(text) // 8)}"
    with _named(where):
        return str(chunking.parse(text))


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Put the row's name before what others find wrong with a setting."""
    try:
        yield
    except InputError as error:
        problem = error.problem
        raise InputError(where, f"{problem.where}: {problem.what}", problem.fix) from None


def weights(where: str, text: str) -> tuple[float, float]:
    """Weights of the two legs of a hybrid, BM25 first; a leg that counts for nothing is left out instead.

    >>> weights("row", "1:2")
    (1.0, 2.0)

    Raises:
        InputError: not two numbers above 0.
    """
    try:
        one, two = (float(part) for part in text.split(":"))
    except ValueError:
        one = two = math.nan
    if not (0 < one < math.inf and 0 < two < math.inf):
        raise InputError(where, f"weights {text!r} are not two numbers above 0", 'BM25 first: weights = "1:1"')
    return one, two


def _check_bm25(where: str, options: Mapping[str, Any]) -> None:
    """Refuse what BM25 itself would refuse, before anything is read or written."""
    with _named(where):
        parameters = {key: options[key] for key in ("k1", "b", "delta") if key in options}
        variant(str(options.get("variant", "lucene")), **parameters)
        encode([], str(options.get("tokenizer", "legal")))
