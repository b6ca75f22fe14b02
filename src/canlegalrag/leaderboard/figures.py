"""What a plot is for Plotly: traces, a layout, the table that says the same, and the manner that all plots share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from canlegalrag.errors import MissingExtra
from canlegalrag.leaderboard.entries import text

__all__ = ["CURVES", "Cells", "Plot", "dressed", "marker", "plain", "stroke", "whiskers"]

Cells = list[list[str | int | float]]
"""Rows of a table: numbers as numbers, a dash where undefined."""

COLOURS = ("#0072B2", "#D55E00", "#008F68", "#C46A9B", "#8F7200", "#8A63D2", "#2E8FBF", "#6B7580")
"""Told apart by those who see colours otherwise, and at least 3:1 against both grounds."""
PAPER, INK = ("#ffffff", "#17171b"), ("#1b1b1f", "#ececf0")
"""The ground and what stands on it, by day and by night."""
CURVES = len(COLOURS)
"""Systems that one plot tells apart, by colour and by symbol."""

_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "triangle-down")
_DASHES = ("solid", "dash", "dot", "dashdot")
_LINE = ("#dddde3", "#3a3a42")
_LONGEST = 40  # characters of a name in a plot


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure and the table that says the same."""

    title: str
    """What is shown."""
    data: tuple[dict[str, Any], ...]
    """Plotly's traces; none where there is nothing to show."""
    layout: Mapping[str, Any]
    """Plotly's layout."""
    heads: list[str]
    """Of the table."""
    rows: Cells
    """Of the table; it may hold more than the figure."""
    note: str
    """What was left out, and why; empty where nothing was."""

    def figure(self) -> Any:
        """The figure, as `gr.Plot` takes it.

        Raises:
            MissingExtra: Plotly isn't installed.
        """
        try:
            from plotly.graph_objects import Figure
        except ImportError:
            raise MissingExtra("plotly", "space") from None
        return Figure(data=list(self.data), layout={**self.layout, "template": {}})


def dressed(made: Plot, dark: bool) -> Plot:
    """A plot with the colours and margins that all share."""
    axis = {"gridcolor": _LINE[dark], "zeroline": False, "linecolor": _LINE[dark], "automargin": True}
    layout = {
        "title": {"text": plain(made.title, 120), "font": {"size": 15}},
        "paper_bgcolor": PAPER[dark],
        "plot_bgcolor": PAPER[dark],
        "font": {"color": INK[dark], "family": "system-ui, sans-serif", "size": 13},
        "margin": {"t": 64, "r": 32, "b": 48, "l": 48},
        "legend": {"orientation": "h", "yref": "container", "y": 0.01, "yanchor": "bottom"},
        "hovermode": "closest",
        **made.layout,
        **{name: {**axis, **made.layout.get(name, {})} for name in ("xaxis", "yaxis")},
    }
    return Plot(made.title, made.data, layout, made.heads, made.rows, made.note)


def plain(label: str, longest: int = _LONGEST) -> str:
    """A name for Plotly, which reads a little HTML and, where MathJax is there, formulas between dollars.

    >>> plain("<b>$x$")
    '&lt;b&gt;&#36;x&#36;'
    """
    return escape(text(label, longest), quote=False).replace("$", "&#36;")


def marker(n: int) -> dict[str, Any]:
    """Colour and symbol of the n-th system."""
    return {"color": COLOURS[n % CURVES], "symbol": _SYMBOLS[n % CURVES], "size": 10}


def stroke(n: int) -> dict[str, Any]:
    """Colour and dashes of the n-th line."""
    return {"color": COLOURS[n % CURVES], "dash": _DASHES[n % len(_DASHES)]}


def whiskers(middles: Sequence[float], ends: Sequence[tuple[float, float] | None]) -> dict[str, Any]:
    """Intervals around points; none where there is none. A middle may lie outside its interval: no length below 0."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [max(0.0, end[1] - at) if end else 0.0 for at, end in zip(middles, ends, strict=True)],
        "arrayminus": [max(0.0, at - end[0]) if end else 0.0 for at, end in zip(middles, ends, strict=True)],
    }
