"""What several systems' answers are worth: tables, plots and categories of claims, with the judge always named."""

from collections.abc import Mapping
from html import escape

from canlegalrag import charts, tables
from canlegalrag.claim_report import _categories
from canlegalrag.claim_report._categories import categories, categories_table
from canlegalrag.claim_report._systems import (
    COUNTED,
    HEADLINES,
    Payload,
    answers_table,
    board,
    intervals,
    intervals_table,
    judged_by,
    notes,
    worst,
    worst_board,
    worst_table,
)
from canlegalrag.types import Judged

__all__ = [
    "HEADLINES",
    "answers_table",
    "categories",
    "categories_table",
    "html",
    "intervals_table",
    "markdown",
    "notes",
    "worst",
    "worst_table",
]

_WORST = 4
"""Systems whose worst queries stand on the page."""


def markdown(
    results: Mapping[str, Payload], judged: Mapping[str, Mapping[str, Judged]] | None = None, *, level: int = 2
) -> str:
    """The tables in Markdown, with what must be known to read them.

    Args:
        results: as for `answers_table`.
        judged: system's name -> its verdicts, where categories are to be shown.
        level: of the headings.
    """
    if not results:
        return ""
    head = "#" * level
    parts = [f"{head} Answers\n", tables.markdown(*board(results))]
    parts += [f"{tables.plain(line)}\n" for line in (*notes(results), COUNTED)]
    parts += [f"{head} Intervals\n", tables.markdown(*intervals(results))]
    if found := _categories.counted(judged or {}):
        parts += [f"{head} Why claims fail\n", tables.markdown(*_categories.board(found))]
    return "\n".join(parts)


def html(results: Mapping[str, Payload], judged: Mapping[str, Mapping[str, Judged]] | None = None) -> str:
    """The same as sections of a page, with the headline measures and the categories drawn; empty without results."""
    if not results:
        return ""
    parts = ["<h2>Answers</h2>", tables.html(*board(results))]
    parts += [f"<p>{escape(line)}</p>" for line in (*notes(results), COUNTED)]
    for name in HEADLINES:
        rows = [(system, of["measures"][name]) for system, of in results.items() if name in of["measures"]]
        if any(row["mean"] is not None for _, row in rows):
            said = f"{name.replace('_', ' ')} with 95 % intervals, judged by {judged_by(results)}"
            parts.append(f'<figure class="wide"><figcaption>{escape(said)}</figcaption>{charts.forest(rows, name)}')
            parts.append("</figure>")
    parts += ["<h2>Answers: every measure with its interval</h2>", tables.html(*intervals(results))]
    if found := _categories.counted(judged or {}):
        parts += ["<h2>Why claims fail</h2>", tables.html(*_categories.board(found))]
        caption = "Shares of the claims that the evidence doesn't support, by why they fail"
        chart = _categories.chart(dict(list(found.items())[: charts.CURVES]), caption)
        parts.append(f'<figure class="wide"><figcaption>{escape(caption)}</figcaption>{chart}</figure>')
    for system, of in list(results.items())[:_WORST]:
        heads, lowest = worst_board(of)
        if lowest:
            parts += [f"<h2>Worst queries of {escape(system)}, by {worst(of)[0]}</h2>", tables.html(heads, lowest)]
    return "".join(parts)
