"""Tab 1: ask a question, see what is found and why, open decisions, read an answer, walk through variations."""

from functools import partial
from typing import Any

import gradio as gr
from listening import ADDRESS, FOCUS, on, page, status
from place import EXPLORER
from try_view import BLOCK, OPEN, READS, START, answer, arrive, questions, search, step, variations

from canlegalrag.exploring import CONDITIONS, DEPTH, LONGEST

_WIDTHS = ["80px", "80px", "150px", "90px", "120px", "100px", "100px", "80px", "150px"]
_NARROW = """(all, province, voice, chosen) => {
  const found = all.filter((one) => (!province || one.province === province) && (!voice || one.voice === voice));
  const choices = found.map((one) => [one.label, one.id]);
  return {__type__: 'update', choices, value: found.some((one) => one.id === chosen) ? chosen : null};
}"""
"""The benchmark's queries of a province and a voice; a query that was chosen from among them stays."""
_PICK = """(all, chosen, ...own) => {
  const query = all.find((one) => one.id === chosen);
  return query ? [query.text, query.province] : own;
}"""
"""A query of the benchmark, to be searched for or changed; to leave the list unused clears nothing. Both in the page
itself: by way of the server they could undo what was chosen or written meanwhile, or come too late for a search."""
_WANTED = f"(_, found) => [({ADDRESS})(), found]"
"""Which decision is asked for, when its turn has come: an event would tell the one of the first of many clicks."""


def _question() -> list[Any]:
    """What is asked: of the benchmark, or one's own."""
    everything = questions()
    with gr.Row(equal_height=False):
        with gr.Column(scale=3, min_width=300):
            names = [(one["label"], one["id"]) for one in everything]
            query = gr.Dropdown(
                names, value=None, label="A query of the benchmark", info="type to look for words in it"
            )
            text = gr.Textbox(
                label="or your own question", lines=3, max_lines=8, max_length=LONGEST, elem_id="question"
            )
        with gr.Column(scale=2, min_width=300):
            with gr.Row():
                of = gr.Dropdown([("all", ""), *EXPLORER.provinces], value="", label="List queries from", min_width=130)
                voice = gr.Dropdown([("all", ""), *EXPLORER.voices], value="", label="in the voice", min_width=130)
            province = gr.Dropdown(
                [("nowhere in particular", ""), *EXPLORER.provinces], value="", label="Province it is asked from"
            )
    known = gr.JSON(everything, visible=False)
    gr.on([of.input, voice.input], js=_NARROW, inputs=[known, of, voice, query], outputs=query)
    query.input(js=_PICK, inputs=[known, query, text, province], outputs=[text, province])
    return [query, text, province]


def build(demo: gr.Blocks) -> Any:
    """The tab's layout; gives the event that a visitor came and what the link asks for of this tab is there."""
    names = EXPLORER.retrievers
    found = gr.State(None, time_to_live=3600)
    asked = _question()
    with gr.Row(equal_height=False):
        one = gr.Dropdown(names, value=names[0], label="Retriever", min_width=200)
        two = gr.Dropdown([("none", ""), *names], value="", label="beside it, to compare", min_width=200)
        k = gr.Slider(1, min(50, DEPTH), 10, step=1, label="Decisions to show", min_width=200)
    go = gr.Button("Search", variant="primary", elem_id="search")
    line = status("search-status")
    with gr.Tabs(selected="results", elem_id="found", overflow_behavior="wrap") as tabs:
        with gr.Tab("Results", id="results"):
            results = page("Results", "results", START)
        with gr.Tab("Decision", id="decision"):
            decision = page("A decision in full", "decision", OPEN)
        with gr.Tab("Answer", id="answer"):
            condition = gr.Radio(CONDITIONS, value=CONDITIONS[0], label="It reads", info=READS)
            write = gr.Button("Write an answer and judge it", elem_id="write")
            answered = page("An answer and its claims", "answered")
        with gr.Tab("Variations", id="variations") as walk:
            about = gr.Markdown(f"{BLOCK} Search for one, and see.")
            block = gr.Dataframe(
                label="The block",
                interactive=False,
                wrap=True,
                max_height=560,
                column_widths=_WIDTHS,
                visible=False,
            )
            every = [one.id for one in EXPLORER.questions()]  # a server that was started again knows no others
            variation = gr.Radio(every, label="Lay one beside the query searched for", visible=False)
            stepped = page("A variation beside the query", "stepped")
    outputs = [found, results, line, tabs, decision, answered, condition, about, block, variation, stepped]
    asked_for = gr.Textbox(visible="hidden")
    came = on(demo.load, arrive, asked_for, [decision, tabs], group="search", js=ADDRESS, show_progress="hidden")
    clicks = partial(gr.on, [shown.click for shown in (results, decision, answered, stepped)])
    last: dict[str, Any] = {"trigger_mode": "always_last"}  # else what is asked for before an answer came is dropped
    to = {"group": "search", "show_progress_on": decision, "js": _WANTED}
    clicked = on(clicks, arrive, [asked_for, found], [decision, tabs], **to, **last)
    for event in (came, clicked):
        event.then(js=FOCUS)
    earlier = [
        clicked,
        on(write.click, answer, [found, condition], answered, group="answer", **last),
        on(walk.select, variations, found, block, group="search", **last),
        on(variation.input, step, [found, variation], stepped, group="search", **last),
    ]
    # What was asked about an earlier search isn't shown for this one.
    how = {"group": "search", "show_progress_on": results, "cancels": earlier}
    on(partial(gr.on, [go.click, asked[1].submit]), search, [*asked, one, two, k], outputs, **how, **last)
    return came
