"""Quality against a price, with the line of the systems that no other beats at the same price or less."""

from collections.abc import Callable
from math import floor, log10
from typing import Any, NamedTuple

from canlegalrag.charts import frontier
from canlegalrag.leaderboard.board import Board
from canlegalrag.leaderboard.directions import better
from canlegalrag.leaderboard.figures import Cells, Plot, marker, plain, stroke
from canlegalrag.leaderboard.rows import Row

__all__ = ["against"]


class _Point(NamedTuple):
    """A system whose price is known."""

    row: Row
    """The system."""
    price: float
    """From 0."""
    mean: float
    """By the board's measure."""


def against(board: Board, across: str, price: Callable[[Row], float | None], note: str = "") -> Plot:
    """The systems whose price is known; only ranked ones are on the frontier.

    Args:
        board: the systems.
        across: what the price is.
        price: of a row; None where it isn't known.
        note: said before what is left out.
    """
    scored = [(row, row.mean) for row in board.rows if row.mean is not None]
    points = [_Point(row, paid, mean) for row, mean in scored if (paid := price(row)) is not None]
    way = better(board.measure)
    best = frontier([(p.row.label, p.price, p.mean * way) for p in points if p.row.rank is not None])
    on = {label for label, *_ in best}
    least = min((p.price for p in points if p.price > 0), default=1.0)
    free = floor(log10(least)) - 1  # where a price of nothing stands on a scale of powers of ten
    data = [_markers(n, kind, points, on, free) for n, kind in enumerate(sorted({p.row.kind for p in points}))]
    if len(best) > 1:
        line = {**stroke(1), "width": 1.5, "shape": "hv"}
        xs, ys = [_place(paid, free) for _, paid, _ in best], [mean * way for *_, mean in best]
        data.insert(0, {"type": "scatter", "mode": "lines", "name": "frontier", "x": xs, "y": ys, "line": line})
    rows: Cells = [
        [p.row.label, p.row.kind, round(p.mean, 4), p.price, _said(p, on)]
        for p in sorted(points, key=lambda p: p.price)
    ]
    left = len(scored) - len(points)
    said = f"Systems left out because what they took isn't known: {left}." if left else ""
    return Plot(
        f"{board.measure} against {across}",
        tuple(data),
        {"xaxis": {"title": {"text": across}, **_ticks(points, free)}, "yaxis": {"title": {"text": board.measure}}},
        ["system", "kind", board.measure, across, "on the frontier"],
        rows,
        f"{note} {said}".strip(),
    )


def _place(price: float, free: int) -> float:
    return log10(price) if price > 0 else float(free)


def _said(point: _Point, on: set[str]) -> str:
    return "–" if point.row.rank is None else "yes" if point.row.label in on else "no"


def _markers(n: int, kind: str, points: list[_Point], on: set[str], free: int) -> dict[str, Any]:
    """The systems of a kind; the names of those on the frontier stand beside them, the others' appear on hover."""
    of = [p for p in points if p.row.kind == kind]
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": kind,
        "x": [_place(p.price, free) for p in of],
        "y": [p.mean for p in of],
        "text": [plain(p.row.label) if p.row.label in on else "" for p in of],
        "textposition": "top center",
        "cliponaxis": False,
        "hovertext": [f"{plain(p.row.label)}<br>{p.mean:.3f}, {p.price:.4g}" for p in of],
        "hoverinfo": "text",
        "marker": marker(n),
    }


def _ticks(points: list[_Point], free: int) -> dict[str, Any]:
    """Powers of ten, and nought below them where something was free."""
    paid = [p.price for p in points if p.price > 0]
    powers = list(range(floor(log10(min(paid))), floor(log10(max(paid))) + 2)) if paid else []
    free_too = [free] if len(paid) < len(points) else []
    return {"tickvals": [*free_too, *powers], "ticktext": [*("0" for _ in free_too), *(f"{10.0**p:g}" for p in powers)]}
