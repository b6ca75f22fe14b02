"""A view of the leaderboard as a link and back: what a stranger puts into the link can only fall back to a default."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import parse_qs, urlencode

from canlegalrag.benchmark import Benchmark
from canlegalrag.errors import InputError
from canlegalrag.leaderboard.board import Board, board
from canlegalrag.leaderboard.entries import KINDS, benchmarks, part, payload, sound
from canlegalrag.leaderboard.offering import offered
from canlegalrag.leaderboard.plots import PLOTS
from canlegalrag.leaderboard.rows import COLUMNS, DEFAULT_COLUMNS
from canlegalrag.measures import claims
from canlegalrag.measures.names import parse
from canlegalrag.submission import RESAMPLES
from canlegalrag.tables import clean

__all__ = ["FIELDS", "State", "groups", "link", "state", "view"]

FIELDS = ("persona", "province", "variant", "dataset")
"""Fields of the queries that scores are grouped by."""

_LONGEST = 4000  # characters of a link
_MOST = 60  # values in a link


@dataclass(frozen=True, slots=True)
class State:
    """What a reader of the leaderboard has chosen."""

    benchmark: str = ""
    """The first digits of a fingerprint; empty for the usual one."""
    measure: str = "ndcg@10"
    """What ranks."""
    columns: tuple[str, ...] = DEFAULT_COLUMNS
    """Of the table: names of `COLUMNS`, or of measures."""
    kinds: tuple[str, ...] = KINDS
    """Kinds of systems shown."""
    retrievers: tuple[str, ...] = ()
    """Kinds of retrievers shown; empty for all."""
    text: str = ""
    """Words that a system must hold."""
    field: str = ""
    """One of `FIELDS`, to rank by the queries of a group; empty for all queries."""
    group: str = ""
    """The group."""
    plot: str = ""
    """One of `PLOTS`; empty for the first of them that tells these systems apart."""


def link(of: State) -> str:
    """The query string that reproduces a view; empty for the usual one.

    >>> link(State(measure="mrr", kinds=("baseline",)))
    'measure=mrr&kinds=baseline'
    """
    changed = {f.name: value for f in fields(State) if (value := getattr(of, f.name)) != f.default}
    return urlencode(changed, doseq=True)


def state(query: str) -> State:
    """What a query string asks for; what is unknown or too long is as if it weren't there.

    >>> state("?measure=mrr&plot=<script>&kinds=baseline&kinds=x").kinds
    ('baseline',)
    """
    try:
        given = parse_qs(query[:_LONGEST].removeprefix("?"), max_num_fields=_MOST, errors="replace")
    except ValueError:
        return State()
    usual = State()
    one = {name: _word(values[0]) for name, values in given.items()}
    many = {name: tuple(dict.fromkeys(_word(v) for v in values)) for name, values in given.items()}
    field = one.get("field", "")
    found = "".join(c for c in one.get("benchmark", "").casefold() if c in "0123456789abcdef")
    return State(
        benchmark=found if found == one.get("benchmark") else "",
        measure=_measure(one.get("measure", "")) or usual.measure,
        columns=tuple(c for c in many.get("columns", ()) if c in COLUMNS or _measure(c) == c) or usual.columns,
        kinds=tuple(k for k in many.get("kinds", ()) if k in KINDS) or usual.kinds,
        retrievers=tuple(r for r in many.get("retrievers", ()) if r),
        text=one.get("text", ""),
        field=field if field in FIELDS and one.get("group") else "",
        group=one.get("group", "") if field in FIELDS else "",
        plot=one["plot"] if one.get("plot") in PLOTS else "",
    )


def view(
    entries: Iterable[Any], of: State, *, loaded: Benchmark | None = None, resamples: int = RESAMPLES, seed: int = 0
) -> Board:
    """The board that a state asks for; where a benchmark, a measure or a group isn't there, the usual one.

    Args:
        entries: as `board` takes them.
        of: what is asked for.
        loaded: the benchmark of this place, and the usual one; without it that of the most systems.
        resamples: as `board` takes it.
        seed: as `board` takes it.
    """
    kept = sound(entries := list(entries))[0]
    known = [named.fingerprint for named in benchmarks(kept)]
    usual = loaded.fingerprint if loaded else next(iter(known), "")
    asked = next((f for f in known if of.benchmark and f.startswith(of.benchmark)), usual)
    here = [e for e in kept if e["benchmark"]["fingerprint"] == asked]
    measures = offered(here) or [of.measure]
    measure = of.measure if of.measure in measures else measures[0]
    field, group = of.field, of.group
    if group not in groups(here, measure, field):
        field = group = ""
    found = board(
        entries,
        measure,
        fingerprint=asked,
        loaded=loaded,
        field=field,
        group=group,
        resamples=resamples,
        seed=seed,
    )
    if measure != of.measure:
        said = f"No system here has a value of {of.measure}: {measure} is shown instead."
        found = replace(found, notes=(said, *found.notes))
    retrievers = {row.retriever for row in found.rows} & set(of.retrievers)
    return found.shown(of.kinds, sorted(retrievers), of.text)


def groups(entries: Sequence[Any], measure: str, field: str) -> list[str]:
    """Values of a field that entries have scores for, in their order."""
    found = [part(payload(entry, measure), "by", field) for entry in entries] if field else []
    return list(dict.fromkeys(label for of in found for label in of if isinstance(label, str)))


def _word(given: str) -> str:
    """A value of a link on one line, without what turns letters around, and not too long."""
    return " ".join(clean(given[:200]).split())[:100]


def _measure(name: str) -> str:
    """A measure as it is spelt; empty for what is none."""
    if name in claims.MEASURES:
        return name
    try:
        return str(parse(name))
    except InputError:
        return ""
