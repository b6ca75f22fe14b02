"""Charts as SVG, small enough to stand in a page that needs no network and no script."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, TypeAlias

__all__ = ["CURVES", "Series", "bars", "forest", "frontier", "lines", "scatter"]

Series: TypeAlias = Mapping[str, Sequence[tuple[str, float]]]
"""Name of a curve -> (label on the x axis, value)."""

_COLOURS = ("#8c1d2f", "#1f5fa8", "#c9822b", "#3d7f52", "#7a4fa3", "#5f6b76")
CURVES = len(_COLOURS)
"""How many curves `lines` can show without repeating a colour."""

_DASHES = ("", "", "6 4", "6 4", "2 3", "2 3")
_TEXT = 'font-family="system-ui,sans-serif" font-size="12" fill="currentColor"'
_GRID = 'stroke="currentColor" stroke-opacity="0.15"'


def _svg(width: int, height: int, label: str, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img"'
    style = "max-width:100%;height:auto;color:inherit"
    return f'{head} style="{style}" aria-label="{escape(label)}" {_TEXT}>{"".join(parts)}</svg>'


def forest(rows: Sequence[tuple[str, Mapping[str, Any]]], measure: str) -> str:
    """Dots with their intervals on a scale from 0 to 1.

    Args:
        rows: (name, {"mean", "low", "high"}), from the top; None where undefined.
        measure: what is shown, for those who can't see it.
    """
    longest = max((len(name) for name, _ in rows), default=0)
    left, width, step = max(230, 24 + round(6.6 * longest)), 620, 26
    height = step * len(rows) + 34
    parts = []
    for tick in range(11):
        x = left + width * tick / 10
        parts.append(f'<line x1="{x}" x2="{x}" y1="4" y2="{height - 26}" {_GRID}/>')
        parts.append(f'<text x="{x}" y="{height - 8}" text-anchor="middle">{tick / 10:.1f}</text>')
    for n, (name, row) in enumerate(rows):
        y = step * n + 18
        parts.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{escape(name)}</text>')
        if row["low"] is not None:
            a, b = left + width * row["low"], left + width * row["high"]
            line = f'x1="{a:.1f}" x2="{b:.1f}" y1="{y}" y2="{y}" stroke="{_COLOURS[0]}" stroke-width="2"'
            parts.append(f"<line {line}/>")
        if row["mean"] is not None:
            x = left + width * row["mean"]
            parts.append(f'<circle cx="{x:.1f}" cy="{y}" r="4.5" fill="{_COLOURS[0]}"/>')
    return _svg(left + width + 20, height, f"{measure} of {len(rows)} runs with 95 % intervals", parts)


def bars(groups: Sequence[tuple[str, Sequence[tuple[float, str]]]], names: Sequence[str], title: str) -> str:
    """Bars from 0, a group a label with a bar a name, and what is written beside each.

    Args:
        groups: (label, (share from 0 to 1, what stands beside its bar) for each of the names), from the top.
        names: what the bars of a group are, for the legend; there is none where there is one name.
        title: what is shown, for those who can't see it.
    """
    longest = max((len(label) for label, _ in groups), default=0)
    left, width, step, top = (
        max(160, 24 + round(6.6 * longest)),
        460,
        15,
        8 + (20 * len(names) if len(names) > 1 else 0),
    )
    most = max((share for _, of in groups for share, _ in of), default=0.0) or 1.0
    parts = []
    for n, name in enumerate(names if len(names) > 1 else ()):
        colour = _COLOURS[n % len(_COLOURS)]
        parts.append(f'<rect x="{left}" y="{8 + 20 * n}" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{left + 20}" y="{18 + 20 * n}">{escape(name)}</text>')
    y = top
    for label, of in groups:
        middle = y + step * len(of) / 2 + 4
        parts.append(f'<text x="{left - 10}" y="{middle:.1f}" text-anchor="end">{escape(label)}</text>')
        for n, (share, beside) in enumerate(of):
            long, colour = width * share / most, _COLOURS[n % len(_COLOURS)]
            parts.append(f'<rect x="{left}" y="{y + 1}" width="{long:.1f}" height="{step - 3}" fill="{colour}"/>')
            parts.append(f'<text x="{left + long + 6:.1f}" y="{y + 11}" font-size="11">{escape(beside)}</text>')
            y += step
        y += 9
    return _svg(left + width + 110, y + 4, title, parts)


def lines(series: Series, title: str) -> str:
    """Curves over a few labelled positions, with a legend; the scale begins at 0.

    Args:
        series: the curves; their labels are laid out in the order in which they come.
        title: what is shown, for those who can't see it.
    """
    left, width, height, top = 50, 560, 260, 12
    labels = list(dict.fromkeys(label for points in series.values() for label, _ in points))
    most = max((value for points in series.values() for _, value in points), default=1.0)
    ceiling = max(1.0, -(-most // 0.5) * 0.5)
    x = {label: left + width * (n + 0.5) / len(labels) for n, label in enumerate(labels)}
    parts = []
    for tick in range(5):
        value = ceiling * tick / 4
        y = top + height * (1 - tick / 4)
        parts.append(f'<line x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}" {_GRID}/>')
        parts.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{value:.2f}</text>')
    parts += [f'<text x="{x[n]:.1f}" y="{top + height + 20}" text-anchor="middle">{escape(n)}</text>' for n in labels]
    for n, (name, points) in enumerate(series.items()):
        colour, dash = _COLOURS[n % len(_COLOURS)], _DASHES[n % len(_DASHES)]
        places = [(x[label], top + height * (1 - value / ceiling)) for label, value in points]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
        )
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3.5" fill="{colour}"/>' for a, b in places]
        y = top + 10 + 20 * n
        parts.append(f'<line x1="{left + width + 20}" x2="{left + width + 44}" y1="{y}" y2="{y}" stroke="{colour}" ')
        parts.append(f'stroke-width="2" stroke-dasharray="{dash}"/>')
        parts.append(f'<text x="{left + width + 52}" y="{y + 4}">{escape(name)}</text>')
    legend = 62 + max(148, 7 * max(map(len, series), default=0))
    return _svg(left + width + legend, top + height + 32, title, parts)


def frontier(points: Sequence[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    """The points that no other beats at the same price or less, cheapest first.

    Args:
        points: (name, price, quality).

    >>> [name for name, *_ in frontier([("a", 1.0, 0.5), ("b", 2.0, 0.4), ("c", 3.0, 0.6)])]
    ['a', 'c']
    """
    kept: list[tuple[str, float, float]] = []
    for point in sorted(points, key=lambda p: (p[1], -p[2])):
        if not kept or point[2] > kept[-1][2]:
            kept.append(point)
    return kept


def scatter(points: Sequence[tuple[str, float, float]], across: str, up: str) -> str:
    """Quality against a price on a logarithmic scale, with the frontier; names stand beside the points of the frontier,
    the others are numbered by the table that goes with the chart.

    Args:
        points: (name, price above 0, quality from 0 to 1).
        across: what the price is.
        up: what the quality is.
    """
    left, width, height, top = 60, 640, 320, 14
    prices = [price for _, price, _ in points]
    low, high = math.floor(math.log10(min(prices))), math.ceil(math.log10(max(prices)))
    high = max(high, low + 1)
    ceiling = max(0.1, math.ceil(max(quality for *_, quality in points) * 10) / 10)

    def place(price: float, quality: float) -> tuple[float, float]:
        return left + width * (math.log10(price) - low) / (high - low), top + height * (1 - quality / ceiling)

    parts = []
    for power in range(low, high + 1):
        x, _ = place(10.0**power, 0)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{top + height}" {_GRID}/>')
        parts.append(f'<text x="{x:.1f}" y="{top + height + 18}" text-anchor="middle">{10.0**power:g}</text>')
    for tick in range(5):
        _, y = place(10.0**low, ceiling * tick / 4)
        parts.append(f'<line x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}" {_GRID}/>')
        parts.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{ceiling * tick / 4:.2f}</text>')
    best = frontier(points)
    path = " ".join("{:.1f},{:.1f}".format(*place(price, quality)) for _, price, quality in best)
    parts.append(
        f'<polyline points="{path}" fill="none" stroke="{_COLOURS[1]}" stroke-width="1.5" stroke-dasharray="4 3"/>'
    )
    for number, point in enumerate(points, 1):
        x, y = place(*point[1:])
        on = point in best
        label = point[0] if on else str(number)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{_COLOURS[1] if on else _COLOURS[5]}">')
        parts.append(f"<title>{escape(point[0])}</title></circle>")
        parts.append(f'<text x="{x + 7:.1f}" y="{y - 5:.1f}" font-size="11">{escape(label)}</text>')
    parts.append(f'<text x="{left + width / 2}" y="{top + height + 38}" text-anchor="middle">{escape(across)}</text>')
    return _svg(left + width + 150, top + height + 48, f"{up} against {across}", parts)
