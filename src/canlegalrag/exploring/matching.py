"""Where a document says what a query asks: the stretch with most of its words, and the words in it."""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from canlegalrag import chunking
from canlegalrag.exploring.nouns import Excerpt
from canlegalrag.text import encode, tokens

__all__ = ["best", "paragraphs"]

_WINDOW = chunking.parse("recursive:600:0")
"""How a text is cut to be looked through."""
_TELLING = float(np.log(4))
"""Inverse document frequency that a word has above a quarter of the documents: commoner ones aren't marked."""
_PARAGRAPH = re.compile(r"^[ \t]*\[([0-9]{1,4})\]", re.MULTILINE)
_FEW = 3
"""Tokens that are marked where all are commoner."""
_BATCH = 8_000_000
"""Characters that are looked through at once."""
_YEARS = range(1800, 2100)


def best(
    stretches: Sequence[tuple[str, int, int]], weights: Mapping[str, float], tokenizer: str
) -> list[tuple[Excerpt, tuple[str, ...]]]:
    """Find in each stretch the window whose tokens of the query, each counted once, weigh most; the first of equals.

    Args:
        stretches: a document's text, first character and one past the last of what was ranked of it.
        weights: token of the query -> its inverse document frequency.
        tokenizer: name of the retriever's tokenizer.

    Returns:
        For each the window, with the tokens marked that less than a quarter of the documents hold (the three rarest,
        where none is so rare); and the query's tokens in the whole stretch, the rarest first.

    >>> ((found, matched),) = best([("Rent is due.", 0, 12)], {"rent": 2.0, "is": 0.1, "late": 3.0}, "legal")
    >>> found.marks, matched
    (((0, 4),), ('rent', 'is'))
    """
    found: list[tuple[Excerpt, tuple[str, ...]]] = []
    batch: list[tuple[str, int, int]] = []
    for stretch in stretches:
        batch.append(stretch)
        if sum(end - start for _, start, end in batch) > _BATCH:
            found += _best(batch, weights, tokenizer)
            batch = []
    return [*found, *_best(batch, weights, tokenizer)]


def _best(
    stretches: Sequence[tuple[str, int, int]], weights: Mapping[str, float], tokenizer: str
) -> Iterator[tuple[Excerpt, tuple[str, ...]]]:
    cuts = [
        [(a + start, b + start) for a, b in _WINDOW(text[start:end])] or [(start, end)]
        for text, start, end in stretches
    ]
    pieces = [text[a:b] for (text, _, _), spans in zip(stretches, cuts, strict=True) for a, b in spans]
    coded = encode(pieces, tokenizer)

    def rarest(term: str) -> tuple[float, str]:
        return -weights[term], term

    worth = np.array([weights.get(term, 0.0) for term in coded.terms])
    said = np.flatnonzero(worth[coded.codes] > 0)
    size = max(1, len(coded.terms))
    # Each token of the query once a window: (window, code) as one number.
    windows, codes = np.divmod(np.unique(np.searchsorted(coded.ends, said, "right") * size + coded.codes[said]), size)
    sums = np.bincount(windows, weights=worth[codes], minlength=len(pieces))
    first = 0
    for (text, _, _), spans in zip(stretches, cuts, strict=True):
        at = first + int(np.argmax(sums[first : first + len(spans)]))
        low, high = np.searchsorted(windows, (first, first + len(spans)))
        held = {coded.terms[code] for code in codes[low:high].tolist()}
        here = sorted((coded.terms[code] for code in codes[windows == at].tolist()), key=rarest)
        telling = {term for term in here if weights[term] >= _TELLING} or set(here[:_FEW])
        start, end = _trimmed(text, *spans[at - first])
        marks = _merged([(t.start, t.end) for t in tokens(text[start:end], tokenizer) if t.text in telling])
        excerpt = Excerpt(start, end, text[start:end], marks, paragraphs(text, start, end))
        yield excerpt, tuple(sorted(held, key=rarest))
        first += len(spans)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch without the white space around it; one of nothing else as it is."""
    inner = text[start:end].strip()
    at = start + text[start:end].find(inner)
    return (at, at + len(inner)) if inner else (start, end)


def _merged(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Those that overlap made one: `s. 7` is three tokens, the last of which spans the others."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)


def paragraphs(whole: str, start: int, end: int) -> tuple[int, ...]:
    r"""Numbers of the first and the last paragraph that a stretch touches; empty where none is numbered `[n]`.

    A bracketed year at the beginning of a line is the beginning of a citation, not a number.

    >>> paragraphs("Reasons\n[1] Rent is due.\n[2] It is late.", 12, 30)
    (1, 2)
    """
    while start < end and whole[start].isspace():
        start += 1
    first, last = 0, 0
    for found in _PARAGRAPH.finditer(whole, 0, end):
        if int(found[1]) in _YEARS:
            continue
        first = int(found[1]) if found.start() <= start or not first else first
        last = int(found[1])
    return (first, last) if last else ()
