"""What quality costs: seconds and dollars of each run beside its score, as a table and a chart with the frontier."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from canlegalrag import charts, tables

__all__ = ["Price", "html", "prices"]

Payload = Mapping[str, Any]


class Price(NamedTuple):
    """What a run took."""

    name: str
    """Of the run."""
    score: float
    """Its mean by the main measure."""
    indexing: float
    """Seconds that its index took; near 0 where it was there already."""
    search: float
    """Milliseconds a query."""
    cost: float | None
    """US dollars; None where a price isn't known."""


def prices(results: Mapping[str, Payload], main: str) -> list[Price]:
    """The runs that say what they took, best first."""
    found = []
    for name, payload in results.items():
        made, mean = payload["provenance"]["run"], payload["measures"][main]["mean"]
        seconds = made.get("seconds")
        if seconds and mean is not None:
            search = 1000 * seconds["search"] / max(1, payload["provenance"]["queries"])
            found.append(Price(name, mean, seconds["index"], search, made.get("cost", 0.0)))
    return sorted(found, key=lambda price: -price.score)


def html(results: Mapping[str, Payload], main: str) -> str:
    """Sections of the page; empty where fewer than two runs say what they took."""
    found = prices(results, main)
    if len(found) < 2:
        return ""
    parts = [_section(found, [p.search for p in found], "milliseconds a query", main)]
    paid = [p for p in found if p.cost]
    if len(paid) >= 2:
        parts.append(_section(paid, [p.cost or 0.0 for p in paid], "US dollars for the run", main))
    heads = ["", "run", main, "index, s", "search, ms a query", "US dollars"]
    body = [
        [
            str(n),
            p.name,
            f"{p.score:.3f}",
            f"{p.indexing:.1f}",
            f"{p.search:.2f}",
            "–" if p.cost is None else f"{p.cost:.4f}",
        ]
        for n, p in enumerate(found, 1)
    ]
    note = (
        "Seconds are those of the machine that made the runs; an index that was there already took none. The line "
        "joins the runs that no other beats at the same price or less."
    )
    return "".join([*parts, f"<p>{escape(note)}</p>", tables.html(heads, body)])


def _section(found: Sequence[Price], at: Sequence[float], across: str, main: str) -> str:
    points = [(p.name, max(price, 1e-3), p.score) for p, price in zip(found, at, strict=True)]
    figure = f'<figure class="wide">{charts.scatter(points, across, main)}</figure>'
    return f"<h2>{escape(main)} against {escape(across)}</h2>{figure}"
