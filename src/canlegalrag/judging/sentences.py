"""Sentences of a text, with their place in it, and claims made of them without a model."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from canlegalrag.citations import find
from canlegalrag.errors import InputError
from canlegalrag.judging.clauses import parts, states_nothing
from canlegalrag.types import Claim

__all__ = ["MODEL", "Sentences", "spans"]

MODEL = "offline/sentences"
"""Name of the decomposer that needs no model."""

_LINE = re.compile(r"[^\n\r\v\f\x85\u2028\u2029]+")
# What stands before the first word of a line: marks of quoted mail and headings, bullets, numbers of items.
_MARKER = re.compile(
    r"[ \t\xa0]*(?:>[ \t\xa0]*)*(?:#{1,6}[ \t\xa0]+)?"
    r"(?:(?:[-+*•‣◦▪–—]|\(?\d{1,3}[.)]|\(?[A-Za-z]\)|\(?[ivxIVX]{1,5}\)|\[\d{1,4}\])[ \t\xa0]+)*"
)
_ENDED = re.compile(r"[.!?:;…][\"'”’»)\]*_]*\s*$")
_TITLED = re.compile(r"[ \t]*#")
# What no sentence ends within, though full stops do; bounded, so that a stray mark can't swallow a page.
_ENCLOSED = re.compile(
    r"(?<!\w)\"(?=\S)[^\"\n]{0,400}(?<=\S)\"(?!\w)|“[^”\n]{0,400}”|«[^»\n]{0,400}»|\([^()\n]{0,400}\)"
)
_BEFORE_NUMBER = re.compile(
    r"(?:^|[\s('’«])(?:art|arts|al|alin|par|nos?|cc?|ch|ss?|pp?|cf|ex|fig|vol)\.$", re.IGNORECASE
)
_REPLY = re.compile(r"(?:no|yes|non|oui)\.\s+", re.IGNORECASE)
_QUOTE_ENDED = re.compile(r"[.!?…]\s?[\"”’»]$")

Span = tuple[int, int]


def spans(text: str) -> list[Span]:
    r"""(start, end) of each sentence of a text, in order, disjoint, without white space at its ends.

    English and French. A line ends a sentence, save one that is broken within it (the next starts small and nothing
    closed the first); list markers, numbers of paragraphs and the marks of headings belong to no sentence. No sentence
    ends within a citation, nor within a quotation or brackets of up to 400 characters. What holds no letter and no
    digit is no sentence. Full stops are read by nupunkt, whose model knows legal abbreviations.

    >>> text = "No. See Smith v. Jones, [1955] 4 D.L.R. 28.\n1. Pay the rent.\n2. Keep copies."
    >>> [text[a:b] for a, b in spans(text)]
    ['No.', 'See Smith v. Jones, [1955] 4 D.L.R. 28.', 'Pay the rent.', 'Keep copies.']

    Raises:
        InputError: not a string.
    """
    if not isinstance(text, str):
        raise InputError("sentences", f"a {type(text).__name__} is no text", "give a string")
    if not text or text.isspace():
        return []
    from nupunkt import sentence_spans

    cited = _cited(text)
    closed = _Inside(cited + [match.span() for match in _ENCLOSED.finditer(text)])
    found: list[Span] = []
    for start, end in _blocks(text, _Inside(cited)):
        first = True
        for a, b in sentence_spans(text[start:end]):
            a, b = a + start, b + start
            if not first and _goes_on(text, found[-1], a, closed):
                found[-1] = (found[-1][0], b)
            else:
                found.append((a, b))
            first = False
    return [(a, b) for a, b in found if any(c.isalnum() for c in text[a:b])]


class _Inside:
    """Whether a place lies within one of many spans, its ends excluded."""

    def __init__(self, given: list[Span]) -> None:
        merged: list[Span] = []
        for a, b in sorted(given):
            if merged and a < merged[-1][1]:
                merged[-1] = (merged[-1][0], max(b, merged[-1][1]))
            else:
                merged.append((a, b))
        self._starts = [a for a, _ in merged]
        self._ends = [b for _, b in merged]

    def __call__(self, at: int) -> bool:
        i = bisect_right(self._starts, at - 1) - 1
        return i >= 0 and at < self._ends[i]


def _cited(text: str) -> list[Span]:
    """Citations, each from the style of cause before it."""
    found = []
    for citation in find(text):
        start = citation.start
        if citation.style:
            at = text.rfind(citation.style, max(0, start - len(citation.style) - 8), start)
            reply = _REPLY.match(citation.style)
            start = start if at < 0 else at + (reply.end() if reply else 0)
        found.append((start, citation.end))
    return found


def _blocks(text: str, cited: _Inside) -> Iterator[Span]:
    """Lines without their markers, those put together again that were broken within a sentence."""
    begun: Span | None = None
    previous = ""
    for line in _LINE.finditer(text):
        marker = _MARKER.match(text, line.start(), line.end())
        start = marker.end() if marker else line.start()
        if not text[start : line.end()].strip():
            continue
        if begun and _one_sentence(text, begun, previous, (start, line.end()), cited):
            begun = (begun[0], line.end())
        else:
            if begun:
                yield begun
            begun = (start, line.end())
        previous = line.group()
    if begun:
        yield begun


def _one_sentence(text: str, begun: Span, previous: str, line: Span, cited: _Inside) -> bool:
    """Whether a line goes on with the sentence of the one before it."""
    between = text[begun[1] : line[0]]
    if between.replace("\r\n", "\n").count("\n") > 1 or between.strip() or "\u2029" in between:
        return False  # a blank line, or a marker
    if cited(line[0]):
        return True
    return text[line[0]].islower() and not _ENDED.search(previous) and not _TITLED.match(previous)


def _goes_on(text: str, before: Span, start: int, closed: _Inside) -> bool:
    """Whether a full stop that was read as the end of a sentence isn't one."""
    if closed(before[1]):
        return True
    tail = text[max(before[0], before[1] - 12) : before[1]]
    if text[start].isdigit() and _BEFORE_NUMBER.search(tail):
        return not re.fullmatch(r"no\.", text[before[0] : before[1]], re.IGNORECASE)
    return text[start].islower() and bool(_QUOTE_ENDED.search(tail))


class Sentences:
    """Takes texts apart into sentences: the decomposer that needs no model, `offline/sentences`.

    A claim is a sentence, or a half of one where `and`, `but`, `et`, `mais` or a semicolon joins two that each have a
    subject and a verb of their own and neither needs the other (`clauses.parts`). A sentence that states nothing which
    evidence could support is no claim: a heading, a question, a bare citation, "Yes." and "No." alone, whose content
    is in the question (`clauses.states_nothing`). A text of such sentences only has no claims: undefined, not zero.

    >>> [claim.text for claim in Sentences().decompose([("q1", "answer", "No. The landlord must prove it.")])[0]]
    ['The landlord must prove it.']
    """

    def __init__(self) -> None:
        self._texts = 0

    @property
    def identity(self) -> Mapping[str, Any]:
        """What its claims depend on."""
        return {"model": MODEL, "revision": "1", "nupunkt": version("nupunkt")}

    @property
    def counts(self) -> Mapping[str, int]:
        """Texts so far; none is ever truncated."""
        return {"texts": self._texts, "truncated": 0}

    def decompose(self, texts: Sequence[tuple[str, str, str]]) -> list[list[Claim] | str]:
        """Take each text (query id, side, text) apart; it never fails.

        Raises:
            InputError: a text is no string.
        """
        self._texts += len(texts)
        return [_claims(query_id, side, text) for query_id, side, text in texts]


def _claims(query_id: str, side: str, text: str) -> list[Claim]:
    """The claims of one text."""
    claims: list[Claim] = []
    for start, end in spans(text):
        if _TITLED.match(text, text.rfind("\n", 0, start) + 1, start) or states_nothing(text[start:end]):
            continue
        for part in parts(text[start:end]):
            claims.append(Claim(query_id, side, len(claims), part, start, end))
    return claims
