"""Spans as they are given: a document, a start and an end in any of the usual forms, read to plain columns."""

from array import array
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, count
from operator import attrgetter, index, itemgetter
from typing import Any, TypeAlias

import numpy as np

from canlegalrag.errors import InputError
from canlegalrag.measures.rankings import IntArray, lengths
from canlegalrag.plain import HALF, is_whole, require_list
from canlegalrag.types import Hit, Passage, Snippet

__all__ = ["LARGEST_END", "AnySpan", "Numbers", "Spans", "columns", "numbering", "plain_rows"]

AnySpan: TypeAlias = Sequence[Any] | Mapping[str, Any] | Snippet | Passage | Hit
"""`(doc_id, start, end)`, `{"doc_id": …, "start": …, "end": …}`, a snippet, a passage, or a hit that has one."""

Spans: TypeAlias = Mapping[str, Sequence[AnySpan]]
"""Query id to spans; those of a run best first."""

Columns: TypeAlias = tuple[IntArray, IntArray, IntArray, IntArray]
"""Numbers of the documents (n,), starts (n,), ends (n,), and how many spans each query has (queries,)."""

Numbers: TypeAlias = defaultdict[str, int]
"""Document to its number."""

LARGEST_END = 2**31 - 1
"""Greatest offset: no text is longer, and sums of lengths stay exact."""

_FIELDS = ("doc_id", "start", "end")
_FIX = '["2019-scc-65", 120, 480] or {"doc_id": "2019-scc-65", "start": 120, "end": 480}'


def columns(lists: Sequence[Sequence[AnySpan]], numbers: Numbers, where: Callable[[int], str]) -> Columns:
    """Read the spans of all queries, one after the other.

    Args:
        lists: the spans of each query.
        numbers: from `numbering`; new documents are entered.
        where: the name of a query's list from its place, for errors.

    Raises:
        InputError: something that is no span; a document that is no string, or one that UTF-8 can't write; an offset
            that is no whole number, is below 0 or beyond `LARGEST_END`; an end that is not above its start.
    """
    for i, spans in enumerate(lists):
        if type(spans) is not list:
            require_list(where(i), spans, f"give a list of spans: {_FIX}")
    flat = list(chain.from_iterable(lists))
    sizes = lengths(lists)
    try:
        docs, *offsets = _cells(flat)
        doc = np.fromiter(map(numbers.__getitem__, docs), np.int64, len(flat))
        start, end = map(_whole, offsets)
        # join takes strings alone: all documents are looked at in one step.
        if is_whole("".join(numbers)) and ((start >= 0) & (start < end) & (end <= LARGEST_END)).all():
            return doc, start, end, sizes
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        pass
    rows = [_sound(f"{where(i)}, spans[{n}]", span) for i, spans in enumerate(lists) for n, span in enumerate(spans)]
    doc = np.array([numbers[name] for name, _, _ in rows], dtype=np.int64)
    start, end = (np.array([row[i] for row in rows], dtype=np.int64) for i in (1, 2))
    return doc, start, end, sizes


def numbering() -> Numbers:
    """An empty table of numbers: a document that is looked up gets the next one."""
    return defaultdict(count().__next__)


def plain_rows(lists: Sequence[Sequence[AnySpan]], where: Callable[[int], str]) -> list[list[dict[str, Any]]]:
    """The same spans as `{"doc_id", "start", "end"}`, other keys left out.

    >>> plain_rows([[("a", 0, 9)], []], "predictions of query {}".format)
    [[{'doc_id': 'a', 'start': 0, 'end': 9}], []]

    Raises:
        InputError: as `columns`.
    """
    numbers = numbering()
    doc, start, end, sizes = columns(lists, numbers, where)
    names = list(numbers)
    spans = zip([names[i] for i in doc.tolist()], start.tolist(), end.tolist(), strict=True)
    rows = (dict(zip(_FIELDS, span, strict=True)) for span in spans)
    return [[next(rows) for _ in range(size)] for size in sizes.tolist()]


def _cells(flat: list[Any]) -> list[list[Any]]:
    """Three columns of spans that all have one form; an error of Python's where they don't."""
    kinds = set(map(type, flat))
    if kinds <= {list, tuple}:
        docs: list[Any] = []
        starts: list[Any] = []
        ends: list[Any] = []
        for doc, start, end in flat:  # refuses any that aren't three; a pass over many small lists is dear, so one only
            docs.append(doc)  # written so, as Python has a fast way for it
            starts.append(start)
            ends.append(end)
        return [docs, starts, ends]
    if kinds == {dict}:
        return [list(map(itemgetter(name), flat)) for name in _FIELDS]
    if kinds == {Hit}:
        documents = [hit.doc_id for hit in flat]
        flat = [hit.passage for hit in flat]
        if [passage.doc_id for passage in flat] != documents:
            raise ValueError
    return [list(map(attrgetter(name), flat)) for name in _FIELDS]


def _whole(cells: list[Any]) -> IntArray:
    """Whole numbers as int64 (n,); a TypeError where one is none: True is told from 1."""
    numbers: IntArray = np.array(array("q", cells))  # array takes whole numbers alone, numpy would cut 1.5
    if any(type(cells[i]) is bool for i in np.flatnonzero((numbers == 0) | (numbers == 1)).tolist()):
        raise TypeError
    return numbers


def _sound(where: str, span: Any) -> tuple[str, int, int]:
    """One span, with what is wrong with it if anything is."""
    given: Sequence[Any] = ()
    if isinstance(span, Mapping):
        given = [span[name] for name in _FIELDS if name in span]
    elif isinstance(span, Hit):
        if span.passage is None:
            raise InputError(where, "has no offsets: a whole document was ranked", "retrieve passages, and write them")
        if span.passage.doc_id != span.doc_id:
            what = f"is a hit in {span.doc_id!r:.80} with a passage of {span.passage.doc_id!r:.80}"
            raise InputError(where, what, "give the passage that was found")
        given = [span.passage.doc_id, span.passage.start, span.passage.end]
    elif isinstance(span, Snippet | Passage):
        given = [span.doc_id, span.start, span.end]
    elif isinstance(span, Sequence) and not isinstance(span, str | bytes):
        given = span
    if len(given) != 3:
        raise InputError(where, f"{span!r:.80} is no span", f"write {_FIX}")
    doc, start, end = given
    if not isinstance(doc, str):
        raise InputError(where, f"document {doc!r:.80} is not a string", f"write {_FIX}")
    if not is_whole(doc):
        raise InputError(where, f"document {doc!r:.80} {HALF}", "read the source as UTF-8")
    start, end = (_offset(where, value) for value in (start, end))
    if start >= end:
        what = "is empty" if start == end else "is reversed"
        raise InputError(where, f"{start} to {end} {what}", "the end is one past the last character, above the start")
    return doc, start, end


def _offset(where: str, value: Any) -> int:
    """A whole number that can be the place of a character."""
    try:
        number = index(value)
    except TypeError:
        number = -1
    if isinstance(value, bool | np.bool_) or not 0 <= number <= LARGEST_END:
        what = f"offset {value!r:.40} is not a whole number from 0 to {LARGEST_END}"
        raise InputError(where, what, "offsets count the characters of the document's text, from 0")
    return number
