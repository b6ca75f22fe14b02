"""Where a verdict's evidence lies: the document by its name, and the quote looked up in it."""

import itertools
import re
from bisect import bisect_right
from dataclasses import dataclass

from canlegalrag.benchmark import Benchmark
from canlegalrag.types import Document, Judged, Verdict

__all__ = ["Evidence", "evidence", "title"]

_QUOTE = 1200
"""Characters of a quote that are shown: a whole decision may be given as one."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a verdict's evidence lies."""

    name: str
    """What it is, for people."""
    place: str = ""
    """Where the quote stands in it."""
    quote: str = ""
    """What decided, as the judge gave it."""
    doubt: str = ""
    """What is wrong with the quote; empty where it stands there word for word."""
    url: str = ""
    """Where the document was published; empty unless it is a web address."""


def title(against: str, benchmark: Benchmark) -> str:
    """Name of a piece of evidence for people: the style of cause and the citation of its document."""
    if against in ("reference", "answer", "evidence"):
        return {"reference": "the reference answer", "answer": "the answer", "evidence": "all of the evidence"}[against]
    document, span = _document(against, benchmark)
    if document is None:
        return f"{against}, which is not in the benchmark"
    shown = ", ".join(dict.fromkeys([document.title or document.id, *document.citations[:1]]))
    part = span is not None and span != (0, len(document.text))
    return f"{shown}, characters {span[0]:,} to {span[1]:,}" if span and part else shown


def _document(against: str, benchmark: Benchmark) -> tuple[Document | None, tuple[int, int] | None]:
    """The document that evidence is from, and the part of it; an id may hold a colon itself."""
    documents = benchmark.documents
    if against in documents:
        return documents[against], None
    found = re.fullmatch(r"(.+):([0-9]{1,12})-([0-9]{1,12})", against, re.DOTALL)
    if found and found[1] in documents:
        return documents[found[1]], (int(found[2]), int(found[3]))
    return None, None


def evidence(verdict: Verdict, judged: Judged, benchmark: Benchmark) -> Evidence:
    """Name the evidence and look the quote up in it: a judge can make quotes up."""
    name, quote = title(verdict.against, benchmark), verdict.quote.strip()
    shown = quote if len(quote) <= _QUOTE else quote[:_QUOTE] + " […]"
    if verdict.against in ("reference", "answer"):
        claims = (judged.reference if verdict.against == "reference" else judged.claims) or ()
        letter = "R" if verdict.against == "reference" else "A"
        at = [f"{letter}{c.index + 1}" for c in claims if quote and _find(quote, c.text)]
        if quote and not at and _find(quote, "\n".join(c.text for c in claims)):
            at = ["several claims"]
        return Evidence(name, ", ".join(at), shown, "" if at or not quote else "these words are in none of its claims")
    document, span = _document(verdict.against, benchmark)
    if document is None:
        return Evidence(name, "", shown, "can't be looked up" if quote and verdict.against != "evidence" else "")
    start, end = span or (0, len(document.text))
    found = _find(quote, document.text[start:end]) if quote else None
    url = document.url if re.match(r"https?://", document.url) else ""
    if found is None:
        return Evidence(name, "", shown, "these words are not in it" if quote else "", url)
    return Evidence(name, f"the quote at {start + found[0]:,} to {start + found[1]:,}", shown, "", url)


def _find(quote: str, text: str) -> tuple[int, int] | None:
    r"""Where a quote stands, whatever its white space.

    >>> _find("must pay", "He must\n\n pay."), _find("must not", "He must\n\n pay.")
    ((3, 13), None)
    """
    at = text.find(quote)
    if at >= 0:
        return at, at + len(quote)
    words = [found.span() for found in re.finditer(r"\S+", text)]
    sought = " ".join(quote.split())
    at = " ".join(text[start:end] for start, end in words).find(sought)
    if at < 0:
        return None
    # Where each word begins once one space stands between any two.
    begins = [0, *itertools.accumulate(end - start + 1 for start, end in words)]

    def back(place: int) -> int:
        word = bisect_right(begins, place) - 1
        return words[word][0] + place - begins[word]

    return back(at), back(at + len(sought) - 1) + 1
