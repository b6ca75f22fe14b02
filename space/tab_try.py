"""Tab 1: ask a question, see what is found and why, open decisions, read an answer, walk through variations."""

from typing import Any

import gradio as gr
from listening import ADDRESS, FOCUS, on, page, status
from place import EXPLORER
from try_view import BLOCK, OPEN, START, answer, arrive, choices, narrow, opened, pick, search, step, variations

from canlegalrag.exploring import CONDITIONS, DEPTH, LONGEST

_WIDTHS = ["80px", "80px", "150px", "90px", "120px", "100px", "100px", "80px", "150px"]


def _question() -> list[Any]:
    """What is asked: of the benchmark, or one's own."""
    with gr.Row(equal_height=False):
        with gr.Column(scale=3, min_width=300):
            query = gr.Dropdown(
                choices("", ""), value=None, label="A query of the benchmark", info="type to look for words in it"
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
    for filtered in (of, voice):
        on(filtered.input, narrow, [of, voice, query], query, group="search", show_progress="hidden")
    on(query.input, pick, query, [text, province], group="search", show_progress="hidden")
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
            condition = gr.Radio(CONDITIONS[:1], value=CONDITIONS[0], label="It reads", info="pipeline: what was found")
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
            variation = gr.Radio([], label="Lay one beside the query searched for", visible=False)
            stepped = page("A variation beside the query", "stepped")
    outputs = [found, results, line, tabs, decision, answered, condition, about, block, variation, stepped]
    earlier = [
        on(write.click, answer, [found, condition], answered, group="answer"),
        on(walk.select, variations, found, block, group="search"),
        on(variation.input, step, [found, variation], stepped, group="search"),
    ]
    for shown in (results, decision, answered, stepped):
        clicked = on(shown.click, opened, found, [decision, tabs], group="search", show_progress_on=decision)
        clicked.then(js=FOCUS)
        earlier.append(clicked)
    for event in (go.click, asked[1].submit):  # what was asked about an earlier search isn't shown for this one
        on(event, search, [*asked, one, two, k], outputs, group="search", show_progress_on=results, cancels=earlier)
    asked_for = gr.Textbox(visible="hidden")
    came = on(demo.load, arrive, asked_for, [decision, tabs], group="search", js=ADDRESS, show_progress="hidden")
    came.then(js=FOCUS)
    return came
