"""A decision in full: gold spans underlined, what was retrieved on a ground of its own, citations linked."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from canlegalrag import citations
from canlegalrag.exploring._html import decision, e, facts, link, wrapped
from canlegalrag.exploring.explorer import Explorer
from canlegalrag.exploring.nouns import Found
from canlegalrag.measures.registry import LAWS, Registry
from canlegalrag.types import Document

__all__ = ["document"]

_LISTED = 12
"""Places that are linked above the text."""


@dataclass(frozen=True, slots=True)
class _Span:
    """A stretch to be marked."""

    kind: str
    """`gold` or `found`."""
    name: str
    """What its label says."""
    start: int
    """First character."""
    end: int
    """One past the last character."""

    @property
    def anchor(self) -> str:
        """Id of its element."""
        return f"clr-{self.name.replace(' ', '-')}"


def document(explorer: Explorer, doc_id: str, found: Found | None = None) -> str:
    """A decision in full.

    Each stretch has a label where it begins and where it ends, so that it reads without colour.

    Args:
        explorer: gives the documents, the gold spans and the citations of the corpus.
        doc_id: which one.
        found: the search that it was opened from; None marks nothing.

    Raises:
        InputError: no such decision.
    """
    shown = explorer.document(doc_id)
    spans = _spans(explorer, shown, found) if found else []
    cited = _cited(shown, explorer.registry)
    url = e(shown.url) if re.match(r"https?://", shown.url) else ""
    source = f' · <a href="{url}" rel="noreferrer noopener" target="_blank">source</a>' if url else ""
    licence = f" · {e(shown.licence)}" if shown.licence else ""
    return wrapped(
        f'<h2 dir="auto">{e(decision(shown))}</h2>',
        f'<p class="facts">{e(" · ".join([*facts(shown), f"{len(shown.text):,} characters"]))}{source}{licence}</p>',
        *_places(spans, found),
        f'<div class="whole" dir="auto">{"".join(_text(shown.text, spans, cited))}</div>',
    )


def _spans(explorer: Explorer, shown: Document, found: Found) -> list[_Span]:
    """Gold spans of the query, in the order of the text, then what was retrieved, best first."""
    length = len(shown.text)
    gold = []
    if found.gold is not None:
        snippets = [s for s in explorer.benchmark.snippets if (s.query_id, s.doc_id) == (found.query.id, shown.id)]
        gold = sorted({(s.start, s.end) for s in snippets})
    seen = next((s for s in found.hits if s.document.id == shown.id), None)
    passages = [(p.start, p.end) for p in (seen.passages or (seen.passage,))] if seen else []
    word = "passage" if seen and seen.passages else "excerpt"
    spans = [_Span("gold", f"gold {n}", *span) for n, span in enumerate(gold, 1)]
    spans += [_Span("found", f"{word} {n}", *span) for n, span in enumerate(dict.fromkeys(passages), 1)]
    return [span for span in spans if 0 <= span.start < span.end <= length]


def _places(spans: Sequence[_Span], found: Found | None) -> Iterator[str]:
    """What the marks mean, and links to where they stand."""
    if found is None:
        return
    if not spans:
        yield '<p class="note">Nothing in it is marked: this search found no passage of it, and there is no gold.</p>'
        return
    whole = "excerpt 1" in {span.name for span in spans}
    said = "excerpt: of a decision found as a whole, the stretch with most words of the question" if whole else ""
    yield (
        '<p class="note"><b class="label gold">gold</b> underlined: what answers the question, by the benchmark · '
        '<b class="label found">passage</b> on a ground: what was retrieved, passage 1 the best'
        f"{'; ' + said if said else ''}</p>"
    )
    links = [f'<a href="#{span.anchor}">{span.name}</a>' for span in spans[:_LISTED]]
    more = f" and {len(spans) - _LISTED} more" if len(spans) > _LISTED else ""
    yield f'<p class="note">Go to {", ".join(links)}{more}</p>'


def _cited(shown: Document, registry: Registry) -> list[tuple[int, int, str]]:
    """Citations of other decisions of the corpus: first character, one past the last, document."""
    cited = []
    for citation in citations.find(shown.text):
        ids = registry.look_up(citation)
        if citation.kind in LAWS:
            ids = registry.with_sections(ids, citation.sections)
        if ids and shown.id not in ids:
            cited.append((citation.start, citation.end, ids[0]))
    return cited


def _text(text: str, spans: Sequence[_Span], cited: Sequence[tuple[int, int, str]]) -> Iterator[str]:
    """The text cut wherever a stretch or a citation begins or ends, each piece in the marks of those over it."""
    begins: dict[int, list[_Span]] = {}
    ends: dict[int, list[_Span]] = {}
    for span in spans:
        begins.setdefault(span.start, []).append(span)
        ends.setdefault(span.end, []).append(span)
    cuts = sorted({0, len(text), *begins, *ends, *(at for start, end, _ in cited for at in (start, end))})
    starts = [start for start, _, _ in cited]
    open_kinds: list[str] = []
    for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True):
        for span in ends.get(start, ()):
            open_kinds.remove(span.kind)
            yield f'<b class="label {span.kind}">◂ {span.name}</b>'
        for span in begins.get(start, ()):
            open_kinds.append(span.kind)
            yield f'<b class="label {span.kind}" id="{span.anchor}">{span.name} ▸</b>'
        if start == end:
            continue
        inner = e(text[start:end])
        at = bisect_right(starts, start) - 1
        if at >= 0 and end <= cited[at][1]:
            inner = link(cited[at][2], inner)
        kinds = [kind for kind in ("gold", "found") if kind in open_kinds]
        yield f'<mark class="{" ".join(kinds)}">{inner}</mark>' if kinds else inner
