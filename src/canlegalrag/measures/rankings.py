"""Rankings and judgements as they are given: read to plain columns, every fault named."""

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence, Sized
from contextlib import suppress
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from canlegalrag.errors import InputError
from canlegalrag.measures.names import FloatArray
from canlegalrag.plain import HALF, is_whole
from canlegalrag.types import Hit, Qrels

__all__ = [
    "LARGEST_GRADE",
    "AnyRun",
    "IntArray",
    "Ranking",
    "check_keys",
    "check_queries",
    "documents",
    "finite",
    "float32",
    "grades",
    "lengths",
    "rows",
]

IntArray: TypeAlias = NDArray[np.int64]
Ranking: TypeAlias = Mapping[str, float] | Sequence[Hit]
AnyRun: TypeAlias = Mapping[str, Sequence[Hit]] | Mapping[str, Mapping[str, float]]
"""A ranking a query: hits, best first, or document id to score."""

LARGEST_GRADE = 2**31 - 1
"""Greatest grade, and with a minus the least: what every tool of the field can hold (trec_eval's `long`)."""


def documents(query: str, ranking: Ranking | None) -> Mapping[str, float]:
    """Each document of a ranking with its score, that of its best passage.

    Raises:
        InputError: as `code_ranks`.
    """
    if ranking is None:
        return {}
    if isinstance(ranking, Mapping):
        return ranking
    ids, values = _columns(query, ranking)
    best = dict(zip(ids, values, strict=True))
    if len(best) < len(ids):
        finite("run", [query], [ids], [values])
        best = {}
        for doc, value in zip(ids, values, strict=True):
            if doc not in best or value > best[doc]:
                best[doc] = value
    return best


def rows(query: str, ranking: Ranking | None) -> tuple[list[str], list[float]]:
    """Ids and scores of a ranking, repeats and all, in the order that the paper's measures count.

    Raises:
        InputError: as `code_ranks`.
    """
    if ranking is None:
        return [], []
    if not isinstance(ranking, Mapping):
        return _columns(query, ranking)
    scores = finite("run", [query], [ranking], [ranking.values()])
    falling = sorted(zip(float32(scores).tolist(), ranking, strict=True), reverse=True)
    return [doc for _, doc in falling], [score for score, _ in falling]


def float32(scores: FloatArray) -> NDArray[np.float32]:
    """Scores (n,) as trec_eval holds them: one beyond float32's range ties with infinity, -0 equals 0."""
    with np.errstate(over="ignore"):
        return scores.astype(np.float32) + np.float32(0)


def finite(
    where: str,
    queries: Collection[str],
    ids: Collection[Collection[str]],
    values: Collection[Collection[float]],
) -> FloatArray:
    """All values, query after query, as one float64 array (n,), once ids and values are known to be sound.

    Args:
        where: `run` or `qrels`, for the error.
        queries: query ids, for the error.
        ids: the document ids of each query.
        values: the score or grade of each of them.

    Raises:
        InputError: an id that is not a string or that UTF-8 can't write, or a value that is not a finite number.
    """
    sound = True
    parts = [np.empty(0)]
    try:
        for docs, numbers in zip(ids, values, strict=True):
            # join takes strings alone: all ids of a query are looked at in one step.
            sound = sound and is_whole("".join(docs))
            # array takes numbers alone (numpy would read "1.5" and None), and faster than numpy does.
            parts.append(np.frombuffer(array("d", list(numbers))))
    except (TypeError, OverflowError):
        sound = False
    whole = np.concatenate(parts)
    if sound and np.isfinite(whole).all():
        return whole
    for query, docs, numbers in zip(queries, ids, values, strict=True):
        for doc, number in zip(docs, numbers, strict=True):
            _require_sound(f"{where}, query {query!r}, document {doc!r}", doc, number)
    raise AssertionError("a fault was seen in the whole but in none of its parts")


def grades(qrels: Qrels) -> IntArray:
    """All grades, query after query, as one int64 array (n,).

    Raises:
        InputError: as `finite`, and a grade that is not a whole number from -`LARGEST_GRADE` to `LARGEST_GRADE`.
    """
    whole = finite("qrels", qrels, qrels.values(), [judged.values() for judged in qrels.values()])
    if ((whole != np.floor(whole)) | (np.abs(whole) > LARGEST_GRADE)).any():
        for query, judged in qrels.items():
            for doc, grade in judged.items():
                where = f"qrels, query {query!r}, document {doc!r}"
                if grade != int(grade):
                    raise InputError(where, f"grade {grade!r} is no whole number", "use 0, 1, 2 …")
                if abs(int(grade)) > LARGEST_GRADE:
                    what = f"grade {grade!r:.40} is beyond ±{LARGEST_GRADE}"
                    raise InputError(where, what, "use 0, 1, 2 …: a grade is a level, not an id or a score")
    return whole.astype(np.int64)


def check_queries(qrels: Qrels, run: AnyRun) -> None:
    """Make sure that both are mappings as `check_keys` wants them, and that each query's judgements are one.

    Raises:
        InputError: they are not.
    """
    check_keys("qrels", qrels)
    check_keys("run", run)
    for query, judged in qrels.items():
        if not isinstance(judged, Mapping):
            fix = "write {document id: grade}"
            raise InputError(f"qrels, query {query!r}", f"is a {type(judged).__name__}, not a mapping", fix)


def check_keys(where: str, given: Mapping[str, Any]) -> None:
    """Make sure that something is a mapping keyed by sound strings: ids compare exactly, and 1 is not "1".

    Raises:
        InputError: it is not.
    """
    if not isinstance(given, Mapping):
        raise InputError(where, f"is a {type(given).__name__}, not a mapping", "key it by query id")
    for query in given:
        if not isinstance(query, str):
            raise InputError(f"{where}, query {query!r}", "the id is not a string", f'write "{query}"')
        if not is_whole(query):
            raise InputError(f"{where}, query {query!r}", f"the id {HALF}", "read the source as UTF-8")


def lengths(parts: Iterable[Sized]) -> IntArray:
    """Length of each part, int64 (n,)."""
    return np.array([len(part) for part in parts], dtype=np.int64)


def _columns(query: str, ranking: Sequence[Hit]) -> tuple[list[str], list[float]]:
    """Ids and scores of hits, in their order."""
    if isinstance(ranking, Sequence):
        with suppress(AttributeError):
            ids, scores = [hit.doc_id for hit in ranking], [hit.score for hit in ranking]
            if all(issubclass(t, str) for t in set(map(type, ids))):
                return ids, scores
            finite("run", [query], [ids], [scores])
    what = f"a {type(ranking).__name__} is not a ranking"
    fix = "give a sequence of Hit, or a mapping of document id to score"
    raise InputError(f"run, query {query!r}", what, fix)


def _require_sound(where: str, doc: Any, number: Any) -> None:
    """Say what is wrong with one row, if anything is."""
    if not isinstance(doc, str):
        raise InputError(where, "the id is not a string", f'write "{doc}"')
    if not is_whole(doc):
        raise InputError(where, f"the id {HALF}", "read the source as UTF-8")
    try:
        sound = isfinite(array("d", [number])[0])
    except (TypeError, OverflowError):
        sound = False
    if not sound:
        raise InputError(where, f"{number!r:.40} is not a finite number", "drop the document, or give it one")
