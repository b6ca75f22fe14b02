"""Results: ranked decisions, each with why it matched, and two rankings side by side."""

from collections.abc import Iterator, Mapping

from canlegalrag import tables
from canlegalrag.exploring._html import decision, e, facts, link, marked, place, wrapped
from canlegalrag.exploring.comparing import moved
from canlegalrag.exploring.nouns import Found, Seen
from canlegalrag.tables import figure
from canlegalrag.types import Document

__all__ = ["compared", "results"]

_TERMS = 12
"""Words that are named for a decision."""


def results(found: Found, documents: Mapping[str, Document]) -> str:
    """The decisions of a search, best first.

    Args:
        found: by `Explorer.search`.
        documents: gives the names of gold decisions that weren't found.
    """
    return wrapped(*_results(found, documents))


def compared(a: Found, b: Found, documents: Mapping[str, Document]) -> str:
    """Two searches side by side, under a table of what moved."""
    table = tables.html(*moved(a, b))
    columns = "".join(f"<section>{''.join(_results(found, documents))}</section>" for found in (a, b))
    return wrapped("<h2>What moved</h2>", table, f'<div class="columns">{columns}</div>')


def _results(found: Found, documents: Mapping[str, Document]) -> Iterator[str]:
    asked = f" for “{e(found.query.asked)}”" if found.query.text.strip() else ""
    yield f"<h2>{e(found.retriever)}</h2>"
    yield f'<p class="note" dir="auto">{len(found.hits)} decisions{asked}, in {1000 * found.seconds:,.0f} ms.</p>'
    yield from (f'<p class="notice">{e(note)}</p>' for note in found.notes)
    if found.scores is not None:
        yield tables.html(list(found.scores), [[figure(value, 3) for value in found.scores.values()]])
        yield '<p class="note">Of this query alone, over the first hundred decisions; paper_: as the paper counts.</p>'
    yield from _missing(found, documents)
    if found.hits:
        said = "Marked: words of the question that less than a quarter of the decisions hold, else its three rarest."
        yield f'<p class="note">{said}</p>'
        yield f'<ol class="hits">{"".join(map(_hit, found.hits))}</ol>'


def _missing(found: Found, documents: Mapping[str, Document]) -> Iterator[str]:
    """Gold decisions that aren't shown, and where they are."""
    shown = {seen.document.id for seen in found.hits}
    away = {doc: rank for doc, rank in (found.gold or {}).items() if doc not in shown}
    for doc, rank in away.items():
        name = decision(documents[doc]) if doc in documents else doc
        where = "not among the first hundred" if rank is None else f"at rank {rank}"
        yield f'<p class="note"><b class="badge gold">★ gold</b> not shown: {link(doc, e(name))}, {where}</p>'


def _hit(seen: Seen) -> str:
    document, excerpt = seen.document, seen.excerpt
    gold = ' <b class="badge gold">★ gold</b>' if seen.gold else ""
    more = f" and {len(seen.matched) - _TERMS} more" if len(seen.matched) > _TERMS else ""
    why = (
        f"Matches {e(', '.join(seen.matched[:_TERMS]))}{more}"
        if seen.matched
        else "Matches by meaning: no word in common"
    )
    others = len(seen.passages) - 1
    also = f"; {others} more of its passages were found" if others > 0 else ""
    where = place(excerpt.start, excerpt.end, len(document.text), excerpt.paragraphs)
    return (
        f'<li><h3><span class="rank">{seen.rank}.</span>{link(document.id, e(decision(document)))}{gold}</h3>'
        f'<p class="facts">{e(" · ".join([*facts(document), f"score {seen.score:.4g}"]))}</p>'
        f'<div class="excerpt" dir="auto">{marked(excerpt.text, excerpt.marks)}</div>'
        f'<p class="place">{e(where)}{also}</p><p class="why">{why}.</p></li>'
    )
