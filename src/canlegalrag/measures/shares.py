"""Measures that are shares: a part over a whole for each query, averaged over queries or pooled."""

import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from canlegalrag.errors import InputError
from canlegalrag.measures.retrieval import group
from canlegalrag.types import Scores

__all__ = ["Definition", "Register", "Share", "choose", "enter", "summarise", "total"]

Share: TypeAlias = tuple[float, int]
"""Part and whole of one query; a whole of 0 means that the measure is undefined there. Parts are counts, but for what
is computed from several shares (an F1): its part is the value and its whole 1."""


@dataclass(frozen=True, slots=True)
class Definition:
    """What a register knows about a measure."""

    function: Callable[[Any], Share]
    """From the evidence of one query to its share."""
    needs: tuple[str, ...] = ()
    """Evidence without which it can't be computed, by the name of the argument that brings it."""
    count: bool = False
    """Whether it is a number of things rather than a share: its whole is always 1."""
    pooled: bool = True
    """Whether parts and wholes may be summed over queries, which says nothing of a value whose whole is only 1."""


Register: TypeAlias = dict[str, Definition]
"""Measures by name."""


_Evidence = TypeVar("_Evidence")
_Function: TypeAlias = Callable[[_Evidence], Share]


def enter(
    register: Register, name: str, *, needs: Sequence[str] = (), count: bool = False, pooled: bool = True
) -> Callable[[_Function[_Evidence]], _Function[_Evidence]]:
    """Enter the decorated function into a register: the one place that a new measure touches."""

    def entered(function: _Function[_Evidence]) -> _Function[_Evidence]:
        register[name] = Definition(function, tuple(needs), count, pooled)
        return function

    return entered


def choose(
    register: Register,
    names: str | Sequence[str] | None,
    given: Collection[str],
    fix: str = "give them, or leave it out",
) -> list[str]:
    """The measures asked for; None for all that the evidence given allows.

    Args:
        register: what there is.
        names: what is wanted, as a sequence or with blanks or commas between them.
        given: evidence that there is.
        fix: what to do where a measure lacks some.

    Raises:
        InputError: a name that the register lacks, evidence that a measure needs and wasn't given.
    """
    if names is None:
        return [name for name, d in register.items() if set(d.needs) <= set(given)]
    wanted = names.replace(",", " ").split() if isinstance(names, str) else list(names)
    if not wanted:
        raise InputError("measures", "none is named", f"known: {' '.join(register)}")
    for name in wanted:
        if name not in register:
            near = difflib.get_close_matches(str(name), register, 1, 0.5)
            hint = f"did you mean {near[0]}? " if near else ""
            raise InputError(f"measure {name!r}", "is not known", f"{hint}known: {' '.join(register)}")
        missing = [need for need in register[name].needs if need not in given]
        if missing:
            raise InputError(f"measure {name!r}", f"needs {' and '.join(missing)}", fix)
    return list(dict.fromkeys(wanted))


def summarise(
    shares: Mapping[str, Mapping[str, Share]],
    *,
    blocks: Mapping[str, str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> Scores:
    """Means over queries of measure -> query -> share, with counts and block-bootstrap intervals.

    >>> scores = summarise({"half": {"q1": (1, 2), "q2": (0, 0)}})
    >>> scores.values["half"], scores.n["half"], scores.skipped["half"]
    (0.5, 1, 1)
    """
    nan = float("nan")
    values = {
        name: {query: part / whole if whole else nan for query, (part, whole) in of.items()}
        for name, of in shares.items()
    }
    everything = group(Scores({}, {}, {}, {}, values), {}, blocks=blocks, resamples=resamples, seed=seed)
    if everything:
        return everything[""]
    none = dict.fromkeys(values, 0)
    return Scores(dict.fromkeys(values, nan), none, none, dict.fromkeys(values, (nan, nan)), values)


def total(shares: Mapping[str, Mapping[str, Share]]) -> dict[str, Share]:
    """Parts and wholes summed over queries: their quotient is the micro average.

    >>> total({"half": {"q1": (1, 2), "q2": (3, 3)}})
    {'half': (4, 5)}
    """
    return {name: (sum(p for p, _ in of.values()), sum(w for _, w in of.values())) for name, of in shares.items()}
