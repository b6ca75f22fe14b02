"""Plots of a board, each also as a table: no colour alone carries anything, no name is markup."""

from collections.abc import Mapping
from typing import Any

from canlegalrag.leaderboard.board import Board
from canlegalrag.leaderboard.curves import curves, in_order
from canlegalrag.leaderboard.directions import better
from canlegalrag.leaderboard.entries import number, part, payload, text
from canlegalrag.leaderboard.figures import CURVES, Cells, Plot, dressed, marker, plain, stroke, whiskers
from canlegalrag.leaderboard.prices import against
from canlegalrag.leaderboard.rows import Row

__all__ = ["PLOTS", "plot", "usual"]

PLOTS = ("cost", "seconds", "ranks", "groups", "chunks")
"""Quality against dollars, against seconds; intervals of ranks; scores by group of queries, by size of passages."""

_BARS = 40  # systems of the plot of ranks


def usual(board: Board) -> str:
    """The plot to open with: of prices where these differ, else of seconds where these do, else of ranks."""
    for name, of in (("cost", [row.cost for row in board.rows]), ("seconds", [row.seconds for row in board.rows])):
        if len({price for price in of if price is not None}) > 1:
            return name
    return "ranks"


def plot(board: Board, name: str, *, field: str = "persona", dark: bool = False) -> Plot:
    """One of `PLOTS` of the systems that a board shows.

    Args:
        board: the systems.
        name: of the plot; empty for the usual one.
        field: of the queries, for `groups`.
        dark: light ink on a dark ground.
    """
    made = {
        "cost": lambda: against(board, "US dollars for the run", lambda row: row.cost),
        "seconds": lambda: against(board, "seconds a query", lambda row: row.seconds, _free(board)),
        "ranks": lambda: _ranks(board),
        "groups": lambda: _groups(board, field),
        "chunks": lambda: _chunks(board),
    }[name or usual(board)]()
    return dressed(made, dark)


def _free(board: Board) -> str:
    """Says that quality against cost says nothing, where all systems cost the same."""
    costs = {row.cost for row in board.rows if row.cost is not None}
    return f"Quality and cost says nothing here: all known costs are ${min(costs):.4g}." if len(costs) == 1 else ""


def _points(name: str, n: int, x: list[float], y: list[float], hover: list[str], **more: Any) -> dict[str, Any]:
    """A trace: the points of one system, with what is said on hover."""
    trace = {"type": "scatter", "mode": "markers", "name": name, "x": x, "y": y, "marker": marker(n)}
    return {**trace, "hovertext": hover, "hoverinfo": "text", **more}


def _ranks(board: Board) -> Plot:
    """Each system's rank with its interval, the best on top."""
    known = [(row, row.rank, row.ranks) for row in board.rows if row.rank is not None and row.ranks is not None]
    drawn = known[:_BARS]
    at = [float(rank) for _, rank, _ in drawn]
    places = list(map(float, range(len(drawn))))
    hover = [f"{plain(row.label)}<br>{rank} ({low} … {high})" for row, rank, (low, high) in drawn]
    trace = _points("rank", 0, at, places, hover, error_x=whiskers(at, [ends for *_, ends in drawn]))
    rows: Cells = [[row.label, rank, low, high] for row, rank, (low, high) in known]
    names = {"tickvals": places, "ticktext": [plain(row.label) for row, *_ in drawn], "autorange": "reversed"}
    left = sum(row.mean is not None for row in board.rows) - len(drawn)
    return Plot(
        f"Ranks by {board.measure}, 95 % intervals",
        (trace,) if drawn else (),
        {
            "xaxis": {"title": {"text": "rank"}, "tickformat": "d"},
            "yaxis": names,
            "height": 160 + 26 * len(drawn),
            "showlegend": False,
        },
        ["system", "rank", "best rank", "worst rank"],
        rows,
        f"Systems left out because they have no interval, or the plot is full: {left}." if left else "",
    )


def _groups(board: Board, field: str) -> Plot:
    """Scores by group of queries: the first systems of the board drawn, all of them in the table."""
    all_ = [(row, _of_groups(row, board.measure, field)) for row in board.rows]
    found = [(row, values) for row, values in all_ if values]
    labels = sorted({label for _, values in found for label in values})
    drawn = found[:CURVES]
    data = []
    for n, (row, values) in enumerate(drawn):
        shift = (n - (len(drawn) - 1) / 2) * 0.08
        means = [value[0] for value in values.values()]
        ends = [None if low is None or high is None else (low, high) for _, low, high, _ in values.values()]
        hover = [f"{plain(row.label)}<br>{plain(label)}: {value[0]:.3f}" for label, value in values.items()]
        x = [labels.index(label) + shift for label in values]
        data.append(_points(plain(row.label), n, x, means, hover, error_y=whiskers(means, ends)))
    rows: Cells = [
        [row.label, text(label, 80), *("–" if v is None else round(v, 4) if isinstance(v, float) else v for v in value)]
        for row, values in found
        for label, value in values.items()
    ]
    left = len(board.rows) - len(found)
    notes = [f"Systems without scores by {field}: {left}."] if left else []
    notes += [f"The first {CURVES} systems are drawn; the table has all {len(found)}."] if len(found) > CURVES else []
    axis = {"tickvals": list(range(len(labels))), "ticktext": [plain(label) for label in labels]}
    return Plot(
        f"{board.measure} by {field}, 95 % intervals",
        tuple(data),
        {"xaxis": axis, "yaxis": {"title": {"text": board.measure}}},
        ["system", field, board.measure, "low", "high", "queries"],
        rows,
        " ".join(notes),
    )


def _of_groups(row: Row, measure: str, field: str) -> dict[str, tuple[float, float | None, float | None, int]]:
    """Group -> mean, interval and number of queries, of the groups that have a mean; in their order."""
    by: Mapping[str, Any] = part(payload(row.entry, measure), "by", field)
    cells = {label: part(by, label, measure) for label in sorted(label for label in by if isinstance(label, str))}
    return {
        label: (mean, number(cell.get("low")), number(cell.get("high")), int(number(cell.get("n")) or 0))
        for label, cell in cells.items()
        if (mean := number(cell.get("mean"))) is not None
    }


def _chunks(board: Board) -> Plot:
    """Curves over the size of passages: the best configurations drawn, all of them in the table."""
    found = curves(board.rows)
    sizes = sorted({size for points in found.values() for size in points}, key=in_order)
    way = better(board.measure) or 1
    best = sorted(found, key=lambda name: (-max(mean * way for mean, _ in found[name].values()), name))
    data = []
    for n, name in enumerate(best[:CURVES]):
        points = sorted(found[name].items(), key=lambda point: in_order(point[0]))
        x = [float(sizes.index(size)) for size, _ in points]
        hover = [f"{plain(row.label)}<br>{mean:.3f}" for _, (mean, row) in points]
        means = [mean for _, (mean, _) in points]
        data.append(_points(plain(name, 80), n, x, means, hover, mode="lines+markers", line=stroke(n)))
    rows: Cells = [
        [name, int(size) if size.isdecimal() else size, found[name][size][1].label, round(found[name][size][0], 4)]
        for name in best
        for size in sorted(found[name], key=in_order)
    ]
    axis = {"title": {"text": "characters of a passage"}, "tickvals": list(range(len(sizes))), "ticktext": sizes}
    return Plot(
        f"{board.measure} by size of passages",
        tuple(data),
        {"xaxis": axis, "yaxis": {"title": {"text": board.measure}}},
        ["configuration", "characters", "system", board.measure],
        rows,
        f"The best {CURVES} configurations are drawn; the table has all {len(best)}." if len(best) > CURVES else "",
    )
