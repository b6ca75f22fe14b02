"""What a generator reads: whole documents while they fit its tokens, else their passages and what fits around them."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from canlegalrag.errors import InputError
from canlegalrag.near import Near
from canlegalrag.types import Document, Hit, Passage

__all__ = ["Context", "build"]

_GAP = "[…]"
"""Stands where characters of a document were left out."""
_FIRST = 100
"""Characters of a document found whole that stand for a passage of it until it is known what fits."""
_TRIES = 12
"""How often a text is counted while it is being fitted."""
_NEAR = 0.01
"""Share of the budget that may stay unused rather than count once more."""
_DENSEST = 32
"""Characters a token that no text reaches: what is longer isn't counted, which takes a minute for some corpora."""
_WORD = 100
"""Characters that a word has at most; what has no white space for longer is cut where it is."""

Spans = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Context:
    """The part of a prompt that holds the documents."""

    passages: tuple[Passage, ...]
    """What is in it, best document first, in the order of the document within one."""
    text: str
    """As it is sent: each document under a header, gaps marked."""
    tokens: int
    """Of the text."""
    cut: Mapping[str, Any]
    """Documents given `whole`, `in_part` and `left_out`; `characters` given and `characters_cut`; `tokens`, `budget`,
    and how they were `counted`."""


@dataclass(slots=True)
class _Source:
    """A document that was found."""

    document: Document
    """In full."""
    spans: Spans
    """Its passages, merged, in order; for one found whole, where it begins."""
    found_whole: bool = False
    """Whether the search ranked it as a whole."""

    def grown(self, more: int) -> Spans:
        """Its passages with up to `more` further characters, on both sides of each; words are never cut."""
        text, least = self.document.text, _size(self.spans)
        if more <= 0 or least >= len(text):
            return [span for span in self.spans if span[0] < span[1]]
        if least + more >= len(text):
            return [(0, len(text))]
        reach = bisect_right(range(len(text) + 1), least + more, key=lambda r: _size(_merged(self._reaching(r)))) - 1
        trimmed = [_trimmed(text, span, self.spans) for span in _merged(self._reaching(reach))]
        return [span for span in trimmed if span[0] < span[1]]

    def _reaching(self, r: int) -> Spans:
        return [(max(0, start - r), min(len(self.document.text), end + r)) for start, end in self.spans]


def _size(spans: Spans) -> int:
    return sum(end - start for start, end in spans)


def _merged(spans: Spans) -> Spans:
    """Spans in order, those that overlap or touch made one."""
    merged: Spans = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _trimmed(text: str, span: tuple[int, int], core: Spans) -> tuple[int, int]:
    """A span without the words that its growth cut through: half a number is another number."""
    start, end = span
    inside = [(a, b) for a, b in core if start <= a and b <= end]
    first, last = inside[0][0], inside[-1][1]
    if start and not text[start - 1].isspace():
        most = min(first, start + _WORD)
        start = next((n for n in range(start, most) if text[n].isspace()), first if most == first else start)
    if end < len(text) and not text[end].isspace():
        least = max(last, end - _WORD)
        end = next((n for n in range(end, least, -1) if text[n - 1].isspace()), last if least == last else end)
    return start, end


def build(
    hits: Sequence[Hit],
    documents: Mapping[str, Document],
    count: Callable[[str], int],
    budget: int = 115_000,
    *,
    counted: str = "",
) -> Context:
    """Put together what a generator reads of what was found.

    Where all documents that were found fit the budget, each is given whole. Else each gives the passages that were
    found, and as many further characters as each other document, taken around its passages (from its beginning, where
    the search ranked whole documents); what a short document doesn't need goes to the others. Where not even the
    passages fit, the last ones are left out, and of a single one as much is given as fits. The budget holds for the
    text as it is sent, headers and marks included.

    Args:
        hits: best first; passages of one document that overlap are merged.
        documents: where the texts are read.
        count: tokens of a text; it is asked a few times, each time for the whole text.
        budget: tokens that the text may have.
        counted: how `count` counts, for the record.

    Raises:
        InputError: a document isn't there, a passage is outside its document, or the budget is below 0.

    >>> lease = Document("a", "Doe v. Roe", "The deposit must be returned.", "BCSC", 2021, citations=("2021 BCSC 1",))
    >>> found = build([Hit("a", 1.0)], {"a": lease}, len, 200)
    >>> print(found.text)
    [1] Doe v. Roe
    Cite as: 2021 BCSC 1
    Court: BCSC
    Year: 2021
    <BLANKLINE>
    The deposit must be returned.
    >>> found.passages[0].end, found.cut["whole"]
    (29, ['a'])
    """
    if type(budget) is not int or budget < 0:
        raise InputError("budget", f"{budget!r} is not a number of tokens", "a whole number, such as 115000")
    fitting = _Fitting(count, budget)
    sources = _sources(hits, documents)
    if not fitting.fits([(s.document, [(0, len(s.document.text))]) for s in sources if s.document.text]):
        _fit(fitting, hits, documents)
    return fitting.context(sources, counted)


def _sources(hits: Sequence[Hit], documents: Mapping[str, Document]) -> list[_Source]:
    """The documents that were found, best first."""
    found: dict[str, _Source] = {}
    for hit in hits:
        if hit.doc_id not in found:
            document = documents.get(hit.doc_id)
            if document is None:
                hint = Near(documents)(hit.doc_id) or "run and benchmark must be of one corpus"
                raise InputError(repr(hit.doc_id), "was found but is not among the documents", hint)
            found[hit.doc_id] = _Source(document, [])
        source, passage = found[hit.doc_id], hit.passage
        if passage is None:
            source.found_whole = True
            source.spans.append((0, 0))
            continue
        if not 0 <= passage.start <= passage.end <= len(source.document.text):
            what = f"passage {passage.start}:{passage.end} is outside its {len(source.document.text)} characters"
            raise InputError(repr(hit.doc_id), what, "was the run made on another version of the corpus?")
        source.spans.append((passage.start, passage.end))
    for source in found.values():
        source.spans = _merged(source.spans)
    return list(found.values())


def _fit(fitting: "_Fitting", hits: Sequence[Hit], documents: Mapping[str, Document]) -> None:
    """Find what fits where not all documents do so whole."""

    def least(n: int) -> tuple[list[_Source], bool]:
        sources = _sources(hits[:n], documents)
        return sources, fitting.fits([(s.document, s.grown(_FIRST if s.found_whole else 0)) for s in sources])

    whole = fitting.last
    _, all_fit = least(len(hits))
    n = len(hits) if all_fit else bisect_left(range(1, len(hits)), True, key=lambda n: not least(n)[1])
    if n:
        sources = _sources(hits[:n], documents)
        longest = max(len(s.document.text) for s in sources)
        fitting.search(longest, whole, lambda more: [(s.document, s.grown(more)) for s in sources])
        return
    (source,) = _sources(hits[:1], documents)
    start, end = source.spans[0] if not source.found_whole else (0, len(source.document.text))
    text = source.document.text

    def part(size: int) -> list[tuple[Document, Spans]]:
        span = _trimmed(text, (start, min(end, start + size)), [(start, start)])
        return [(source.document, [span] if span[0] < span[1] else [])]

    fitting.search(end - start, fitting.last, part)


class _Fitting:
    """Counts texts, and keeps the fullest that fits."""

    def __init__(self, count: Callable[[str], int], budget: int) -> None:
        self.count, self.budget = count, budget
        self.best: list[tuple[Document, Spans]] = []
        self.text, self.tokens, self.last = "", 0, 0

    def fits(self, parts: list[tuple[Document, Spans]]) -> bool:
        """Whether so much fits; if so, and if there is more in it than in what fitted before, it is kept."""
        given = [(document, spans) for document, spans in parts if spans]
        text = "\n\n".join(_shown(n, document, spans) for n, (document, spans) in enumerate(given, 1))
        dense = len(text) > _DENSEST * self.budget
        self.last = len(text) // 4 if dense else self.count(text) if text else 0
        if dense or self.last > self.budget:
            return False
        if sum(_size(spans) for _, spans in given) >= sum(_size(spans) for _, spans in self.best):
            self.best, self.text, self.tokens = given, text, self.last
        return True

    def search(self, most: int, above: int, parts: Callable[[int], list[tuple[Document, Spans]]]) -> None:
        """Find about the greatest size for which the parts fit: by interpolation, since tokens follow characters.

        Args:
            most: a size that doesn't fit.
            above: its tokens, or about so many.
            parts: what there is of the documents at a size.
        """
        low, high, below = 0, most, self.tokens
        for tried in range(_TRIES):
            if high - low <= 1 or self.tokens >= (1 - _NEAR) * self.budget:
                return
            share = (self.budget - below) / (above - below) if tried % 3 != 2 and above > below else 0.5
            size = min(high - 1, max(low + 1, low + int((high - low) * share * 0.995)))
            if self.fits(parts(size)):
                low, below = size, self.last
            else:
                high, above = size, self.last

    def context(self, sources: list[_Source], counted: str) -> Context:
        """What was kept, and what of the documents that were found isn't in it."""
        passages = [
            Passage(document.id, n, start, end, document.text[start:end])
            for document, spans in self.best
            for n, (start, end) in enumerate(spans)
        ]
        given = {document.id: _size(spans) for document, spans in self.best}
        lengths = {source.document.id: len(source.document.text) for source in sources}
        cut = {
            "whole": [i for i, length in lengths.items() if given.get(i, -1) == length],
            "in_part": [i for i, length in lengths.items() if i in given and given[i] < length],
            "left_out": [i for i in lengths if i not in given],
            "characters": sum(given.values()),
            "characters_cut": sum(lengths.values()) - sum(given.values()),
            "tokens": self.tokens,
            "budget": self.budget,
            "counted": counted,
        }
        return Context(tuple(passages), self.text, self.tokens, cut)


def _shown(n: int, document: Document, spans: Spans) -> str:
    """A document as it is sent: how to cite it, then what is given of it."""
    title = " ".join(document.title.split()) or document.id
    lines = [f"[{n}] {title}", f"Cite as: {document.citations[0] if document.citations else title}"]
    lines += [f"Court: {document.court}"] if document.court else []
    lines += [f"Year: {document.year}"] if document.year is not None else []
    body = f"\n{_GAP}\n".join(document.text[start:end] for start, end in spans)
    before = f"{_GAP}\n" if spans[0][0] > 0 else ""
    after = f"\n{_GAP}" if spans[-1][1] < len(document.text) else ""
    return "\n".join(lines) + f"\n\n{before}{body}{after}"
