"""Rows of the board: what is known of one system, and how a table shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from canlegalrag.leaderboard.entries import Entry, amount, judges, kind, number, part, payload, recipe, seconds, text
from canlegalrag.tables import figure

__all__ = ["COLUMNS", "DEFAULT_COLUMNS", "NOBODY", "Row", "cell", "row", "searched"]

DEFAULT_COLUMNS = ("rank", "system", "kind", "score", "interval", "n", "skipped", "ranks", "tied", "cost", "seconds")
"""What the table shows when nothing is asked."""

COLUMNS: Mapping[str, str] = {
    "rank": "rank",
    "system": "system",
    "kind": "kind",
    "score": "",  # the measure's name
    "interval": "95 % interval",
    "ranks": "rank interval",
    "tied": "not told apart from",
    "n": "queries",
    "skipped": "skipped",
    "cost": "US $",
    "seconds": "seconds a query",
    "retriever": "retriever",
    "chunk": "chunk",
    "judge": "judged by",
    "date": "received",
}
"""Columns -> their heads; besides, any measure by its name."""

NOBODY = "nobody"
"""Who judged where no verdict has a name."""

_NAMED = 3  # of the systems that one can't be told apart from, or of judges


@dataclass(frozen=True, slots=True)
class Row:
    """One system."""

    id: str
    """Of its entry."""
    label: str
    """What the board calls it; no two rows have one label."""
    kind: str
    """`baseline`, `submission` or `stand-in`."""
    mean: float | None
    """By the board's measure; None where undefined."""
    low: float | None
    """Lower end of the 95 % interval."""
    high: float | None
    """Upper end."""
    n: int
    """Queries that the mean runs over."""
    skipped: int
    """Queries without a defined value."""
    retriever: str
    """Kind of retriever; `other` where that isn't known."""
    chunk: str
    """Size of the passages in characters, or `whole`; empty where that isn't known."""
    judge: str
    """Who judged the claims, and the answers' condition; empty for measures of retrieval."""
    cost: float | None
    """US dollars for the whole run; None where that isn't known."""
    seconds: float | None
    """Seconds a query; None where they aren't known."""
    entry: Entry
    """All that is known."""
    rank: int | None = None
    """By the mean, 1 for the best; equals share it. None for what isn't ranked."""
    ranks: tuple[int, int] | None = None
    """95 % interval of the rank; None where it isn't known."""
    tied: tuple[str, ...] | None = None
    """Labels of the ranked systems that it can't be told apart from; None where that wasn't tested."""


def row(entry: Entry, label: str, measure: str, field: str, group: str) -> Row:
    """What an entry says, by a measure, of all queries or of a group of them."""
    scores = payload(entry, measure)
    found = part(scores, *(("by", field, group) if field else ("measures",)), measure)
    settings = recipe(entry)
    retriever = " + ".join(
        [text(settings.get("retriever"), 20) or "other", *(w for w in ("reranker", "rounds") if w in settings)]
    )
    method, _, size = text(settings.get("chunk"), 40).partition(":")
    verdicts = part(scores, "provenance", "verdicts")
    conditions = [text(name, 80) for name in part(verdicts, "conditions")]
    judge = f"{_names(judges(entry)) or NOBODY}; {_names(conditions)}" if verdicts else ""
    return Row(
        id=text(entry.get("id"), 64),
        label=label,
        kind=kind(entry, measure),
        mean=number(found.get("mean")),
        low=number(found.get("low")),
        high=number(found.get("high")),
        n=int(number(found.get("n")) or 0),
        skipped=int(number(found.get("skipped")) or 0),
        retriever=retriever,
        chunk=size.partition(":")[0] or method,
        judge=judge,
        cost=amount(entry.get("cost")),
        seconds=seconds(entry),
        entry=entry,
    )


def _names(of: Sequence[str]) -> str:
    """A few names, and how many more there are."""
    more = f" and {len(of) - _NAMED} more" if len(of) > _NAMED else ""
    return ", ".join(of[:_NAMED]) + more


def _tied(row: Row, tested: Sequence[str]) -> str | None:
    """Whom a system can't be told apart from, in the fewest words."""
    if row.tied is None:
        return None
    apart = [label for label in tested if label != row.label and label not in row.tied]
    if len(row.tied) > _NAMED and len(apart) <= _NAMED:
        return f"all but {', '.join(apart)}" if apart else "all"
    return _names(row.tied) or "none"


def searched(row: Row) -> str:
    """What the search for words looks at."""
    system = part(row.entry, "system")
    return " ".join([row.label, row.retriever, text(system.get("authors")), text(system.get("used"))]).casefold()


def cell(row: Row, column: str, tested: Sequence[str] = ()) -> str | int | float:
    """One cell: a number where it is one, so that a column can be sorted; a dash where it is undefined.

    Args:
        row: the system.
        column: one of `COLUMNS`, or a measure.
        tested: labels of all systems that were compared.
    """
    cells: dict[str, Any] = {
        "rank": row.rank,
        "system": row.label,
        "kind": row.kind,
        "score": row.mean,
        "interval": None if row.low is None or row.high is None else f"{figure(row.low, 3)} … {figure(row.high, 3)}",
        "ranks": None if row.ranks is None else f"{row.ranks[0]} … {row.ranks[1]}",
        "tied": _tied(row, tested),
        "n": row.n,
        "skipped": row.skipped,
        "cost": row.cost,
        "seconds": row.seconds,
        "retriever": row.retriever,
        "chunk": row.chunk or None,
        "judge": row.judge or None,
        "date": text(row.entry.get("received"))[:10] or None,
    }
    if column in cells:
        value = cells[column]
    else:
        value = number(part(payload(row.entry, column), "measures", column).get("mean"))
    if value is None:
        return "–"
    return round(value, 4) if isinstance(value, float) else value
