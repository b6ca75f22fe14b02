"""Runs coded for counting: string-keyed rankings become arrays once, all measures read those."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress, repeat
from operator import itemgetter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from canlegalrag.measures.names import FloatArray
from canlegalrag.measures.rankings import (
    AnyRun,
    IntArray,
    check_queries,
    documents,
    finite,
    float32,
    grades,
    lengths,
    rows,
)
from canlegalrag.types import Qrels

__all__ = ["Listed", "Ranked", "code_list", "code_ranks"]

BoolArray: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Ranked:
    """Where the judged documents of each query stand: all that the standard measures need.

    Only documents with a grade matter, so the run's ids are never sorted (except within ties): their ranks
    come from counting the scores above theirs.
    """

    length: IntArray
    """(queries,) int64: distinct documents retrieved."""
    relevant: IntArray
    """(queries,) int64: documents with a grade above 0."""
    irrelevant: IntArray
    """(queries,) int64: documents judged 0; a negative grade is neither (trec_eval: in the pool, not judged)."""
    query: IntArray
    """(retrieved judged documents,) int64: index of the query; the rows are in order of query, then rank."""
    rank: IntArray
    """(retrieved judged documents,) int64: from 1."""
    grade: IntArray
    """(retrieved judged documents,) int64."""
    ideal_query: IntArray
    """(relevant documents,) int64: index of the query; the rows are in order of query, then grade, best first."""
    ideal_grade: IntArray
    """(relevant documents,) int64."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Every hit of each query in the order given: what the paper's way of counting needs."""

    relevant: IntArray
    """(queries,) int64: documents with a grade above 0."""
    query: IntArray
    """(hits,) int64: index of the query; the rows are in order of query, then place."""
    place: IntArray
    """(hits,) int64: place in the list, from 1, repeats counted."""
    first: BoolArray
    """(hits,): whether the document was not seen above."""
    unique: IntArray
    """(hits,) int64: distinct documents down to and with this hit."""
    gold: BoolArray
    """(hits,): whether the document is relevant."""


def code_ranks(qrels: Qrels, run: AnyRun) -> Ranked:
    """Collapse passages to documents (best passage wins) and find the ranks of the judged ones.

    Scores count as float32, highest first, ties by document id descending in UTF-8 byte order: trec_eval's
    rule. A query that the run lacks has an empty ranking; a query that the qrels lack is not read.

    Raises:
        InputError: a score that is not a finite number, a grade that is not a whole number or beyond
            `LARGEST_GRADE`, an id that is not a string or that UTF-8 can't write (half a surrogate pair), a ranking
            of the wrong kind; each names its query and document.
    """
    check_queries(qrels, run)
    docs = [documents(query, run.get(query)) for query in qrels]
    scores = finite("run", qrels, docs, [d.values() for d in docs])
    grade = grades(qrels)
    n = len(docs)
    query = np.repeat(np.arange(n), lengths(qrels.values()))
    # A document that was not retrieved has no score: NaN can stand for that, since no score may be NaN.
    scores_of = (map(d.get, j, repeat(math.nan)) for d, j in zip(docs, qrels.values(), strict=True))
    score = np.fromiter(chain.from_iterable(scores_of), np.float64, len(grade))
    there, positive = ~np.isnan(score), grade > 0
    held = query[there]
    ids = list(compress(chain.from_iterable(qrels.values()), there.tolist()))
    rank = _ranks(docs, scores, held, ids, score[there])
    order = np.lexsort((rank, held))
    ideal_query, ideal_grade = query[positive], grade[positive]
    ideal = np.lexsort((-ideal_grade, ideal_query))
    return Ranked(
        length=lengths(docs),
        relevant=np.bincount(ideal_query, minlength=n),
        irrelevant=np.bincount(query[grade == 0], minlength=n),
        query=held[order],
        rank=rank[order],
        grade=grade[there][order],
        ideal_query=ideal_query[ideal],
        ideal_grade=ideal_grade[ideal],
    )


def code_list(qrels: Qrels, run: AnyRun) -> Listed:
    """Take hits in the order given, repeats and all.

    A mapping has no order but its scores: it is ranked as `code_ranks` ranks it.

    Raises:
        InputError: as `code_ranks`.
    """
    check_queries(qrels, run)
    grade = grades(qrels)
    columns = [rows(query, run.get(query)) for query in qrels]
    lists = [ids for ids, _ in columns]
    finite("run", qrels, lists, [values for _, values in columns])
    length, n = lengths(lists), len(lists)
    start, row = np.cumsum(length) - length, np.repeat(np.arange(n), length)
    first, gold = np.zeros(len(row), dtype=np.bool_), np.zeros(len(row), dtype=np.bool_)
    for at, ids, judged in zip(start.tolist(), lists, qrels.values(), strict=True):
        wanted = {d for d, g in judged.items() if g > 0}
        gold[at : at + len(ids)] = [d in wanted for d in ids]
        # Written back to front, so that the place of a document's first hit stays.
        places = dict(zip(reversed(ids), range(at + len(ids) - 1, at - 1, -1), strict=True))
        first[list(places.values())] = True
    above = np.concatenate(([0], np.cumsum(first)))
    return Listed(
        relevant=np.bincount(np.repeat(np.arange(n), lengths(qrels.values()))[grade > 0], minlength=n),
        query=row,
        place=np.arange(len(row)) - start[row] + 1,
        first=first,
        unique=above[1:] - above[start[row]],
        gold=gold,
    )


def _ranks(
    docs: Sequence[Mapping[str, float]], scores: FloatArray, query: IntArray, ids: Sequence[str], score: FloatArray
) -> IntArray:
    """Ranks (m,) of documents that are in the rankings, from their queries, ids and scores."""
    length = lengths(docs)
    start = np.cumsum(length) - length
    every, keys = _keys(np.repeat(np.arange(len(docs)), length), scores), _keys(query, score)
    in_order = bool((every[1:] >= every[:-1]).all())
    falling = every if in_order else np.sort(every)
    left, right = np.searchsorted(falling, keys, "left"), np.searchsorted(falling, keys, "right")
    rank: IntArray = left - start[query] + 1
    tied = np.flatnonzero(right - left > 1)
    if len(tied):
        order = np.arange(len(every)) if in_order else np.argsort(every)
        rank[tied] += _places_in_ties(
            docs, query[tied], [ids[i] for i in tied.tolist()], order, left[tied], right[tied]
        )
    return rank


def _places_in_ties(
    docs: Sequence[Mapping[str, float]],
    query: IntArray,
    ids: Sequence[str],
    order: IntArray,
    left: IntArray,
    right: IntArray,
) -> IntArray:
    """How many of the documents with the same score have a greater id (m,): the only place where ids are compared.

    Args:
        docs: the rankings.
        query: (m,) index of the ranking of each document.
        ids: (m,) of the documents.
        order: (n,) rows of all rankings, one after the other, in order of query and rank.
        left: (m,) where in `order` the document's tie begins.
        right: (m,) one past where it ends.
    """
    start = np.cumsum(lengths(docs)) - lengths(docs)
    names = {of: list(docs[of]) for of in np.unique(query).tolist()}
    ties: dict[int, list[int]] = {}
    for i, tie in enumerate(left.tolist()):
        ties.setdefault(tie, []).append(i)
    place = np.zeros(len(ids), dtype=np.int64)
    for tie, members in ties.items():
        of = int(query[members[0]])
        tied = itemgetter(*(order[tie : right[members[0]]] - start[of]).tolist())(names[of])
        if len(members) < 8:
            place[members] = [sum(map(ids[i].__lt__, tied)) for i in members]
        else:
            falling = {doc: above for above, doc in enumerate(sorted(tied, reverse=True))}
            place[members] = [falling[ids[i]] for i in members]
    return place


def _keys(query: IntArray, scores: FloatArray) -> NDArray[np.uint64]:
    """One unsigned number a row (n,), rising by query, then by falling float32 score."""
    bits = float32(scores).view(np.uint32)
    negative = bits >> np.uint32(31) == 1
    falling = np.where(negative, bits, ~(bits | np.uint32(0x80000000)))
    return query.astype(np.uint64) << np.uint64(32) | falling
