"""The leaderboard: baselines and submissions on one benchmark, ranked, tested, drawn; nothing that nobody ran."""

from canlegalrag.leaderboard.board import Board, board
from canlegalrag.leaderboard.cards import card
from canlegalrag.leaderboard.entries import KINDS, Entry, Named, baselines, benchmarks, measures
from canlegalrag.leaderboard.figures import Plot
from canlegalrag.leaderboard.offering import offered
from canlegalrag.leaderboard.plots import PLOTS, plot, usual
from canlegalrag.leaderboard.rows import COLUMNS, DEFAULT_COLUMNS, Row
from canlegalrag.leaderboard.views import FIELDS, State, groups, link, state, view

__all__ = [
    "COLUMNS",
    "DEFAULT_COLUMNS",
    "FIELDS",
    "KINDS",
    "PLOTS",
    "Board",
    "Entry",
    "Named",
    "Plot",
    "Row",
    "State",
    "baselines",
    "benchmarks",
    "board",
    "card",
    "groups",
    "link",
    "measures",
    "offered",
    "plot",
    "state",
    "usual",
    "view",
]
