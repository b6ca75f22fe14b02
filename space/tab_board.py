"""Tab 3: the leaderboard as table and plots, a system's card, and the link that reproduces the view."""

from functools import partial
from typing import Any

import gradio as gr
from board_view import OUTPUTS, entries, pairs, shown, state_of
from listening import on

from canlegalrag import leaderboard as boards
from canlegalrag.leaderboard import COLUMNS, DEFAULT_COLUMNS, KINDS, PLOTS

_DARK = "(...given) => [...given.slice(0, -1), document.body.classList.contains('dark')]"
"""The last input tells whether the page is dark, which plots must know."""
_LINK = "(query) => [location.origin + location.pathname + (query ? '?' + query : '')]"
_TITLES = ("quality and cost", "quality and speed", "rank intervals", "subgroups", "chunk sizes")


def show(request: gr.Request, *given: Any) -> tuple[Any, ...]:
    """What the controls ask for, or the link as long as they are empty.

    They get no value that they have: they may be in use again by now.
    """
    *controls, dark = given
    values = shown(boards.state(str(request.query_params)) if controls[0] is None else state_of(*controls), dark)
    for update, was in zip(values, controls, strict=False):
        if update["value"] == was:
            del update["value"]
    return values


def arrive(dark: bool, request: gr.Request) -> tuple[Any, ...]:
    """A visitor comes by a link: where it asks for a view, the tab opens with it."""
    of = boards.state(str(request.query_params))
    if not boards.link(of):
        return tuple(gr.skip() for _ in range(OUTPUTS + 1))
    return *shown(of, dark), gr.Tabs(selected="board")


def card(id_: str | None) -> str:
    """A system's card, in which nothing that its authors wrote is markup."""
    return next((boards.card(entry) for entry in entries() if id_ and entry.get("id") == id_), "")


def chosen(names: dict[str, str], event: gr.SelectData) -> str | None:
    """The system of the row that was clicked."""
    return next((names[cell] for cell in event.row_value or () if isinstance(cell, str) and cell in names), None)


def build(came: Any, tabs: gr.Tabs, tab: gr.Tab) -> None:
    """The tab's layout. What a link asks for waits its turn: asked at once, the two can leave a stream open."""
    with gr.Row(equal_height=False):
        benchmark = gr.Dropdown([], label="Benchmark", min_width=220)
        measure = gr.Dropdown(["ndcg@10"], value="ndcg@10", label="Ranked by", min_width=160)
        counted = gr.Dropdown([("all queries", "")], value="", label="Queries that count", min_width=160)
        words = gr.Textbox(label="Systems with the words", max_length=100, min_width=160)
    with gr.Accordion("Kinds of systems, retrievers, columns", open=False):
        kinds = gr.CheckboxGroup(list(KINDS), value=list(KINDS), label="Kinds of systems")
        retrievers = gr.Dropdown([], multiselect=True, label="Retrievers; all where none is chosen")
        columns = gr.Dropdown(
            pairs({n: h or "score" for n, h in COLUMNS.items()}),
            value=list(DEFAULT_COLUMNS),
            multiselect=True,
            label="Columns",
        )
    notes = gr.Markdown(elem_id="notes")
    table = gr.Dataframe(label="Leaderboard", interactive=False, wrap=True, max_height=560, elem_id="leaderboard")
    system = gr.Dropdown([], label="A system's card: choose one here, or click its row", elem_id="system")
    about = gr.Markdown(elem_id="card")
    plot = gr.Radio(
        [(title, name) for title, name in zip(_TITLES, PLOTS, strict=True)], label="Plot", interactive=False
    )
    figure, note = gr.Plot(visible=False, show_label=False, elem_id="plot"), gr.Markdown()
    with gr.Accordion("The same as a table", open=False):
        numbers = gr.Dataframe(label="The plot's numbers", interactive=False, max_height=420)
    link = gr.Textbox(label="Link to this view", interactive=True, elem_id="link")
    names, query, dark = gr.State({}), gr.Textbox(visible="hidden"), gr.Checkbox(visible="hidden")
    controls = [benchmark, measure, counted, kinds, retrievers, words, columns, plot]
    outputs = [*controls, table, notes, names, system, about, figure, note, numbers, query]
    # A box of text misses keys as `input`, and changes by itself as well. All in one, so that the last change decides.
    changes = [*(one.change if one is words else one.input for one in controls), tab.select]
    together = partial(gr.on, changes)
    how = {"group": "board", "js": _DARK, "show_progress_on": table}  # the controls stay free meanwhile
    # Unprocessed, as a server that was started again doesn't know the choices of a page from before; the library does.
    raw = {"preprocess": False, "trigger_mode": "always_last"}
    on(together, show, [*controls, dark], outputs, **how, **raw)
    arrived = on(came.then, arrive, dark, [*outputs, tabs], **how)
    for changed in (query.change, arrived.then):
        changed(js=_LINK, inputs=query, outputs=link)
    on(table.select, chosen, names, system, group="board", trigger_mode="multiple")
    on(system.change, card, system, about, group="board", **raw)  # so that it is the card of the one that is named
