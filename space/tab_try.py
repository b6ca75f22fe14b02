"""Tab 1: ask a question, see what is found and why, open decisions, read an answer, walk through variations."""

from typing import Any

import gradio as gr
from listening import FOCUS, on, page, said, status
from place import BENCHMARK, EXPLORER

from canlegalrag.errors import InputError
from canlegalrag.exploring import CONDITIONS, DEPTH, LONGEST, pages

_WIDTHS = ["80px", "80px", "150px", "90px", "120px", "100px", "100px", "80px", "150px"]
_START = "Choose a query or write one, then press Search."


def _label(query: Any) -> str:
    return " · ".join(part for part in (query.text[:160], query.province, query.persona, query.variant) if part)


def _choices(province: str, voice: str) -> list[tuple[str, str]]:
    return [(_label(query), query.id) for query in EXPLORER.questions(province or "", voice or "")]


def narrow(province: str, voice: str) -> Any:
    """The benchmark's queries of a province and a voice."""
    return gr.Dropdown(choices=_choices(province, voice), value=None)


def pick(query_id: str | None) -> tuple[str, str]:
    """A query of the benchmark, to be searched for or changed."""
    if not query_id:
        return "", ""
    query = EXPLORER.query(query_id)
    return query.text, query.province


def search(query_id: str | None, text: str | None, province: str, one: str, two: str, k: float) -> tuple[Any, ...]:
    """Both searches, the page of results, and nothing left of what was opened before."""
    query_id = query_id or None
    found = EXPLORER.search(text or "", one, k, province=province or "", query_id=query_id)
    if two:
        other = EXPLORER.search(text or "", two, k, province=province or "", query_id=query_id)
        shown = pages.compared(found, other, BENCHMARK.documents)
    else:
        shown = pages.results(found, BENCHMARK.documents)
    line = f"{len(found.hits)} decisions found by {one}{f', {len(other.hits)} by {two}' if two else ''}."
    conditions = CONDITIONS if found.gold is not None else CONDITIONS[:1]
    reads, lay = gr.Radio(conditions, value=conditions[0]), gr.Radio(_block(found), value=None)
    return found, shown, said(line), gr.Tabs(selected="results"), "", "", reads, gr.Dataframe(value=None), lay, ""


def _block(found: Any) -> list[tuple[str, str]]:
    """The variations of the block of a benchmark's query."""
    if found.gold is None:
        return []
    block = BENCHMARK.blocks[found.query.id]
    queries = [BENCHMARK.queries[id_] for id_, of in BENCHMARK.blocks.items() if of == block]
    return [(f"{query.id}, {query.variant or 'variation'}: {query.text[:70]}…", query.id) for query in queries]


def opened(found: Any, event: gr.EventData) -> tuple[Any, ...]:
    """The decision whose link was clicked."""
    return pages.document(EXPLORER, getattr(event, "doc", ""), found), gr.Tabs(selected="decision")


def answer(found: Any, condition: str) -> str:
    """An answer to what was searched for, and what a judge says of it."""
    if found is None:
        raise InputError("answer", "nothing was searched for yet", "press Search first")
    return pages.answer(EXPLORER, found, *EXPLORER.answer(found, condition))


def variations(found: Any) -> Any:
    """What the variations of a query's block do to the ranking."""
    if found is None or found.gold is None:
        return gr.Dataframe(value=None)
    heads, rows = EXPLORER.block(found.query.id, found.retriever, found.k)
    return gr.Dataframe(value={"headers": heads[:-1], "data": [row[:-1] for row in rows]})  # the radio has the texts


def step(found: Any, query_id: str | None) -> str:
    """One variation beside the query that was searched for."""
    if found is None or not query_id:
        return ""
    other = EXPLORER.search("", found.retriever, found.k, query_id=query_id)
    return pages.compared(found, other, BENCHMARK.documents)


def _question() -> list[Any]:
    """What is asked: of the benchmark, or one's own."""
    with gr.Row(equal_height=False):
        with gr.Column(scale=3, min_width=300):
            query = gr.Dropdown(
                _choices("", ""), value=None, label="A query of the benchmark", info="type to look for words in it"
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
        on(filtered.input, narrow, [of, voice], query, group="search", show_progress="hidden")
    on(query.input, pick, query, [text, province], group="search", show_progress="hidden")
    return [query, text, province]


def build() -> None:
    """The tab's layout."""
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
            results = page("Results", "results")
        with gr.Tab("Decision", id="decision"):
            decision = page("A decision in full", "decision")
        with gr.Tab("Answer", id="answer"):
            condition = gr.Radio(
                CONDITIONS,
                value=CONDITIONS[0],
                label="It reads",
                info="pipeline: what was found; oracle: the gold decisions",
            )
            write = gr.Button("Write an answer and judge it", elem_id="write")
            answered = page("An answer and its claims", "answered")
        with gr.Tab("Variations", id="variations") as walk:
            gr.Markdown("A query of the benchmark belongs to a block: variations of one seed. What do they change?")
            block = gr.Dataframe(label="The block", interactive=False, wrap=True, max_height=560, column_widths=_WIDTHS)
            variation = gr.Radio([], label="Lay one beside the query searched for")
            stepped = page("A variation beside the query", "stepped")
    outputs = [found, results, line, tabs, decision, answered, condition, block, variation, stepped]
    for event in (go.click, asked[1].submit):
        on(event, search, [*asked, one, two, k], outputs, group="search", show_progress_on=results)
    for shown in (results, decision, answered, stepped):
        clicked = on(shown.click, opened, found, [decision, tabs], group="search", show_progress_on=decision)
        clicked.then(js=FOCUS)
    on(write.click, answer, [found, condition], answered, group="answer")
    on(walk.select, variations, found, block, group="search")
    on(variation.input, step, [found, variation], stepped, group="search")
