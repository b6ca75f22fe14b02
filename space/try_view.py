"""What the first tab shows: a search, an opened decision, an answer, the variations of a query."""

from typing import Any

import gradio as gr
from listening import said
from place import BENCHMARK, EXPLORER

from canlegalrag.errors import InputError
from canlegalrag.exploring import CONDITIONS, pages

START = pages.hint("Choose a query of the benchmark or write your own question, then press Search.")
OPEN = pages.hint("No decision is open yet: click the name of one among the results to read it in full.")
BLOCK = "A query of the benchmark belongs to a block: variations of one seed. What do they change?"
_OWN = (
    "This question is your own, so it has no variations: they are of the benchmark's queries. Choose one, and search."
)
READS = "pipeline: what was found; oracle: the gold decisions"


def _label(query: Any) -> str:
    return " · ".join(part for part in (query.text[:160], query.province, query.persona, query.variant) if part)


def questions() -> list[dict[str, str]]:
    """The benchmark's queries, with what names them."""
    return [
        {"id": one.id, "label": _label(one), "text": one.text, "province": one.province, "voice": one.persona}
        for one in EXPLORER.questions()
    ]


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
    if not found.hits and not (two and other.hits):
        line = f"0 decisions found. {found.notes[-1]}"
    return found, shown, said(line), gr.Tabs(selected="results"), OPEN, "", *_for(found)


def _for(found: Any) -> tuple[Any, ...]:
    """What there is to choose from for a question: what an answer reads, and the variations of a benchmark's query."""
    block = _block(found)
    conditions = CONDITIONS if block else CONDITIONS[:1]
    reads = gr.Radio(conditions, value=conditions[0], info=READS if block else READS.partition(";")[0])
    lay = gr.Radio(block, value=None, visible=bool(block))
    return reads, BLOCK if block else _OWN, gr.Dataframe(value=None, visible=bool(block)), lay, ""


def _block(found: Any) -> list[tuple[str, str]]:
    """The variations of the block of a benchmark's query."""
    if found.gold is None:
        return []
    block = BENCHMARK.blocks[found.query.id]
    queries = [BENCHMARK.queries[id_] for id_, of in BENCHMARK.blocks.items() if of == block]
    return [(f"{query.id}, {query.variant or 'variation'}: {query.text[:70]}…", query.id) for query in queries]


def arrive(doc_id: str, found: Any = None) -> tuple[Any, ...]:
    """A visitor comes by the link of a decision, or opens one among what was found."""
    if not doc_id:
        return gr.skip(), gr.skip()
    return pages.document(EXPLORER, doc_id, found), gr.Tabs(selected="decision")


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
        raise InputError("variation", "nothing was searched for yet", "press Search first")
    other = EXPLORER.search("", found.retriever, found.k, query_id=query_id)
    return pages.compared(found, other, BENCHMARK.documents)
