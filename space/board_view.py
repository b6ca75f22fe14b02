"""What the leaderboard's tab shows for a state of its controls: the library's board, as values of components."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import gradio as gr
from place import BENCHMARK, STORE

from canlegalrag import leaderboard as boards
from canlegalrag.leaderboard import COLUMNS, DEFAULT_COLUMNS, FIELDS, KINDS, State
from canlegalrag.leaderboard.cards import harmless
from canlegalrag.wording import many

_WIDTHS = {"configuration": "260px"} | {
    COLUMNS[name]: f"{width}px"
    for name, width in {
        **{"rank": 64, "system": 206, "kind": 104, "interval": 132, "n": 80, "skipped": 84, "ranks": 80},
        **{"tied": 160, "cost": 68, "seconds": 92},
    }.items()
}
"""Of columns: those of the default fit 1200 pixels."""
OUTPUTS = 17
"""Values that `shown` gives."""


_KEPT: dict[str, Any] = {}


def entries() -> list[Any]:
    """Baselines and submissions; one object each, so that the boards that are kept don't hold copies."""
    found = [*boards.baselines(), *STORE.entries()]
    return [_KEPT.setdefault(str(entry["id"]), entry) for entry in found]


@lru_cache(maxsize=16)
def _whole(of: State, ids: tuple[str, ...]) -> boards.Board:
    """A board with all its rows, kept for as long as the entries are the same: its tests take a second."""
    return boards.view(entries(), of, loaded=BENCHMARK)


def _boards(of: State, ids: tuple[str, ...]) -> tuple[boards.Board, boards.Board]:
    """All systems that have the measure, and of these the ones that a state asks for."""
    whole = _whole(State(benchmark=of.benchmark, measure=of.measure, field=of.field, group=of.group), ids)
    retrievers = {row.retriever for row in whole.rows}
    return whole, whole.shown(of.kinds, [one for one in of.retrievers if one in retrievers], of.text)


def state_of(*given: Any) -> State:
    """The state of the controls."""
    benchmark, measure, counted, kinds, retrievers, text, columns, plot = given
    field, _, group = (counted or "").partition("=")
    lists = tuple(columns or DEFAULT_COLUMNS), tuple(kinds or KINDS), tuple(retrievers or ())
    return State(benchmark or "", measure or State.measure, *lists, (text or "")[:100], field, group, plot or "")


def _controls(of: State, whole: boards.Board, there: list[Any], plot: str) -> list[dict[str, Any]]:
    """The controls with the choices that this benchmark gives, set to what is shown."""
    usual = {BENCHMARK.fingerprint[:8]: f"{BENCHMARK.name}: this Space's own"}
    named = {n.fingerprint[:8]: f"{n.name}: {many(n.entries, 'system')}" for n in boards.benchmarks(there)}
    here = [row.entry for row in whole.rows]
    measures = list(whole.measures) or [whole.measure]
    found = [f"{field}={group}" for field in FIELDS for group in boards.groups(here, whole.measure, field)]
    at = f"{of.field}={of.group}"
    retrievers = sorted({row.retriever for row in whole.rows})
    columns = {name: head or "score" for name, head in COLUMNS.items()} | {name: name for name in measures}
    return [
        gr.update(
            choices=pairs(usual | named),
            value=whole.benchmark.fingerprint[:8] if whole.benchmark else next(iter(usual)),
        ),
        gr.update(choices=pairs({name: name for name in measures}), value=whole.measure),
        gr.update(
            choices=[("all queries", ""), *((one.replace("=", ": ", 1), one) for one in found)],
            value=at if at in found else "",
        ),
        gr.update(value=list(of.kinds)),
        gr.update(
            choices=pairs({name: name for name in retrievers}),
            value=[one for one in of.retrievers if one in retrievers],
        ),
        gr.update(value=of.text),
        gr.update(choices=pairs(columns), value=[one for one in of.columns if one in columns]),
        gr.update(value=plot, interactive=True),
    ]


def pairs(named: dict[str, str]) -> list[tuple[str, str]]:
    """Choices as Gradio wants them: label first."""
    return [(label, value) for value, label in named.items()]


def shown(of: State, dark: bool) -> tuple[Any, ...]:
    """The whole tab: controls, table, notes, systems to choose from, plot and its table, the link."""
    there = entries()
    whole, board = _boards(of, tuple(str(entry["id"]) for entry in there))
    plot = of.plot or boards.usual(board)
    drawn = boards.plot(board, plot, field=of.field or "persona", dark=bool(dark))
    names = {row.label: row.id for row in board.rows}
    notes = [*board.notes, *(f"Not shown: {problem}" for problem in STORE.problems)]
    return (
        *_controls(of, whole, there, plot),
        _table(*board.table(of.columns)),
        "\n".join(f"- {harmless(line, 1000)}" for line in notes),
        names,
        gr.Dropdown(list(names.items()), value=None),
        "",
        gr.Plot(value=drawn.figure() if drawn.data else None, visible=bool(drawn.data), show_label=False),
        drawn.note or ("" if drawn.data else "There is nothing to draw here yet."),
        _table(drawn.heads, drawn.rows),
        boards.link(replace(of, measure=whole.measure)),
    )


def _table(heads: list[str], rows: list[list[Any]]) -> Any:
    """A table whose columns of numbers sort as numbers."""
    kinds = ["number" if any(isinstance(row[n], int | float) for row in rows) else "str" for n in range(len(heads))]
    widths = [_WIDTHS.get(head, f"{max(104, min(260, 9 * len(head) + 28))}px") for head in heads]
    return gr.Dataframe(value={"headers": heads, "data": rows}, datatype=kinds, column_widths=widths)
