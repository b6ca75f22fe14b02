"""Names of measures: `ndcg@10` to a `Measure` and back, and the register that every measure enters."""

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from canlegalrag.errors import InputError

__all__ = ["MEASURES", "Definition", "Family", "FloatArray", "Measure", "define", "parse", "parse_all"]

FloatArray: TypeAlias = NDArray[np.float64]
Family: TypeAlias = Literal["standard", "paper", "span"]
Cutoff: TypeAlias = Literal["needed", "allowed", "none"]


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure with its cut-off.

    >>> str(Measure("ndcg", 10))
    'ndcg@10'
    """

    name: str
    """As in `MEASURES`."""
    k: int | None = None
    """Ranks that count, from 1; None for the whole ranking."""

    def __str__(self) -> str:
        """`name@k`, the inverse of `parse`."""
        return self.name if self.k is None else f"{self.name}@{self.k}"


@dataclass(frozen=True, slots=True)
class Definition:
    """What the register knows about a measure."""

    function: Callable[[Any, int | None], FloatArray]
    """From a coded run (`Ranked`, `Listed` or `Spanned`, as the family says) and k to one value a query."""
    family: Family
    """`standard` counts documents, `paper` as the published code does, `span` counts characters."""
    cutoff: Cutoff
    """Whether `@k` must, may or can't follow the name."""
    known_as: tuple[str, ...]
    """Names that other tools use, so that an error can point here."""


MEASURES: dict[str, Definition] = {}
"""Every measure by name; filled by `define` when `canlegalrag.measures.retrieval` is imported."""

_Function = Callable[[Any, int | None], FloatArray]


def define(name: str, family: Family, cutoff: Cutoff, known_as: Sequence[str] = ()) -> Callable[[_Function], _Function]:
    """Enter the decorated function into `MEASURES`: the one place that a new measure touches."""

    def enter(function: _Function) -> _Function:
        MEASURES[name] = Definition(function, family, cutoff, tuple(known_as))
        return function

    return enter


def parse(text: str) -> Measure:
    """Read a measure's name, the inverse of `str(measure)`.

    Args:
        text: `name` or `name@k`, exactly as `MEASURES` spells it; k is a whole number from 1.

    Returns:
        The measure.

    Raises:
        InputError: an unknown name (with the near ones), a cut-off that is missing, superfluous or no number.

    >>> parse("ndcg@10")
    Measure(name='ndcg', k=10)
    >>> str(parse("paper_doc_recall@25"))
    'paper_doc_recall@25'
    """
    if not isinstance(text, str):
        raise InputError(repr(text), "is not the name of a measure", 'write a string such as "ndcg@10"')
    name, at, cut = text.partition("@")
    if name not in MEASURES:
        raise InputError(f"measure {text!r}", "is not known", _near(name, cut))
    needed = MEASURES[name].cutoff
    if not at:
        if needed == "needed":
            raise InputError(f"measure {text!r}", "needs a cut-off", f"write {name}@10")
        return Measure(name)
    if needed == "none":
        raise InputError(f"measure {text!r}", "takes no cut-off", f"write {name}")
    if not re.fullmatch("[1-9][0-9]{0,8}", cut):
        what = "has a cut-off that isn't a whole number from 1 to 999999999"
        raise InputError(f"measure {text!r}", what, f"write {name}@10")
    return Measure(name, int(cut))


def parse_all(measures: str | Sequence[str | Measure]) -> list[Measure]:
    """Read several measures: a string with blanks or commas between the names, or a sequence.

    A measure that is named twice is kept once, where it came first.

    >>> [str(m) for m in parse_all("ndcg@10 recall@10, mrr")]
    ['ndcg@10', 'recall@10', 'mrr']

    Raises:
        InputError: as `parse`, and when nothing is named.
    """
    if not isinstance(measures, Iterable):
        raise InputError("measures", f"a {type(measures).__name__} names none", 'write for example "ndcg@10 recall@10"')
    parts = re.split(r"[\s,]+", measures.strip(" \t\r\n,")) if isinstance(measures, str) else measures
    # A Measure made by hand goes through parse too: its name and k may be anything.
    found = [parse(str(part)) if isinstance(part, Measure) else parse(part) for part in parts if part != ""]
    if not found:
        raise InputError("measures", "none is named", 'write for example "ndcg@10 recall@10"')
    return list(dict.fromkeys(found))


def _near(name: str, cut: str) -> str:
    """The known names that a reader may have meant, then all of them."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")
    number = re.sub(r"^.*_(?=[0-9]+$)|^.*$", "", plain)
    written = plain.removesuffix(f"_{number}") if number else plain
    k = cut if re.fullmatch("[1-9][0-9]{0,8}", cut) else number or "k"
    spellings = {s: m for m, d in MEASURES.items() for s in (*d.known_as, m)}
    close = difflib.get_close_matches(written, spellings, n=3, cutoff=0.5)
    meant = dict.fromkeys(_example(spellings[s], k, bool(cut or number)) for s in close)
    hint = f"did you mean {' or '.join(meant)}? " if meant else ""
    return f"{hint}known: {' '.join(_example(m, 'k', False) for m in sorted(MEASURES))}"


def _example(name: str, k: str, with_k: bool) -> str:
    """How the measure is written, with k where it needs one, or takes one and one was written."""
    needed = MEASURES[name].cutoff
    return f"{name}@{k}" if needed == "needed" or (with_k and needed == "allowed") else name
