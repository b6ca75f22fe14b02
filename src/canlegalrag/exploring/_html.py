"""What the pieces share: harmless text, links to decisions, what a decision is, marked text."""

from collections.abc import Sequence
from html import escape
from urllib.parse import quote

from canlegalrag.citations import by_code
from canlegalrag.tables import clean
from canlegalrag.types import Document

__all__ = ["decision", "e", "facts", "hint", "link", "marked", "place", "wrapped"]

_LEVELS = {
    "supreme": "Supreme Court of Canada",
    "appeal": "court of appeal",
    "superior": "superior court",
    "provincial": "provincial court",
    "tribunal": "tribunal",
}
_JURISDICTIONS = {
    "AB": "Alberta",
    "BC": "British Columbia",
    "CA": "federal",
    "MB": "Manitoba",
    "NB": "New Brunswick",
    "NL": "Newfoundland and Labrador",
    "NS": "Nova Scotia",
    "NT": "Northwest Territories",
    "NU": "Nunavut",
    "ON": "Ontario",
    "PE": "Prince Edward Island",
    "QC": "Quebec",
    "SK": "Saskatchewan",
    "YT": "Yukon",
}


def e(text: str) -> str:
    """Text made harmless."""
    return escape(clean(text))


def wrapped(*parts: str) -> str:
    """Parts as one piece that `STYLE` reaches."""
    return f'<div class="clr">{"".join(parts)}</div>'


def hint(text: str) -> str:
    """A sentence where there is nothing to show yet."""
    return wrapped(f'<p class="note">{e(text)}</p>')


def link(doc_id: str, inner: str, title: str = "") -> str:
    """A link to a decision of the corpus, around HTML."""
    said = f' title="{e(title)}"' if title else ""
    return f'<a href="#doc={e(quote(doc_id, safe="", errors="replace"))}" data-doc="{e(doc_id)}"{said}>{inner}</a>'


def decision(document: Document) -> str:
    """What a decision is called."""
    return " ".join(document.title.split()) or document.id


def facts(document: Document) -> list[str]:
    """Citation, court, year, level and jurisdiction, as far as they are known; plain text."""
    law = document.court == "STATUTE"
    court = by_code(document.court, document.year) if document.court and not law else None
    level = _LEVELS.get(court.level, "") if court else ""
    name = "legislation" if law else court.name if court else document.court
    where = _JURISDICTIONS.get(document.jurisdiction, document.jurisdiction)
    year = "" if document.year is None else str(document.year)
    found = [*document.citations[:1], name, year, "" if level == name else level, where]
    return [fact for fact in found if fact]


def marked(text: str, marks: Sequence[tuple[int, int]]) -> str:
    """Text with words of the query marked."""
    parts, at = [], 0
    for start, end in marks:
        parts += [e(text[at:start]), f'<mark class="term">{e(text[start:end])}</mark>']
        at = end
    return "".join([*parts, e(text[at:])])


def place(start: int, end: int, length: int, paragraphs: Sequence[int]) -> str:
    """Where a stretch stands in its document, in words.

    >>> place(300, 900, 2000, (4, 5))
    'paragraphs 4 to 5, characters 300 to 900 of 2,000 (15 % in)'
    """
    said = f"characters {start:,} to {end:,} of {length:,} ({100 * start // max(1, length)} % in)"
    if not paragraphs:
        return said
    first, last = paragraphs[0], paragraphs[-1]
    return f"{f'paragraph {first}' if first == last else f'paragraphs {first} to {last}'}, {said}"
