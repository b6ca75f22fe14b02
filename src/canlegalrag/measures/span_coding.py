"""Spans coded for counting: what each hit adds to the characters found, as arrays that all measures read."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from canlegalrag.measures.rankings import IntArray, check_keys
from canlegalrag.measures.span_rows import Spans, columns, numbering

__all__ = ["BoolArray", "Cover", "Spanned", "code_spans"]

BoolArray: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Cover:
    """How many characters of some spans lie before a place.

    All documents of all queries lie one after the other on one line, with room between them, so that a place is one
    number and no span meets one of another query or document.
    """

    cuts: IntArray
    """(cuts,) int64: places where a span begins or ends, rising; the first is -1."""
    depth: IntArray
    """(cuts,) int64: how often a character between this cut and the next counts."""
    total: IntArray
    """(cuts,) int64: characters before the cut."""

    def before(self, places: IntArray) -> IntArray:
        """Characters before each of the places (n,)."""
        at = np.searchsorted(self.cuts, places, "right") - 1
        found: IntArray = self.total[at] + self.depth[at] * (places - self.cuts[at])
        return found


@dataclass(frozen=True, slots=True)
class Spanned:
    """Gold and retrieved spans of each query; the totals begin with 0 and run over all hits of all queries."""

    first: IntArray
    """(queries + 1,) int64: where the hits of each query begin."""
    gold: IntArray
    """(queries,) int64: characters of the gold, overlaps counted once."""
    gold_lengths: IntArray
    """(queries,) int64: sum of the lengths of the gold spans, overlaps counted again."""
    fresh: IntArray
    """(hits + 1,) int64, total: characters that no hit above has."""
    fresh_gold: IntArray
    """(hits + 1,) int64, total: those of them that are gold."""
    lengths: IntArray
    """(hits + 1,) int64, total: lengths of the hits as they are."""
    overlaps: IntArray
    """(hits + 1,) int64, total: characters that a hit shares with each gold span, whatever was counted before."""
    wrong: IntArray
    """(hits + 1,) int64, total: hits in documents without gold."""
    relevant: IntArray
    """(hits + 1,) int64, total: hits that share a character with the gold, repeats left out."""
    snippet_query: IntArray
    """(distinct gold spans,) int64: index of the query."""
    snippet_place: IntArray
    """(distinct gold spans,) int64: place, from 1, of the first hit that shares a character with it; 2⁶² where none
    does."""
    piece: IntArray
    """(queries + 1,) int64: where the pieces of each query begin; a piece is a stretch of fresh characters."""
    piece_start: IntArray
    """(pieces + 1,) int64: where it begins, in the order of the hits, then of the text; one more, without meaning."""
    piece_fresh: IntArray
    """(pieces + 1,) int64, total: its characters."""
    piece_gold: IntArray
    """(pieces + 1,) int64, total: those of them that are gold."""
    cover: Cover
    """The gold, overlaps counted once."""

    def upto(self, total: IntArray, k: int) -> IntArray:
        """What the first k hits of each query add up to (queries,)."""
        begin = self.first[:-1]
        found: IntArray = total[np.minimum(begin + k, self.first[1:])] - total[begin]
        return found


_NEVER = 1 << 62
_TABLE = 1 << 28  # entries of a table that is worth its memory


def code_spans(gold: Spans, run: Spans) -> Spanned:
    """Lay the gold and the hits of all queries on one line and see where they meet.

    Args:
        gold: query id to gold spans, in any order.
        run: query id to retrieved spans, best first. Queries that the gold lacks are not read.

    Raises:
        InputError: as `span_rows.columns`, naming the query and the span's place in its list; ids that aren't strings.
    """
    for where, given in (("gold", gold), ("run", run)):
        check_keys(where, given)
    queries = list(gold)
    n = len(queries)
    numbers = numbering()
    wanted = columns(list(gold.values()), numbers, lambda i: f"gold, query {queries[i]!r}")
    found = columns([run.get(q, ()) for q in queries], numbers, lambda i: f"run, query {queries[i]!r}")
    doc, start, end, size = (np.concatenate(both) for both in zip(wanted, found, strict=True))
    query = np.repeat(np.concatenate((np.arange(n), np.arange(n))), size)
    room = int(end.max(initial=0)) + 1
    pairs, pair = n * len(numbers), query * len(numbers) + doc
    if pairs > _TABLE or pairs * room >= _NEVER:  # fewer pairs of a query and a document occur than may
        pairs, pair = len(pair), np.unique(pair, return_inverse=True)[1]
    base = pair * room
    start, end, m = start + base, end + base, len(wanted[0])
    held = np.zeros(pairs, dtype=np.bool_)  # a table, as np.isin takes as long as all else here
    held[pair[:m]] = True
    return _meet(query[:m], start[:m], end[:m], found[3], start[m:], end[m:], held[pair[m:]])


def _meet(
    gold_query: IntArray,
    gold_start: IntArray,
    gold_end: IntArray,
    size: IntArray,
    start: IntArray,
    end: IntArray,
    right: BoolArray,
) -> Spanned:
    """The coded form of spans on one line.

    Args:
        gold_query: (gold,) index of the query.
        gold_start: (gold,) first character.
        gold_end: (gold,) one past the last.
        size: (queries,) hits.
        start: (hits,) first character.
        end: (hits,) one past the last.
        right: (hits,) whether the document holds gold of the query.
    """
    n, first = len(size), _total(size)
    once, each, query, distinct = _covers(gold_query, gold_start, gold_end)
    lengths = _total(end - start)
    owner, piece_start, piece_end, repeated = _pieces(start, end)
    shared = right[owner]
    found = _covered(once, piece_start, piece_end, shared)
    if piece_start is start:  # no hit meets another: each is one piece
        edge, piece_fresh = np.arange(len(start) + 1), lengths
    else:
        edge, piece_fresh = _total(np.bincount(owner, minlength=len(start))), _total(piece_end - piece_start)
    overlap = found if piece_start is start and each is once else _covered(each, start, end, right)
    piece_gold = _total(found)
    touched = _first_touch(
        gold_start[distinct], gold_end[distinct], piece_start[shared], piece_end[shared], owner[shared]
    )
    snippet_query = gold_query[distinct]
    return Spanned(
        first=first,
        gold=_sums(query, np.diff(once.total[1:]), n),
        gold_lengths=_sums(gold_query, gold_end - gold_start, n),
        fresh=piece_fresh if piece_start is start else piece_fresh[edge],
        fresh_gold=piece_gold if piece_start is start else piece_gold[edge],
        lengths=lengths,
        overlaps=_total(overlap),
        wrong=_total(~right),
        relevant=_total((overlap > 0) & ~repeated),
        snippet_query=snippet_query,
        snippet_place=np.where(touched < _NEVER, touched - first[snippet_query] + 1, _NEVER),
        piece=edge[first],
        piece_start=np.append(piece_start, 0),
        piece_fresh=piece_fresh,
        piece_gold=piece_gold,
        cover=once,
    )


def _total(values: NDArray[np.int64] | BoolArray) -> IntArray:
    """Running sums (n + 1,) of values (n,), from 0."""
    return np.concatenate(([0], np.cumsum(values, dtype=np.int64)))


def _sums(query: IntArray, values: IntArray, n: int) -> IntArray:
    """Sum of the values (m,) of each query (n,); below 2⁵³, so that floats hold them."""
    return np.bincount(query, weights=values, minlength=n).astype(np.int64)


def _covers(query: IntArray, start: IntArray, end: IntArray) -> tuple[Cover, Cover, IntArray, IntArray]:
    """The gold with overlaps counted once, and again.

    Returns:
        Both covers; the query of each stretch between cuts (cuts - 2,); the places (distinct,) of the distinct spans.
    """
    m = len(start)
    cuts, at = np.unique(np.concatenate(([-1], start, end)), return_inverse=True)
    begins, ends = at[1 : m + 1], at[m + 1 :]
    depth = np.cumsum(np.bincount(begins, minlength=len(cuts)) - np.bincount(ends, minlength=len(cuts)))
    each = Cover(cuts, depth, _total(depth[:-1] * np.diff(cuts)))
    flat = np.minimum(depth, 1)
    once = Cover(cuts, flat, _total(flat[:-1] * np.diff(cuts))) if (flat != depth).any() else each
    owner = np.zeros(len(cuts), dtype=np.int64)
    owner[at[1:]] = np.concatenate((query, query))
    return once, each, owner[1:-1], np.unique(begins * len(cuts) + ends, return_index=True)[1]


def _covered(cover: Cover, start: IntArray, end: IntArray, may: BoolArray) -> IntArray:
    """Characters of stretches (n,) that a cover has; `may` leaves out those that can't have any."""
    found = np.zeros(len(start), dtype=np.int64)
    found[may] = cover.before(end[may]) - cover.before(start[may])
    return found


def _pieces(start: IntArray, end: IntArray) -> tuple[IntArray, IntArray, IntArray, BoolArray]:
    """Cut hits (n,), best first, into the stretches that no hit above has.

    Returns:
        The hit, the start and the end of each piece (pieces,), in the order of the hits, then of the text; and which
        hits (n,) have the start and the end of one above.
    """
    n = len(start)
    repeated = np.zeros(n, dtype=np.bool_)
    order = np.argsort(start)
    meets = start[order[1:]] < np.maximum.accumulate(end[order])[:-1]
    if not meets.any():
        return np.arange(n), start, end, repeated
    shared = np.zeros(n, dtype=np.bool_)
    shared[order[1:][meets]] = shared[order[:-1][meets]] = True
    rows, alone = np.flatnonzero(shared), np.flatnonzero(~shared)
    cuts, at = np.unique(np.concatenate((start[rows], end[rows])), return_inverse=True)
    low, high = at[: len(rows)], at[len(rows) :]
    owner = _best(low, high, rows, len(cuts))
    held = np.flatnonzero(owner < _NEVER)
    repeated[rows] = True
    repeated[rows[np.unique(low * len(cuts) + high, return_index=True)[1]]] = False
    hit = np.concatenate((alone, owner[held]))
    piece_start = np.concatenate((start[alone], cuts[held]))
    piece_end = np.concatenate((end[alone], cuts[held + 1]))
    by_hit = np.argsort(hit, kind="stable")
    return hit[by_hit], piece_start[by_hit], piece_end[by_hit], repeated


def _best(low: IntArray, high: IntArray, rows: IntArray, n: int) -> IntArray:
    """The least of the rows (m,) whose range `low` to `high` holds each of n places; `_NEVER` where none does.

    A range is two overlapping blocks, each as long as a power of two; blocks are halved level by level, so that the
    work grows with the number of ranges and of places, however the ranges lie in each other.
    """
    best = np.full(n, _NEVER)
    level = np.frexp(high - low)[1] - 1
    for j in range(int(level.max()), -1, -1):
        at = level == j
        np.minimum.at(best, low[at], rows[at])
        np.minimum.at(best, high[at] - (1 << j), rows[at])
        if j:
            half = 1 << (j - 1)
            best[half:] = np.minimum(best[half:], best[:-half])
    return best


def _first_touch(gold_start: IntArray, gold_end: IntArray, start: IntArray, end: IntArray, hit: IntArray) -> IntArray:
    """The first hit that shares a character with each gold span (gold,); `_NEVER` where none does.

    Args:
        gold_start: (gold,) first character.
        gold_end: (gold,) one past the last.
        start: (pieces,) of pieces that don't overlap, in any order.
        end: (pieces,) of the pieces.
        hit: (pieces,) the hit of each.
    """
    order = np.argsort(start)
    low = np.searchsorted(end[order], gold_start, "right")
    high = np.searchsorted(start[order], gold_end, "left")
    found = np.full(len(gold_start), _NEVER)
    some = low < high
    if some.any():
        ranges = np.stack((low[some], high[some]), axis=1).ravel()
        found[some] = np.minimum.reduceat(np.append(hit[order], _NEVER), ranges)[::2]
    return found
